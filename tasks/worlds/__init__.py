"""Worlds that agents act in, step by step: engines only; who decides and who is told what is not known here."""
