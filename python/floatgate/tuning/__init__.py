"""`floatgate tune`: the best config for a trace.

`space` checks the keys that may vary and the objectives, `search` tries configs, and `outcome` is
the report.
"""
