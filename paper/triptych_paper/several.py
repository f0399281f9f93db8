"""Runs of several machines: which belong together, and one run for each machine of merged folders."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from triptych_paper.errors import DataError
from triptych_paper.index import CELL, Index
from triptych_paper.records import Run, part, read_json, read_run
from triptych_paper.schema import EXACT, USUAL

OF_THE_MACHINE = {"clocks_ghz", "devices", "link_timeout", "pktgen", "pktgen_host"}
"""Keys of a matrix in which the runs may differ: they name the machine and its clock."""

Part = tuple[str, Path, tuple[Path, ...]]
"""The name of a machine, its newest run, and the cells that are shown; without cells, the run is."""

MANY = 20
"""A table of findings shows so many, and counts the others."""


def is_run(folder: Path) -> bool:
    """Return whether a folder holds one run, and not the runs of machines."""
    return (folder / "run.json").is_file() or (folder / "samples.csv").is_file()


def read_runs(folders: list[Path]) -> list[Run]:
    """Read runs; :class:`DataError` if they do not belong together."""
    runs = [read_run(folder) for folder in folders]
    for one, other in pairwise(runs):
        if why := _difference(one, other):
            raise DataError(f"{one.folder} and {other.folder} do not belong in one report: {why}")
    return runs


def _difference(one: Run, other: Run) -> str:
    """Say why two runs do not belong together; empty if they do."""
    if not (one.ended and other.ended):
        return "one of them is incomplete: continue it with `triptych run --resume`, or leave it out"
    if one.revision != other.revision:
        return f"they measured other revisions, {one.revision} and {other.revision}"
    if part(one.info, "git").get("dirty") and one.info.get("artefacts") != other.info.get("artefacts"):
        return "their sources had uncommitted changes, and their builds differ: commit, and measure both again"
    plans = [part(run.info, "plan") for run in (one, other)]
    keys = [key for key in sorted({*plans[0], *plans[1]} - OF_THE_MACHINE) if plans[0].get(key) != plans[1].get(key)]
    return f"their matrices differ in: {', '.join(keys)}" if keys else ""


def label(run: Run) -> str:
    """Name the machine of a run."""
    return str(run.info.get("machine") or part(run.info, "host").get("machine_id") or run.id)


class Merged:
    """The runs of several machines, merged by cell. Values of two machines are never mixed."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Bring the index of the folders up to date."""
        self.index = Index(paths)
        # A machine's newest revision, without the commits that only its history has.
        self._newest = (
            "SELECT * FROM (SELECT machine, revision, max(committed) FROM cell JOIN folder ON folder = folder.id "
            "WHERE NOT history GROUP BY machine) JOIN cell USING (machine, revision) JOIN folder ON folder = folder.id "
            "WHERE NOT history"
        )

    def machines(self) -> list[Part]:
        """Return each machine's cells of its newest revision, each from the newest run.

        Where compilers differ in a cell, each of them stands for itself. Only the usual conditions are read: no table
        of machines shows others.
        """
        usual = " AND ".join(f"{name} = ?" for name in USUAL._fields[:4])
        columns = ", ".join(("machine", "toolchain", "path", "file", *CELL))
        query = f"SELECT {columns} FROM ({self._newest}) WHERE {usual} ORDER BY start"
        machines: dict[str, dict[tuple[Any, ...], dict[str, Path]]] = {}
        for machine, toolchain, path, file, *cell in self.index.ask(query, *USUAL[:4]):
            by_compiler = machines.setdefault(machine, {}).setdefault(tuple(cell), {})
            by_compiler.pop(toolchain, None)
            by_compiler[toolchain] = Path(path, file)
        found = []
        for machine, cells in sorted(machines.items()):
            several = dict.fromkeys(name for each in cells.values() if len(each) > 1 for name in each)
            for compiler in several or [""]:
                files = tuple(each.get(compiler) or list(each.values())[-1] for each in cells.values())
                name = f"{machine}, {compiler}" if compiler else machine
                found.append((name, files[-1].parents[1], files))
        return found

    def copies(self) -> tuple[int, int]:
        """Count the files that copy another, and the cells that a machine measured again."""
        runs, starts = "count(DISTINCT run)", "count(DISTINCT start)"
        inner = f"SELECT count(*) - {runs} AS copies, {starts} - 1 AS again FROM cell GROUP BY name, machine"
        found = self.index.ask(f"SELECT sum(copies), sum(again) FROM ({inner} HAVING count(*) > 1)")
        return found[0][0] or 0, found[0][1] or 0

    def contradictions(self) -> list[tuple[str, str]]:
        """Return exact cells of one program that have several results, and these results with their runs.

        Counts of `valgrind` are left out: the card runs beside the driver, so some waits differ from run to run.
        """
        names = self.index.ask(
            "SELECT name FROM cell WHERE backend = 'trace' GROUP BY name HAVING min(figures) <> max(figures)"
        )
        found = []
        for (name,) in names:
            # Instructions come first. One metric is enough to see it.
            rows = self.index.ask(
                "SELECT metric.key, metric.value, min(machine || '/' || run) FROM cell, json_each(figures) AS metric "
                "WHERE name = ? GROUP BY 1, 2 ORDER BY metric.key <> 'instructions', 1, 2",
                name,
            )
            metrics = [metric for metric, *_ in rows]
            differing = [metric for metric in dict.fromkeys(metrics) if metrics.count(metric) > 1]
            values = (f"{value:g} ({where})" for metric, value, where in rows if metric in differing[:1])
            others = f", and {len(differing) - 1} other metrics" if differing[1:] else ""
            found.append((name, f"{''.join(differing[:1])} {' or '.join(values)}{others}"))
        return found

    def _command(self, machine: str, run: str) -> str:
        """Return the command of a run with the options that choose its matrix, for one more job on a machine."""
        query = "SELECT path FROM cell JOIN folder ON folder = folder.id WHERE machine = ? AND run = ? LIMIT 1"
        record = Path(self.index.ask(query, machine, run)[0][0]).with_name("run.json")
        words = (read_json(record).get("command") if record.is_file() else None) or []
        kept: list[str] = []
        for name, word in zip(["", *words], words, strict=False):
            if not {name, word} & {"--cell", "--id", "--machine", "--results"}:
                kept.append(word)
        return " ".join(["triptych run", *kept[2:], f"--machine {machine} --id {run}"])

    def missing(self) -> list[tuple[str, str, str]]:
        """Return machine, cell and command of each cell that others have measured, or that a run's plan has.

        An exact cell is the same on every machine, so that one machine is enough.
        """
        known: dict[tuple[Any, ...], tuple[str, set[str]]] = {}
        runs: dict[str, str] = {}
        columns = ", ".join(("machine", "run", "name", *CELL))
        for machine, run, name, *values in self.index.ask(f"SELECT {columns} FROM ({self._newest}) ORDER BY start"):
            runs[machine] = run
            exact = values[CELL.index("backend")] in EXACT
            known.setdefault(tuple(values), (name, set()))[1].add("" if exact else machine)
        found = []
        for values, (name, machines) in known.items():
            cell = dict(zip(CELL, values, strict=True))
            if "" not in machines:
                saturated = tuple({**cell, "offered_mpps": 0.0}.values()) in known
                job = _job(cell, name, saturated)
                found += [
                    (machine, name.rpartition("-")[0], f"{self._command(machine, run)} --cell {job}")
                    for machine, run in runs.items()
                    if machine not in machines
                ]
        return found


def _job(cell: dict[str, Any], name: str, saturated: bool) -> str:
    """Name the job of a cell that is timed: all drivers under its conditions, and all loads."""
    job = name.rpartition("-")[0].replace(f"-{cell['impl']}-{cell['variant']}-", "-", 1)
    if not cell["offered_mpps"]:
        return job
    job = job.replace(f"-l{cell['offered_mpps']:g}", "", 1)
    return job if saturated else job.replace(cell["backend"], "latency", 1)
