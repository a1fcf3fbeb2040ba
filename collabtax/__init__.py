"""What teams of language models pay to coordinate: harness and pytest plugin. Importing it imports nothing heavy."""

__version__ = "0.1.0"
