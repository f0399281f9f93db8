"""The cost ladder: the rungs in ``ladder.json``, which ``triptych ladder`` writes, and the steps between them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triptych_paper.drivers import Driver
from triptych_paper.errors import DataError
from triptych_paper.records import Run
from triptych_paper.schema import IMPLEMENTATIONS, Source
from triptych_paper.statistics import Summary, paired_difference, select, summarise

FILE = "ladder.json"


@dataclass(frozen=True)
class Rung:
    """A driver that differs from the rung below by one feature."""

    name: str
    driver: Driver
    title: str
    """The feature, in a few words."""
    adds: str
    """The feature, as a sentence."""
    shipped: bool
    """Whether this rung is the shipped safe driver."""
    alone: Driver | None
    """The shipped driver with only this feature removed or added, if that was built."""


@dataclass(frozen=True)
class Beside:
    """A variant of the shipped safe driver that is no rung. It is compared with the shipped driver."""

    driver: Driver
    title: str
    """What it does differently, in a few words."""


@dataclass(frozen=True)
class Step:
    """The cost of a rung."""

    rung: Rung
    value: Summary | None
    """Per packet; None if it was not measured."""
    added: Summary | None
    """Difference to the rung below, repeat by repeat; None at the bottom."""
    alone: Summary | None
    """Cost of the feature as the only difference to the shipped driver; None if that was not built."""


def read_beside(folder: Path) -> tuple[Beside, ...]:
    """Read the variants that a run measured beside the ladder; :class:`DataError` if malformed."""
    document = _document(folder)
    try:
        entries = document.get("beside", []) if document else []
        return tuple(Beside(Driver(entry["impl"], entry["variant"]), entry["title"]) for entry in entries)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder / FILE} is malformed: {error!r}") from None


def _document(folder: Path) -> dict[str, Any] | None:
    """Read the file of the ladder; None without a ladder."""
    path = folder / FILE
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    return document


def read_ladder(folder: Path) -> tuple[Rung, ...]:
    """Read the rungs of a run from the bottom; empty without a ladder, :class:`DataError` if malformed."""
    path, document = folder / FILE, _document(folder)
    if document is None:
        return ()
    try:
        rungs = tuple(_rung(entry) for entry in document["rungs"])
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is malformed: {error!r}") from None
    if len({rung.driver for rung in rungs}) != len(rungs) or sum(rung.shipped for rung in rungs) != 1:
        raise DataError(f"{path}: a rung is listed twice, or the number of shipped drivers is not 1")
    return rungs


def _rung(entry: dict[str, object]) -> Rung:
    impl, shipped = entry["impl"], entry["shipped"]
    if impl not in IMPLEMENTATIONS:
        raise ValueError(f"impl {impl!r} is unknown; the valid names are {', '.join(IMPLEMENTATIONS)}")
    if not isinstance(shipped, bool):
        raise TypeError(f"shipped is {shipped!r}, neither true nor false")
    driver = Driver(str(impl), str(entry["variant"]))
    variant = entry["alone"]
    alone = Driver(str(impl), str(variant)) if variant is not None else None
    return Rung(str(entry["name"]), driver, str(entry["title"]), str(entry["adds"]), shipped, alone)


def difference(run: Run, driver: Driver, base: Driver, batch: int, source: Source) -> Summary | None:
    """Subtract one driver's value from another's, repeat by repeat; None if one is missing."""
    values, theirs = (select(run.samples, each, batch, source) for each in (driver, base))
    return paired_difference(values, theirs)


def steps(run: Run, rungs: tuple[Rung, ...], batch: int, source: Source) -> tuple[Step, ...]:
    """Return all rungs from the bottom. A rung above one without values has no difference."""
    found = []
    shipped = next(place for place, rung in enumerate(rungs) if rung.shipped)
    for place, rung in enumerate(rungs):
        value = summarise(select(run.samples, rung.driver, batch, source))
        below = rungs[place - 1].driver if place else None
        added = difference(run, rung.driver, below, batch, source) if below else None
        alone = None
        if place in (shipped, shipped + 1):
            # These two rungs differ from a neighbour by one feature only.
            alone = added
        elif rung.alone:
            itself = rungs[shipped].driver
            having, without = (rung.alone, itself) if place > shipped else (itself, rung.alone)
            alone = difference(run, having, without, batch, source)
        found.append(Step(rung, value, added, alone))
    return tuple(found)


def total(added: tuple[Step, ...]) -> float | None:
    """Sum the differences of these rungs; None if one of them is missing."""
    known = [step.added.median for step in added if step.added]
    return sum(known) if known and len(known) == len(added) else None
