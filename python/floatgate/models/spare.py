"""The three names of the same thing: spare factor, over-provisioning, alpha.

With U blocks' worth of logical data on T blocks in service (a constant free reserve is not
counted): spare factor S_f = (T - U)/T, over-provisioning OP = (T - U)/U, alpha = T/U.
Data sheets and papers say "7 %" for either of the first two, and they differ.
"""

from __future__ import annotations

from .checks import check_alpha, check_between

# alpha = 1/(1 - S_f) must stay at or above 1 + 1e-9 after rounding, and stay finite.
_MIN_SPARE = 1.0000001e-9
_MAX_SPARE = 1.0 - 1e-9
_MAX_OVER_PROVISIONING = 1e9


def alpha_from_spare_factor(spare_factor: float) -> float:
    """Alpha = 1/(1 - S_f), a ratio. Range: S_f from 1e-9 to 1 - 1e-9; else ModelError."""
    check_between("spare factor", spare_factor, _MIN_SPARE, _MAX_SPARE)
    return 1.0 / (1.0 - spare_factor)


def alpha_from_over_provisioning(over_provisioning: float) -> float:
    """Alpha = 1 + OP, a ratio. Range: OP from 1e-9 to 1e9; else ModelError."""
    check_between("over-provisioning", over_provisioning, _MIN_SPARE, _MAX_OVER_PROVISIONING)
    return 1.0 + over_provisioning


def spare_factor_from_alpha(alpha: float) -> float:
    """S_f = (alpha - 1)/alpha, a share of the physical space. ModelError unless alpha > 1."""
    check_alpha(alpha)
    return (alpha - 1.0) / alpha


def over_provisioning_from_alpha(alpha: float) -> float:
    """OP = alpha - 1, relative to the logical space. ModelError unless alpha > 1."""
    check_alpha(alpha)
    return alpha - 1.0


def over_provisioning_from_spare_factor(spare_factor: float) -> float:
    """OP = S_f/(1 - S_f). Range as alpha_from_spare_factor."""
    check_between("spare factor", spare_factor, _MIN_SPARE, _MAX_SPARE)
    return spare_factor / (1.0 - spare_factor)


def spare_factor_from_over_provisioning(over_provisioning: float) -> float:
    """S_f = OP/(1 + OP). Range as alpha_from_over_provisioning."""
    check_between("over-provisioning", over_provisioning, _MIN_SPARE, _MAX_OVER_PROVISIONING)
    return over_provisioning / (1.0 + over_provisioning)
