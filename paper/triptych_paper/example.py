"""Archive runs in ``paper/example/``, and put the tables of the archive into the documents.

Usage: ``python -m triptych_paper.example results/latest paper/example``, or ``results --newest`` to list the runs that
an archive needs

The archive has the main tables and figures of a run, a summary of its samples, and ``run.json`` without what identifies
the machine. A document includes a table of the archive between the lines ``<!-- table: paper/example/FILE.md -->`` and
``<!-- /table -->``.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from triptych_paper import __version__, applications, other_runs
from triptych_paper.errors import DataError
from triptych_paper.other_runs import LADDER
from triptych_paper.records import IDENTITY, Run, machine, read_json, read_run
from triptych_paper.report import FOLDER
from triptych_paper.schema import EXACT
from triptych_paper.statistics import summarise
from triptych_paper.table import readme
from triptych_paper.tables import markdown
from triptych_paper.tables.model import Cell, Column, Table
from triptych_paper.values import Values

HOST = ("cpu", "governor", "kernel", "pmu", "tools")
"""Parts of the host's description that explain figures. Its name, addresses and mitigations are left out."""

RUN = (
    *("id", "start", "end", "command", "git", "host", "builds", "peers", "skipped_peers", "settings"),
    *("not_measurable", "warnings", "failures"),
)
"""Parts of ``run.json`` that are archived."""

TABLES = (
    *(f"{name}-batch-{batch}" for name in ("counters", "compared", "others", "limit", "overflow") for batch in (32, 8)),
    *(f"limit-{name}" for name in ("batch-31", "ratios-batch-32", "ratios-batch-8")),
    *("batches-instructions", "batches-tsc-memory", "batches-tsc-warm", "batches-mpps", "code", "claims"),
)
FIGURES = ("counters-batch-32", "batches-instructions", "batches-tsc-memory")
LADDER_PARTS = ("ladder-batch-32", "ladder-batch-8")
COMPILERS = ("compilers-batch-32", "compilers-batch-8", "compilers-same-llvm")
"""What is archived of each kind of run, if its report has it."""

SAMPLES, SUMMARY = "samples.csv", "summary.csv"
DOCUMENTS = ("README.md", "bench/apps/README.md", "bench/ladder/README.md", "drivers/TOUR.md")
"""The documents that include tables of the archive."""

