"""Rules for refusing a fit, fixed before any fit was seen."""

from __future__ import annotations

from .fit import Fit

ERROR_MOST = 0.25
"""Maximum error (rms); a drive with a larger error explains nothing."""
POOR_ERROR = 0.10
"""Above this error, a fit must have its values inside the ranges, and must beat the null model."""
NOISE_TIMES = 3.0
"""Both limits are at least this multiple of the noise between repeated runs."""


def why_refused(fit: Fit, null: float | None, null_model: str) -> str | None:
    """Returns why the fitted drive explains nothing; None for an accepted fit.

    `null` is the error of the null model on the same runs; `null_model` describes this model.
    """
    least = NOISE_TIMES * fit.noise
    error = f"the drive differs from the data by {_percent(fit.error)} (rms)"
    if fit.error > max(ERROR_MOST, least):
        return (
            f"{error}, more than {_percent(max(ERROR_MOST, least))}; fit other keys, or begin "
            "with a drive that is more like the one that was measured"
        )
    if all(one.is_idle for one in fit.fitted):
        names = ", ".join(one.key.name for one in fit.fitted)
        return (
            f"the data do not fix {names}: every value of the range explains them as well; fit "
            "another key, or use other runs"
        )
    if fit.error <= max(POOR_ERROR, least):
        return None
    for one in fit.fitted:
        if one.is_at_end:
            text, ends = one.key.text, f"{one.key.text(one.key.low)}..{one.key.text(one.key.high)}"
            return (
                f"{error}, and {one.key.name} = {text(one.value)} is an end of its range, {ends}; "
                f"search further (--fit {one.key.name}=LOW..HIGH), or fit another key"
            )
    if null is not None and fit.error >= null:
        return f"{error}; {null_model} does as well, with {_percent(null)}; fit other keys"
    return None


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
