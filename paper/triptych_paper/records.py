"""The record of a run: ``samples.csv`` and ``run.json`` of a results folder."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

COLUMNS = ["impl", "variant", "toolchain", "batch", "backend", "metric", "value", "unit", "packets", "repeat"]
"""The columns that every ``samples.csv`` has, in order."""

CONDITIONS = ["ring_size", "frame_size", "offered_mpps", "note"]
"""The columns that follow them; files of before they were measured do without."""

RING_SIZE, FRAME_SIZE = 512, 60
"""Descriptors per ring and bytes of a frame without CRC, unless something else is said."""

MULTIPLEXED = "multiplexed"
"""Note of a value that was scaled up, because the processor had fewer counters than events."""

IMPLEMENTATIONS = ("c", "rust", "rust-unsafe")
"""The three drivers."""

BACKENDS = ("perf", "valgrind", "lockstep", "wall")
"""The ways to count."""

PERCENTILES = ("50", "90", "99", "99.9", "99.99", "99.999", "99.9999")
"""Percentiles of the latency that are recorded."""


def latency_metric(percentile: str) -> str:
    """Name of the metric of a percentile, or of `min` or `max`."""
    return f"latency_{percentile}_us" if percentile in ("min", "max") else f"latency_p{percentile.replace('.', '_')}_us"


METRICS = (
    *("cycles", "instructions", "ipc", "branches", "branch_misses", "stores", "loads"),
    *("l1_hits", "l2_hits", "l3_hits", "l3_misses", "mpps", "full_batch_ratio", "loss_ratio"),
    *(latency_metric(percentile) for percentile in ("min", *PERCENTILES, "max")),
)
"""What is counted."""

RANGES = (
    ("batch", 1, 512),
    ("packets", 1, None),
    ("repeat", 0, None),
    ("ring_size", 64, 4096),
    ("frame_size", 60, 1514),
)
"""The columns that are whole numbers, with the least and the most that they may be."""


class DataError(Exception):
    """A file that is missing or malformed; the message names it and says what is wrong."""


@dataclass(frozen=True)
class Conditions:
    """What a value was measured under, besides its batch size."""

    ring_size: int = RING_SIZE
    frame_size: int = FRAME_SIZE
    offered_mpps: float | None = None
    """Offered load, Mpps, both directions together; None for one that saturates the driver."""


USUAL = Conditions()
"""Those of everything whose conditions are not varied on purpose."""


@dataclass(frozen=True)
class Failure:
    """A measurement that did not work."""

    impl: str
    variant: str
    batch: int
    backend: str
    cause: str
    conditions: Conditions = USUAL


@dataclass(frozen=True)
class Run:
    """Everything that was recorded of one run."""

    folder: Path
    """The run's own folder, links resolved."""
    id: str
    samples: pd.DataFrame
    """One row a sample, with :data:`COLUMNS` and :data:`CONDITIONS`; ``value`` and ``offered_mpps`` are floats (the
    latter NaN for a load that saturates the driver), ``batch``, ``packets``, ``repeat`` and the sizes integers."""
    backends: tuple[str, ...]
    """The backends that the run was to use, whether or not they worked."""
    not_measurable: dict[str, str] = field(default_factory=dict)
    """Why a backend cannot work on the machine, by backend."""
    not_measurable_metrics: dict[str, dict[str, str]] = field(default_factory=dict)
    """Why a backend that works cannot count a metric, by backend and metric."""
    failures: tuple[Failure, ...] = ()
    warnings: tuple[str, ...] = ()
    ended: bool = True
    """Whether the run came to its end."""
    info: dict[str, Any] = field(default_factory=dict)
    """The whole of ``run.json``."""


