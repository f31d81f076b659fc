"""Policies in Python: the classes that users extend, their names in configs, and their calls.

`docs/python-policies.md` is the guide. Users extend the classes in `base`, `placement`, `victim`,
`mapping` and `buffer`. `given` and `registry` find the policies of a config. NumPy is imported only
if a run has a Python policy.
"""
