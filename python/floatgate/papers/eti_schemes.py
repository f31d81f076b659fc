"""The schemes of the ETI paper's figures, and those beside them."""

from __future__ import annotations

from .eti_runs import SIZES, Scheme

SEPARATE, BLOOM, COUNT, OTHER, BOUND = "ETI", "MBF", "MHF", "other", "bound"

HASHES = ("crc32", "crc32_halves", "crc16")
MBF = tuple(f"mbf-{n}" for n in (1, 2, 3))
MHF = tuple(f"mhf-{n}" for n in (1, 2, 3))

FIGURE_4 = (
    Scheme("single", "no separation", OTHER, "single"),
    Scheme("eti", "ETI", SEPARATE, "eti"),
    *(
        Scheme(key, f"MBF, {hashes}", BLOOM, "mbf", {"mbf.hashes": hashes})
        for key, hashes in zip(MBF, HASHES, strict=True)
    ),
    *(
        Scheme(key, f"MHF, {hashes}", COUNT, "mhf", {"mhf.hashes": hashes})
        for key, hashes in zip(MHF, HASHES, strict=True)
    ),
    Scheme("direct", "a counter per page", OTHER, "direct"),
    Scheme("length", "short writes are hot", OTHER, "length"),
    Scheme("lru_lists", "two LRU lists", OTHER, "lru_lists"),
    Scheme("oracle", "oracle, 16 streams", BOUND, "oracle"),
)

SENSITIVITY = (
    Scheme("eti-alpha-90", "ETI, alpha 90%", SEPARATE, "eti", {"eti.alpha_percent": "90"}),
    Scheme("eti-alpha-80", "ETI, alpha 80%", SEPARATE, "eti", {"eti.alpha_percent": "80"}),
    Scheme("eti-beta-3", "ETI, beta 3", SEPARATE, "eti", {"eti.beta": "3"}),
    Scheme("eti-beta-2", "ETI, beta 2", SEPARATE, "eti", {"eti.beta": "2"}),
)

LONG = "65536"

READINGS = (
    Scheme("eti-long", "ETI, period 65,536", SEPARATE, "eti", {"eti.decay_period": LONG}),
    Scheme(
        "direct-long", "a counter, period 65,536", OTHER, "direct", {"direct.decay_period": LONG}
    ),
    Scheme("eti-pages", "ETI, ageing by pages", SEPARATE, "eti", {"eti.decay_unit": "pages"}),
    Scheme(
        "eti-cold", "ETI, copies to cold", SEPARATE, "eti", {"placement.gc_destination": "cold"}
    ),
    Scheme("mbf-newest", "MBF, newest first", BLOOM, "mbf", {"mbf.insert": "newest_first"}),
    Scheme("mhf-least", "MHF, conservative", COUNT, "mhf", {"mhf.conservative": "true"}),
)
"""Other readings of what the paper leaves open."""

PLACEMENTS = (
    *("single", "eti", "mbf", "mhf", "direct", "length", "lru_lists", "wdac"),
    *("asa", "dac", "sepbit", "autostream", "oracle"),
)
EVERY = tuple(Scheme(name, name, OTHER, name) for name in PLACEMENTS)
VICTIMS = ("greedy", "cost_benefit")

FACTORS = (2, 4)


def larger_filters(variants: int) -> tuple[Scheme, ...]:
    """MBF with two and four times the bits, of so many hash variants."""
    return tuple(
        Scheme(
            f"{key}-x{factor}",
            f"MBF, {hashes}, {factor} times the bits",
            BLOOM,
            "mbf",
            {"mbf.hashes": hashes, "mbf.bits": str(factor * SIZES["mbf.bits"])},
        )
        for key, hashes in list(zip(MBF, HASHES, strict=True))[:variants]
        for factor in FACTORS
    )
