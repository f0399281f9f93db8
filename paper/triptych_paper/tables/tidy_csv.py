"""The records of tables as CSV: one value a row."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from triptych_paper.tables.model import Record


def render(records: Iterable[Record]) -> str:
    """Write the records; columns without any value are left out."""
    rows = pd.DataFrame(list(records)).dropna(axis="columns", how="all")
    text: str = rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    return text
