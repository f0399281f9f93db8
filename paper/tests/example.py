"""A run for the tests: the same files as the runner writes, with simple numbers."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HEADER = "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat"
CONDITIONS = "ring_size,frame_size,offered_mpps,note"
ALL_CONDITIONS = "ring_size,frame_size,offered_mpps,note,cpu,clock_ghz,queues,waiting"
MODEL_CONDITIONS = f"{CONDITIONS},cpu,clock_ghz"
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
    """Return the samples of `make reproduce`, without the later columns."""
    lines = []
    for batch in (32, 8):
        for impl, variant, factor in DRIVERS:
            start = f"{impl},{variant},cc 1.0,{batch}"
            for metric, value in VALGRIND.items():
                scaled = value if metric == "full_batch_ratio" else value * factor
                lines.append(f"{start},valgrind,{metric},{scaled},x/packet,204800,0")
            for repeat in range(11):
                # Repeat 5 is disturbed for all drivers alike, so that ratios of pairs cancel it.
                cycles = 33.0 * factor * (3.0 if repeat == 5 else 1.0 + repeat / 100)
                lines.append(f"{start},lockstep,tsc_cycles,{cycles},tsc cycles/packet,3840,{repeat}")
            for repeat in range(3):
                lines.append(f"{start},wall,mpps,{20 / factor},Mpackets/s,1000,{repeat}")
                lines.append(f"{start},wall,tsc_cycles,{130 * factor},tsc cycles/packet,1000,{repeat}")
                lines.append(f"{start},wall,full_batch_ratio,0.995,ratio,1000,{repeat}")
    return lines


PEERS = (
    ("ixy", "default", 1.02),
    ("ixy", "own-flags", 1.05),
    ("ixy-rs", "default", 1.6),
    ("ixy-rs", "own-flags", 1.65),
    ("ixy-c2rust", "default", 0.97),
    ("dpdk-vector", "default", 0.9),
    ("dpdk-vector", "mac", 1.1),
    ("dpdk-scalar", "default", 1.5),
    ("dpdk-scalar", "mac", 1.7),
)
"""Other projects' drivers, with their counts as multiples of our C driver's."""


def peer_rows() -> list[str]:
    """Return the samples of other projects' drivers, which lockstep cannot run."""
    lines = []
    for batch in (32, 8):
        for impl, variant, factor in PEERS:
            start = f"{impl},{variant},cc 1.0,{batch}"
            for metric, value in VALGRIND.items():
                if metric != "full_batch_ratio":
                    lines.append(f"{start},valgrind,{metric},{value * factor},x/packet,204800,0")
            for repeat in range(3):
                lines.append(f"{start},wall,mpps,{(12 + repeat / 10) / factor},Mpackets/s,1000,{repeat}")
    return lines


COUNTED = ("instructions", "branches", "stores", "loads")
"""What the model counts, so that no processor is named."""

MODELLED = {
    "core_cycles": 92.0,
    "ipc": 1.4,
    "branch_misses": 0.04,
    "l1_hits": 24.0,
    "l2_hits": 1.15,
    "l3_hits": 0.8,
    "l3_misses": 0.25,
}
"""What the model gives of our C driver on the paper's processor."""

PUBLISHED_CLOCKS = (1.6, 3.3)
HOST_CPU, HOST_CLOCK = "sapphire-rapids", 2.0


def model_rows() -> list[str]:
    """Return the samples of the model, with all columns: our drivers and the paper's own."""
    lines = []
    paper = [peer for peer in PEERS if peer[0].startswith("ixy")]
    for batch in (32, 8):
        for impl, variant, factor in (*DRIVERS, *paper):
            start = f"{impl},{variant},cc 1.0,{batch},model"
            for metric in COUNTED:
                lines.append(f"{start},{metric},{VALGRIND[metric] * factor},x/packet,1024,0,512,60,,,,")
            for clock in PUBLISHED_CLOCKS:
                for metric, value in MODELLED.items():
                    row = f"{start},{metric},{value * factor},x/packet,1024,0,512,60,,,haswell,{clock}"
                    lines.append(row)
                lines.append(f"{start},mpps,{1000 * clock / 92 / factor},Mpackets/s,10000,0,512,60,,,haswell,{clock}")
                for load in (1, 10, 20):
                    for place, name in enumerate(("p50", "p90", "p99", "p99_9")):
                        value = (4 + place) * factor + load / 10
                        lines.append(f"{start},latency_{name}_us,{value},us,10000,0,512,60,{load},,haswell,{clock}")
            cycles = 30.0 * factor
            lines.append(f"{start},core_cycles,{cycles},x/packet,1024,0,512,60,,,{HOST_CPU},{HOST_CLOCK}")
    return lines


def modelled_rows() -> list[str]:
    """Return the samples of a run with the model and other backends, with all columns."""
    starved = [row.replace("full_batch_ratio,0.995", "full_batch_ratio,0.04") for row in rows()]
    return [f"{row},," for row in with_conditions(starved)] + model_rows()


def with_conditions(
    lines: Iterable[str], ring: int = 512, frame: int = 60, offered: str = "", note: str = ""
) -> list[str]:
    """Add the later columns to rows."""
    return [f"{line},{ring},{frame},{offered},{note}" for line in lines]


