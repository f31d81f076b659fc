"""`floatgate tune`: the config that is best for a trace.

`space` says what may vary and what is asked for, `search` tries configs, `outcome` is what was
found.
"""
