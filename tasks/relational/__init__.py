"""Relational tasks: the friction is in names and categories."""