def matrix_rows() -> list[str]:
    """Return the samples of a run of the whole matrix: all variants, batch sizes, rings, frames and loads."""
    lines = with_conditions(rows())
    more = (("c", "trapping-ubsan", 1.1), ("c", "fortified", 1.02), ("c", "no-lto", 1.3), ("rust", "no-lto", 2.0))
    for impl, variant, factor in more:
        start = f"{impl},{variant},cc 1.0,32"
        lines += with_conditions(
            [f"{start},valgrind,instructions,{130 * factor},instructions/packet,204800,0"]
            + [
                f"{start},lockstep,tsc_cycles,{33 * factor * (1 + repeat / 100)},tsc cycles/packet,3840,{repeat}"
                for repeat in range(11)
            ]
        )
    for impl, variant, factor in DRIVERS:
        for batch in (1, 2, 4, 16, 64, 128, 256):
            start = f"{impl},{variant},cc 1.0,{batch}"
            lines += with_conditions(
                [
                    f"{start},valgrind,instructions,{(130 + 100 / batch) * factor},instructions/packet,204800,0",
                    f"{start},wall,mpps,{20 / factor},Mpackets/s,1000,0",
                    f"{start},wall,full_batch_ratio,0.5,ratio,1000,0",
                ]
                + [f"{start},lockstep,tsc_cycles,{33 * factor},tsc cycles/packet,3840,{repeat}" for repeat in range(3)]
            )
        if variant != "default":
            continue
        start = f"{impl},{variant},cc 1.0,32,wall"
        for ring in (64, 4096):
            lines += with_conditions([f"{start},mpps,{19 / factor},Mpackets/s,1000,0"], ring=ring)
        lines += with_conditions([f"{start},mpps,{15 / factor},Mpackets/s,1000,0"], frame=1514)
        for load in ("1.0", "10"):
            latencies = {"p50": 3.0, "p90": 4.0, "p99": 5.5, "p99_9": 12.0, "max": 90.0}
            for name, value in latencies.items():
                for repeat in range(3):
                    row = f"{start},latency_{name}_us,{value * factor + repeat},us,1000,{repeat}"
                    lines += with_conditions([row], offered=load)
            lines += with_conditions([f"{start},loss_ratio,0.001,ratio,1000,0"], offered=load)
    return lines


def code() -> dict[str, Any]:
    """Return a `code.json`."""
    return {
        "revision": "0123456789",
        "counted_by": "tokei 15.0.0",
        "files": {
            "c": [{"path": "c/src/rx.c", "twin": "rx", "lines": 830, "unsafe_lines": None}],
            "rust": [
                {"path": "rust/src/rx.rs", "twin": "rx", "lines": 900, "unsafe_lines": 0},
                {"path": "rust/src/sys/dma.rs", "twin": "dma", "lines": 100, "unsafe_lines": 40},
            ],
            "rust-unsafe": [{"path": "rust-unsafe/src/gen/rx.rs", "twin": "rx", "lines": 2000, "unsafe_lines": 1900}],
        },
    }


def code_with_upstream() -> dict[str, Any]:
    """Return a `code.json` that also has the paper's own drivers, which `make peers` fetched."""
    document = code()
    document["upstream"] = {"ixy": "c" * 40, "ixy-rs": "d" * 40}
    document["files"]["ixy"] = [{"path": "ixy/src/memory.c", "twin": "memory", "lines": 831, "unsafe_lines": None}]
    document["files"]["ixy-rs"] = [{"path": "ixy.rs/src/lib.rs", "twin": "crate", "lines": 961, "unsafe_lines": 124}]
    return document


def info() -> dict[str, Any]:
    """Return a `run.json`."""
    return {
        "id": "2026-01-02T03-04-05Z",
        "start": "2026-01-02T03:04:05Z",
        "end": "2026-01-02T03:06:05Z",
        "command": ["triptych", "run"],
        "git": {"revision": "0123456789abcdef", "dirty": True},
        "host": {"kernel": "6.1.0", "cpu": {"model_name": "A Processor", "cpus": 2, "virtual_machine": True}},
        "builds": [
            {"impl": "c", "variant": "default", "toolchain": "cc 1.0", "flags": "-O2"},
            {
                "impl": "rust",
                "variant": "default",
                "toolchain": "cc 1.0",
                "flags": "-O3",
                "checks_in_loops": {"bounds": 0, "overflow": 0, "trap": 0, "other": 2},
            },
        ],
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


RUNGS = (
    ("00-transpiled", "rust-unsafe", "default", 72.0, 20.0),
    ("01-rest", "rust", "ladder-01-rest", 66.0, 21.0),
    ("02-drop", "rust", "ladder-02-drop", 76.5, 19.0),
    ("03-bounds", "rust", "ladder-03-bounds", 80.0, 22.5),
)
"""Name, driver, variant, instructions and cycles of each rung; 02-drop is the shipped driver."""


def ladder() -> dict[str, Any]:
    """Return a `ladder.json`."""
    return {
        "rungs": [
            {
                "name": name,
                "impl": impl,
                "variant": variant,
                "change": "remove",
                "title": name[3:],
                "adds": f"the feature {name}",
                "shipped": name == "02-drop",
                "alone": None,
            }
            for name, impl, variant, _, _ in RUNGS
        ]
    }


def ladder_rows(skip: tuple[str, ...] = ()) -> list[str]:
    """Return samples of the rungs and of the shipped safe driver."""
    lines = ["rust,default,cc 1.0,32,valgrind,instructions,76.51,x/packet,204800,0"]
    for name, impl, variant, instructions, cycles in RUNGS:
        if name in skip:
            continue
        start = f"{impl},{variant},cc 1.0,32"
        counts = {"instructions": instructions, "branches": 8.0, "loads": 16.0, "stores": 12.0}
        lines += [f"{start},valgrind,{metric},{value},x/packet,204800,0" for metric, value in counts.items()]
        for repeat in range(11):
            # The disturbance in repeat 5 adds the same to all rungs.
            value = cycles + (40.0 if repeat == 5 else repeat / 10)
            lines.append(f"{start},lockstep,tsc_cycles,{value},tsc cycles/packet,3840,{repeat}")
    return with_conditions(lines)