INCLUDED = re.compile(r"<!-- table: (paper/example/\S+) -->\n(.*?)<!-- /table -->", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.example", description="Archive a run and its report, to be committed."
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument("run", type=Path, help="a results folder with a report; with --newest, that of all results")
    parser.add_argument("target", type=Path, nargs="?", help="the folder to write")
    parser.add_argument("--newest", action="store_true", help="only list the newest runs of each kind")
    options = parser.parse_args(arguments)
    if options.newest == bool(options.target):
        parser.error("give a folder to write, or --newest")
    try:
        paths = newest(options.run) if options.newest else archive(options.run, options.target)
        paths += [] if options.newest else include(Path.cwd())
    except (DataError, OSError) as error:
        print(f"triptych_paper.example: {error}", file=sys.stderr)
        return 1
    print("\n".join(map(str, paths)))
    return 0


def newest(results: Path) -> list[Path]:
    """Return the newest finished run of drivers, of the ladder, and of the applications."""
    found: dict[str, Path] = {}
    paths = [*results.glob("*/run.json"), *results.glob("*/*/run.json")]
    for path in sorted(paths, key=lambda path: path.parent.name):
        folder = path.parent
        if folder.is_symlink() or folder.parent.name == "compilers":
            continue
        if (folder / SAMPLES).is_file():
            if read_json(path).get("end") is not None:
                found["ladder" if (folder / LADDER).is_file() else "drivers"] = folder
        elif (folder / applications.APPS).is_file() and _whole(read_json(path)):
            found["applications"] = folder
    if "drivers" not in found:
        raise DataError(f"{results} has no finished run: run `make bench` first")
    return [found[kind] for kind in ("drivers", "ladder", "applications") if kind in found]


def _whole(info: dict[str, Any]) -> bool:
    """Return whether a run of the applications had no options such as ``--quick``, and no failures."""
    options = [word for word in info.get("command", []) if word.startswith("--") and word != "--nginx"]
    return not options and not info.get("failures")


def archive(folder: Path, target: Path) -> list[Path]:
    """Archive a run; return the paths of the files. The ladder and the applications have folders of their own."""
    if (folder / applications.APPS).is_file() and not (folder / SAMPLES).is_file():
        return _applications(folder, target / "applications")
    run = read_run(folder)
    report = run.folder / FOLDER
    if not report.is_dir():
        raise DataError(f"{run.folder} has no report yet: run `make paper` first")
    if (run.folder / LADDER).is_file():
        return [*_part(run, report, target / "ladder", LADDER_PARTS, LADDER_PARTS), _rungs(run, target / "ladder")]
    written = _part(run, report, target, TABLES, FIGURES)
    _text(target / SUMMARY, summary(run.samples).to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    _text(target / "readme.md", readme(Values(run)))
    compilers = run.folder.parent / "compilers" / "latest"
    if compilers.is_dir():
        written += _part(read_run(compilers), report, target / "compilers", COMPILERS, ())
    return [*written, target / SUMMARY, target / "readme.md"]


def _rungs(run: Run, target: Path) -> Path:
    """Write what each rung adds, both batch sizes beside each other."""
    tables = other_runs.ladder(Values(run)).tables
    rows = []
    for place, beside in enumerate(zip(*(table.rows for table in tables), strict=True)):
        # The first rung has a value, and the others the step from the rung below.
        steps = [cell for row in beside for cell in ((row[1], Cell()) if place == 0 else row[2:4])]
        rows.append((beside[0][0], *steps))
    headings = [name for batch in (32, 8) for name in (f"batch {batch}", "alone")][: 2 * len(tables)]
    columns = (Column("instructions per packet", numeric=False), *map(Column, headings))
    _text(target / "readme.md", "\n".join(markdown.grid(Table("ladder", "", columns, tuple(rows), ()))) + "\n")
    return target / "readme.md"


def _applications(folder: Path, target: Path) -> list[Path]:
    target.mkdir(parents=True, exist_ok=True)
    written = [target / name for name in (applications.APPS, applications.LAYERS) if (folder / name).is_file()]
    for path in written:
        if path.resolve() != (folder / path.name).resolve():
            shutil.copyfile(folder / path.name, path)
    for table in applications.tables(target):
        path = target / f"{table.key.removeprefix('applications-')}.md"
        _text(path, "\n".join(markdown.grid(table)) + "\n")
        written.append(path)
    _text(target / "run.json", _compact(scrub(read_json(folder / "run.json"), Path.cwd())))
    return [*written, target / "run.json"]


def _part(run: Run, report: Path, target: Path, tables: Sequence[str], figures: Sequence[str]) -> list[Path]:
    """Copy the tables and figures of one run, and its description."""
    target.mkdir(parents=True, exist_ok=True)
    for old in target.iterdir():
        if old.suffix in (".svg", ".md", ".csv", ".json") and old.name != "README.md":
            old.unlink()
    written = [target / "run.json"]
    for path in (report / "figures" / f"{name}{suffix}.svg" for name in figures for suffix in ("", "-dark")):
        if path.is_file():
            written.append(Path(shutil.copyfile(path, target / path.name)))
    for path in (report / "tables" / f"{name}.{suffix}" for name in tables for suffix in ("csv", "md")):
        if path.is_file():
            # Each file can be read alone, so each names run and machine.
            origin = f"\nMeasured in the run {run.id}: {machine(run.info)}.\n" if path.suffix == ".md" else ""
            _text(target / path.name, path.read_text(encoding="utf-8") + origin)
            written.append(target / path.name)
    _text(target / "run.json", _compact(scrub(run.info, Path.cwd())))
    return written


def summary(samples: pd.DataFrame) -> pd.DataFrame:
    """Summarise samples: a row for each cell, with median, 95 % interval, percentiles, repeats and processes."""
    cell = [name for name in IDENTITY if name not in ("repeat", "process")]
    rows = []
    for key, found in samples.groupby(cell, sort=False):
        value = summarise(found, found["backend"].iloc[0] in EXACT)
        if value:
            ends = {"low": value.low, "high": value.high, "p10": value.p10, "p90": value.p90}
            named = dict(zip(cell, key, strict=True))
            counts = {"repeats": value.count, "processes": value.processes}
            rows.append({**named, "median": value.median, **({} if value.exact else ends), **counts})
    return pd.DataFrame(rows)


def scrub(info: dict[str, Any], top: Path) -> dict[str, Any]:
    """Leave out what identifies the machine. Paths below `top` become relative, and others lose their folders."""
    host = info.get("host") or {}
    kept = {key: info[key] for key in RUN if key in info}
    kept["host"] = {key: host[key] for key in HOST if key in host}
    return {key: _relative(value, top) for key, value in kept.items()}


def _relative(value: Any, top: Path) -> Any:
    if isinstance(value, dict):
        return {key: _relative(entry, top) for key, entry in value.items()}
    if isinstance(value, list):
        return [_relative(entry, top) for entry in value]
    if isinstance(value, str):
        words = value.replace(f"{top}/", "").split(" ")
        return " ".join(word.rsplit("/", 1)[-1] if word.startswith("/") else word for word in words)
    return value


def _compact(info: dict[str, Any]) -> str:
    """Write an object with one line for each entry, and for each element of its lists."""

    def entry(value: Any) -> str:
        if isinstance(value, list) and len(value) > 1:
            return "[\n    " + ",\n    ".join(json.dumps(element) for element in value) + "\n  ]"
        return json.dumps(value)

    return "{\n" + ",\n".join(f"  {json.dumps(key)}: {entry(value)}" for key, value in info.items()) + "\n}\n"


def include(top: Path) -> list[Path]:
    """Put the tables of the archive into the documents; return the documents that changed."""
    changed = []
    for document in (top / name for name in DOCUMENTS):
        if document.is_file():
            old = document.read_text(encoding="utf-8")
            new = included(old, top)
            if new != old:
                _text(document, new)
                changed.append(document)
    return changed


def included(text: str, top: Path) -> str:
    """Return a document with the tables of the archive between its markers."""

    def table(found: re.Match[str]) -> str:
        path = top / found[1]
        if not path.is_file():
            raise DataError(f"a document includes {found[1]}, which the archive does not have")
        return f"<!-- table: {found[1]} -->\n{path.read_text(encoding='utf-8')}<!-- /table -->"

    return INCLUDED.sub(table, text)


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
