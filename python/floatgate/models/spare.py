"""Three names for the spare of a drive: spare factor, over-provisioning and alpha.

Let U blocks' worth of logical data lie on T blocks in service (without a constant free reserve).
Spare factor S_f = (T - U)/T, over-provisioning OP = (T - U)/U, alpha = T/U. Data sheets and papers
write "7 %" for either of the first two, which differ.
"""

from __future__ import annotations

from .checks import check_alpha, check_between

# alpha = 1/(1 - S_f) must be at least 1 + 1e-9 after rounding, and finite.
_MIN_SPARE = 1.0000001e-9
_MAX_SPARE = 1.0 - 1e-9
_MAX_OVER_PROVISIONING = 1e9


def alpha_from_spare_factor(spare_factor: float) -> float:
    """Returns alpha = 1/(1 - S_f), a ratio. Range: S_f from 1e-9 to 1 - 1e-9; else ModelError."""
    check_between("spare factor", spare_factor, _MIN_SPARE, _MAX_SPARE)
    return 1.0 / (1.0 - spare_factor)


def alpha_from_over_provisioning(over_provisioning: float) -> float:
    """Returns alpha = 1 + OP, a ratio. Range: OP from 1e-9 to 1e9; else ModelError."""
    check_between("over-provisioning", over_provisioning, _MIN_SPARE, _MAX_OVER_PROVISIONING)
    return 1.0 + over_provisioning


def spare_factor_from_alpha(alpha: float) -> float:
    """Returns S_f = (alpha - 1)/alpha, a share of physical space; alpha > 1, else ModelError."""
    check_alpha(alpha)
    return (alpha - 1.0) / alpha


def over_provisioning_from_alpha(alpha: float) -> float:
    """Returns OP = alpha - 1, relative to the logical space; alpha > 1, else ModelError."""
    check_alpha(alpha)
    return alpha - 1.0


def over_provisioning_from_spare_factor(spare_factor: float) -> float:
    """Returns OP = S_f/(1 - S_f). Range as alpha_from_spare_factor."""
    check_between("spare factor", spare_factor, _MIN_SPARE, _MAX_SPARE)
    return spare_factor / (1.0 - spare_factor)


def spare_factor_from_over_provisioning(over_provisioning: float) -> float:
    """Returns S_f = OP/(1 + OP). Range as alpha_from_over_provisioning."""
    check_between("over-provisioning", over_provisioning, _MIN_SPARE, _MAX_OVER_PROVISIONING)
    return over_provisioning / (1.0 + over_provisioning)
