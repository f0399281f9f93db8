"""The table of all drivers on the same card: ours, the paper's, and DPDK's."""

from __future__ import annotations

from triptych_paper import throughput
from triptych_paper.drivers import DRIVERS, C, Driver
from triptych_paper.lookup import Measured, choose, find, ratio, reason
from triptych_paper.records import Run
from triptych_paper.schema import PEERS, Source
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number
from triptych_paper.values import record, value_cell

COUNTS = ("instructions", "branches", "loads", "stores")
"""The counters of the table."""

VARIANTS = ("default", "own-flags", "overflow-checks", "mac")
"""The variants of other projects' drivers, in the order of the rows."""

DPDK_MODES = {"default": "nothing (io)", "mac": "both MAC addresses"}
"""What testpmd changes in a frame, by variant."""

ONE_BYTE = "one byte"
"""What all other drivers change in a frame."""

NOTE = (
    "All drivers ran in the same run, in turn, on the same card, which checked each frame. They differ in what they "
    "change in a frame. Below a noisy value is its 10th to 90th percentile. A ratio divides our C driver by the "
    "driver of the row, noisy values round by round."
)


def has_others(run: Run) -> bool:
    """Return whether a run measured any driver of another project."""
    return bool(run.samples["impl"].isin(PEERS).any())


def table(run: Run, batch: int) -> Table:
    """Build the table at one batch size."""
    counted = [choose(run, name, DRIVERS) for name in COUNTS]
    # Virtual time at the fastest clock, or whole processes unless the software card set their pace.
    wholes = [whole.source for whole in throughput.shown(run, batch) if whole.source.metric.name == "mpps"]
    speed = wholes[-1] if wholes and wholes[-1].modelled else next(iter(wholes), None)
    shown = [*counted, *([speed] if speed else [])]
    rows, records = [], []
    for driver in (*DRIVERS, *_peers(run, batch)):
        cells = []
        for chosen in shown:
            value = find(run, driver, batch, chosen)
            missing = "" if value else reason(run, driver, batch, chosen)
            cells.append(_value(value, chosen, missing))
            records.append(_record(run, driver, batch, chosen, value, missing))
        divided = [counted[0], *shown[len(counted) :]]
        ratios = [ratio(run, C, driver, batch, chosen) if driver != C else None for chosen in divided]
        changes = DPDK_MODES.get(driver.variant, ONE_BYTE) if driver.impl.startswith("dpdk") else ONE_BYTE
        rows.append((Cell(_name(driver)), Cell(changes), *cells, *map(_ratio, ratios)))
    columns = (
        Column("driver", numeric=False),
        Column("changes", numeric=False),
        *(Column(chosen.metric.label) for chosen in counted),
        *([Column("Mpps")] if speed else []),
        Column("our C ÷ it: instr.", emphasis=False),
        *([Column("our C ÷ it: Mpps", emphasis=False)] if speed else []),
    )
    title = f"Other drivers on the same card, batch {batch}"
    counters = ", ".join(dict.fromkeys(chosen.name for chosen in counted))
    by = f"throughput: {speed.name}." if speed else throughput.left_out(run, batch) or "No throughput was measured."
    note = f"{NOTE} Counted by {counters}; {by}"
    return Table(f"others-batch-{batch}", title, columns, tuple(rows), tuple(records), note)


def _peers(run: Run, batch: int) -> list[Driver]:
    """Return the drivers of other projects that have samples at a batch size."""
    present = run.samples[run.samples["impl"].isin(PEERS) & (run.samples["batch"] == batch)]
    built = set(zip(present["impl"], present["variant"], strict=True))
    order = {variant: place for place, variant in enumerate(VARIANTS)}
    ranked = sorted(built, key=lambda b: (PEERS.index(b[0]), order.get(b[1], len(order)), b[1]))
    return [Driver(str(impl), str(variant)) for impl, variant in ranked]


def _name(driver: Driver) -> str:
    # The next column says what DPDK's variants change.
    return Driver(driver.impl).name if driver.impl.startswith("dpdk") else driver.name


def _value(value: Measured | None, chosen: Source, missing: str) -> Cell:
    return value_cell(value, lambda v: number(v, chosen.metric.digits), missing)


def _ratio(found: Summary | None) -> Cell:
    if found is None:
        return Cell(ABSENT)
    low, high = number(found.low, 2), number(found.high, 2)
    return Cell(number(found.median, 2), (f"{low} to {high}",) if low != high else ())


def _record(run: Run, driver: Driver, batch: int, chosen: Source, value: Measured | None, missing: str) -> Record:
    against = ratio(run, C, driver, batch, chosen) if driver != C else None
    return {
        **record(driver, batch, chosen.metric.name, value, missing=missing),
        "our_c_divided_by_it": against.median if against else None,
        "our_c_divided_by_it_p10": against.low if against and against.count > 1 else None,
        "our_c_divided_by_it_p90": against.high if against and against.count > 1 else None,
    }
