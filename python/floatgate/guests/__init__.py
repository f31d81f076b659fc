"""Policies in Python: what a user writes, how a config names it, and how the engine asks it.

`docs/python-policies.md` is the guide. `base`, `placement`, `victim` are what a user subclasses;
`given` and `registry` find the policies of a config. NumPy is imported only where there is one.
"""
