"""The outcome of each hazard with each driver: ``hazards.csv`` of a run of the safety lab."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triptych_paper.errors import DataError

COLUMNS = ["hazard", "class", "at_fault", "impl", "outcome", "evidence", "seconds"]
"""The columns of ``hazards.csv``, in order."""

SUBJECTS = {
    "c": "C",
    "c-hardened": "C, sanitizers",
    "rust": "safe Rust",
    "rust-untrusted-device": "safe Rust, untrusted device",
    "rust-untrusted-device-copy": "safe Rust, untrusted device, copy",
    "rust-unsafe": "unsafe Rust",
}
"""The drivers, and their names in tables."""

PARTIES = ("application", "device", "driver", "wire")
"""The parties that may be at fault, in the order of the tables."""

TONES = {
    "does not compile": "good",
    "error returned": "good",
    "counted drop": "good",
    "no effect": "good",
    "contained by the IOMMU": "good",
    "panic/trap": "neutral",
    "stalled queue": "neutral",
    "uncounted loss": "neutral",
    "wrong packet": "neutral",
    "leak": "neutral",
    "silent corruption": "bad",
    "memory disclosed": "bad",
    "hang": "bad",
}
"""The outcomes and their colours: `good` if the fault was prevented, contained or reported."""

FILE = "hazards.csv"
LATEST = "latest-safety"
"""Link in the results folder to the newest run of the lab."""


@dataclass(frozen=True)
class Observation:
    """The outcome of one hazard with one driver."""

    outcome: str
    evidence: str
    seconds: float
    why: str = ""
    """An explanation, if the outcome needs one."""


@dataclass(frozen=True)
class Hazard:
    """A hazard, and its outcome with each driver that it was run with."""

    id: str
    weakness: str
    """Its number in the Common Weakness Enumeration, such as `CWE-416`."""
    at_fault: str
    title: str
    observations: dict[str, Observation]


def find(folder: Path) -> Path | None:
    """Return the file in a run's folder, or else that of the newest run of the lab."""
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
            for column, valid in (("impl", SUBJECTS), ("at_fault", PARTIES), ("outcome", TONES)):
                if row[column] not in valid:
                    raise DataError(f"{where}: {column} {row[column]!r} is unknown; use {', '.join(valid)}")
            try:
                about = described.get(row["hazard"], {})
                why = about.get("why", {}).get(row["impl"], "")
                observation = Observation(row["outcome"], row["evidence"], float(row["seconds"]), why)
            except ValueError as error:
                raise DataError(f"{where}: {error}") from error
            title = about.get("title", row["hazard"])
            hazard = hazards.setdefault(row["hazard"], Hazard(row["hazard"], row["class"], row["at_fault"], title, {}))
            if row["impl"] in hazard.observations:
                raise DataError(f"{where}: {row['hazard']} with {row['impl']} is listed twice")
            hazard.observations[row["impl"]] = observation
    return list(hazards.values())


def _described(path: Path) -> dict[str, Any]:
    """Return the descriptions of the hazards in ``run.json``; empty without the file, as in an interrupted run."""
    if not path.is_file():
        return {}
    try:
        described = json.loads(path.read_text(encoding="utf-8")).get("hazards", {})
    except (ValueError, AttributeError) as error:
        raise DataError(f"{path}: {error}") from error
    if not isinstance(described, dict):
        raise DataError(f"{path}: hazards is not an object")
    return described


def by_party(hazards: list[Hazard]) -> dict[str, list[Hazard]]:
    """Group the hazards by the party at fault, without empty groups."""
    groups = {party: [hazard for hazard in hazards if hazard.at_fault == party] for party in PARTIES}
    return {party: group for party, group in groups.items() if group}


def counts(hazards: list[Hazard], impl: str) -> dict[str, int]:
    """Count the outcomes of a driver, in the order of :data:`TONES`."""
    found = [hazard.observations[impl].outcome for hazard in hazards if impl in hazard.observations]
    return {outcome: found.count(outcome) for outcome in TONES if outcome in found}
