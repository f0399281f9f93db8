"""The record of a run: ``run.json`` and ``samples.csv`` of a results folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from triptych_paper.conditions import DEFAULT_CONDITIONS, FRAME_SIZE, POLL, QUEUES, RING_SIZE, Conditions
from triptych_paper.errors import DataError
from triptych_paper.samples import read_samples
from triptych_paper.schema import renamed_metric, renamed_variant


@dataclass(frozen=True)
class Failure:
    """A measurement that did not work."""

    impl: str
    variant: str
    batch: int
    backend: str
    cause: str
    conditions: Conditions = DEFAULT_CONDITIONS


@dataclass(frozen=True)
class Run:
    """The whole record of a run."""

    folder: Path
    """The run's own folder, links resolved."""
    id: str
    samples: pd.DataFrame
    """One row a sample, see :func:`triptych_paper.samples.read_samples`."""
    backends: tuple[str, ...]
    """The backends that the run was configured to use."""
    not_measurable: dict[str, str] = field(default_factory=dict)
    """Why a backend cannot work on the machine, by backend."""
    not_measurable_metrics: dict[str, dict[str, str]] = field(default_factory=dict)
    """Why a backend that works cannot count a metric, by backend and metric."""
    skipped_peers: dict[tuple[str, str], str] = field(default_factory=dict)
    """Why another project's driver was not measured, by implementation and variant."""
    failures: tuple[Failure, ...] = ()
    warnings: tuple[str, ...] = ()
    ended: bool = True
    """Whether the run is complete."""
    info: dict[str, Any] = field(default_factory=dict)
    """The whole of ``run.json``."""


def read_run(folder: Path) -> Run:
    """Read a results folder.

    Raises :class:`DataError` if a file is missing or malformed.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise DataError(f"{folder} is not a results folder: name another one, or run `triptych run` first")
    where = folder / "run.json"
    info = read_info(where)
    settings = _mapping(info, "settings", where)
    return Run(
        folder=folder,
        id=_text(info, "id", where),
        samples=read_samples(folder / "samples.csv"),
        backends=tuple(settings),
        not_measurable={str(k): str(v) for k, v in _mapping(info, "not_measurable", where).items()},
        not_measurable_metrics={
            backend: {renamed_metric(metric, backend): str(why) for metric, why in metrics.items()}
            for backend, metrics in _not_measurable_metrics(settings).items()
        },
        skipped_peers=dict(_skipped_peer(entry, where) for entry in info.get("skipped_peers") or []),
        failures=tuple(_failure(entry, where) for entry in _list(info, "failures", where)),
        warnings=tuple(str(text) for text in _list(info, "warnings", where)),
        ended=info.get("end") is not None,
        info=info,
    )


def _not_measurable_metrics(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {}
    for backend, options in settings.items():
        metrics = options.get("not_measurable_metrics") if isinstance(options, dict) else None
        if isinstance(metrics, dict):
            found[backend] = metrics
    return found


def read_info(path: Path) -> dict[str, Any]:
    """Read a ``run.json``; :class:`DataError` if it is missing or malformed."""
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: is {path.parent} a results folder?") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(info, dict):
        raise DataError(f"{path} is malformed: it does not hold an object")
    return info


def _text(info: dict[str, Any], key: str, where: Path) -> str:
    value = info.get(key)
    if not isinstance(value, str):
        raise DataError(f"{where} is malformed: {key!r} is not a string")
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


def _skipped_peer(entry: object, where: Path) -> tuple[tuple[str, str], str]:
    try:
        if not isinstance(entry, dict):
            raise TypeError
        return (str(entry["impl"]), str(entry["variant"])), str(entry["reason"])
    except (KeyError, TypeError):
        raise DataError(f"{where} is malformed: {entry!r} does not describe a skipped driver") from None


def _failure(entry: object, where: Path) -> Failure:
    try:
        if not isinstance(entry, dict):
            raise TypeError
        return Failure(
            impl=str(entry["impl"]),
            variant=renamed_variant(str(entry["variant"])),
            batch=int(entry["batch"]),
            backend=str(entry["backend"]),
            cause=str(entry["cause"]),
            conditions=Conditions(
                ring_size=int(entry.get("ring_size", RING_SIZE)),
                frame_size=int(entry.get("frame_size", FRAME_SIZE)),
                queues=int(entry.get("queues", QUEUES)),
                waiting=str(entry.get("waiting", POLL)),
                offered_mpps=None if entry.get("offered_mpps") is None else float(entry["offered_mpps"]),
            ),
        )
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{where} is malformed: {entry!r} does not describe a failure") from None
