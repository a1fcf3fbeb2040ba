"""Simulated models: scripted policies behind an OpenAI-compatible endpoint, an instrument whose true tax is known."""
