"""Medians, spreads, and ratios of values that were taken in turn."""

from __future__ import annotations

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
    offered = samples["offered_mpps"]
    rows = samples[
        (samples["impl"] == impl)
        & (samples["variant"] == variant)
        & (samples["batch"] == batch)
        & (samples["backend"] == backend)
        & (samples["metric"] == metric)
        & (samples["ring_size"] == conditions.ring_size)
        & (samples["frame_size"] == conditions.frame_size)
        & (offered.isna() if conditions.offered_mpps is None else offered == conditions.offered_mpps)
    ]
    values: pd.Series[float] = rows.set_index("repeat")["value"].sort_index()
    return values


def paired_ratio(values: pd.Series[float], base: pd.Series[float]) -> Summary | None:
    """Ratio of values to base, repeat by repeat: what disturbed a repeat disturbed both."""
    both = values.index.intersection(base.index)
    divisor = base.loc[both]
    divisor = divisor[divisor > 0]
    return summarise(values.loc[divisor.index] / divisor)
