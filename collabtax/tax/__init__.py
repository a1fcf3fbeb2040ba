"""The collaboration tax: its cells and protocols."""
