"""The record of a run: ``samples.csv`` and ``run.json`` of a results folder."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

COLUMNS = ["impl", "variant", "toolchain", "batch", "backend", "metric", "value", "unit", "packets", "repeat"]
"""Columns of ``samples.csv``, in order."""

IMPLEMENTATIONS = ("c", "rust", "rust-unsafe")
"""The three drivers."""

BACKENDS = ("perf", "valgrind", "lockstep", "wall")
"""The ways to count."""

MAX_BATCH = 512


class DataError(Exception):
    """A file that is missing or malformed; the message names it and says what is wrong."""


@dataclass(frozen=True)
class Failure:
    """A measurement that did not work."""

    impl: str
    variant: str
    batch: int
    backend: str
    cause: str


@dataclass(frozen=True)
class Run:
    """Everything that was recorded of one run."""

    folder: Path
    """The run's own folder, links resolved."""
    id: str
    samples: pd.DataFrame
    """One row a sample, with :data:`COLUMNS`; ``value`` is a float; ``batch``, ``packets``, ``repeat`` are integers."""
    backends: tuple[str, ...]
    """The backends that the run was to use, whether or not they worked."""
    not_measurable: dict[str, str] = field(default_factory=dict)
    """Why a backend cannot work on the machine, by backend."""
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
    if list(raw.columns) != COLUMNS:
        raise DataError(f"{path}: line 1: the columns are {','.join(raw.columns)}, not {','.join(COLUMNS)}")
    if raw.empty:
        raise DataError(f"{path} holds no samples: nothing was measured in this run")
    for line, row in enumerate(raw.to_dict("records"), start=2):
        problem = _problem({str(key): str(value) for key, value in row.items()})
        if problem:
            raise DataError(f"{path}: line {line}: {problem}")
    samples = raw.astype({"value": float, "batch": int, "packets": int, "repeat": int})
    key = ["impl", "variant", "batch", "backend", "metric", "repeat"]
    twice = samples.duplicated(key)
    if twice.any():
        line = int(twice.to_numpy().argmax()) + 2
        raise DataError(f"{path}: line {line}: the same sample a second time (one toolchain per run and variant)")
    return samples


def _problem(row: dict[str, str]) -> str | None:
    """What is wrong with a row; None if nothing is."""
    if any(not isinstance(value, str) or not value for value in row.values()):
        return "a column is empty"
    if row["impl"] not in IMPLEMENTATIONS:
        return f"impl {row['impl']!r} is none of {', '.join(IMPLEMENTATIONS)}"
    if row["backend"] not in BACKENDS:
        return f"backend {row['backend']!r} is none of {', '.join(BACKENDS)}"
    for column, least, most in (("batch", 1, MAX_BATCH), ("packets", 1, None), ("repeat", 0, None)):
        text = row[column]
        if not (text.isascii() and text.isdigit()) or int(text) < least or (most is not None and int(text) > most):
            return f"{column} {text!r} is not a number of at least {least}" + (f" and at most {most}" if most else "")
    try:
        value = float(row["value"])
    except ValueError:
        return f"value {row['value']!r} is not a number"
    return None if math.isfinite(value) else f"value {row['value']!r} is not finite"


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
        )
    except (AssertionError, KeyError, TypeError, ValueError):
        raise DataError(f"{where} is malformed: {entry!r} is not a failure") from None
