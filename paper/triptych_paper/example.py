"""Copy a part of a run and its report, to be committed.

Usage: ``python -m triptych_paper.example results/latest paper/example``

The copy holds the main tables and figures, a summary of the samples (``summary.csv``, one row for each cell with median
and spread), and ``run.json`` without the parts that identify the machine.
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

from triptych_paper import __version__
from triptych_paper.errors import DataError
from triptych_paper.ladder import FILE as LADDER
from triptych_paper.records import read_run
from triptych_paper.report.files import FOLDER
from triptych_paper.samples import MULTIPLEXED

HOST = ("cpu", "governor", "kernel", "pmu", "tools")
"""Parts of the host's description that explain figures. Its name, addresses and mitigations are left out."""

RUN = ("id", "start", "end", "command", "git", "host", "builds", "settings", "not_measurable", "warnings", "failures")
"""Parts of ``run.json`` that are copied."""

FIGURES = ("counters-batch-32", "instructions-batches", "throughput-share", "latency")
"""Figures that are copied, as SVG in light and dark, if the report has them."""

TABLES = (
    "counters-batch-32",
    "counters-batch-8",
    "compared-batch-32",
    "compared-batch-8",
    "throughput-batches",
    "code",
)
"""Tables that are copied as Markdown, if the report has them."""

LADDER_PARTS = ("ladder-batch-32", "ladder-batch-8")
"""Figures and tables of a run of the cost ladder, which has drivers of its own."""

CELL = ["impl", "variant", "toolchain", "batch", "ring_size", "frame_size", "offered_mpps", "backend", "metric", "unit"]
"""The columns that identify a cell in ``summary.csv``."""


def summary(samples: pd.DataFrame) -> pd.DataFrame:
    """Summarise samples: a row for each cell, with median, 10th and 90th percentile and number of repeats."""
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


def copy(folder: Path, target: Path) -> list[Path]:
    """Copy a run; return the paths of the files. :class:`DataError` if the run has no report yet.

    A run of the cost ladder goes into the folder `ladder` of the target.
    """
    run = read_run(folder)
    report = run.folder / FOLDER
    if not report.is_dir():
        raise DataError(f"{run.folder} has no report yet: run `make paper` first")
    ladder = (run.folder / LADDER).is_file()
    figures, tables = (LADDER_PARTS, LADDER_PARTS) if ladder else (FIGURES, TABLES)
    target = target / "ladder" if ladder else target
    wanted = {report / "figures" / f"{name}{suffix}.svg" for name in figures for suffix in ("", "-dark")}
    wanted |= {report / "tables" / f"{name}.md" for name in tables}
    try:
        target.mkdir(parents=True, exist_ok=True)
        for old in target.iterdir():
            if old.suffix in (".svg", ".md", ".csv", ".json") and old.name != "README.md":
                old.unlink()
        present = sorted(path for path in wanted if path.is_file())
        for path in present:
            shutil.copyfile(path, target / path.name)
        (target / "run.json").write_text(_compact(scrub(run.info, Path.cwd())), encoding="utf-8")
        summary(run.samples).to_csv(target / "summary.csv", index=False, float_format="%.6g", lineterminator="\n")
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None
    return [target / name for name in (*(path.name for path in present), "run.json", "summary.csv")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.example", description="Copy a part of a run and its report, to be committed."
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument("run", type=Path, help="a results folder with a report")
    parser.add_argument("target", type=Path, help="the folder to write")
    options = parser.parse_args(arguments)
    try:
        paths = copy(options.run, options.target)
    except DataError as error:
        print(f"triptych_paper.example: {error}", file=sys.stderr)
        return 1
    print("\n".join(map(str, paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
