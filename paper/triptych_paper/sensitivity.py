"""What each parameter of a modelled processor changes: ``sensitivity.csv`` in the folder of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from triptych_paper.drivers import Driver
from triptych_paper.errors import DataError
from triptych_paper.schema import IMPLEMENTATIONS

FILE = "sensitivity.csv"
COLUMNS = ("cpu", "implementation", "batch_size", "parameter", "factor", "cycles_per_packet")
"""A row has the modelled cycles of a driver with one parameter multiplied by a factor. Factor 1 is the file itself."""


@dataclass(frozen=True)
class Sensitivity:
    """The effect of one parameter on the cycles of one driver."""

    cpu: str
    driver: Driver
    batch: int
    parameter: str
    changes: dict[float, float]
    """The relative change of the cycles, by the factor of the parameter: 0.05 is 5 % more."""

    @property
    def size(self) -> float:
        """The largest change in either direction."""
        return max((abs(change) for change in self.changes.values()), default=0.0)


def read_sensitivities(folder: Path) -> tuple[Sensitivity, ...]:
    """Read the sensitivities of a run; empty without the file. :class:`DataError` names what is wrong."""
    path = folder / FILE
    if not path.is_file():
        return ()
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8", index_col=False)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    if tuple(table.columns) != COLUMNS:
        raise DataError(f"{path}: line 1: the columns are {','.join(table.columns)}, not {','.join(COLUMNS)}")
    base: dict[tuple[str, str, int], float] = {}
    found: dict[tuple[str, str, int, str], dict[float, float]] = {}
    for line, row in enumerate(table.to_dict("records"), start=2):
        cell, parameter, factor, cycles = _row(path, line, {str(key): str(value) for key, value in row.items()})
        if factor == 1:
            base[cell] = cycles
        else:
            found.setdefault((*cell, parameter), {})[factor] = cycles
    missing = next((key for key in found if key[:3] not in base), None)
    if missing:
        raise DataError(f"{path}: {' '.join(map(str, missing[:3]))} has no row with factor 1, which the others change")
    return tuple(
        Sensitivity(cpu, Driver(impl), batch, name, {f: c / base[cpu, impl, batch] - 1 for f, c in sorted(by.items())})
        for (cpu, impl, batch, name), by in found.items()
    )


def _row(path: Path, line: int, row: dict[str, str]) -> tuple[tuple[str, str, int], str, float, float]:
    try:
        impl = row["implementation"]
        if impl not in IMPLEMENTATIONS:
            raise ValueError(f"implementation {impl!r} is unknown; the valid names are {', '.join(IMPLEMENTATIONS)}")
        factor, cycles = float(row["factor"]), float(row["cycles_per_packet"])
        if not (factor > 0 and 0 < cycles < float("inf")):
            raise ValueError("factor and cycles_per_packet are not above 0")
        return (row["cpu"], impl, int(row["batch_size"])), row["parameter"], factor, cycles
    except ValueError as error:
        raise DataError(f"{path}: line {line}: {error}") from None


def ranked(sensitivities: Sequence[Sensitivity]) -> list[str]:
    """Return the parameters, those with the largest effect on any driver first."""
    largest: dict[str, float] = {}
    for each in sensitivities:
        largest[each.parameter] = max(largest.get(each.parameter, 0.0), each.size)
    return sorted(largest, key=lambda name: (-largest[name], name))
