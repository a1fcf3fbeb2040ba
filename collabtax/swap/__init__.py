"""The one-seat swap: what a formed team loses when one member is replaced."""
