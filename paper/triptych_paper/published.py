"""The published counters, from ``paper/published/counters.csv``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from triptych_paper.records import DataError

PUBLISHED = Path(__file__).parent.parent / "published"
"""Folder with the published figures."""

COUNTERS = {
    "cycles": "cycles",
    "instructions": "instructions",
    "ipc": "ipc",
    "branches": "branches",
    "branch_misses": "branch_mispredicts",
    "stores": "store_uops",
    "loads": "load_uops",
    "l1_hits": "load_l1_hits",
    "l2_hits": "load_l2_hits",
    "l3_hits": "load_l3_hits",
    "l3_misses": "load_l3_misses",
}
"""Our name of a counter, and the published one."""

LANGUAGES = {("c", "default"): "C", ("rust", "default"): "Rust", ("rust-unsafe", "default"): "C2Rust"}
"""Which published driver each of ours is compared with. Overflow checks were published in prose only."""


@dataclass(frozen=True)
class Figure:
    """A published value."""

    value: float
    text: str
    """As it is printed in the source."""
    batch_unknown: bool = False
    """Published without its batch size; compared with batch 32, the default."""


@dataclass(frozen=True)
class Published:
    """All published counters."""

    figures: dict[tuple[str, str, int | None], Figure]
    """By published counter name, language, and batch size where there is one."""

    def get(self, metric: str, impl: str, variant: str, batch: int) -> Figure | None:
        """Return the figure that one of ours is compared with, if there is one."""
        counter, language = COUNTERS.get(metric), LANGUAGES.get((impl, variant))
        if counter is None or language is None:
            return None
        known = self.figures.get((counter, language, batch))
        return known or (self.figures.get((counter, language, None)) if batch == 32 else None)


def read_published(folder: Path = PUBLISHED) -> Published:
    """Read the published counters; :class:`DataError` if the file is missing or malformed."""
    path = folder / "counters.csv"
    try:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the published counters {path}: {error}") from None
    figures: dict[tuple[str, str, int | None], Figure] = {}
    try:
        # Where the two sources differ the paper is right (see published/README.md), so it comes last.
        for row in sorted(rows.to_dict("records"), key=lambda row: str(row["source"]) == "paper"):
            batch = int(row["batch"]) if row["batch"] else None
            figure = Figure(value=float(row["value"]), text=str(row["value"]), batch_unknown=batch is None)
            figures[(str(row["counter"]), str(row["impl"]), batch)] = figure
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    return Published(figures)
