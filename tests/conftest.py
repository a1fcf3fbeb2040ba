"""Helpers of all tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def shared(name: str) -> Path:
    """The file `name` of the published material that lies beside the checkout; skips the test when it is not there."""
    path = Path(__file__).resolve().parents[2] / "shared" / name
    if not path.exists():
        pytest.skip(f"published material {name} is not beside this checkout")
    return path


@pytest.fixture
def shared_path() -> Callable[[str], Path]:
    """`shared` for tests: `shared_path("data/published/collaboration_tax.json")`."""
    return shared


@pytest.fixture
def root() -> Path:
    """The top of the repository."""
    return Path(__file__).resolve().parents[1]


THREE = ["maze", "relaquery", "schedule"]  # the tasks that tests of everything else run: one of each family
