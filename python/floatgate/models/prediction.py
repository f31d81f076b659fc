"""All closed forms that apply to one device and one traffic, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

from floatgate.results.drawn import Shown

from .checks import ModelError
from .hotcold import PoolSplit, fifo_mixed, greedy_law, optimal_split, oracle_greedy_same_pool
from .spare import alpha_from_spare_factor, over_provisioning_from_alpha
from .uniform import agarwal_marrow, d_choices, fifo, greedy, greedy_desnoyers, random

_DESNOYERS = "Desnoyers, SYSTOR 2012"
_VAN_HOUDT = "Van Houdt, SIGMETRICS 2013"


@dataclass(frozen=True)
class PredictionRow:
    """Result of one closed form."""

    policy: str
    """Cleaning policy and placement of data, such as "fifo, one log"."""
    write_amplification: float
    """Data pages programmed per host page, at least 1."""
    source: str
    """Source of the formula."""
    assumption: str
    """Traffic and device that the formula assumes."""
    details: dict[str, float] = field(default_factory=dict)
    """Further results of the formula: the victim level and the mean number of valid pages in a
    victim, or alpha of the hot and of the cold pool."""


@dataclass(frozen=True, repr=False)
class Prediction(Shown):
    """Closed-form write amplification of one device under one traffic."""

    spare_factor: float
    """S_f, spare space relative to the physical space."""
    over_provisioning: float
    """OP, spare space relative to the logical space."""
    alpha: float
    """Physical space relative to the logical space."""
    pages_per_block: int
    """b, pages."""
    hot: tuple[float, float] | None
    """(r, f): share r of the writes goes to share f of the pages; None for uniform traffic."""
    rows: tuple[PredictionRow, ...]
    """Closed forms for uniform traffic, and then those for hot/cold traffic if `hot` was given."""

    def _headline(self) -> str:
        traffic = "uniform" if self.hot is None else f"hot {self.hot[0]:g} to {self.hot[1]:g}"
        return f"spare factor {self.spare_factor:g}, {traffic}: {len(self.rows)} closed forms"

    def to_dict(self) -> dict[str, object]:
        """Returns plain dictionaries, lists and numbers, for JSON."""
        hot = None if self.hot is None else {"writes": self.hot[0], "pages": self.hot[1]}
        return {
            "spare_factor": self.spare_factor,
            "over_provisioning": self.over_provisioning,
            "alpha": self.alpha,
            "pages_per_block": self.pages_per_block,
            "hot": hot,
            "rows": [
                {
                    "policy": row.policy,
                    "write_amplification": row.write_amplification,
                    "source": row.source,
                    "assumption": row.assumption,
                    "details": dict(row.details),
                }
                for row in self.rows
            ],
        }

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Returns headers and rows of text for a terminal table.

        Write amplification has four decimals.
        """
        headers = ["policy", "write amplification", "source", "assumption", "details"]
        rows = [
            [
                row.policy,
                f"{row.write_amplification:.4f}",
                row.source,
                row.assumption,
                ", ".join(f"{name} {value:.5g}" for name, value in row.details.items()),
            ]
            for row in self.rows
        ]
        return headers, rows


def predict(
    *,
    spare_factor: float = 0.07,
    pages_per_block: int = 128,
    hot: tuple[float, float] | None = None,
) -> Prediction:
    """Returns the results of all closed forms that apply to a device.

    They are for uniform traffic; with `hot` = (r, f), closed forms for hot/cold traffic follow.
    spare_factor is S_f = (T - U)/T, for U blocks of logical data on T blocks; it is from 1e-9 to
    1 - 1e-9. pages_per_block is an integer from 1 to 65536; r and f are from 1e-9 to 1 - 1e-9.
    Raises ModelError outside these ranges.
    """
    alpha = alpha_from_spare_factor(spare_factor)
    rows = _uniform_rows(alpha, pages_per_block)
    if hot is not None:
        rows += _hot_cold_rows(alpha, pages_per_block, *hot)
    return Prediction(
        spare_factor=spare_factor,
        over_provisioning=over_provisioning_from_alpha(alpha),
        alpha=alpha,
        pages_per_block=pages_per_block,
        hot=hot,
        rows=tuple(rows),
    )


