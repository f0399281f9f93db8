"""Copy a run and a part of its report, to be committed: without what only concerns the machine it was made on.

Usage: ``python -m triptych_paper.example results/latest paper/example``
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from triptych_paper.code import FILE as CODE
from triptych_paper.ladder import FILE as LADDER
from triptych_paper.records import DataError, read_run
from triptych_paper.report.files import FOLDER

HOST = ("cpu", "governor", "kernel", "pmu", "tools")
"""Parts of the host's description that explain figures; names, addresses and mitigations do not."""

FIGURES = ("counters-batch-32", "instructions-batches", "throughput-share", "latency")
"""Figures that are copied, as SVG in light and dark, where the run has them."""

TABLES = ("counters-batch-32", "counters-batch-8")

LADDER_PARTS = ("ladder-batch-32", "ladder-batch-8")
"""Figures and tables of a run of the cost ladder, which has its own drivers and is an example of nothing else."""


def scrub(info: dict[str, Any], top: Path) -> dict[str, Any]:
    """Leave out the host's name and hardware addresses; paths below `top` become relative, others only a name."""
    host = info.get("host")
    kept = {**info, "host": {key: host[key] for key in HOST if key in host} if isinstance(host, dict) else {}}
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


def copy(folder: Path, target: Path) -> list[str]:
    """Copy a run; return the names of the files. :class:`DataError` if the run has no report yet."""
    run = read_run(folder)
    report = run.folder / FOLDER
    if not report.is_dir():
        raise DataError(f"{run.folder} has no report yet: run `make paper` first")
    ladder = (run.folder / LADDER).is_file()
    figures, tables = (LADDER_PARTS, LADDER_PARTS) if ladder else (FIGURES, TABLES)
    wanted = {report / "figures" / f"{name}{end}.svg" for name in figures for end in ("", "-dark")}
    wanted |= {report / "tables" / f"{name}.md" for name in tables}
    wanted |= {run.folder / "samples.csv", run.folder / (LADDER if ladder else CODE)}
    try:
        target.mkdir(parents=True, exist_ok=True)
        for old in target.iterdir():
            if old.suffix in (".svg", ".md", ".csv", ".json") and old.name != "README.md":
                old.unlink()
        there = sorted(path for path in wanted if path.is_file())
        for path in there:
            shutil.copyfile(path, target / path.name)
        text = json.dumps(scrub(run.info, Path.cwd()), indent=2) + "\n"
        (target / "run.json").write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None
    return [*(path.name for path in there), "run.json"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.example", description="Copy a run and a part of its report, to be committed."
    )
    parser.add_argument("run", type=Path, help="a results folder with a report")
    parser.add_argument("target", type=Path, help="the folder to write")
    options = parser.parse_args(arguments)
    try:
        names = copy(options.run, options.target)
    except DataError as error:
        print(f"triptych_paper.example: {error}", file=sys.stderr)
        return 1
    print(f"{options.target}: {', '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
