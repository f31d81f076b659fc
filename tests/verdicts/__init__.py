"""Evidence made by hand for every claim of every paper, with the verdict that its sentence has."""

from floatgate.papers.paper import HOLDS
from floatgate.papers.verdicts import AT_ONE, EVERYWHERE

HELD = (EVERYWHERE, AT_ONE[HOLDS])
"""Verdicts on a domain, of one point or more, with evidence of which a claim holds."""
