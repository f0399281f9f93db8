"""Exports of a history to asv, github-action-benchmark and Bencher. A file never holds values of two machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from triptych_paper.errors import DataError
from triptych_paper.history import Measured, measured
from triptych_paper.index import Index
from triptych_paper.schema import Metric, metrics

COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"]
"""Of asv's results. The two ends are of an interval of 95 % here."""

Rows = Iterator[tuple[str, Metric, Measured, str]]


def _builds(index: Index, newest: bool) -> Iterator[tuple[tuple[str, str, str, str], Rows]]:
    """Return machine, revision, time and compiler, with name, metric, value and start of each figure."""
    only = (
        "JOIN (SELECT machine, revision, max(committed) FROM cell WHERE NOT dirty GROUP BY 1) USING (machine, revision)"
    )
    rows = index.stream(
        "SELECT machine, revision, committed, toolchain, name, start, figures FROM cell "
        f"{only if newest else ''} WHERE NOT dirty ORDER BY machine, revision, toolchain, start"
    )

    def figures(group: Iterator[Any]) -> Rows:
        for *_, name, start, text in group:
            for metric, figure in orjson.loads(text).items():
                # The end of a cell's name changes with the program. A simulated metric is METRIC@PROCESSOR/PLACEMENT.
                known = metrics()[metric.partition("@")[0]]
                yield f"{name.rpartition('-')[0]}.{metric}", known, measured(figure), start

    for key, group in groupby(rows, itemgetter(0, 1, 2, 3)):
        yield key, figures(group)


def _safe(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text)


def github(index: Index) -> Iterator[tuple[str, Any]]:
    """Return the newest revision of each machine, for `customSmallerIsBetter` and `customBiggerIsBetter`."""
    for machine, builds in groupby(_builds(index, True), lambda build: build[0][0]):
        found: dict[str, dict[str, Any]] = {}
        for (_, revision, _, toolchain), rows in builds:
            for name, metric, value, _ in rows:
                entry = {"name": f"{name}, {toolchain}", "unit": metric.unit, "value": value.value}
                if value.low != value.high:
                    entry["range"] = f"{value.low:g} to {value.high:g}"
                better = "bigger" if metric.group == "throughput" else "smaller"
                found.setdefault(better, {})[f"{name}, {toolchain}"] = entry | {"extra": f"revision {revision}"}
        for better, entries in found.items():
            yield f"github-{better}-{_safe(machine)}.json", list(entries.values())


def bencher(index: Index) -> Iterator[tuple[str, Any]]:
    """Return the newest revision of each machine in Bencher's format; the machine is the testbed."""
    for machine, builds in groupby(_builds(index, True), lambda build: build[0][0]):
        found: dict[str, dict[str, Any]] = {}
        for (_, _, _, toolchain), rows in builds:
            for name, _, value, _ in rows:
                cell, _, metric = name.partition(".")
                ends = {} if value.low is None else {"lower_value": value.low, "upper_value": value.high}
                found.setdefault(f"{cell}, {toolchain}", {})[_safe(metric)] = {"value": value.value, **ends}
        yield f"bencher-{_safe(machine)}.json", found


def asv(index: Index) -> Iterator[tuple[str, Any]]:
    """Return asv's folder of results: a file for each machine, commit and compiler, and the list of benchmarks."""
    listed: dict[str, Any] = {"version": 2}
    machines: dict[str, None] = {}
    for (machine, revision, committed, toolchain), rows in _builds(index, False):
        results = {}
        for name, metric, value, start in rows:
            ends = [None if end is None else [end] for end in value[1:]]
            results[name] = [[value.value], [], "1", _milliseconds(start), None, *ends]
            listed[name] = {"code": "", "name": name, "param_names": [], "params": [], "type": "track"}
            listed[name] |= {"unit": metric.unit, "version": "1"}
        machines[machine] = None
        document = {"version": 2, "commit_hash": revision, "env_name": _safe(toolchain), "python": ""}
        document |= {"date": _milliseconds(committed), "params": {"machine": machine, "toolchain": toolchain}}
        document |= {"requirements": {}, "env_vars": {}, "result_columns": COLUMNS, "results": results, "durations": {}}
        yield f"asv/results/{_safe(machine)}/{revision[:8]}-{_safe(toolchain)}.json", document
    for machine in machines:
        yield f"asv/results/{_safe(machine)}/machine.json", {"machine": machine, "version": 1}
    yield "asv/results/benchmarks.json", listed


def _milliseconds(time: str) -> int:
    return int(1000 * datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())


FORMATS = {"asv": asv, "github": github, "bencher": bencher}


def write(index: Index, name: str, folder: Path) -> int:
    """Write an export; return how many files it has."""
    files = 0
    for file, document in FORMATS[name](index):
        try:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        except OSError as error:
            raise DataError(f"cannot write {folder / file}: {error.strerror}") from None
        files += 1
    return files
