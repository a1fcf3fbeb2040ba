"""Reading a structured answer out of a transcript: `read` by program, `interpret` from a model extractor's reply.

The rules are stated in `candidates`; docs/extraction.md shows them with examples.
"""

from __future__ import annotations

from graders.extract.candidates import WARNINGS, Extraction, outcome, read
from graders.extract.model import interpret

__all__ = ["WARNINGS", "Extraction", "interpret", "outcome", "read"]