def read_run(folder: Path) -> Run:
    """Read a results folder.

    Raises :class:`DataError` if a file is missing or malformed.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise DataError(f"{folder} is not a results folder: run `triptych run` first, or name another")
    info = _read_info(folder / "run.json")
    samples = read_samples(folder / "samples.csv")
    where = folder / "run.json"
    return Run(
        folder=folder,
        id=_text(info, "id", where),
        samples=samples,
        backends=tuple(_mapping(info, "settings", where)),
        not_measurable={str(k): str(v) for k, v in _mapping(info, "not_measurable", where).items()},
        not_measurable_metrics={
            backend: {metric: str(why) for metric, why in settings["not_measurable_metrics"].items()}
            for backend, settings in _mapping(info, "settings", where).items()
            if isinstance(settings, dict) and isinstance(settings.get("not_measurable_metrics"), dict)
        },
        failures=tuple(_failure(entry, where) for entry in _list(info, "failures", where)),
        warnings=tuple(str(text) for text in _list(info, "warnings", where)),
        ended=info.get("end") is not None,
        info=info,
    )


def read_samples(path: Path) -> pd.DataFrame:
    """Read and check a ``samples.csv``; :class:`DataError` names the line that is wrong."""
    try:
        # As text first: only then can a value that is no number be named with its line.
        raw = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8", index_col=False)
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path} is empty: there is not even a header") from None
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    if list(raw.columns) == COLUMNS:
        raw = raw.assign(ring_size=str(RING_SIZE), frame_size=str(FRAME_SIZE), offered_mpps="", note="")
    if list(raw.columns) != COLUMNS + CONDITIONS:
        expected = ",".join(COLUMNS + CONDITIONS)
        raise DataError(f"{path}: line 1: the columns are {','.join(raw.columns)}, not {expected}")
    if raw.empty:
        raise DataError(f"{path} holds no samples: nothing was measured in this run")
    for line, row in enumerate(raw.to_dict("records"), start=2):
        problem = _problem({str(key): str(value) for key, value in row.items()})
        if problem:
            raise DataError(f"{path}: line {line}: {problem}")
    raw["offered_mpps"] = raw["offered_mpps"].replace("", "nan")
    integers = dict.fromkeys(("batch", "packets", "repeat", "ring_size", "frame_size"), int)
    samples = raw.astype({"value": float, "offered_mpps": float, **integers})
    key = ["impl", "variant", "batch", "backend", "metric", "repeat", "ring_size", "frame_size", "offered_mpps"]
    twice = samples.duplicated(key)
    if twice.any():
        line = int(twice.to_numpy().argmax()) + 2
        raise DataError(f"{path}: line {line}: the same sample a second time (one toolchain per run and variant)")
    return samples


def _problem(row: dict[str, str]) -> str | None:
    """What is wrong with a row; None if nothing is."""
    if not all(row[column] for column in COLUMNS):
        return "a column is empty"
    if row["impl"] not in IMPLEMENTATIONS:
        return f"impl {row['impl']!r} is none of {', '.join(IMPLEMENTATIONS)}"
    if row["backend"] not in BACKENDS:
        return f"backend {row['backend']!r} is none of {', '.join(BACKENDS)}"
    if row["note"] not in ("", MULTIPLEXED):
        return f"note {row['note']!r} is neither empty nor {MULTIPLEXED!r}"
    for column, least, most in RANGES:
        text = row[column]
        if not (text.isascii() and text.isdigit()) or int(text) < least or (most is not None and int(text) > most):
            return f"{column} {text!r} is not a number of at least {least}" + (f" and at most {most}" if most else "")
    for column in ("value", "offered_mpps") if row["offered_mpps"] else ("value",):
        try:
            value = float(row[column])
        except ValueError:
            return f"{column} {row[column]!r} is not a number"
        if not math.isfinite(value):
            return f"{column} {row[column]!r} is not finite"
        if column == "offered_mpps" and value <= 0:
            return f"offered_mpps {row[column]!r} is no load"
    return None


def _read_info(path: Path) -> dict[str, Any]:
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: is {path.parent} a results folder?") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(info, dict):
        raise DataError(f"{path} is malformed: it is not an object")
    return info


def _text(info: dict[str, Any], key: str, where: Path) -> str:
    value = info.get(key)
    if not isinstance(value, str):
        raise DataError(f"{where} is malformed: {key!r} is not a text")
    return value


def _mapping(info: dict[str, Any], key: str, where: Path) -> dict[str, Any]:
    value = info.get(key)
    if not isinstance(value, dict):
        raise DataError(f"{where} is malformed: {key!r} is not an object")
    return value


def _list(info: dict[str, Any], key: str, where: Path) -> list[Any]:
    value = info.get(key)
    if not isinstance(value, list):
        raise DataError(f"{where} is malformed: {key!r} is not a list")
    return value


def _failure(entry: object, where: Path) -> Failure:
    try:
        assert isinstance(entry, dict)
        return Failure(
            impl=str(entry["impl"]),
            variant=str(entry["variant"]),
            batch=int(entry["batch"]),
            backend=str(entry["backend"]),
            cause=str(entry["cause"]),
            conditions=Conditions(
                ring_size=int(entry.get("ring_size", RING_SIZE)),
                frame_size=int(entry.get("frame_size", FRAME_SIZE)),
                offered_mpps=None if entry.get("offered_mpps") is None else float(entry["offered_mpps"]),
            ),
        )
    except (AssertionError, KeyError, TypeError, ValueError):
        raise DataError(f"{where} is malformed: {entry!r} is not a failure") from None
