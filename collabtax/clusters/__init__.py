"""What failed dialogues have in common: described by a model, clustered, named (paper, appendix B)."""
