"""What hazards came to with each driver: ``hazards.csv`` of a run of the safety lab."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triptych_paper.records import DataError

COLUMNS = ["hazard", "class", "at_fault", "impl", "outcome", "evidence", "seconds"]
"""The columns of ``hazards.csv``, in order."""

SUBJECTS = {"c": "C", "c-hardened": "C, sanitizers", "rust": "safe Rust", "rust-unsafe": "unsafe Rust"}
"""The drivers, and what they are called."""

CULPRITS = ("application", "device", "driver", "wire")
"""Who may be at fault, in the order in which they are shown."""

TONES = {
    "does not compile": "good",
    "error returned": "good",
    "counted drop": "good",
    "no effect": "good",
    "contained by the IOMMU": "good",
    "panic/trap": "none",
    "stalled queue": "none",
    "uncounted loss": "none",
    "wrong packet": "none",
    "leak": "none",
    "silent corruption": "bad",
    "memory disclosed": "bad",
    "hang": "bad",
}
"""The outcomes, and how each is coloured: `good` if it was prevented, contained or told."""

FILE = "hazards.csv"
LATEST = "latest-safety"
"""Link in the results folder to the newest run of the lab."""


@dataclass(frozen=True)
class Seen:
    """What one hazard came to with one driver."""

    outcome: str
    evidence: str
    seconds: float
    why: str = ""
    """What explains it, if it does not explain itself."""


@dataclass(frozen=True)
class Hazard:
    """A hazard and what it came to, by driver; without those it was not run with."""

    id: str
    weakness: str
    """`CWE-416`."""
    at_fault: str
    title: str
    seen: dict[str, Seen]


def find(folder: Path) -> Path | None:
    """The file that belongs to a run's folder: its own, or that of the newest run of the lab beside it."""
    for place in (folder / FILE, folder.parent / LATEST / FILE):
        if place.is_file():
            return place
    return None


def read(path: Path) -> list[Hazard]:
    """Read a ``hazards.csv``, hazards in the order of the file.

    Raises :class:`DataError` if it is malformed.
    """
    hazards: dict[str, Hazard] = {}
    described = _described(path.with_name("run.json"))
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise DataError(f"{path}: columns are {rows.fieldnames}, not {COLUMNS}")
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            if row["impl"] not in SUBJECTS or row["at_fault"] not in CULPRITS or row["outcome"] not in TONES:
                raise DataError(f"{where}: unknown impl, at_fault or outcome: {row}")
            try:
                about = described.get(row["hazard"], {})
                why = about.get("why", {}).get(row["impl"], "")
                seen = Seen(row["outcome"], row["evidence"], float(row["seconds"]), why)
            except ValueError as error:
                raise DataError(f"{where}: {error}") from error
            title = about.get("title", row["hazard"])
            hazard = hazards.setdefault(row["hazard"], Hazard(row["hazard"], row["class"], row["at_fault"], title, {}))
            if row["impl"] in hazard.seen:
                raise DataError(f"{where}: {row['hazard']} with {row['impl']} is there twice")
            hazard.seen[row["impl"]] = seen
    return list(hazards.values())


def _described(path: Path) -> dict[str, Any]:
    """What ``run.json`` says of the hazards; nothing if it is not there yet, as in a run that was ended."""
    if not path.is_file():
        return {}
    try:
        described = json.loads(path.read_text(encoding="utf-8")).get("hazards", {})
    except (ValueError, AttributeError) as error:
        raise DataError(f"{path}: {error}") from error
    if not isinstance(described, dict):
        raise DataError(f"{path}: hazards is no object")
    return described


def by_culprit(hazards: list[Hazard]) -> dict[str, list[Hazard]]:
    """The hazards by who is at fault, without those who are at fault for none."""
    groups = {culprit: [hazard for hazard in hazards if hazard.at_fault == culprit] for culprit in CULPRITS}
    return {culprit: group for culprit, group in groups.items() if group}


def counts(hazards: list[Hazard], impl: str) -> dict[str, int]:
    """How many hazards came to what with a driver, in the order of :data:`TONES`."""
    found = [hazard.seen[impl].outcome for hazard in hazards if impl in hazard.seen]
    return {outcome: found.count(outcome) for outcome in TONES if outcome in found}
