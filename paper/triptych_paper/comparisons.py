"""The comparison sections of the report, as data: which drivers, which quantities, and which condition varies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from triptych_paper.figures import LIGHT, Figure, colour, log2_axis, measured_line
from triptych_paper.published import LANGUAGES, Published
from triptych_paper.schema import CHECKED, OURS, RUST, UNSAFE, C, Conditions, Driver, metrics
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import Cell, Column, Record, Table
from triptych_paper.tables.numbers import interval, signed, significant
from triptych_paper.values import QUANTITIES, Quantity, Source, Values, record, value_cell


@dataclass(frozen=True)
class Section:
    """A chapter of the report."""

    key: str
    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    missing: str = ""
    """Why the section is empty."""


@dataclass(frozen=True)
class Comparison:
    """A comparison section. Without `varies` it compares drivers; with it, one quantity a table under a condition."""

    key: str
    title: str
    text: str
    quantities: tuple[str, ...]
    """Keys of :data:`QUANTITIES`."""
    drivers: tuple[Driver, ...] = OURS
    bases: tuple[Driver | None, ...] = ()
    """What each driver is compared with, in the same round."""
    varies: str = ""
    """The column of the samples that varies: `batch`, or one of the conditions."""
    needs: tuple[Driver, ...] = ()
    """Drivers of which the run must have one."""
    missing: str = "Not measured: `make bench` measures it."


CYCLES = ("tsc_memory", "tsc_warm")
TIMED = ("core_cycles", *CYCLES, "mpps")
LATENCIES = tuple(name for name, known in metrics().items() if known.group == "latency")
BATCH = 32

SAFE = tuple(Driver("rust", variant) for variant in ("trusted-device", "untrusted-device-copy"))
HARDENED = tuple(Driver("c", variant) for variant in ("trapping-ubsan", "fortified"))
NO_LTO = tuple(Driver(driver.impl, "no-lto") for driver in OURS)
PEERS = tuple(Driver(impl, variant) for impl, variant in (
    *(("ixy", "default"), ("ixy-rs", "default"), ("ixy-c2rust", "default")),
    *((f"dpdk-{name}", variant) for name in ("vector", "scalar") for variant in ("default", "mac")),
))  # fmt: skip

COMPARISONS = (
    Comparison(
        "others",
        "Other drivers on the same card",
        "The programs of other projects, unmodified, on the same card. DPDK's forwarder changes no byte, or "
        "the MAC addresses; ours and ixy's change one byte. The last table has what others published.",
        ("instructions", "loads", "stores", "branches", "burst_memory", "tsc_warm", "mpps"),
        drivers=(C, *PEERS),
        bases=(None, *(C for _ in PEERS)),
        needs=PEERS,
        missing="Not measured: `make peers` builds the other drivers.",
    ),
    Comparison(
        "overflow",
        "Overflow checks",
        "Rust can check every addition, subtraction and multiplication. The paper found 9 more instructions a packet.",
        ("instructions", "branches", "branch_misses", "core_cycles", *CYCLES, "mpps"),
        drivers=(RUST, CHECKED, UNSAFE, Driver("rust-unsafe", "overflow-checks")),
        bases=(None, RUST, None, UNSAFE),
        needs=(CHECKED,),
    ),
    Comparison(
        "hardening",
        "The cost of hardening",
        "Safe Rust checks every index. Compilers can add checks to C, too: “trapping UBSan” checks arrays whose size "
        "is known, and “fortified” is what distributions use. Neither detects a use after free. “Untrusted device” is "
        "safe Rust that continues after a wrong length of the card, or copies what the card wrote first.",
        ("instructions", "branches", "loads", "core_cycles", *CYCLES, "mpps"),
        drivers=(C, *HARDENED, RUST, CHECKED, *SAFE),
        bases=(None, *((C,) * (len(HARDENED) + 2 + len(SAFE)))),
        needs=(*HARDENED, *SAFE),
    ),
    Comparison(
        "lto",
        "Link-time optimisation",
        "All drivers are built with link-time optimisation. Here they are compared with builds that lack it.",
        ("instructions", *CYCLES),
        drivers=(C, NO_LTO[0], RUST, NO_LTO[1], UNSAFE, NO_LTO[2]),
        bases=(None, C, None, RUST, None, UNSAFE),
        needs=NO_LTO,
    ),
    Comparison(
        "batches",
        "Batch sizes",
        "What a packet costs, by the number of packets in a batch. A batch shares the doorbells and the calls.",
        ("instructions", "core_cycles", "tsc_memory", "tsc_warm", "tsc_l3", "mpps"),
        varies="batch",
    ),
    Comparison("rings", "Ring sizes", "Descriptors in each ring.", TIMED, varies="ring_size"),
    Comparison("frames", "Frame sizes", "Bytes of a frame, without CRC.", TIMED, varies="frame_size"),
    Comparison(
        "queues",
        "Several queues",
        "Queue pairs of each device. RSS divides the flows among them. Lockstep measures one of the pairs.",
        ("core_cycles", *CYCLES, "mpps"),
        varies="queues",
    ),
    Comparison(
        "latency",
        "Latency",
        "From the card's receiving a frame to its sending it, by offered load in Mpps. The software card has no wires "
        "and no PCIe. The published figures have both, so only ratios of drivers compare.",
        LATENCIES,
        varies="offered_mpps",
    ),
    Comparison(
        "interrupts",
        "Interrupts",
        "A driver that polls uses a whole processor. `ixgbe-fwd --interrupts` sleeps at low loads until the card "
        "signals. It saves processor time, and a packet that comes meanwhile waits longer. Loads are in Mpps.",
        ("cpu_share", "latency_p50_us", "latency_p99_us"),
        varies="waiting",
        missing="Not measured: in this run all drivers poll.",
    ),
)  # fmt: skip


def section(comparison: Comparison, values: Values, published: Published) -> Section:
    """Build a comparison section."""
    if comparison.varies:
        found = [_varied(comparison, values, published, key) for key in comparison.quantities]
    else:
        found = [(_drivers(comparison, values, batch), None) for batch in (32, 8) if _needed(comparison, values)]
    tables = tuple(table for table, _ in found if table and table.rows)
    figures = tuple(figure for table, figure in found if figure and table and table.rows)
    missing = "" if tables else comparison.missing
    return Section(comparison.key, comparison.title, (comparison.text,), tables, figures, missing)


def _needed(comparison: Comparison, values: Values) -> bool:
    return any(values.has(driver) for driver in comparison.needs)


def _drivers(comparison: Comparison, values: Values, batch: int) -> Table:
    """Compare drivers: a row for each quantity, a column for each driver, with the ratio to its base."""
    pairs = [pair for pair in zip(comparison.drivers, comparison.bases, strict=True) if values.has(pair[0])]
    rows, records = [], []
    for key in comparison.quantities:
        quantity = QUANTITIES[key]
        source = values.choose(quantity, [driver for driver, _ in pairs])
        paced = source.metric == "mpps" and values.paced_by_card(OURS, batch)
        found = [None if paced else values.find(driver, batch, source) for driver, _ in pairs]
        if not any(found):
            continue
        cells = []
        for (driver, base), value in zip(pairs, found, strict=True):
            against = values.ratio(driver, base, batch, source) if base and value else None
            cells.append(value_cell(value, quantity.digits, "", [_change(against)] if against else []))
            ratio = {"base": "/".join(base) if base else "", "ratio": against.median if against else None}
            ends = {"ratio_low": against.low, "ratio_high": against.high} if against and not against.exact else {}
            records.append({**record(driver, batch, source, value), **ratio, **ends})
        rows.append((Cell(quantity.name), *cells, Cell(values.origin(source))))
    columns = (Column(f"batch {batch}", numeric=False), *(Column(driver.name) for driver, _ in pairs))
    note = "Below a value: the 95 % interval of its median, and the change in the same round, with its interval."
    title = f"{comparison.title}, batch {batch}"
    return Table(
        f"{comparison.key}-batch-{batch}",
        title,
        (*columns, Column("counted by", numeric=False)),
        tuple(rows),
        tuple(records),
        note,
    )


def _change(ratio: Summary) -> str:
    """Format a ratio as a change with its interval: 1.04 is `+4.0 %`."""
    percent = ratio.changed(lambda value: 100 * (value - 1))
    between = interval(percent, 1)
    return f"{signed(percent.median, 1)} %" + (f" ({between})" if between else "")


Point = tuple[str, float, int, Conditions]
"""A row of a table of a condition: its label, its place on an axis, its batch size and the conditions."""


def _points(comparison: Comparison, values: Values) -> list[Point]:
    """Return the values of the condition that varies."""
    field = comparison.varies
    if field == "batch":
        return [(f"{batch:g}", batch, int(batch), Conditions()) for batch in values.varied("batch")]
    if field == "waiting":
        samples = values.run.samples
        loads = sorted(samples[samples["waiting"] == "interrupts"]["offered_mpps"].unique())
        return [
            (f"{load:g}, {how}", load, BATCH, Conditions(offered_mpps=load, waiting=how))
            for load in loads
            for how in ("poll", "interrupts")
        ]
    usual = getattr(Conditions(), field)
    known = [value for value in values.varied(field) if field != "offered_mpps" or value]
    if field != "offered_mpps" and not any(value != usual for value in known):
        return []
    typed = type(usual)
    return [(f"{value:g}", value, BATCH, Conditions()._replace(**{field: typed(value)})) for value in known]


def _varied(
    comparison: Comparison, values: Values, published: Published, key: str
) -> tuple[Table | None, Figure | None]:
    """Show one quantity under a condition: a row for each of its values, a column for each driver."""
    quantity, points = QUANTITIES[key], _points(comparison, values)
    source = values.choose(quantity, comparison.drivers)
    shown: dict[Driver, list[tuple[float, Summary]]] = {driver: [] for driver in comparison.drivers}
    rows, records = [], []
    for label, place, batch, at in points:
        found = [values.find(driver, batch, source, at) for driver in comparison.drivers]
        theirs = _published(comparison, published, quantity, batch, at)
        if not any(found):
            continue
        for driver, value in zip(comparison.drivers, found, strict=True):
            records.append({**record(driver, batch, source, value, at), "published": theirs.get(driver)})
            if value:
                shown[driver].append((place, value))
        cells = [value_cell(value, quantity.digits) for value in found]
        cells += [Cell(significant(theirs[driver]) if driver in theirs else "") for driver in comparison.drivers]
        rows.append((Cell(label), *cells))
    if len(rows) < 2:
        return None, None
    with_paper = any(record.get("published") is not None for record in records)
    columns = [
        Column(
            {"offered_mpps": "Mpps", "waiting": "load"}.get(comparison.varies, comparison.varies.replace("_", " ")),
            emphasis=False,
        )
    ]
    columns += [Column(driver.name) for driver in comparison.drivers]
    columns += [Column(f"paper: {LANGUAGES[driver]}", emphasis=False) for driver in comparison.drivers]
    kept = len(columns) if with_paper else 1 + len(comparison.drivers)
    title = f"{quantity.name[:1].upper()}{quantity.name[1:]}, by {columns[0].heading}"
    name = f"{comparison.key}-{key}".replace("_", "-")
    note = f"Counted by {values.origin(source)}. Below a value is the 95 % interval of its median."
    table = Table(name, title, tuple(columns[:kept]), tuple(row[:kept] for row in rows), tuple(records), note)
    if comparison.varies not in ("batch", "ring_size", "frame_size") or not key.startswith(
        ("tsc", "core", "instr", "mpps")
    ):
        return table, None
    return table, Figure(name, title, note, _lines(shown, columns[0].heading, quantity))


def _published(
    comparison: Comparison, published: Published, quantity: Quantity, batch: int, at: Conditions
) -> dict[Driver, float]:
    """Return the published values beside a row."""
    if comparison.varies == "batch" and quantity.metric == "mpps":
        figures = {driver: published.mpps("1.6 GHz", driver, batch) for driver in comparison.drivers}
        return {driver: figure.value for driver, figure in figures.items() if figure}
    if comparison.varies != "offered_mpps" or quantity.metric not in metrics():
        return {}
    percentile = metrics()[quantity.metric].percentile
    short = f"{percentile:.10g}" if percentile is not None else quantity.metric.split("_")[1]
    found = {
        driver: published.latency.get((at.offered_mpps, driver.impl), {}).get(short) for driver in comparison.drivers
    }
    return {driver: value for driver, value in found.items() if value is not None}


def _lines(
    shown: dict[Driver, list[tuple[float, Summary]]], label: str, quantity: Quantity
) -> Callable[[Canvas], None]:
    """Return a function that draws a line for each driver."""

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        for driver, points in shown.items():
            if points:
                measured_line(axes, driver, points)
        log2_axis(axes, sorted({place for points in shown.values() for place, _ in points}), label)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(quantity.name)
        axes.legend()

    return draw


def bars(values: Values, published: Published, batch: int = BATCH) -> Figure:
    """Draw the counters of our drivers and of upstream's beside the published ones."""
    keys = ("instructions", "loads", "stores", "branches", "tsc_memory", "tsc_warm")
    sources = {key: values.choose(QUANTITIES[key], OURS) for key in keys}
    shown = [key for key in keys if any(values.find(driver, batch, sources[key]) for driver in OURS)]

    def draw(canvas: Canvas) -> None:
        grid = canvas.subplots(1, max(1, len(shown)), squeeze=False)[0]
        for axes, key in zip(grid, shown, strict=False):
            _bars_of(axes, values, published, batch, sources[key])
            axes.set_title(QUANTITIES[key].name.replace(", lines", ",\nlines"))

    caption = "Ours filled, with 95 % intervals; published hollow. Published cycles are of another clock and left out."
    return Figure(f"counters-batch-{batch}", f"Counters per packet, batch {batch}", caption, draw, (8.4, 2.6))


