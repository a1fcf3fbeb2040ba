"""Cooperative constraints, a case a cell. A low score is a measurement; a case fails when rollouts could not be run."""

import pytest


@pytest.mark.study("coop")
def test_coop(cell, run_cell):
    failures = run_cell(cell)
    if failures:
        pytest.fail(f"{cell.id}: {len(failures)} could not be run:\n" + "\n".join(failures[:20]), pytrace=False)
