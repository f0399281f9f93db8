"""Copy a part of a run and its report, to be committed.

Usage: ``python -m triptych_paper.example results/latest paper/example``, or ``results --newest`` to list the runs that
an archive needs

The copy holds the main tables (as Markdown and as records) and figures, a summary of the samples (``summary.csv``, one
row for each cell with median and spread), and ``run.json`` without the parts that identify the machine. Of the ladder
and of the compilers, the tables hold all that is shown. Of a run of ``make apps``, every round is copied. All figures
in prose come from the copy: ``python -m triptych_paper.prose`` writes them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from triptych_paper import __version__, applications
from triptych_paper.errors import DataError
from triptych_paper.facts import machine
from triptych_paper.ladder import FILE as LADDER
from triptych_paper.records import Run, read_info, read_run
from triptych_paper.report.files import FOLDER
from triptych_paper.report.sections.latency import BATCH as LATENCY_BATCH
from triptych_paper.samples import MULTIPLEXED
from triptych_paper.schema import LATENCY_CLOCK, LOCKSTEP_CYCLES, MODEL, PAPER_CLOCK, metric
from triptych_paper.table import readme

HOST = ("cpu", "governor", "kernel", "pmu", "tools")
"""Parts of the host's description that explain figures. Its name, addresses and mitigations are left out."""

RUN = (
    "id", "start", "end", "command", "git", "host", "builds", "peers", "skipped_peers", "settings", "not_measurable",
    "warnings", "failures",
)  # fmt: skip
"""Parts of ``run.json`` that are copied."""

FIGURES = (
    "counters-batch-32", "instructions-batches", "throughput-batches", "throughput-share", "latency",
    "validation-lockstep",
)  # fmt: skip
"""Figures that are copied, as SVG in light and dark, if the report has them."""

WITHOUT_RECORDS = ("validation-sensitivity-haswell-batch-32",)
"""Tables that are copied as Markdown only: the file of the sensitivities has the records."""

TABLES = (
    "counters-batch-32",
    "counters-batch-8",
    "compared-batch-32",
    "compared-batch-8",
    "others-batch-32",
    "others-batch-8",
    "throughput-batches",
    "throughput-modelled-1.6ghz",
    "throughput-modelled-3.3ghz",
    "validation-lockstep",
    "validation-published-haswell",
    "validation-limits-haswell",
    "validation-sensitivity-haswell-batch-32",
    "code",
)
"""Tables that are copied, if the report has them."""

COMPILERS = tuple(f"compilers-{kind}batch-{batch}" for kind in ("", "same-llvm-") for batch in (32, 8))
"""Tables of the newest comparison of compilers, which is a run of its own."""

SAMPLES = "samples.csv"
"""The samples of a run of drivers or of the ladder. A run of the applications has none."""

APPLICATIONS_FILES = (applications.FILE, applications.LAYERS_FILE)
"""The files of a run of the applications."""

LADDER_PARTS = ("ladder-batch-32", "ladder-batch-8")
"""Figures and tables of a run of the cost ladder, which has drivers of its own."""

SUMMARY = "summary.csv"
"""The summary of the samples of a run of drivers."""

CELL = [
    *(
        "impl",
        "variant",
        "toolchain",
        "batch",
        "ring_size",
        "frame_size",
        "queues",
        "waiting",
        "offered_mpps",
        "backend",
        "cpu",
        "clock_ghz",
    ),
    *("metric", "unit"),
]
"""The columns that identify a cell in ``summary.csv``."""

COUNTER_BATCHES = (32, 8)
"""The batch sizes of the counter tables."""

BY_BATCH = ("core_cycles", "instructions")
"""Counters that are archived at all batch sizes."""

NOT_SHOWN = ("l3_hits", "l3_misses")
"""Metrics of valgrind that no table shows: of two simulated levels of caches, the last one stands for all others."""


def _modelled_elsewhere(samples: pd.DataFrame) -> pd.Series:
    """Return which samples the model computed at clocks and batch sizes that no table shows."""
    clock = pd.to_numeric(samples["clock_ghz"])
    group = samples["metric"].map(lambda name: metric(name).group)
    latency = (group == "latency") | samples["offered_mpps"].notna()
    counter = (group == "counter") & (samples["metric"] != LOCKSTEP_CYCLES)
    hidden = (
        (latency & ((clock != LATENCY_CLOCK) | (samples["batch"] != LATENCY_BATCH)))
        | (counter & clock.notna() & (clock != PAPER_CLOCK))
        | (counter & ~samples["batch"].isin(COUNTER_BATCHES) & ~samples["metric"].isin(BY_BATCH))
        | (~latency & ~counter & (clock == LATENCY_CLOCK))
    )
    return (samples["backend"] == MODEL) & hidden


def summary(samples: pd.DataFrame) -> pd.DataFrame:
    """Summarise samples: a row for each cell that a table can show, with median, percentiles and number of repeats."""
    hidden = (samples["backend"] == "valgrind") & samples["metric"].isin(NOT_SHOWN)
    samples = samples[~hidden & ~_modelled_elsewhere(samples)]
    cells = samples.groupby(CELL, sort=False, dropna=False)
    values = cells["value"]
    found = pd.DataFrame(
        {
            "median": values.median(),
            "p10": values.quantile(0.1),
            "p90": values.quantile(0.9),
            "repeats": values.size(),
            "note": cells["note"].agg(lambda notes: MULTIPLEXED if (notes == MULTIPLEXED).any() else ""),
        }
    )
    return found.reset_index()


