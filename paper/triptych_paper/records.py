"""The record of a run: ``run.json``, and ``samples.csv`` or the files of its cells, in a results folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from triptych_paper.errors import DataError
from triptych_paper.index import CELL, read_cell
from triptych_paper.schema import BACKENDS, IMPLEMENTATIONS, PLACEMENTS, metrics

REQUIRED = ("impl", "variant", "toolchain", "batch", "backend", "metric", "value", "unit", "packets", "repeat")
DEFAULTS: dict[str, Any] = {
    "ring_size": 512,
    "frame_size": 60,
    "offered_mpps": 0.0,
    "note": "",
    "cpu": "",
    "queues": 1,
    "waiting": "poll",
    "placement": "",
    "process": 0,
}
"""The other columns of ``samples.csv``, with their values where a file or a field is without them."""

NUMBERS = ("batch", "value", "packets", "repeat", "ring_size", "frame_size", "offered_mpps", "queues", "process")
IDENTITY = [name for name in (*REQUIRED, *DEFAULTS) if name not in ("toolchain", "value", "unit", "packets", "note")]
"""The columns that identify a sample."""

PAPER_CPU = "haswell"
"""The simulated processor that tables show, if a run has several: that of the counter page."""


@dataclass(frozen=True)
class Run:
    """The whole record of a run."""

    folder: Path
    info: dict[str, Any]
    """The whole of ``run.json``."""
    samples: pd.DataFrame
    warnings: tuple[str, ...] = ()
    failures: tuple[dict[str, Any], ...] = ()
    not_measurable: dict[str, str] = field(default_factory=dict)
    """Why a backend cannot work on the machine, by backend."""

    @property
    def id(self) -> str:
        """The name of the run."""
        return str(self.info["id"])

    @property
    def ended(self) -> bool:
        """Whether the run is complete. Jobs of several machines have no common end."""
        return self.info.get("end") is not None or bool(self.info.get("jobs"))

    @property
    def revision(self) -> str:
        """The git revision of the sources, marked if they had changes."""
        git = part(self.info, "git")
        short = str(git.get("revision") or "")[:10] or "an unknown revision"
        return f"{short} with uncommitted changes" if git.get("dirty") else short

    @property
    def card(self) -> str:
        """The kind of card behind perf and wall: `real card` or `software card`."""
        ports = part(self.info, "plan").get("devices") or []
        real = bool(ports) and not all(str(port).startswith("vfio-user:") for port in ports)
        return "real card" if real else "software card"


def part(info: dict[str, Any], key: str) -> dict[str, Any]:
    """Return an object inside of an object; empty if it is absent."""
    value = info.get(key)
    return value if isinstance(value, dict) else {}


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; :class:`DataError` if it is missing or malformed."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: is {path.parent} a results folder?") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(found, dict):
        raise DataError(f"{path} is malformed: it does not hold an object")
    return found


def read_run(folder: Path) -> Run:
    """Read a results folder; :class:`DataError` if a file is missing or malformed."""
    folder = folder.resolve()
    if not folder.is_dir():
        raise DataError(f"{folder} is not a results folder: name another one, or run `make reproduce` first")
    where, table = folder / "run.json", folder / "samples.csv"
    info = read_json(where)
    cells = sorted((folder / "cells").glob("*.json"))
    if cells and (not table.exists() or table.stat().st_mtime < max(path.stat().st_mtime for path in cells)):
        return run_of_cells(folder, cells, info)
    return _run(folder, info, read_samples(table))


def run_of_cells(folder: Path, cells: Iterable[Path], info: dict[str, Any]) -> Run:
    """Read the cells of a run or of a machine; :class:`DataError` names the one that is malformed."""
    rows, settings, builds, read = [], {}, {}, {}
    seen: dict[str, str] = {}
    for path in cells:
        try:
            cell, _ = read_cell(path)
            at, toolchain = cell["cell"], cell["build"]["toolchain"]
            own = {**{name: at.get(name) for name in CELL}, "toolchain": toolchain}
            for metric, value, unit, packets, repeat, process, note, *more in cell["samples"]:
                # The processor and the placement that `trace` simulates follow.
                cpu, placement = (*more, "", "")[:2]
                counted = {"metric": metric, "value": value, "unit": unit, "packets": packets, "repeat": repeat}
                counted |= {"process": process, "note": note, "cpu": cpu}
                rows.append({**own, **counted, "placement": placement or own["placement"]})
            other = seen.setdefault(cell["id"].rpartition("-")[0], toolchain)
            if other != toolchain:
                raise DataError(
                    f"{path}: another cell is by {other}: `make paper RUNS={folder.parent}` shows compilers"
                )
            settings[at["backend"]] = cell["settings"]
            builds[at["impl"], at["variant"]] = {"impl": at["impl"], "variant": at["variant"], "toolchain": toolchain}
            read = cell
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"{path} is no cell: {error}; measure it again, or delete the file") from None
    if not read:
        raise DataError(f"{folder} holds no cells: this run measured nothing")
    known = {"id": read["run"], **{name: read[name] for name in ("machine", "start", "git", "host")}, "jobs": True}
    merged = {**known, "builds": list(builds.values()), **info, "jobs": True}
    merged["settings"] = {**settings, **part(info, "settings")}
    samples = pd.DataFrame(rows).astype(str).replace(["None", "nan"], "")
    return _run(folder, merged, checked(samples, folder / "cells"))


def _run(folder: Path, info: dict[str, Any], samples: pd.DataFrame) -> Run:
    where = folder / "run.json"
    try:
        return Run(
            folder=folder,
            info={**info, "id": info["id"]},
            samples=samples,
            warnings=tuple(map(str, info.get("warnings") or ())),
            failures=tuple({**failure, "cause": str(failure["cause"])} for failure in info.get("failures") or ()),
            not_measurable={str(name): str(why) for name, why in (info.get("not_measurable") or {}).items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{where} is malformed: {error!r}") from None


def read_samples(path: Path) -> pd.DataFrame:
    """Read and check a ``samples.csv``; :class:`DataError` names the line that is wrong."""
    try:
        raw = pd.read_csv(path, dtype=str, keep_default_na=False, index_col=False)
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    absent = [name for name in REQUIRED if name not in raw]
    if absent:
        raise DataError(f"{path}: line 1: the columns {', '.join(absent)} are missing")
    return checked(raw, path)


def checked(raw: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Check samples that are still text, and convert their numbers; :class:`DataError` names the line."""
    if (raw["backend"] == "model").any():
        raise DataError(f"{path}: it holds modelled values of Triptych 0.2; measure again with `make reproduce`")
    if raw.empty:
        raise DataError(f"{path} holds no samples: this run measured nothing")
    for name, default in DEFAULTS.items():
        raw[name] = raw[name].where(raw[name] != "", str(default)) if name in raw else str(default)
    for name in NUMBERS:
        numbers = pd.to_numeric(raw[name], errors="coerce")
        _check(path, raw[name], np.isfinite(numbers), f"{name} {{!r}} is not a number")
        whole = name not in ("value", "offered_mpps")
        _check(path, raw[name], ~((numbers < 0) | (whole & (numbers % 1 != 0))), f"{name} {{!r}} is no valid number")
        raw[name] = numbers.astype(int if whole else float)
    known = {"impl": IMPLEMENTATIONS, "backend": BACKENDS, "metric": metrics(), "placement": ("", *PLACEMENTS)}
    for name, valid in known.items():
        _check(
            path,
            raw[name],
            raw[name].isin(list(valid)),
            f"{name} {{!r}} is unknown; use {', '.join(filter(None, valid))}",
        )
    _check(path, raw["metric"], ~raw.duplicated(IDENTITY), "the same sample of {} a second time")
    return _one_cpu(raw)


def _check(path: Path, column: pd.Series, valid: Any, message: str) -> None:
    """Raise :class:`DataError` for the first field that is not valid."""
    wrong = np.flatnonzero(~np.asarray(valid, dtype=bool))
    if wrong.size:
        raise DataError(f"{path}: line {wrong[0] + 2}: {message.format(column.iloc[wrong[0]])}")


def _one_cpu(samples: pd.DataFrame) -> pd.DataFrame:
    """Keep the values of one simulated processor."""
    found = [str(cpu) for cpu in samples["cpu"].unique() if cpu]
    kept = PAPER_CPU if PAPER_CPU in found else next(iter(found), "")
    return samples[samples["cpu"].isin(["", kept])].reset_index(drop=True)


def machine(info: dict[str, Any]) -> str:
    """Name the machine of a run: processor, number of CPUs, and whether it is virtual."""
    cpu = part(part(info, "host"), "cpu")
    parts = [str(cpu.get("model_name") or "unknown processor"), f"{cpu.get('cpus', '?')} CPUs"]
    if isinstance(cpu.get("family"), int):
        parts.append(f"family {cpu['family']} model {cpu.get('model', '?')}")
    return ", ".join([*parts, *(["virtual machine"] if cpu.get("virtual_machine") else [])])
