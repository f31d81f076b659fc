"""Handmade evidence for every claim of every paper, with the verdict that each claim must get."""

from floatgate.papers.kit.paper import HOLDS
from floatgate.papers.kit.verdicts import AT_ONE, EVERYWHERE

HELD = (EVERYWHERE, AT_ONE[HOLDS])
"""Verdicts on a domain of one or more points that mean that the claim holds."""
