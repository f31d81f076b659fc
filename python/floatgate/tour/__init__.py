"""The tour: the five systems on built-in workloads, each beside its baseline and a bound.

`stops` says what is run, `measured` runs it and puts the answers into sentences, `page` writes the
HTML page.
"""
