"""A run to make tables of: written like the runner writes it, with figures that are easy to follow."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HEADER = "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat"
DRIVERS = (
    ("c", "default", 1.0),
    ("rust", "default", 1.6),
    ("rust", "overflow-checks", 1.7),
    ("rust-unsafe", "default", 0.95),
)
VALGRIND = {
    "instructions": 130.0,
    "branches": 11.5,
    "branch_misses": 0.14,
    "stores": 24.0,
    "loads": 31.0,
    "l1_hits": 29.0,
    "l3_hits": 1.9,
    "l3_misses": 0.1,
    "full_batch_ratio": 1.0,
}

MakeRun = Callable[..., Path]


def rows() -> list[str]:
    """Every sample of a complete run."""
    lines = []
    for batch in (32, 8):
        for impl, variant, factor in DRIVERS:
            start = f"{impl},{variant},cc 1.0,{batch}"
            for metric, value in VALGRIND.items():
                scaled = value if metric == "full_batch_ratio" else value * factor
                lines.append(f"{start},valgrind,{metric},{scaled},x/packet,204800,0")
            for repeat in range(11):
                # A disturbance that hits all drivers of a round alike: pairs do not see it.
                cycles = 33.0 * factor * (3.0 if repeat == 5 else 1.0 + repeat / 100)
                lines.append(f"{start},lockstep,cycles,{cycles},tsc cycles/packet,3840,{repeat}")
            for repeat in range(3):
                lines.append(f"{start},wall,mpps,{20 / factor},Mpackets/s,1000,{repeat}")
                lines.append(f"{start},wall,cycles,{130 * factor},tsc cycles/packet,1000,{repeat}")
                lines.append(f"{start},wall,full_batch_ratio,0.995,ratio,1000,{repeat}")
    return lines


def info() -> dict[str, Any]:
    """A `run.json`."""
    return {
        "id": "2026-01-02T03-04-05Z",
        "start": "2026-01-02T03:04:05Z",
        "end": "2026-01-02T03:06:05Z",
        "command": ["triptych", "run"],
        "git": {"revision": "0123456789abcdef", "dirty": True},
        "host": {"kernel": "6.1.0", "cpu": {"model_name": "A Processor", "cpus": 2, "virtual_machine": True}},
        "builds": [{"impl": "c", "variant": "default", "toolchain": "cc 1.0", "flags": "-O2"}],
        "settings": {"valgrind": {}, "lockstep": {}, "wall": {}},
        "not_measurable": {"perf": "no PMU"},
        "warnings": [],
        "failures": [],
    }


def write_run(parent: Path, lines: Iterable[str] | None = None, header: str = HEADER, **changes: object) -> Path:
    """Write a results folder; keyword arguments replace entries of its `run.json`."""
    folder = parent / "2026-01-02T03-04-05Z"
    folder.mkdir(exist_ok=True)
    text = "\n".join([header, *(rows() if lines is None else lines)]) + "\n"
    (folder / "samples.csv").write_text(text, encoding="utf-8")
    (folder / "run.json").write_text(json.dumps({**info(), **changes}), encoding="utf-8")
    return folder
