"""fio job files: their text, the table of options, and the jobs with all numbers resolved.

The options are those of fio's documentation (HOWTO, "Job file parameters"). An option that would
change the requests, and that is not modelled, is an error.
"""
