"""Reading and checking ``samples.csv``."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from triptych_paper.conditions import FRAME_SIZE, INTERRUPTS, POLL, QUEUES, RING_SIZE
from triptych_paper.errors import DataError
from triptych_paper.schema import BACKENDS, IMPLEMENTATIONS, MODEL, metrics, renamed_metric, renamed_variant, source

COLUMNS = ("impl", "variant", "toolchain", "batch", "backend", "metric", "value", "unit", "packets", "repeat")
"""The columns that every ``samples.csv`` has, in order."""

LATER_COLUMNS = {
    "ring_size": str(RING_SIZE),
    "frame_size": str(FRAME_SIZE),
    "offered_mpps": "",
    "note": "",
    "cpu": "",
    "clock_ghz": "",
    "queues": str(QUEUES),
    "waiting": POLL,
}
"""The columns that follow, with their values in files that were written before the columns existed."""

_VERSIONS = (0, 4, 6, 8)
"""How many of the later columns a file can have."""

MULTIPLEXED = "multiplexed"
"""Note of a value that was scaled up, because the processor had fewer counters than events."""

RANGES = {
    "batch": (1, 512),
    "packets": (1, None),
    "repeat": (0, None),
    "ring_size": (64, 4096),
    "frame_size": (60, 1514),
    "queues": (1, 16),
}
"""The columns of whole numbers, with the smallest and the largest allowed value."""

_IDENTITY = [
    *("impl", "variant", "batch", "backend", "metric", "repeat", "ring_size", "frame_size", "offered_mpps"),
    *("cpu", "clock_ghz", "queues", "waiting"),
]


def read_samples(path: Path) -> pd.DataFrame:
    """Read and check a ``samples.csv``; :class:`DataError` names the line that is wrong.

    The result has :data:`COLUMNS` and :data:`LATER_COLUMNS`. ``value``, ``offered_mpps`` and ``clock_ghz`` are floats.
    The load is NaN if it saturates the driver, and the clock is NaN for values that no model gave. ``batch``,
    ``packets``, ``repeat`` and the sizes are integers. The metric `cycles` of old files becomes `core_cycles` or
    `tsc_cycles`, by backend. Old names of variants are replaced, too.
    """
    raw = _read_text(path)
    found, later = tuple(raw.columns), tuple(LATER_COLUMNS)
    if found not in [COLUMNS + later[:count] for count in _VERSIONS]:
        raise DataError(f"{path}: line 1: the columns are {','.join(found)}, not {','.join(COLUMNS + later)}")
    raw = raw.assign(**{column: value for column, value in LATER_COLUMNS.items() if column not in found})
    if raw.empty:
        raise DataError(f"{path} holds no samples: this run measured nothing")
    raw["metric"] = [renamed_metric(m, b) for m, b in zip(raw["metric"], raw["backend"], strict=True)]
    raw["variant"] = raw["variant"].map(renamed_variant)
    for line, row in enumerate(raw.to_dict("records"), start=2):
        problem = _problem({str(key): str(value) for key, value in row.items()})
        if problem:
            raise DataError(f"{path}: line {line}: {problem}")
    optional = ["offered_mpps", "clock_ghz"]
    raw[optional] = raw[optional].replace("", "nan")
    samples = raw.astype({"value": float, **dict.fromkeys(optional, float), **dict.fromkeys(RANGES, int)})
    repeated = samples.duplicated(_IDENTITY)
    if repeated.any():
        line = int(repeated.to_numpy().argmax()) + 2
        raise DataError(f"{path}: line {line}: the same sample a second time (a run has one toolchain a variant)")
    return samples


def _read_text(path: Path) -> pd.DataFrame:
    """Read all fields as text: only then can an error name the line of a malformed number."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8", index_col=False)
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path} is empty: it has not even a header") from None
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None


def _problem(row: dict[str, str]) -> str | None:
    """Say what is wrong with a row; None if it is correct."""
    if not all(row[column] for column in COLUMNS):
        return "a column is empty"
    problem = _unknown_name(row)
    if problem:
        return problem
    for column, (least, most) in RANGES.items():
        text = row[column]
        if not (text.isascii() and text.isdigit()) or int(text) < least or (most is not None and int(text) > most):
            return f"{column} {text!r} is not a whole number from {least}" + (f" to {most}" if most else "")
    for column in ("value", *(column for column in ("offered_mpps", "clock_ghz") if row[column])):
        try:
            value = float(row[column])
        except ValueError:
            return f"{column} {row[column]!r} is not a number"
        if not math.isfinite(value):
            return f"{column} {row[column]!r} is not finite"
        if column == "offered_mpps" and value <= 0:
            return f"offered_mpps {row[column]!r} is not a positive load"
        if column == "clock_ghz" and value <= 0:
            return f"clock_ghz {row[column]!r} is not a positive clock"
    return _wrong_waiting(row) or _wrong_cpu(row)


def _wrong_waiting(row: dict[str, str]) -> str | None:
    """Say whether the way of waiting is unknown."""
    known = (POLL, INTERRUPTS)
    return (
        None if row["waiting"] in known else f"waiting {row['waiting']!r} is unknown; the ways are {', '.join(known)}"
    )


def _wrong_cpu(row: dict[str, str]) -> str | None:
    """Say whether processor, clock and backend do not fit each other."""
    backend, name, cpu = row["backend"], row["metric"], row["cpu"]
    if backend != MODEL and cpu:
        return f"cpu {cpu!r} beside the backend {backend}, which measures the machine; only {MODEL} names a CPU"
    if not cpu and source(name, backend).modelled:
        return f"{name} of the model names no cpu"
    if row["clock_ghz"] and not cpu:
        return f"clock_ghz {row['clock_ghz']!r} without a cpu"
    return None


def _unknown_name(row: dict[str, str]) -> str | None:
    impl, backend, metric, note = (row[column] for column in ("impl", "backend", "metric", "note"))
    if impl not in IMPLEMENTATIONS:
        return f"impl {impl!r} is unknown; the valid names are {', '.join(IMPLEMENTATIONS)}"
    if backend not in BACKENDS:
        return f"backend {backend!r} is unknown; the valid names are {', '.join(BACKENDS)}"
    if metric not in metrics():
        return f"metric {metric!r} is not in metrics.toml; the valid names are {', '.join(metrics())}"
    if backend not in metrics()[metric].backends:
        return f"backend {backend} does not count {metric}; {', '.join(metrics()[metric].backends)} do"
    if note not in ("", MULTIPLEXED):
        return f"note {note!r} is neither empty nor {MULTIPLEXED!r}"
    return None
