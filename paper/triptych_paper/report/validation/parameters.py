"""What each parameter of a modelled processor changes."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from triptych_paper.report.figures import LIGHT
from triptych_paper.report.model import Data, Figure
from triptych_paper.report.validation.part import Part
from triptych_paper.sensitivity import Sensitivity, ranked, read_sensitivities
from triptych_paper.tables.model import ABSENT, Cell, Column, Table
from triptych_paper.tables.numbers import number, signed

LARGEST = 12
"""Parameters in the figure of the sensitivities."""


def build(data: Data) -> Part:
    """Show what each parameter changes."""
    found = read_sensitivities(data.run.folder)
    if not found:
        why = "No sensitivities: this run has no sensitivity.csv, which says what each parameter of the model changes."
        return Part(missing=(why,))
    tables, figures, text = [], [], []
    for cpu in dict.fromkeys(each.cpu for each in found):
        for batch in dict.fromkeys(each.batch for each in found if each.cpu == cpu):
            part = [each for each in found if (each.cpu, each.batch) == (cpu, batch)]
            tables.append(_sensitivity_table(cpu, batch, part))
            figures.append(_tornado(cpu, batch, part))
        largest = max((each for each in found if each.cpu == cpu), key=lambda each: each.size)
        text.append(
            f"Of all parameters of {cpu}, {largest.parameter} matters most: a change by a fifth changes the cycles of "
            f"{largest.driver.name} at batch {largest.batch} by up to {number(100 * largest.size, 1)} %."
        )
    return Part(tuple(text), tuple(tables), tuple(figures))


def _sensitivity_table(cpu: str, batch: int, part: Sequence[Sensitivity]) -> Table:
    drivers = list(dict.fromkeys(each.driver for each in part))
    by_key = {(each.parameter, each.driver): each for each in part}
    factors = sorted({factor for each in part for factor in each.changes})
    rows = []
    for name in ranked(part):
        cells = []
        for driver in drivers:
            each = by_key.get((name, driver))
            changes = [each.changes.get(factor) for factor in factors] if each else [None]
            texts = [ABSENT if change is None else signed(100 * change, 1) for change in changes]
            cells.append(Cell(" / ".join(texts)))
        rows.append((Cell(name), *cells))
    shown = " / ".join(f"× {factor:g}" for factor in factors)
    note = f"The change of the modelled cycles in percent, with the parameter {shown}, for the model of {cpu}."
    records = tuple(
        {
            "cpu": cpu,
            "impl": each.driver.impl,
            "batch": batch,
            "parameter": each.parameter,
            "factor": factor,
            "change": change,
        }
        for each in part
        for factor, change in each.changes.items()
    )
    columns = (Column("parameter", numeric=False), *(Column(driver.name) for driver in drivers))
    title = f"What each parameter of {cpu} changes, batch {batch}"
    return Table(f"validation-sensitivity-{cpu}-batch-{batch}", title, columns, tuple(rows), records, note)


def _tornado(cpu: str, batch: int, part: Sequence[Sensitivity]) -> Figure:
    names = ranked(part)[:LARGEST][::-1]
    drivers = list(dict.fromkeys(each.driver for each in part))[:3]
    by_key = {(each.parameter, each.driver): each for each in part}

    def draw(canvas: Canvas) -> None:
        panels = canvas.subplots(1, len(drivers), sharey=True, sharex=True, squeeze=False)[0]
        for axes, driver in zip(panels, drivers, strict=True):
            axes.set_title(driver.name)
            for place, name in enumerate(names):
                each = by_key.get((name, driver))
                for factor, change in each.changes.items() if each else ():
                    tint = LIGHT["rust"] if factor > 1 else LIGHT["c"]
                    axes.barh(place, 100 * change, 0.62, color=tint)
            axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
            axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
            axes.grid(visible=False, axis="y")
            axes.set_xlabel("change of cycles, %")
        factors = sorted({factor for each in part for factor in each.changes})
        keys = [
            Line2D([], [], linewidth=5, color=LIGHT["rust" if factor > 1 else "c"], label=f"parameter × {factor:g}")
            for factor in factors
        ]
        canvas.legend(handles=keys, loc="outside lower center", ncols=len(keys))

    caption = f"The parameters of {cpu} that change the modelled cycles most, each multiplied alone."
    height = 1.4 + 0.26 * len(names)
    key = f"validation-sensitivity-{cpu}-batch-{batch}"
    return Figure(key, f"Sensitivity of the modelled cycles, batch {batch}", caption, draw, (6.8, height))
