"""Closed-form models of write amplification and of demand-paged mapping, in plain `math`."""

from .checks import ModelError
from .dftl import (
    MapTraffic,
    average_translation_time,
    map_traffic,
    map_traffic_per_access,
    uniform_hit_ratio,
)
from .hotcold import (
    Law,
    PoolSplit,
    fifo_mixed,
    greedy_desnoyers_law,
    greedy_law,
    optimal_split,
    oracle_greedy_same_pool,
    separate_pools,
)
from .numeric import lambert_w0
from .prediction import Prediction, PredictionRow, parse_hot, predict
from .spare import (
    alpha_from_over_provisioning,
    alpha_from_spare_factor,
    over_provisioning_from_alpha,
    over_provisioning_from_spare_factor,
    spare_factor_from_alpha,
    spare_factor_from_over_provisioning,
)
from .uniform import (
    GreedyState,
    agarwal_marrow,
    d_choices,
    fifo,
    greedy,
    greedy_desnoyers,
    random,
)

__all__ = [
    "GreedyState",
    "Law",
    "MapTraffic",
    "ModelError",
    "PoolSplit",
    "Prediction",
    "PredictionRow",
    "agarwal_marrow",
    "alpha_from_over_provisioning",
    "alpha_from_spare_factor",
    "average_translation_time",
    "d_choices",
    "fifo",
    "fifo_mixed",
    "greedy",
    "greedy_desnoyers",
    "greedy_desnoyers_law",
    "greedy_law",
    "lambert_w0",
    "map_traffic",
    "map_traffic_per_access",
    "optimal_split",
    "oracle_greedy_same_pool",
    "over_provisioning_from_alpha",
    "over_provisioning_from_spare_factor",
    "parse_hot",
    "predict",
    "random",
    "separate_pools",
    "spare_factor_from_alpha",
    "spare_factor_from_over_provisioning",
    "uniform_hit_ratio",
]
