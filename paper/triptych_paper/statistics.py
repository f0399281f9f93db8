"""Medians, spreads, and ratios of values that were taken in turn."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import pandas as pd

from triptych_paper.records import USUAL, Conditions


@dataclass(frozen=True)
class Summary:
    """Several values of one thing."""

    median: float
    low: float
    """10th percentile."""
    high: float
    """90th percentile."""
    count: int


def summarise(values: pd.Series[float]) -> Summary | None:
    """Median and spread; None of nothing."""
    if values.empty:
        return None
    return Summary(
        median=float(values.median()),
        low=float(values.quantile(0.1)),
        high=float(values.quantile(0.9)),
        count=len(values),
    )


_KEY = ["impl", "variant", "batch", "backend", "metric", "ring_size", "frame_size"]
_groups: dict[int, tuple[weakref.ref[pd.DataFrame], dict[tuple[object, ...], pd.DataFrame]]] = {}


def rows(
    samples: pd.DataFrame,
    impl: str,
    variant: str,
    batch: int,
    backend: str,
    metric: str,
    conditions: Conditions = USUAL,
) -> pd.DataFrame:
    """Samples of one thing, by repeat."""
    offered = 0.0 if conditions.offered_mpps is None else conditions.offered_mpps
    key = (impl, variant, batch, backend, metric, conditions.ring_size, conditions.frame_size, offered)
    return _grouped(samples).get(key, samples.iloc[:0])


def _grouped(samples: pd.DataFrame) -> dict[tuple[object, ...], pd.DataFrame]:
    """All samples by what they are of; grouped once, since a report asks a thousand times."""
    known = _groups.get(id(samples))
    if known is not None and known[0]() is samples:
        return known[1]
    offered = samples["offered_mpps"].fillna(0.0)
    grouped = {key: group.sort_values("repeat") for key, group in samples.groupby([*_KEY, offered], sort=False)}
    place = id(samples)
    _groups[place] = (weakref.ref(samples, lambda _: _groups.pop(place, None)), grouped)
    return grouped


def select(
    samples: pd.DataFrame,
    impl: str,
    variant: str,
    batch: int,
    backend: str,
    metric: str,
    conditions: Conditions = USUAL,
) -> pd.Series[float]:
    """Values of one thing, by repeat."""
    values: pd.Series[float] = rows(samples, impl, variant, batch, backend, metric, conditions).set_index("repeat")[
        "value"
    ]
    return values


def paired_ratio(values: pd.Series[float], base: pd.Series[float]) -> Summary | None:
    """Ratio of values to base, repeat by repeat: what disturbed a repeat disturbed both."""
    both = values.index.intersection(base.index)
    divisor = base.loc[both]
    divisor = divisor[divisor > 0]
    return summarise(values.loc[divisor.index] / divisor)
