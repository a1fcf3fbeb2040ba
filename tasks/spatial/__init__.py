"""Spatial tasks: the friction is in reference frames."""
