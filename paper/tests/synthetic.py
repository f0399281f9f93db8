"""A run for the tests: the files that the runner writes, with simple numbers."""

import itertools
import json
import random
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HEADER = (
    "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat,ring_size,frame_size,offered_mpps,note,cpu,"
    "queues,waiting,placement,process"
)
OURS = (
    ("c", "default", 1.0),
    ("rust", "default", 1.2),
    ("rust", "overflow-checks", 1.3),
    ("rust-unsafe", "default", 0.9),
)
UPSTREAM = (
    *(("ixy", "default", 1.5), ("ixy", "own-flags", 1.6)),
    *(("ixy-rs", "default", 2.5), ("ixy-rs", "own-flags", 2.64), ("ixy-c2rust", "default", 1.4)),
)
COUNTS = {"instructions": 80.0, "branches": 9.0, "stores": 13.0, "loads": 18.0}
SIMULATED = {"branch_misses": 0.05, "l1_hits": 17.8, "l2_hits": 1.1, "l3_hits": 0.9, "l3_misses": 0.2}
PROCESSES, ROUNDS = 6, 10


def row(impl: str, variant: str, batch: int, backend: str, metric: str, value: float, **more: Any) -> str:
    """One line of samples.csv."""
    known: dict[str, object] = {
        **{"impl": impl, "variant": variant, "toolchain": "cc 1.0", "batch": batch, "backend": backend},
        **{"metric": metric, "value": f"{value:.6f}", "unit": "x", "packets": 1000, "repeat": 0, "ring_size": 512},
        **{"frame_size": 60, "queues": 1, "waiting": "poll", "process": 0, **more},
    }
    return ",".join(str(known.get(name, "")) for name in HEADER.split(","))


def cycles(impl: str, variant: str, batch: int, backend: str, value: float, placement: str = "memory") -> list[str]:
    """Noisy cycles: a process has noise of its own, and each round too. Equal rounds have equal disturbances."""
    lines = []
    for process in range(PROCESSES):
        noise = random.Random(f"{process} {batch} {placement}")
        level = 1 + 0.04 * noise.uniform(-1, 1)
        for repeat in range(ROUNDS):
            measured = value * level * (1 + 0.1 * noise.uniform(-1, 1))
            more = {"repeat": repeat, "process": process, "placement": placement}
            lines.append(row(impl, variant, batch, backend, "tsc_cycles", measured, **more))
    return lines


def rows(upstream: bool = True) -> list[str]:
    """The samples of `make reproduce`."""
    lines: list[str] = []
    for batch in (32, 8):
        for impl, variant, factor in (*OURS, *(UPSTREAM if upstream else ())):
            own = (impl, variant, batch)
            lines += [row(*own, "trace", metric, value * factor) for metric, value in COUNTS.items()]
            placed: dict[str, Any] = {"cpu": "haswell", "placement": "memory"}
            lines += [row(*own, "trace", metric, value * factor, **placed) for metric, value in SIMULATED.items()]
            for placement, value in (("memory", 50.0), ("warm", 20.0)):
                if impl in ("c", "rust", "rust-unsafe"):
                    lines += cycles(*own, "lockstep", value * factor, placement)
                lines += cycles(*own, "burst", 1.1 * value * factor, placement)
            lines += [row(*own, "wall", "mpps", 12 / factor + repeat / 100, repeat=repeat) for repeat in range(5)]
            if impl in ("c", "rust", "rust-unsafe"):
                lines += [row(*own, "wall", "full_batch_ratio", 0.99, repeat=repeat) for repeat in range(5)]
    return lines


def info() -> dict[str, Any]:
    """A run.json."""
    return {
        **{"id": "2026-01-02T03-04-05Z", "start": "2026-01-02T03:04:05Z", "end": "2026-01-02T03:06:05Z"},
        "command": ["triptych", "run"],
        "git": {"revision": "0123456789abcdef", "dirty": False},
        "host": {"kernel": "6.1.0", "name": "secret", "cpu": {"model_name": "A Processor", "cpus": 2}},
        "builds": [{"impl": "rust", "variant": "default", "toolchain": "cc 1.0", "checks_in_loops": {"bounds": 2}}],
        "settings": {"trace": {}, "lockstep": {"placed_load_tsc_cycles": {"memory": 210.4}}, "burst": {}, "wall": {}},
        "not_measurable": {"perf": "no PMU"},
        "warnings": [],
        "failures": [],
    }


def write_run(parent: Path, lines: Iterable[str] | None = None, **changes: object) -> Path:
    """Write a results folder; keyword arguments replace entries of its run.json."""
    folder = parent / "2026-01-02T03-04-05Z"
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join([HEADER, *(rows() if lines is None else lines)]) + "\n"
    (folder / "samples.csv").write_text(text, encoding="utf-8")
    (folder / "run.json").write_text(json.dumps({**info(), **changes}), encoding="utf-8")
    return folder


