"""A long search for inputs on which a reader of answers raises, or returns what is no answer of its kind.

`python benchmarks/fuzz.py`. Texts are drawn from pieces of real answers, markup and rubbish; each is read as a message
and as the YAML reply of a model extractor, for every kind of answer. The tests do the same for seconds;
docs/extraction.md states what a long search found.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]


def main() -> int:
    import test_readers as known

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="texts times kinds times two readers")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng, begun = random.Random(given.seed), time.monotonic()
    pieces = list(known.PIECES.elements)
    found: set[tuple[str, str]] = set()
    inputs, slowest = 0, 0.0
    while inputs < given.inputs:
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 40)))
        start = time.perf_counter()
        for form in known.EVERY:
            for reader in (
                lambda f, t: known.read(f, [("agent 1", t)]),
                lambda f, t: known.interpret(f, f"answer: {t}"),
            ):
                inputs += 1
                try:
                    got = reader(form, text)
                    fault = "" if got.answer is None or known.fits(form, got.answer) else "no answer of this kind"
                except Exception as error:
                    fault = f"{type(error).__name__}: {error}"
                if fault and (form.kind, fault[:60]) not in found:
                    found.add((form.kind, fault[:60]))
                    print(f"{form.kind}: {fault[:200]}: {text!r}", flush=True)
        slowest = max(slowest, time.perf_counter() - start)
    seconds = time.monotonic() - begun
    print(f"{inputs} inputs in {seconds:.0f} s, slowest text {1000 * slowest:.0f} ms, {len(found)} faults")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
