"""Constraint tasks: the friction is in indices, units and order."""
