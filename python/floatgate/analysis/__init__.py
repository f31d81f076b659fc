"""Analyses of workloads and of drives: hot data, the map's hit ratios, loss of power, data sheets,
preconditioning.
"""
