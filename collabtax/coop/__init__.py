"""Cooperative constraints: how a team plans, talks and acts in a world where most tasks take several at once."""
