"""How it was counted, what was published where, and what the sources contradict each other in."""

from __future__ import annotations

from triptych_paper.published import (
    ABSTRACT_NOTE,
    CYCLES_NOTE,
    LOADS_NOTE,
    LOADS_RATIO_NOTE,
    PROCESSOR_NOTE,
    SHARE_NOTE,
)
from triptych_paper.records import BACKENDS
from triptych_paper.report.model import Cell, Column, Data, Record, Section, Table

WAYS = {
    "perf": (
        "hardware counters of the forwarding thread, user space only, over a window that opens after warm-up",
        "what was published",
    ),
    "valgrind": (
        "whole programs under a simulator, N and 2N packets, and the difference by N, so that start-up cancels",
        "instructions, loads, stores and branches are exact; mispredicts and caches are simulated",
    ),
    "lockstep": (
        "all drivers in one process, in turns with the software card; only the drivers' turns are timed",
        "cycles of the time-stamp counter, not of the core; rings and packets are warm in the cache",
    ),
    "wall": (
        "driver and card as they run in practice, timed from outside",
        "with the software card the card's own speed and the cache lines between cores are in it",
    ),
}

SOURCES = (
    "[L] P. Emmerich et al., “The Case for Writing Network Drivers in High-Level Programming Languages”, ANCS 2019, "
    "arXiv 1909.06344. [M] the repository ixy-languages/ixy-languages that goes with it; “page” is its "
    "Rust-vs-C-performance.md. [U] P. Emmerich et al., “User Space Network Drivers”, ANCS 2019, arXiv 1901.10664. "
    "[R] emmericp/ixy-perf-measurements, raw data of [U].",
    "Where the sources contradict themselves: "
    + " ".join((LOADS_NOTE, LOADS_RATIO_NOTE, CYCLES_NOTE, ABSTRACT_NOTE, SHARE_NOTE, PROCESSOR_NOTE)),
)


def build(data: Data) -> Section:
    """A table of the backends, one of the builds, and the sources."""
    return Section(
        "method",
        "How it was measured, and where the published figures are from",
        (
            "Values are medians over repeats, with the 10th and 90th percentile. What is compared was measured in "
            "turn, round by round, and is compared round by round. What a machine cannot measure is absent.",
            *SOURCES,
        ),
        (_backends(data), _builds(data)),
    )


def _backends(data: Data) -> Table:
    rows, records = [], []
    for backend in BACKENDS:
        samples = data.run.samples[data.run.samples["backend"] == backend]
        if len(samples):
            state, tone = f"{len(samples)} samples", "good"
        elif backend in data.run.not_measurable:
            state, tone = f"not measurable here: {data.run.not_measurable[backend]}", "none"
        else:
            state, tone = "not used in this run", "none"
        how, means = WAYS[backend]
        rows.append((Cell(backend), Cell(how), Cell(means), Cell(state, (), (), tone)))
        record: Record = {"backend": backend, "how": how, "what_it_means": means, "state": state}
        records.append(record)
    columns = tuple(
        Column(text, numeric=False) for text in ("backend", "how it counts", "what its values mean", "here")
    )
    return Table("backends", "Ways to count", columns, tuple(rows), tuple(records))


def _builds(data: Data) -> Table:
    builds = [build for build in data.run.info.get("builds") or [] if isinstance(build, dict)]
    keys = ("impl", "variant", "toolchain", "flags")
    rows = tuple(tuple(Cell(str(build.get(key, ""))) for key in keys) for build in builds)
    records: tuple[Record, ...] = tuple({key: build.get(key, "") for key in keys} for build in builds)
    columns = tuple(Column(text, numeric=False) for text in ("driver", "variant", "compiler", "how it was built"))
    return Table("builds", "Builds", columns, rows, records)
