"""What published figures and our backends count: ``paper/quantities.toml``.

Two values compare only if they count the same unit, at the same level, in the same scope.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from triptych_paper.errors import DataError
from triptych_paper.schema import BACKENDS, metrics

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

QUANTITIES = Path(__file__).parents[1] / "quantities.toml"

ASPECTS = ("unit", "level", "scope")
"""The ways in which two counts of the same name can differ."""

SOURCES = "sources"
"""Stands in place of a backend for lines of code."""

CODE = ("lines", "unsafe_lines")
"""Quantities that are no metrics."""

LATENCY = "latency"
"""The one table for all percentiles of the latency."""

REAL_CARD = "real card"
"""The kind of card (:func:`triptych_paper.facts.card`) with which perf and wall count what was published."""


@dataclass(frozen=True)
class Difference:
    """An aspect in which a backend counts something else than the published figures."""

    aspect: str
    """One of :data:`ASPECTS`."""
    published: str
    here: str

    def __str__(self) -> str:
        """Name both sides: the published one as `there`."""
        return f"{self.aspect}: {self.published} there, {self.here} here"


@dataclass(frozen=True)
class Quantity:
    """What a published figure counts, and what each backend counts differently."""

    published: dict[str, str]
    """By aspect."""
    backends: dict[str, dict[str, str]]
    """The aspects that differ, by backend."""

    def differences(self, backend: str) -> tuple[Difference, ...]:
        """Return the aspects in which a backend differs."""
        here = self.backends.get(backend, {})
        return tuple(
            Difference(aspect, self.published.get(aspect, "not stated"), here[aspect])
            for aspect in ASPECTS
            if aspect in here
        )


def differences(name: str, backend: str, card: str = "") -> tuple[Difference, ...]:
    """Return the aspects in which a backend's count of a metric differs from the published one.

    `card` is the kind of card of the run. :class:`DataError` if ``quantities.toml`` does not describe the metric.
    """
    key = LATENCY if name not in CODE and metrics()[name].group == "latency" else name
    if key not in quantities():
        raise DataError(f"{QUANTITIES.name} does not describe {key}: say what the published figures count")
    if backend in ("perf", "wall") and card == REAL_CARD:
        return ()
    return quantities()[key].differences(backend)


def published(name: str) -> bool:
    """Return whether figures of a metric were published."""
    return name in quantities()


@cache
def quantities() -> dict[str, Quantity]:
    """All quantities by metric."""
    return read_quantities(QUANTITIES)


def read_quantities(path: Path) -> dict[str, Quantity]:
    """Read ``quantities.toml``; :class:`DataError` names the table that is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the quantities {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not TOML: {error}") from None
    known = {*metrics(), *CODE, LATENCY}
    found = {}
    for name, entry in document.items():
        try:
            if name not in known:
                raise ValueError("no metric has this name")
            found[name] = _quantity(entry)
        except ValueError as error:
            raise DataError(f"{path}: [{name}]: {error}") from None
    return found


def _quantity(entry: Any) -> Quantity:
    if not isinstance(entry, dict):
        raise ValueError("it is not a table")
    published = {aspect: _text(entry[aspect], aspect) for aspect in ASPECTS if aspect in entry}
    if "unit" not in published or "scope" not in published:
        raise ValueError("unit or scope is missing: say what the published figures count, and of which code")
    backends: dict[str, dict[str, str]] = {}
    for backend, fields in entry.items():
        if backend in ASPECTS:
            continue
        if backend not in (*BACKENDS, SOURCES) or not isinstance(fields, dict) or set(fields) - set(ASPECTS):
            raise ValueError(f"{backend} is neither an aspect nor a backend with some of {', '.join(ASPECTS)}")
        backends[backend] = {aspect: _text(text, aspect) for aspect, text in fields.items()}
        same = [aspect for aspect, text in backends[backend].items() if published.get(aspect) == text]
        if same:
            raise ValueError(f"{backend}.{same[0]} equals the published one: leave it out")
    return Quantity(published, backends)


def _text(value: Any, aspect: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{aspect} is not a text")
    return value
