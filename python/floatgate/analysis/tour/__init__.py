"""The tour: the five systems on built-in workloads, each next to its baseline and a bound.

`stops` has the systems and their workloads as data. `measured` runs them and puts the answers into
sentences. `report.tour` writes the page.
"""
