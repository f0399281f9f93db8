"""The cost ladder: ``ladder.json`` of a results folder, which ``triptych ladder`` writes, and the steps on it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from triptych_paper.lookup import Driver
from triptych_paper.records import IMPLEMENTATIONS, DataError, Run
from triptych_paper.statistics import Summary, select, summarise

FILE = "ladder.json"


@dataclass(frozen=True)
class Rung:
    """A driver that is the one below it and one thing more."""

    name: str
    driver: Driver
    title: str
    """What it adds, in some words."""
    adds: str
    """The same as a sentence."""
    shipped: bool
    """Whether it is the safe driver as it is shipped."""
    alone: Driver | None
    """The shipped driver but for this one thing, if that was built."""


@dataclass(frozen=True)
class Step:
    """What a rung is, and what it adds to the one below."""

    rung: Rung
    value: Summary | None
    """Per packet; None if it was not measured."""
    added: Summary | None
    """Against the rung below, repeat by repeat; None at the bottom."""
    alone: Summary | None
    """What it adds to the shipped driver without it, or to the shipped driver; None if it cannot be alone."""


def read_ladder(folder: Path) -> tuple[Rung, ...]:
    """Read the rungs of a run from the bottom; none if it measured none, :class:`DataError` if malformed."""
    path = folder / FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    try:
        rungs = tuple(_rung(entry) for entry in document["rungs"])
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is malformed: {error!r}") from None
    if len({rung.driver for rung in rungs}) != len(rungs) or sum(rung.shipped for rung in rungs) != 1:
        raise DataError(f"{path}: a rung is listed twice, or not exactly one is the shipped driver")
    return rungs


def _rung(entry: dict[str, object]) -> Rung:
    impl, shipped = entry["impl"], entry["shipped"]
    if impl not in IMPLEMENTATIONS:
        raise ValueError(f"{impl!r} is none of {', '.join(IMPLEMENTATIONS)}")
    if not isinstance(shipped, bool):
        raise TypeError(f"shipped is {shipped!r}, neither true nor false")
    driver = Driver(str(impl), str(entry["variant"]))
    variant = entry["alone"]
    alone = Driver(str(impl), str(variant)) if variant is not None else None
    return Rung(str(entry["name"]), driver, str(entry["title"]), str(entry["adds"]), shipped, alone)


def difference(run: Run, driver: Driver, base: Driver, batch: int, metric: str, backend: str) -> Summary | None:
    """One driver's value less another's, repeat by repeat: what disturbed a repeat disturbed both."""
    values, theirs = _values(run, driver, batch, metric, backend), _values(run, base, batch, metric, backend)
    both = values.index.intersection(theirs.index)
    return summarise(values.loc[both] - theirs.loc[both])


def steps(run: Run, rungs: tuple[Rung, ...], batch: int, metric: str, backend: str) -> tuple[Step, ...]:
    """All rungs, from the bottom. A rung above one that was not measured has nothing to be compared with."""
    found = []
    shipped = next(place for place, rung in enumerate(rungs) if rung.shipped)
    for place, rung in enumerate(rungs):
        value = summarise(_values(run, rung.driver, batch, metric, backend))
        below = rungs[place - 1].driver if place else None
        added = difference(run, rung.driver, below, batch, metric, backend) if below else None
        alone = None
        if place in (shipped, shipped + 1):
            # Nothing else was changed before it.
            alone = added
        elif rung.alone:
            itself = rungs[shipped].driver
            having, without = (rung.alone, itself) if place > shipped else (itself, rung.alone)
            alone = difference(run, having, without, batch, metric, backend)
        found.append(Step(rung, value, added, alone))
    return tuple(found)


def total(added: tuple[Step, ...]) -> float | None:
    """Sum of what these rungs add; None if one of them is not known."""
    known = [step.added.median for step in added if step.added]
    return sum(known) if known and len(known) == len(added) else None


def _values(run: Run, driver: Driver, batch: int, metric: str, backend: str) -> pd.Series[float]:
    return select(run.samples, driver.impl, driver.variant, batch, backend, metric)