def parse_hot(text: str) -> tuple[float, float]:
    """Reads "R/F" as the pair (r, f): both as shares ("0.9/0.1") or both in percent ("90/10").

    Raises ModelError for any other text. The closed forms check the range of r and f.
    """
    parts = text.split("/")
    try:
        r, f = (float(part) for part in parts)
    except ValueError:
        raise ModelError(f"hot is {text!r}, expected R/F such as 0.9/0.1 or 90/10") from None
    if 0.0 < r < 1.0 and 0.0 < f < 1.0:
        return r, f
    if 1.0 <= r < 100.0 and 1.0 <= f < 100.0:
        return r / 100.0, f / 100.0
    raise ModelError(f"hot is {text!r}, expected two shares below 1, or two percentages from 1")


def _uniform_rows(alpha: float, b: int) -> list[PredictionRow]:
    many = "uniform writes, many blocks"
    state = greedy(alpha, b)
    victim = {"victim level": float(state.level), "victim valid pages": state.mean_victim_valid}
    rows = [
        PredictionRow("random", random(alpha), _VAN_HOUDT, "any traffic, one write frontier"),
        PredictionRow("d-choices, d = 2", d_choices(alpha, b, 2), _VAN_HOUDT, many),
        PredictionRow("fifo", fifo(alpha), _DESNOYERS, f"{many}, any block size"),
        PredictionRow("d-choices, d = 10", d_choices(alpha, b, 10), _VAN_HOUDT, many),
        PredictionRow(
            "greedy", state.write_amplification, "Bux and Iliadis, 2010, limit", many, victim
        ),
        PredictionRow(
            "greedy, smooth level",
            greedy_desnoyers(alpha, b),
            _DESNOYERS,
            f"{many}, large blocks",
        ),
    ]
    estimate = agarwal_marrow(alpha)
    if estimate >= 1.0:
        rows.append(
            PredictionRow(
                "early estimate",
                estimate,
                "Agarwal and Marrow, 2010",
                "uniform writes, valid counts spread evenly",
            )
        )
    return rows


def _hot_cold_rows(alpha: float, b: int, r: float, f: float) -> list[PredictionRow]:
    mix = f"{100 * r:g} % of writes to {100 * f:g} % of pages"
    shared = f"{mix}, known classes, one cleaner, copies stay in their pool"
    sized = f"{mix}, known classes, pools of the best size, many blocks"
    rows = [
        PredictionRow("fifo, one log", fifo_mixed(alpha, r, f), _DESNOYERS, f"{mix}, many blocks")
    ]
    splits = [
        ("fifo, optimal split", optimal_split(alpha, r, f, fifo), _DESNOYERS, sized),
        (
            "greedy, separated, ties to hot",
            oracle_greedy_same_pool(alpha, b, r, f, "hot"),
            "derived in floatgate",
            shared,
        ),
        (
            "greedy, separated, ties to cold",
            oracle_greedy_same_pool(alpha, b, r, f, "cold"),
            "derived in floatgate",
            shared,
        ),
        (
            "greedy, optimal split",
            optimal_split(alpha, r, f, greedy_law(b)),
            _DESNOYERS,
            sized,
        ),
    ]
    rows += [
        PredictionRow(policy, split.write_amplification, source, assumption, _alphas(split))
        for policy, split, source, assumption in splits
    ]
    return rows


def _alphas(split: PoolSplit) -> dict[str, float]:
    """Returns a split's pool ratios, by their names in tables."""
    return {"alpha hot": split.alpha_hot, "alpha cold": split.alpha_cold}
