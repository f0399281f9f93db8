"""Medians, their 95 % intervals, and ratios of values that were taken in the same round."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

ENOUGH = 5
"""Fewer noisy values than this have no interval."""

RESAMPLES = 2000
"""Resamples of the bootstrap. Large cells have fewer of them, so that a table takes seconds."""

LARGEST, LEAST_RESAMPLES = 1_000_000, 500

SEED = 20260101
"""Equal values give equal intervals, in every run of the program."""

APART = 0.1
"""Two groups of processes are two states if their medians differ by at least this share."""


Operator = Callable[["pd.Series[float]", "pd.Series[float]"], "pd.Series[float]"]


@dataclass(frozen=True)
class Summary:
    """The median of several values of one quantity, with its 95 % interval."""

    median: float
    low: float | None
    """The ends of the interval; None without one. Of a value without noise, both are the median."""
    high: float | None
    p10: float
    p90: float
    count: int
    processes: int
    states: tuple[float, ...] = ()
    """The medians of two groups of processes that differ too much to be one state; otherwise empty."""

    @property
    def exact(self) -> bool:
        """Whether the value has no noise."""
        return self.low == self.high == self.median

    def changed(self, function: Callable[[float], float]) -> Summary:
        """Apply a monotonic function, such as a change of unit, to the median and its interval."""
        ends = [None if end is None else function(end) for end in (self.low, self.high)]
        low, high = ends if None in ends else sorted(end for end in ends if end is not None)
        p10, p90 = sorted((function(self.p10), function(self.p90)))
        states = tuple(map(function, self.states))
        return Summary(function(self.median), low, high, p10, p90, self.count, self.processes, states)


def summarise(values: pd.DataFrame, exact: bool = False) -> Summary | None:
    """Summarise samples with the columns `process` and `value`; None without any.

    With `exact` the values have no noise, so the interval is the median itself.
    """
    if values.empty:
        return None
    numbers = values["value"].to_numpy(dtype=float)
    median = float(np.median(numbers))
    p10, p90 = (float(end) for end in np.quantile(numbers, (0.1, 0.9)))
    processes = values["process"].to_numpy()
    count = len(np.unique(processes))
    if exact:
        low, high = median, median
    elif len(numbers) < ENOUGH:
        return Summary(median, None, None, p10, p90, len(numbers), count)
    else:
        low, high = _interval(numbers, processes)
    states = _states(numbers, processes)
    return Summary(median, low, high, p10, p90, len(numbers), count, states)


def _interval(numbers: np.ndarray, processes: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the median by a hierarchical bootstrap: over processes first, then over rounds."""
    _, place, sizes = np.unique(processes, return_inverse=True, return_counts=True)
    table = np.zeros((len(sizes), sizes.max()))
    for process in range(len(sizes)):
        table[process, : sizes[process]] = numbers[place == process]
    rounds = math.ceil(sizes.mean())
    resamples = int(np.clip(LARGEST // (rounds * len(sizes)), LEAST_RESAMPLES, RESAMPLES))
    random = np.random.default_rng(SEED)
    chosen = random.integers(len(sizes), size=(resamples, len(sizes), 1))
    index = (random.random((resamples, len(sizes), rounds)) * sizes[chosen]).astype(int)
    medians = np.median(table[chosen, index].reshape(resamples, -1), axis=1)
    low, high = np.quantile(medians, (0.025, 0.975))
    return float(low), float(high)


def _states(numbers: np.ndarray, processes: np.ndarray) -> tuple[float, ...]:
    """Return the medians of two groups of processes, if the gap between the groups is wider than either of them."""
    medians = sorted(float(np.median(numbers[processes == process])) for process in np.unique(processes))
    if len(medians) < 4:
        return ()
    gap, cut = max((upper - lower, place) for place, (lower, upper) in enumerate(pairwise(medians), start=1))
    groups = medians[:cut], medians[cut:]
    wide = max(group[-1] - group[0] for group in groups)
    if min(map(len, groups)) < 2 or gap <= wide or gap < APART * float(np.median(medians)):
        return ()
    return tuple(float(np.median(group)) for group in groups)


def paired(values: pd.DataFrame, base: pd.DataFrame, operator: Operator) -> pd.DataFrame:
    """Combine the values of two drivers in the same round of the same process.

    A disturbance of a whole round changes both, so it cancels.
    """
    on = ["process", "repeat"]
    if np.array_equal(values[on], base[on]):
        # The same rounds, as drivers of one run have them, need no join, which is slow.
        both = values.assign(value_base=base["value"].to_numpy())
    else:
        both = values.merge(base, on=on, suffixes=("", "_base"))
    found = operator(both["value"], both["value_base"])
    return both.assign(value=found)[np.isfinite(found)]


def ratio(values: pd.Series[float], base: pd.Series[float]) -> pd.Series[float]:
    """Divide; for :func:`paired`."""
    return values / base.where(base != 0)


def difference(values: pd.Series[float], base: pd.Series[float]) -> pd.Series[float]:
    """Subtract; for :func:`paired`."""
    return values - base
