"""Floatgate: a flash laboratory."""