def _bars_of(axes: Axes, values: Values, published: Published, batch: int, source: Source) -> None:
    for place, driver in enumerate(OURS):
        value, figure = values.find(driver, batch, source), published.get(source.metric, driver, batch)
        if figure:
            axes.bar(place - 0.2, figure.value, 0.4, facecolor=LIGHT["page"], edgecolor=colour(driver))
        if value:
            axes.bar(place + 0.2, value.median, 0.4, color=colour(driver))
            if value.low is not None and value.high is not None and not value.exact:
                error = [[value.median - value.low], [value.high - value.median]]
                axes.errorbar(place + 0.2, value.median, yerr=error, color=LIGHT["ink"], linewidth=1, capsize=2)
    axes.set_xticks(range(len(OURS)), ["C", "safe", "unsafe"])
    axes.grid(visible=False, axis="x")


def others_published(published: Published, paper: str = "") -> Table:
    """Show what others published for their drivers, or only the authors of one paper."""
    names = {
        "system": "driver",
        "workload": "workload",
        "batch": "batch",
        "derived_cycles_per_packet": "cycles/packet",
        "cpu": "processor",
        "source": "source",
    }
    frame = published.others[published.others["source"].str.startswith(paper)]
    rows = tuple(tuple(Cell(str(row[name])) for name in names) for row in frame.to_dict("records"))
    columns = tuple(Column(heading, numeric=heading == "cycles/packet") for heading in names.values())
    records: tuple[Record, ...] = tuple(
        {str(key): value for key, value in row.items()} for row in frame[list(names)].to_dict("records")
    )
    key = f"{paper.lower() or 'others'}-published"
    return Table(key, f"Cycles per packet that {paper or 'others'} published", columns, rows, records)