def scrub(info: dict[str, Any], top: Path) -> dict[str, Any]:
    """Leave out the parts that identify the machine.

    Paths below `top` become relative. Of other absolute paths only the last component remains.
    """
    host = info.get("host")
    kept = {key: info[key] for key in RUN if key in info}
    kept["host"] = {key: host[key] for key in HOST if key in host} if isinstance(host, dict) else {}
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


def newest(results: Path) -> list[Path]:
    """Return the newest finished run of drivers, of the ladder, and of the applications.

    Raises :class:`DataError` without a run of drivers.
    """
    found: dict[bool, Path] = {}
    for folder in _folders(results, SAMPLES):
        if read_info(folder / "run.json").get("end") is not None:
            found[(folder / LADDER).is_file()] = folder
    if False not in found:
        raise DataError(f"{results} has no finished run: run `make bench` first")
    loaded = [folder for folder in _folders(results, applications.FILE) if _is_whole(folder)]
    return [found[kind] for kind in sorted(found)] + loaded[-1:]


def _folders(results: Path, name: str) -> list[Path]:
    """Return the folders of results that hold a file, the oldest first."""
    return sorted(path.parent for path in results.glob(f"*/{name}") if not path.parent.is_symlink())


def _is_whole(folder: Path) -> bool:
    """Return whether a run of the applications has ended, had no options such as ``--quick``, and no failures."""
    if not (folder / "run.json").is_file():
        return False
    info = read_info(folder / "run.json")
    options = [word for word in info.get("command", []) if word.startswith("--") and word != "--nginx"]
    return not options and not info.get("failures")


def copy(folder: Path, target: Path) -> list[Path]:
    """Copy a run; return the paths of the files. :class:`DataError` if the run has no report yet.

    A run of the cost ladder goes into the folder `ladder` of the target, and one of the applications into
    `applications`.
    """
    try:
        if (folder / applications.FILE).is_file() and not (folder / SAMPLES).is_file():
            return _applications(folder, target / "applications")
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None
    run = read_run(folder)
    report = run.folder / FOLDER
    if not report.is_dir():
        raise DataError(f"{run.folder} has no report yet: run `make paper` first")
    ladder = (run.folder / LADDER).is_file()
    try:
        if ladder:
            return _part(run, report, target / "ladder", LADDER_PARTS, LADDER_PARTS)
        written = _part(run, report, target, FIGURES, TABLES)
        _text(target / SUMMARY, summary(run.samples).to_csv(index=False, float_format="%.6g", lineterminator="\n"))
        written.append(target / SUMMARY)
        _text(target / "readme-table.md", readme(run.folder))
        claims = report / "tables" / "claims.csv"
        if claims.is_file():
            shutil.copyfile(claims, target / "claims.csv")
        compilers = run.folder.parent / "compilers" / "latest"
        if compilers.is_dir() and any((report / "tables" / f"{name}.csv").is_file() for name in COMPILERS):
            written += _part(read_run(compilers), report, target / "compilers", (), COMPILERS)
        return written
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None


def _applications(folder: Path, target: Path) -> list[Path]:
    """Copy the files of a run of the applications, and its description."""
    target.mkdir(parents=True, exist_ok=True)
    info = scrub(read_info(folder / "run.json"), Path.cwd())
    _text(target / "run.json", _compact(info))
    return [
        target / "run.json",
        *(Path(shutil.copyfile(folder / name, target / name)) for name in APPLICATIONS_FILES),
    ]


def _part(run: Run, report: Path, target: Path, figures: Sequence[str], tables: Sequence[str]) -> list[Path]:
    """Copy the figures and tables of one run, and its description."""
    target.mkdir(parents=True, exist_ok=True)
    for old in target.iterdir():
        if old.suffix in (".svg", ".md", ".csv", ".json") and old.name != "README.md":
            old.unlink()
    written = [target / "run.json"]
    for path in (report / "figures" / f"{name}{suffix}.svg" for name in figures for suffix in ("", "-dark")):
        if path.is_file():
            written.append(Path(shutil.copyfile(path, target / path.name)))
    for name in tables:
        records, shown = (report / "tables" / f"{name}.{suffix}" for suffix in ("csv", "md"))
        if shown.is_file():
            # Each file can be read alone, so each names run and machine.
            _text(
                target / shown.name,
                f"{shown.read_text(encoding='utf-8')}\nMeasured in the run {run.id}: {machine(run)}.\n",
            )
            written.append(target / shown.name)
        if records.is_file() and name not in WITHOUT_RECORDS:
            written.append(Path(shutil.copyfile(records, target / records.name)))
    _text(target / "run.json", _compact(scrub(run.info, Path.cwd())))
    return written


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.example", description="Copy a part of a run and its report, to be committed."
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument(
        "run", type=Path, help="a results folder with a report; with --newest, the folder of all results"
    )
    parser.add_argument("target", type=Path, nargs="?", help="the folder to write")
    parser.add_argument(
        "--newest",
        action="store_true",
        help="only list the newest runs of the drivers, of the ladder and of the applications",
    )
    options = parser.parse_args(arguments)
    if options.newest == bool(options.target):
        parser.error("give a folder to write, or --newest")
    try:
        paths = newest(options.run) if options.newest else copy(options.run, options.target)
    except DataError as error:
        print(f"triptych_paper.example: {error}", file=sys.stderr)
        return 1
    print("\n".join(map(str, paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
