"""Groups of MiDAS, without NumPy, whose import would delay a list of policies."""

from __future__ import annotations

import math
from dataclasses import dataclass

GROUPS = 6
"""Maximum number of groups, including the hot group."""

NEVER = (1 << 63) - 1
"""Time that does not come, the largest 64-bit integer."""


@dataclass(frozen=True)
class Plan:
    """Groups, with the predictions of the model.

    Group 0 is the hot group, group 1 the chain's first.
    """

    hot: int
    """Update intervals below this time are short; 0 means that there is no hot group."""
    sizes: tuple[float, ...]
    """Sizes of all groups except the last, which has the remaining space. A hot group that does not
    exist has size 0.
    """
    valid: tuple[float, ...]
    """Predicted share of valid pages of a unit of each group when it is cleaned."""
    copies: float
    """Predicted pages copied for each page of the host."""

    def merged(self, group: int) -> Plan:
        """Returns the plan with this group and all later ones merged.

        The merged group has no prediction.
        """
        valid = (*self.valid[:group], 1.0)
        return Plan(self.hot if group else 0, self.sizes[:group], valid, math.inf)


ONE_GROUP = Plan(0, (0.0,), (0.0, 1.0), math.inf)
"""No hot group, and a chain of one group."""


@dataclass(frozen=True)
class Space:
    """Space of a drive for the model."""

    valid: int
    """Pages that hold data."""
    units: int
    """Erase units in use, including open units."""
    pages_per_unit: int

    def of(self, groups: int) -> float:
        """Returns the pages for `groups` groups;
        the open unit of each group is taken as half full.
        """
        return (self.units - groups / 2) * self.pages_per_unit
