"""The model against lockstep on the machine at hand."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from triptych_paper.drivers import DRIVERS, Driver
from triptych_paper.report.figures import LIGHT, colour, marker
from triptych_paper.report.model import Data, Figure
from triptych_paper.report.validation.part import Part
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number
from triptych_paper.validation import HostCell, agreement, host_cells, model_settings, newest_ladder

BAND = 0.15
"""The half-width of the band in the scatter plot: the error that half of the cells may have."""


def build(data: Data) -> Part:
    """Compare modelled with measured ticks of the time-stamp counter on this machine."""
    cells = host_cells(data.run)
    ladder = newest_ladder(data.run)
    if ladder:
        cells += host_cells(ladder)
    cpu = model_settings(data.run).get("host_cpu")
    if not cells:
        why = (
            "No comparison with measured cycles: it needs lockstep, and the model of this machine's processor. "
            "`run.json` names that as `settings.model.host_cpu`, if a CPU file describes the machine."
        )
        return Part(missing=(why,))
    whole = agreement(cells)
    assert whole is not None
    groups = _groups(cells)
    rows = tuple(_group_row(name, part) for name, part in groups)
    columns = (
        Column("cells", numeric=False),
        Column("number", emphasis=False),
        Column("rank correlation"),
        Column("median error"),
        Column("median modelled ÷ measured"),
        Column("largest error", emphasis=False),
        Column("where", numeric=False),
    )
    note = (
        "A cell is a driver, a variant or a rung of the cost ladder at one batch size. The measured clock of the "
        "core converts modelled cycles to ticks of the time-stamp counter. The error is the distance of modelled ÷ "
        "measured from 1. "
        "Lockstep measures with warm rings, and its own spread is part of the error."
    )
    records = tuple(_host_record(cell, str(cpu)) for cell in cells)
    table = Table("validation-lockstep", f"The model of {cpu} against lockstep here", columns, rows, records, note)
    ranks = (
        "too few cells for a rank correlation"
        if whole.correlation is None
        else f"the rank correlation is {number(whole.correlation, 2)}"
    )
    sentence = (
        f"Against lockstep on this machine ({cpu}), over {whole.cells} cells: {ranks}, and the median error is "
        f"{number(100 * whole.median_error, 0)} %. The model is most wrong for {_name(whole.worst)}, where it has "
        f"{number(whole.worst.ratio, 2)} times the measured ticks."
    )
    return Part((sentence,), (table,), (_scatter(cells, str(cpu)),))


def _groups(cells: Sequence[HostCell]) -> list[tuple[str, list[HostCell]]]:
    """Divide cells: all, each driver by default, other variants, the ladder, and each batch size."""
    groups: list[tuple[str, list[HostCell]]] = [("all", list(cells))]
    for driver in DRIVERS:
        groups.append((driver.name, [cell for cell in cells if cell.driver == driver and not cell.rung]))
    others = [cell for cell in cells if cell.driver not in DRIVERS and not cell.rung]
    groups.append(("other variants", others))
    groups.append(("rungs of the cost ladder", [cell for cell in cells if cell.rung]))
    for batch in sorted({cell.batch for cell in cells}):
        groups.append((f"batch {batch}", [cell for cell in cells if cell.batch == batch]))
    return [(name, part) for name, part in groups if part]


def _group_row(name: str, cells: Sequence[HostCell]) -> tuple[Cell, ...]:
    found = agreement(cells)
    assert found is not None
    return (
        Cell(name),
        Cell(str(found.cells)),
        Cell(ABSENT if found.correlation is None else number(found.correlation, 2)),
        Cell(f"{number(100 * found.median_error, 0)} %"),
        Cell(number(found.median_ratio, 2)),
        Cell(f"{number(100 * found.worst.error, 0)} %"),
        Cell(_name(found.worst)),
    )


def _name(cell: HostCell) -> str:
    variant = cell.driver.variant
    rung = f"rung {variant.removeprefix('ladder-')}" if variant.startswith("ladder-") else cell.driver.name
    return f"{rung}, batch {cell.batch}"


def _host_record(cell: HostCell, cpu: str) -> Record:
    return {
        "impl": cell.driver.impl,
        "variant": cell.driver.variant,
        "batch": cell.batch,
        "rung": cell.rung,
        "cpu": cpu,
        "kind": "modelled",
        "unit": "tsc cycles/packet",
        "modelled": cell.modelled,
        "measured": cell.measured,
        "measured_p10": cell.low,
        "measured_p90": cell.high,
        "modelled_to_measured": cell.ratio,
    }


def _scatter(cells: Sequence[HostCell], cpu: str) -> Figure:
    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        values = [value for cell in cells for value in (cell.modelled, cell.measured)]
        low, high = 0.8 * min(values), 1.25 * max(values)
        axes.plot([low, high], [low, high], color=LIGHT["muted"], linewidth=1)
        below, above = ([factor * end for end in (low, high)] for factor in (1 - BAND, 1 + BAND))
        axes.fill_between([low, high], below, above, color=LIGHT["muted"], alpha=0.12, linewidth=0)
        for cell in cells:
            driver = Driver(cell.driver.impl)
            fill = LIGHT["page"] if cell.driver.variant != "default" else colour(driver)
            axes.errorbar(
                cell.measured,
                cell.modelled,
                xerr=[[cell.measured - cell.low], [cell.high - cell.measured]],
                fmt=marker(driver),
                color=colour(driver),
                markerfacecolor=fill,
                markersize=4.5,
                elinewidth=0.7,
            )
        _log_axes(axes, low, high)
        axes.set_xlabel("measured, TSC cycles per packet (lockstep)")
        axes.set_ylabel(f"modelled, TSC cycles per packet ({cpu})")
        keys = [Line2D([], [], linestyle="", color=colour(d), marker=marker(d), label=d.name) for d in DRIVERS]
        ink, page = LIGHT["ink"], LIGHT["page"]
        keys.append(Line2D([], [], linestyle="", marker="o", color=ink, markerfacecolor=page, label="variant or rung"))
        axes.legend(handles=keys, loc="lower right", frameon=True, framealpha=0.9, edgecolor=LIGHT["grid"])

    caption = (
        "Each marker is a driver at one batch size; whiskers are the 10th to 90th percentile of the rounds. On the "
        f"line, model and measurement agree; in the band, they differ by at most {100 * BAND:.0f} %."
    )
    return Figure("validation-lockstep", "Modelled and measured cycles here", caption, draw, (5.2, 4.2))


def _log_axes(axes: Axes, low: float, high: float) -> None:
    """Give both axes the same logarithmic scale, with plain numbers."""
    ticks = [tick for tick in (5, 10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000, 2000) if low <= tick <= high]
    for set_scale, set_ticks, set_limits in (
        (axes.set_xscale, axes.set_xticks, axes.set_xlim),
        (axes.set_yscale, axes.set_yticks, axes.set_ylim),
    ):
        set_scale("log")
        set_ticks(ticks, [str(tick) for tick in ticks])
        set_ticks([], minor=True)
        set_limits(low, high)
