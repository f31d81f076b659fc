"""Questions about the five on one drive, worded as claims so that they can fail. None is from a
paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from floatgate.papers.kit.claims import At, Claim, Values, change, in_points, own
from floatgate.papers.kit.measures import EFFECT, Of, difference, relative
from floatgate.papers.kit.verdicts import Region

from . import domain
from .reduce import Point

WORTH = 0.05
"""Minimum gain that is worth its cost: a twentieth of the programs, or of the waiting time. Near
15 % spare space, 1 % more flash gains as much (uniform writes, closed form)."""
LARGE = 0.2
POINT = 0.01
"""The smallest difference in hits that the NCQ paper prints."""
NEAR = 0.1
"""Largest difference that counts as "close", as for the papers."""
HALF = 0.5
WA = "write_amplification"

Lines = tuple[str, ...]
Value = Callable[[At[Point], str], Values]
"""Measures the deciding value on a workload."""


@dataclass(frozen=True)
class Question:
    """A claim without its workloads."""

    key: str
    text: str
    asked: str
    """The claimed number, in short."""
    lines: Lines
    value: Value
    region: Region
    axes: tuple[str, ...] = ()
    said: Callable[[float], str] = change
    of_pairs: bool = False
    """Whether the question is about pairs. It then has no points for readings of its lines, and
    only a full reproduction asks it."""


def change_of(
    number: str, line: str, base: str, compare: Callable[[str, str, str], Of[Point]] = relative
) -> tuple[Lines, Value]:
    of = compare(number, line, base)
    return (base, line), lambda at, work: {"": of(at, work)}


PLACEMENTS = {"ETI": domain.ETI, "ASA": domain.ASA}


def against_placements(line: str) -> tuple[Lines, Value]:
    of: dict[str, Of[Point]] = {name: relative(WA, line, key) for name, key in PLACEMENTS.items()}
    return (line, *PLACEMENTS.values()), lambda at, work: {name: of[name](at, work) for name in of}


def interaction(base: float, one: float, other: float, both: float) -> float:
    """Returns a pair's factor over the product of its parts' factors, less 1."""
    return both * base / (one * other) - 1


def interactions(at: At[Point], work: str) -> Values:
    values = {}
    for pair in domain.PAIRS:
        one, other = pair.key.split("+")
        values[pair.label] = interaction(
            *(at(work, key).write_amplification for key in (domain.BASE, one, other, pair.key))
        )
    return values


_SINGLES = tuple(dict.fromkeys(part for pair in domain.PAIRS for part in pair.key.split("+")))

QUESTIONS = (
    *(
        Question(
            line,
            f"{name} placement lowers write amplification by 5% at least",
            "\N{MINUS SIGN}5%",
            *change_of(WA, line, domain.BASE),
            Region(high=-WORTH),
            ("spare",),
        )
        for name, line in PLACEMENTS.items()
    ),
    Question(
        "oracle",
        "Knowing lifetimes lowers write amplification by 20% at least: there is something to gain",
        "\N{MINUS SIGN}20%",
        *change_of(WA, domain.ORACLE, domain.BASE),
        Region(high=-LARGE),
    ),
    Question(
        "spare",
        "28% spare space lowers write amplification more than either placement does with 15%",
        "less",
        *against_placements(domain.SPARE_28),
        Region(high=-EFFECT),
    ),
    Question(
        "buffer",
        "A buffer of 1 MiB lowers write amplification more than either placement does",
        "less",
        *against_placements(domain.LRU),
        Region(high=-EFFECT),
    ),
    Question(
        "cached-map",
        "A cache of an eighth costs 10% of write amplification at most, over the whole map",
        "+10%",
        *change_of(WA, domain.DFTL, domain.BASE),
        Region(high=NEAR),
    ),
    Question(
        "map-bound",
        "The best victims of the map cache lower DFTL's write amplification by 5% at least",
        "\N{MINUS SIGN}5%",
        *change_of(WA, domain.BELADY_MAP, domain.DFTL),
        Region(high=-WORTH),
    ),
    Question(
        "tlllp-hits",
        "TLLLP finds as many map entries as DFTL in the same bytes",
        "as many",
        *change_of("map_hits", domain.TLLLP, domain.DFTL, difference),
        Region(low=-EFFECT),
        said=in_points,
    ),
    Question(
        "tlllp-reads",
        "TLLLP answers reads as soon as DFTL in the same bytes, on average",
        "as soon",
        *change_of("read_mean_us", domain.TLLLP, domain.DFTL),
        Region(high=EFFECT),
    ),
    Question(
        "ncq-writes",
        "The NCQ-aware buffer leads to no more write amplification than LRU of the same bytes",
        "no more",
        *change_of(WA, domain.NCQ, domain.LRU),
        Region(high=EFFECT),
        ("arrivals",),
    ),
    Question(
        "ncq-hits",
        "The NCQ-aware buffer has a point more of hits than LRU of the same bytes",
        "+1 point",
        *change_of("buffer_hits", domain.NCQ, domain.LRU, difference),
        Region(low=POINT),
        ("arrivals",),
        in_points,
    ),
    Question(
        "shrd-map",
        "SHRD halves the map traffic of the same map cache",
        "\N{MINUS SIGN}50%",
        *change_of("map_traffic", domain.SHRD_CACHED, domain.PAGES),
        Region(high=-HALF),
        ("arrivals",),
    ),
    Question(
        "shrd-reads",
        "SHRD with a cached map answers reads within 10% of the whole map in memory, on average",
        "+10%",
        *change_of("read_mean_us", domain.SHRD_CACHED, domain.BASE),
        Region(high=NEAR),
    ),
    Question(
        "sum",
        "What two mechanisms do together is what each does alone: within 5% for every pair",
        "\N{PLUS-MINUS SIGN}5%",
        (domain.BASE, *_SINGLES, *(pair.key for pair in domain.PAIRS)),
        interactions,
        Region(-WORTH, WORTH),
        of_pairs=True,
    ),
)


def claims_of(families: Sequence[str], full: bool) -> Iterator[Claim[Point]]:
    for question in (one for one in QUESTIONS if full or not one.of_pairs):
        for family in families:
            yield _claim(question, family)


WHERE = {domain.SYNTHETIC: "synthetic loads", domain.RECORDED: "traces"}


def _claim(question: Question, family: str) -> Claim[Point]:
    axis, work = domain.BY_WORKLOAD[family], domain.ANY[family]
    read = () if question.of_pairs else domain.READ

    def measure(at: At[Point]) -> Values:
        values = question.value(at, work)
        return {
            f"{at.levels[axis]}, {of}" if of else at.levels[axis]: v for of, v in values.items()
        }

    return Claim(
        f"{question.key}-{family}",
        question.text,
        own(f"on {WHERE[family]}", question.asked),
        (axis, *question.axes, *(key for key in question.lines if key in read)),
        (work,),
        question.lines,
        measure,
        question.region,
        question.said,
    )
