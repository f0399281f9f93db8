"""The methods of measurement, and the sources of the published figures with their contradictions."""

from __future__ import annotations

from triptych_paper.published import (
    ABSTRACT_NOTE,
    CYCLES_NOTE,
    LOADS_NOTE,
    LOADS_RATIO_NOTE,
    PROCESSOR_NOTE,
    SHARE_NOTE,
)
from triptych_paper.report.model import Data, Section
from triptych_paper.schema import BACKENDS
from triptych_paper.tables.model import Cell, Column, Record, Table

METHODS = {
    "perf": (
        "hardware counters of the forwarding thread, user space only, over a window that opens after warm-up",
        "the published quantities",
    ),
    "model": (
        "follows the driver instruction by instruction, in turns with the software card, and runs what it executed "
        "through a model of a named processor",
        "instructions, branches, loads and stores are counted; mispredicts, cache hits, cycles, throughput and latency "
        "are modelled, for the processor and the clock beside them",
    ),
    "valgrind": (
        "runs whole programs under a simulator for N and for 2N packets, and divides the difference by N, so that "
        "start-up cancels",
        "instructions, loads, stores and branches are exact; mispredicts and caches are simulated",
    ),
    "lockstep": (
        "runs all drivers in one process, in turns with the software card, and times the drivers' turns only",
        "cycles of the time-stamp counter, not of the core; rings and packets are warm in the cache",
    ),
    "wall": (
        "runs driver and card as in practice, and times them from outside",
        "with the software card, the values include the card's own speed and the cache lines that move between cores",
    ),
}
"""How each backend counts, and the meaning of its values."""

SOURCES = (
    "[L] P. Emmerich et al., “The Case for Writing Network Drivers in High-Level Programming Languages”, ANCS 2019, "
    "arXiv 1909.06344. [M] its repository ixy-languages/ixy-languages; “page” is Rust-vs-C-performance.md there. [U] "
    "P. Emmerich et al., “User Space Network Drivers”, ANCS 2019, arXiv 1901.10664. [R] "
    "emmericp/ixy-perf-measurements, the raw data of [U].",
    "The sources contradict themselves in these places. "
    + " ".join((LOADS_NOTE, LOADS_RATIO_NOTE, CYCLES_NOTE, ABSTRACT_NOTE, SHARE_NOTE, PROCESSOR_NOTE)),
)


def build(data: Data) -> Section:
    """Build a table of the backends and one of the builds."""
    return Section(
        "method",
        "Method and sources",
        (
            "Values are medians over repeats, with the 10th and 90th percentile. The runner measures the drivers in "
            "turn, round by round, and the report compares them round by round. It leaves out values that a machine "
            "cannot measure.",
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
            state, tone = f"not measurable here: {data.run.not_measurable[backend]}", "neutral"
        else:
            state, tone = "not used in this run", "neutral"
        how, meaning = METHODS[backend]
        rows.append((Cell(backend), Cell(how), Cell(meaning), Cell(state, (), (), tone)))
        record: Record = {"backend": backend, "how": how, "meaning": meaning, "state": state}
        records.append(record)
    headings = ("backend", "how it counts", "meaning of its values", "in this run")
    columns = tuple(Column(heading, numeric=False) for heading in headings)
    return Table("backends", "Backends", columns, tuple(rows), tuple(records))


def _builds(data: Data) -> Table:
    builds = [build for build in data.run.info.get("builds") or [] if isinstance(build, dict)]
    keys = ("impl", "variant", "toolchain", "flags")
    rows = tuple(tuple(Cell(str(build.get(key, ""))) for key in keys) for build in builds)
    records: tuple[Record, ...] = tuple({key: build.get(key, "") for key in keys} for build in builds)
    columns = tuple(Column(text, numeric=False) for text in ("driver", "variant", "compiler", "flags"))
    return Table("builds", "Builds", columns, rows, records)