def cell(impl: str = "c", backend: str = "trace", value: float = 80.0, **more: Any) -> dict[str, Any]:
    """The file of a cell. Keywords replace a field of the cell, or an entry of the file."""
    at: dict[str, Any] = {"impl": impl, "variant": "default", "batch": 32, "ring_size": 512, "frame_size": 60}
    at |= {"backend": backend, "placement": "", "offered_mpps": 0.0, "queues": 1, "waiting": "poll", "cpu": ""}
    at |= {name: more.pop(name) for name in list(more) if name in at}
    exact = backend in ("trace", "valgrind")
    metric = more.pop("metric", "instructions" if exact else "tsc_cycles")
    width = more.pop("width", 0.0 if exact else 0.01)
    samples = [[metric, value, "x", 1000, 0, 0, ""]]
    if not exact:
        samples = [
            [metric, value * (1 + width * (repeat - 4.5) / 4.5), "x", 1000, repeat, process, ""]
            for process in range(PROCESSES)
            for repeat in range(ROUNDS)
        ]
    ends = {"low": value * (1 - width), "high": value * (1 + width)}
    known: dict[str, Any] = {"program": impl, "machine": "box1", "run": "r1", "start": "2026-01-02T03:04:05Z"}
    known |= {"revision": "a" * 40, "committed": "2026-01-01T00:00:00Z", "toolchain": "cc 1.0", "dirty": False, **more}
    name = f"{backend}-{impl}-{at['variant']}-b{at['batch']}-r{at['ring_size']}-f{at['frame_size']}"
    name += f"-{at['placement']}" if at["placement"] else ""
    return {
        "format": "triptych-cell-1",
        "id": f"{name}-{zlib.crc32(json.dumps([at, known['program']]).encode()):08x}",
        **{name: known[name] for name in ("machine", "run", "start")},
        "seconds_per_cell": 2.0,
        "cell": at,
        "figures": {metric: {"unit": "x", "value": value, **ends, "count": len(samples)}},
        "samples": samples,
        "build": {"toolchain": known["toolchain"], "compiler_sha256": "c", "program_sha256": known["program"]},
        "git": {name: known[name] for name in ("revision", "committed", "dirty")},
        "host": {"cpu": {"model_name": f"Processor {known['machine']}", "cpus": 2}, "microcode": "1"},
        "settings": {},
    }


def write_cells(results: Path, cells: Iterable[dict[str, Any]], below: str = "") -> Path:
    """Write cells below `results/MACHINE/RUN/cells/`, as copied folders have them."""
    for one in cells:
        folder = results / one["machine"] / below / one["run"] / "cells"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{one['id']}.json").write_text(json.dumps(one, separators=(",", ":")), encoding="utf-8")
    return results


def many(results: Path, machines: int, revisions: int, cells: int) -> None:
    """Write so many exact cells of each revision on each machine: a rehearsal of a large laboratory."""
    sizes = ((ring, frame) for ring in (512, 64, 128, 256, 1024, 2048) for frame in (60, 124, 252, 508, 1020, 1514))
    at = [(impl, batch, *size) for size in sizes for impl in ("c", "rust", "rust-unsafe") for batch in (32, 8, 1, 4)]
    for machine, revision in itertools.product(range(machines), range(revisions)):
        where = {"machine": f"box{machine:03}", "run": f"run{revision:03}", "revision": f"{revision:040x}"}
        where["committed"] = f"2026-{1 + revision // 28:02}-{1 + revision % 28:02}T00:00:00Z"
        written = []
        for place, (impl, batch, ring, frame) in enumerate(at[:cells]):
            conditions: dict[str, Any] = {"batch": batch, "ring_size": ring, "frame_size": frame}
            # The driver in C becomes dearer once.
            value = 80 + place % 7 + (impl == "c" and revision > revisions // 2)
            one = cell(impl, value=float(value), program=f"{impl}{revision}", **conditions, **where)
            for metric, level in (COUNTS | SIMULATED).items():
                one["figures"].setdefault(metric, {**one["figures"]["instructions"], "value": level})
                simulated = ["haswell", "memory"] if metric in SIMULATED else []
                one["samples"] += [[metric, level, "x", 1000, 0, 0, "", *simulated]] if metric != "instructions" else []
            one["host"] |= {"mitigations": {f"hazard_{number}": "Mitigation; and its details" for number in range(60)}}
            written.append(one)
        write_cells(results, written)


if __name__ == "__main__":
    many(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
