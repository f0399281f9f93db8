"""The published figures, from ``paper/published/``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from triptych_paper.drivers import RUST, UNSAFE, C, Driver
from triptych_paper.errors import DataError
from triptych_paper.schema import CORE_CYCLES, TSC_CYCLES, metrics

PUBLISHED = Path(__file__).parent.parent / "published"
"""Folder with the published figures."""

LANGUAGES = {C: "C", RUST: "Rust", UNSAFE: "C2Rust"}
"""The published counterpart of each driver. Overflow checks were published in prose only."""


COUNTERPARTS = {TSC_CYCLES: CORE_CYCLES}
"""Metrics whose published counterpart has another name: the published cycles are core cycles."""


@dataclass(frozen=True)
class Figure:
    """A published value."""

    value: float
    text: str
    """As it is printed in the source."""
    batch_unknown: bool = False
    """Whether its batch size was not published; it is compared with batch 32, the default."""


CLOCKS = ("3.3 GHz", "1.6 GHz")
"""Clocks at which throughput was published."""

C2RUST_NOTE = "The figures of C2Rust were published without batch size or clock."
LOADS_NOTE = (
    "The paper has 33.4 for C's loads at batch 8, the counter page 34.4. Raw data of the same driver on another "
    "processor give 33.5, so 33.4 is used here."
)
LOADS_RATIO_NOTE = (
    "The published 180 % divide Rust's loads at batch 8 by C's at batch 32 (84.2 / 30.1). Within batch 8 it is 152 %."
)
CYCLES_NOTE = (
    "The published cycles and throughput of C at batch 32 disagree: 1.6 GHz at 94 cycles would be 17.0 Mpps, but 16.3 "
    "are plotted. The other three values agree within 1 %."
)
ABSTRACT_NOTE = "The abstract has 63 % more instructions and 4 % less speed, section 6.3 has 65 % and 6 %."
SHARE_NOTE = (
    "The paper's text says 90 to 98 % of C. Its plotted points are 86 to 99 % at 1.6 GHz and 71 to 101 % at 3.3 GHz, "
    "lowest at small batches."
)
PROCESSOR_NOTE = (
    "The processor is a Xeon E3-1230 v2 in the paper and a v3 on the counter page. The two generations count different "
    "events."
)


@dataclass(frozen=True)
class Other:
    """A figure that others published for a driver; texts as they are printed."""

    system: str
    workload: str
    batch: str
    cycles: str
    """Cycles per packet, published or derived from the throughput."""
    cpu: str
    source: str


@dataclass(frozen=True)
class Published:
    """All published figures."""

    figures: dict[tuple[str, str, int | None], Figure]
    """By metric, language, and batch size where it was published."""
    throughput: dict[tuple[str, str], dict[int, float]] = field(default_factory=dict)
    """Mpps by batch size, by clock (of :data:`CLOCKS`) and language."""
    latency: dict[tuple[float, str], dict[str, float]] = field(default_factory=dict)
    """Microseconds by percentile, by offered load in Mpps and language as in the file (`c`, `rust`)."""
    c_counters: dict[int, dict[str, float]] = field(default_factory=dict)
    """Counters of the published C driver on another processor at 1.2 GHz, by batch size and metric."""
    c_rings: dict[tuple[int, int], float] = field(default_factory=dict)
    """Mpps of the published C driver at 1.2 GHz, by receive and transmit ring."""
    lines: dict[str, int] = field(default_factory=dict)
    """Lines of code by language."""
    unsafe_lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    """All lines and unsafe ones by driver."""
    others: tuple[Other, ...] = ()
    """Cycles per packet of other drivers."""

    def get(self, metric: str, driver: Driver, batch: int) -> Figure | None:
        """Return the published counterpart of a value; None without one."""
        language = LANGUAGES.get(driver)
        if language is None:
            return None
        name = COUNTERPARTS.get(metric, metric)
        known = self.figures.get((name, language, batch))
        return known or (self.figures.get((name, language, None)) if batch == 32 else None)

    def ratio_to_c(self, metric: str, driver: Driver, batch: int) -> Figure | None:
        """Return the published ratio of another driver to C; None without one."""
        value, base = self.get(metric, driver, batch), self.get(metric, C, batch)
        if value is None or base is None or base.value == 0 or driver == C:
            return None
        ratio = value.value / base.value
        return Figure(ratio, f"{ratio:.2f}", value.batch_unknown)


def read_published(folder: Path = PUBLISHED) -> Published:
    """Read the published figures; :class:`DataError` if a file is missing or malformed."""
    figures: dict[tuple[str, str, int | None], Figure] = {}
    # Where the two sources differ, the paper is right (see published/README.md), so its rows come last and win.
    for row in sorted(_rows(folder, "counters.csv"), key=lambda row: row.text("source") == "paper"):
        batch = row.integer("batch") if row.text("batch") else None
        figure = Figure(value=row.number("value"), text=row.text("value"), batch_unknown=batch is None)
        figures[(row.metric(), row.text("impl"), batch)] = figure

    throughput: dict[tuple[str, str], dict[int, float]] = {}
    for clock in CLOCKS:
        for row in _rows(folder, f"throughput_batches_{clock.replace(' ', '')}.csv"):
            by_batch = throughput.setdefault((clock, row.text("language")), {})
            by_batch[row.integer("batch")] = row.number("mpps")

    latency: dict[tuple[float, str], dict[str, float]] = {}
    for row in _rows(folder, "latency.csv"):
        by_percentile = latency.setdefault((row.number("load_mpps"), row.text("language")), {})
        by_percentile[row.text("percentile")] = row.number("latency_us")

    c_counters: dict[int, dict[str, float]] = {}
    for row in _rows(folder, "ixy_c_raw_counters.csv"):
        if row.number("ghz") == 1.2:
            counters = (CORE_CYCLES, "instructions", "branches", "branch_misses")
            c_counters[row.integer("batch")] = {counter: row.number(counter) for counter in counters}

    return Published(
        figures=figures,
        throughput=throughput,
        latency=latency,
        c_counters=c_counters,
        c_rings={
            (row.integer("rx_ring"), row.integer("tx_ring")): row.number("mpps")
            for row in _rows(folder, "ixy_c_ring_sizes.csv")
            if row.number("ghz") == 1.2
        },
        lines={row.text("language"): row.integer("lines") for row in _rows(folder, "code_size.csv")},
        unsafe_lines={
            row.text("driver"): (row.integer("lines"), row.integer("unsafe_lines"))
            for row in _rows(folder, "unsafe_lines.csv")
        },
        others=tuple(
            Other(
                system=row.text("system"),
                workload=row.text("workload"),
                batch=row.text("batch"),
                cycles=row.text("derived_cycles_per_packet"),
                cpu=row.text("cpu"),
                source=row.text("source"),
            )
            for row in _rows(folder, "cycles_per_packet.csv")
        ),
    )


@dataclass(frozen=True)
class _Row:
    """A row of a file, with its place for error messages."""

    path: Path
    line: int
    fields: dict[str, str]

    def text(self, column: str) -> str:
        if column not in self.fields:
            raise DataError(f"{self.path} is malformed: it has no column {column!r}")
        return self.fields[column]

    def metric(self) -> str:
        name = self.text("metric")
        if name not in metrics():
            where = f"{self.path} is malformed: line {self.line}"
            raise DataError(
                f"{where}: metric {name!r} is not in metrics.toml; the valid names are {', '.join(metrics())}"
            )
        return name

    def number(self, column: str) -> float:
        try:
            return float(self.text(column))
        except ValueError:
            where = f"{self.path} is malformed: line {self.line}"
            raise DataError(f"{where}: {column} {self.text(column)!r} is not a number") from None

    def integer(self, column: str) -> int:
        value = self.number(column)
        if value != int(value):
            raise DataError(f"{self.path} is malformed: line {self.line}: {column} {value} is not a whole number")
        return int(value)


def _rows(folder: Path, name: str) -> list[_Row]:
    path = folder / name
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the published figures {path}: {error}") from None
    rows = table.to_dict("records")
    return [_Row(path, line, {str(k): str(v) for k, v in row.items()}) for line, row in enumerate(rows, start=2)]
