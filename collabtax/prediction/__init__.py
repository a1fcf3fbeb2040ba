"""Predicting the ratio gap from how the dialogues went (paper, section 5.4); see docs/prediction.md."""
