"""The records of tables as CSV: one value a row."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pandas as pd

from triptych_paper.tables.model import Record


def render(records: Iterable[Record], always: Collection[str] = ()) -> str:
    """Write the records; columns without any value are left out, except for those of `always`."""
    rows = pd.DataFrame(list(records))
    rows = rows.drop(columns=[name for name in rows if name not in always and rows[name].isna().all()])
    text: str = rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    return text
