"""Exports of a history to asv, github-action-benchmark and Bencher. A file never holds values of two machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from triptych_paper.errors import DataError
from triptych_paper.history import measured
from triptych_paper.index import Index
from triptych_paper.schema import Metric, metrics

HIGHER = "throughput"
"""The group of metrics of which more is better; github-action-benchmark wants these in a file of their own."""


def _rows(index: Index, newest: bool) -> Iterator[tuple[Any, ...]]:
    """Return machine, revision, committed, toolchain, cell, start and figures; an older run of a cell comes first."""
    only = (
        "JOIN (SELECT machine, revision, max(committed) FROM cell WHERE NOT dirty GROUP BY machine) "
        "USING (machine, revision) "
    )
    yield from index.stream(
        "SELECT machine, revision, committed, toolchain, name, start, figures FROM cell "
        f"{only if newest else ''}WHERE NOT dirty ORDER BY machine, revision, toolchain, start"
    )


def _known(metric: str) -> Metric:
    """Return what `metrics.toml` says. A simulated metric is named METRIC@PROCESSOR/PLACEMENT."""
    return metrics()[metric.partition("@")[0]]


def _safe(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text)


def _name(cell: str, metric: str) -> str:
    # The end of a cell's name changes with the program.
    return f"{cell.rpartition('-')[0]}.{metric}"


def github(index: Index) -> Iterator[tuple[str, Any]]:
    """Return the newest revision of each machine, for `customSmallerIsBetter` and `customBiggerIsBetter`."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for machine, revision, _, toolchain, cell, _, figures in _rows(index, True):
        for metric, figure in orjson.loads(figures).items():
            value, better = measured(figure), "bigger" if _known(metric).group == HIGHER else "smaller"
            entry = {"name": _name(cell, metric), "unit": _known(metric).unit, "value": value.value}
            if value.low is not None and value.low != value.high:
                entry["range"] = f"{value.low:g} to {value.high:g}"
            entry["extra"] = f"{toolchain}, revision {revision}"
            found.setdefault(f"github-{better}-{_safe(machine)}.json", {})[f"{toolchain} {entry['name']}"] = entry
    for file, entries in found.items():
        yield file, list(entries.values())


def bencher(index: Index) -> Iterator[tuple[str, Any]]:
    """Return the newest revision of each machine in Bencher's format; the machine is the testbed."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for machine, _, _, toolchain, cell, _, figures in _rows(index, True):
        measures = {}
        for metric, figure in orjson.loads(figures).items():
            value = measured(figure)
            ends = {} if value.low is None else {"lower_value": value.low, "upper_value": value.high}
            measures[_safe(metric)] = {"value": value.value, **ends}
        found.setdefault(f"bencher-{_safe(machine)}.json", {})[f"{cell.rpartition('-')[0]} {toolchain}"] = measures
    yield from found.items()


def asv(index: Index) -> Iterator[tuple[str, Any]]:
    """Return asv's folder of results: a file for each machine, commit and compiler, and the list of benchmarks."""
    units: dict[str, str] = {}
    columns = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"]
    machines: dict[str, None] = {}
    file = ""
    document: dict[str, Any] = {}
    for machine, revision, committed, toolchain, cell, start, figures in _rows(index, False):
        name = f"asv/results/{_safe(machine)}/{revision[:8]}-{_safe(toolchain)}.json"
        if name != file:
            if file:
                yield file, document
            machines[machine] = None
            file, document = name, {"version": 2, "commit_hash": revision, "env_name": _safe(toolchain)}
            document |= {"date": _milliseconds(committed), "params": {"machine": machine, "toolchain": toolchain}}
            document |= {"python": "", "requirements": {}, "env_vars": {}, "result_columns": columns}
            document |= {"results": {}, "durations": {}}
        for metric, figure in orjson.loads(figures).items():
            known = _name(cell, metric)
            units[known], value = _known(metric).unit, measured(figure)
            # The format names an interval of 99 %; it holds that of 95 % here.
            ends = [None if end is None else [end] for end in (value.low, value.high)]
            document["results"][known] = [[value.value], [], "1", _milliseconds(start), None, *ends]
    if file:
        yield file, document
    for machine in machines:
        yield f"asv/results/{_safe(machine)}/machine.json", {"machine": machine, "version": 1}
    known_units: dict[str, Any] = {
        name: {"code": "", "name": name, "param_names": [], "params": [], "type": "track", "unit": unit, "version": "1"}
        for name, unit in units.items()
    }
    yield "asv/results/benchmarks.json", {**known_units, "version": 2}


def _milliseconds(time: str) -> int:
    return int(1000 * datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())


FORMATS = {"asv": asv, "github": github, "bencher": bencher}


def write(index: Index, name: str, folder: Path) -> int:
    """Write an export; return how many files it has."""
    count = 0
    for file, document in FORMATS[name](index):
        path = folder / file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        except OSError as error:
            raise DataError(f"cannot write {path}: {error.strerror}") from None
        count += 1
    return count
