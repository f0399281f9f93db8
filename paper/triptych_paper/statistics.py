"""Medians, spreads, and ratios of values that were taken in turn."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass

import pandas as pd

from triptych_paper.conditions import DEFAULT_CONDITIONS, Conditions
from triptych_paper.drivers import Driver
from triptych_paper.schema import MODEL, Source


@dataclass(frozen=True)
class Summary:
    """The median and the spread of several values of one quantity."""

    median: float
    low: float
    """10th percentile."""
    high: float
    """90th percentile."""
    count: int
    """Number of values, at least 1."""


def summarise(values: pd.Series[float]) -> Summary | None:
    """Compute median and spread; None without values."""
    if values.empty:
        return None
    if len(values) == 1:
        value = float(values.iloc[0])
        return Summary(value, value, value, 1)
    return Summary(
        median=float(values.median()),
        low=float(values.quantile(0.1)),
        high=float(values.quantile(0.9)),
        count=len(values),
    )


_KEY = ["impl", "variant", "batch", "backend", "metric", "ring_size", "frame_size", "queues", "waiting", "cpu"]
_groups: dict[int, tuple[weakref.ref[pd.DataFrame], dict[tuple[object, ...], pd.DataFrame]]] = {}


def rows(
    samples: pd.DataFrame, driver: Driver, batch: int, source: Source, conditions: Conditions = DEFAULT_CONDITIONS
) -> pd.DataFrame:
    """Return the samples of one quantity, in the order of their repeats.

    A model writes counts that no clock or processor changes once, without clock or processor.
    """
    offered = 0.0 if conditions.offered_mpps is None else conditions.offered_mpps
    sizes = (conditions.ring_size, conditions.frame_size, conditions.queues, conditions.waiting)
    key = (driver.impl, driver.variant, batch, source.backend, source.metric.name, *sizes)
    grouped = _grouped(samples)
    for cpu, clock in dict.fromkeys(((source.cpu, source.clock_ghz), (source.cpu, None), ("", None))):
        found = grouped.get((*key, cpu, offered, clock or 0.0))
        if found is not None:
            return found
    return samples.iloc[:0]


def _grouped(samples: pd.DataFrame) -> dict[tuple[object, ...], pd.DataFrame]:
    """Group all samples by quantity. A report asks a thousand times, so the groups are kept."""
    known = _groups.get(id(samples))
    if known is not None and known[0]() is samples:
        return known[1]
    numbers = [samples[column].fillna(0.0) for column in ("offered_mpps", "clock_ghz")]
    grouped = {key: group.sort_values("repeat") for key, group in samples.groupby([*_KEY, *numbers], sort=False)}
    place = id(samples)
    _groups[place] = (weakref.ref(samples, lambda _: _groups.pop(place, None)), grouped)
    return grouped


_processors: dict[int, tuple[weakref.ref[pd.DataFrame], dict[str, dict[str, list[float]]]]] = {}


def processors(samples: pd.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Return the clocks of each modelled processor, by metric, in the order of the samples. They are kept, too."""
    known = _processors.get(id(samples))
    if known is not None and known[0]() is samples:
        return known[1]
    found: dict[str, dict[str, list[float]]] = {}
    modelled = samples[samples["backend"] == MODEL][["metric", "cpu", "clock_ghz"]].drop_duplicates()
    for metric, cpu, clock in modelled.itertuples(index=False, name=None):
        clocks = found.setdefault(str(metric), {})
        if cpu:
            clocks.setdefault(str(cpu), []).extend([] if math.isnan(clock) else [float(clock)])
    place = id(samples)
    _processors[place] = (weakref.ref(samples, lambda _: _processors.pop(place, None)), found)
    return found


def select(
    samples: pd.DataFrame, driver: Driver, batch: int, source: Source, conditions: Conditions = DEFAULT_CONDITIONS
) -> pd.Series[float]:
    """Return the values of one quantity, by repeat."""
    values: pd.Series[float] = rows(samples, driver, batch, source, conditions).set_index("repeat")["value"]
    return values


def paired_ratio(values: pd.Series[float], base: pd.Series[float]) -> Summary | None:
    """Divide values by base, repeat by repeat, so that a disturbance of a repeat cancels."""
    both = values.index.intersection(base.index)
    divisor = base.loc[both]
    divisor = divisor[divisor > 0]
    return summarise(values.loc[divisor.index] / divisor)


def paired_difference(values: pd.Series[float], base: pd.Series[float]) -> Summary | None:
    """Subtract base from values, repeat by repeat, so that a disturbance of a repeat cancels."""
    both = values.index.intersection(base.index)
    return summarise(values.loc[both] - base.loc[both])
