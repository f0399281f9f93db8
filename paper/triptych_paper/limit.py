"""The section on the limit: the paths of our drivers beside other drivers, and what safety costs there."""

from __future__ import annotations

from triptych_paper.comparisons import Section, others_published
from triptych_paper.published import Published
from triptych_paper.schema import IMPLEMENTATIONS, OURS, C, Driver
from triptych_paper.tables.model import Cell, Column, Record, Table
from triptych_paper.values import QUANTITIES, Values, record, source_of, value_cell

PATHS = ("default", "stride", "tuned", "agent")
"""The paths of our drivers, as variants, in the order of tables."""

LIMIT = tuple(Driver(ours.impl, path) for ours in OURS for path in PATHS[2:])
VECTOR = Driver("dpdk-vector")
PEERS = (
    *(Driver(f"dpdk-{name}", variant) for name in ("vector", "scalar") for variant in ("default", "mac")),
    *(Driver("ixy"), Driver("ixy-rs")),
)
BATCHES = (32, 8, 31)
"""The last is no multiple of the tuned path's four."""

COUNTED = ("instructions", "loads", "stores")
TIMED = ("tsc_memory", "tsc_l3", "tsc_warm")
TIMES = ("instructions", "burst_memory")
"""The quantities that are also divided by those of DPDK's vector functions."""

RATIOS = ("instructions", *TIMED)
TEXT = (
    "The same drivers by other paths. “Stride” puts buffers 2112 bytes apart, so that they do not alias in the "
    "first-level cache, as buffers 2048 bytes apart do. “Tuned” exchanges buffers in place of a pool, and handles four "
    "descriptors at once. “Agent” leaves each buffer in its place of both rings, as TinyNF does.",
    "The other drivers ran on the same card in the same run. DPDK's forwarder changes no byte, or the MAC addresses; "
    "ours and the others change one byte. TinyNF was not measured: the last table has what its authors published.",
)


def section(values: Values, published: Published) -> Section:
    """Build the section; empty if the run measured no path but the default."""
    name = "At the limit"
    if not any(values.has(driver) for driver in LIMIT):
        return Section("limit", name, TEXT, missing="Not measured: `make bench` measures it.")
    tables = [*(_drivers(values, batch) for batch in BATCHES), *(_ratios(values, batch) for batch in BATCHES[:2])]
    theirs = others_published(published, "TinyNF")
    return Section("limit", name, TEXT, (*(table for table in tables if table.rows), theirs))


def _drivers(values: Values, batch: int) -> Table:
    """Compare all paths and peers: a row for each driver. A batch of which only paths were measured has these alone."""
    ours = [Driver(ours.impl, path) for ours in OURS for path in PATHS]
    sources = {key: values.choose(QUANTITIES[key], [*ours, *PEERS]) for key in COUNTED}
    # Lockstep times our drivers alone, and burst times those of other projects too.
    sources |= {key: source_of(QUANTITIES[key], "lockstep") for key in TIMED}
    sources["burst_memory"] = source_of(QUANTITIES["burst_memory"], "burst")
    found = {
        driver: {key: values.find(driver, batch, source) for key, source in sources.items()}
        for driver in (*ours, *PEERS)
    }
    found = {driver: values_of for driver, values_of in found.items() if any(values_of.values())}
    shown = [key for key in sources if any(values_of[key] for values_of in found.values())]
    times = [key for key in TIMES if key in shown and found.get(VECTOR, {}).get(key)]
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for driver, values_of in found.items():
        ratios = {key: values.ratio(driver, VECTOR, batch, sources[key]) for key in times}
        cells = [value_cell(values_of[key], QUANTITIES[key].digits) for key in shown]
        rows.append((Cell(driver.name), *cells, *(value_cell(ratio, 2) for ratio in ratios.values())))
        for key in shown:
            ratio = ratios.get(key)
            times_vector = {"times_dpdk_vector": ratio.median if ratio else None}
            records.append({**record(driver, batch, sources[key], values_of[key]), **times_vector})
    columns = [Column(f"batch {batch}", numeric=False)]
    columns += [Column(f"{_heading(key)} ({sources[key].backend})") for key in shown]
    columns += [Column(f"{_heading(key)} ÷ DPDK, vector") for key in times]
    note = "Below a value: the 95 % interval of its median. A quotient is the median of those in the same round."
    return Table(
        f"limit-batch-{batch}", f"At the limit, batch {batch}", tuple(columns), tuple(rows), tuple(records), note
    )


def _heading(key: str) -> str:
    return "TSC cycles, lines in memory" if key == "burst_memory" else QUANTITIES[key].name


def _ratios(values: Values, batch: int) -> Table:
    """Divide safe and unsafe Rust by C, by the same path in the same round."""
    sources = {key: values.choose(QUANTITIES[key], OURS) for key in RATIOS}
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    shown = [key for key in RATIOS if values.find(C, batch, sources[key])]
    for path in PATHS:
        for impl in (driver.impl for driver in OURS[1:]):
            driver, base = Driver(impl, path), Driver("c", path)
            ratios = {key: values.ratio(driver, base, batch, sources[key]) for key in shown}
            if not any(ratios.values()):
                continue
            rows.append((Cell(path), Cell(IMPLEMENTATIONS[impl]), *(value_cell(ratios[key], 2) for key in shown)))
            for key, ratio in ratios.items():
                named = {"metric": f"{sources[key].metric}_times_c", "unit": "times C"}
                records.append({**record(driver, batch, sources[key], ratio), **named})
    columns = [Column("path", numeric=False), Column("driver", numeric=False)]
    columns += [Column(f"{QUANTITIES[key].name}, times C ({sources[key].backend})") for key in shown]
    title = f"What safety costs by each path, batch {batch}"
    note = "Each ratio is to C by the same path, in the same round, with its 95 % interval."
    return Table(f"limit-ratios-batch-{batch}", title, tuple(columns), tuple(rows), tuple(records), note)
