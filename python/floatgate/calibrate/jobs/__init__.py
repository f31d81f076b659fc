"""A drive from the jobs that fio ran on it: `recipe` writes the jobs, `identify` reads the results.

`recorded` reads fio's output. `times`, `programs` and `caches` have closed forms for single
parameters. `reading` and `writing` simulate candidates where a closed form does not exist.
"""
