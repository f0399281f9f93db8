"""Counters per packet beside the published ones: the subject of the paper's comparison."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from triptych_paper import counter_tables, counters
from triptych_paper.conditions import DEFAULT_CONDITIONS
from triptych_paper.counters import DRIVERS, PUBLISHED_BATCHES
from triptych_paper.drivers import UPSTREAM, Driver, by_own_flags, upstream
from triptych_paper.lookup import NO_UPSTREAM, Measured, choose, find, has_upstream
from triptych_paper.report.figures import LIGHT, colour
from triptych_paper.report.model import Data, Figure, Section
from triptych_paper.schema import CYCLES, Source
from triptych_paper.tables.numbers import repeats

PLOTTED = (CYCLES, "instructions", "branches", "branch_misses", "stores", "loads")
DASHES = (0, (3, 2))
MODELLED_HATCH = "///"
"""The hatching of bars whose values are modelled."""

UPSTREAM_ALPHA = 0.45
"""Opacity of the bars of the paper's own drivers."""


def build(data: Data) -> Section:
    """Build two tables and a figure for each published batch size."""
    present = [batch for batch in counters.shown_batches(data.run) if batch in PUBLISHED_BATCHES]
    if not present:
        return Section(
            "counters",
            "Counters per packet",
            missing=("Not measured: this run has neither batch 32 nor batch 8, the published batch sizes.",),
        )
    text: tuple[str, ...] = (
        "The counters per packet of each driver, beside the published figures of its counterpart. Hardware counted the "
        "published ones on a Xeon at 1.6 GHz with real cards.",
        "Cycles of different backends and machines do not compare. Compare the drivers with each other, not with the "
        "paper.",
    )
    if not has_upstream(data.run):
        text += (NO_UPSTREAM,)
    tables = [table for batch in present for table in counter_tables.drivers(data.run, data.published, batch)]
    figures = tuple(_figure(data, batch) for batch in present)
    return Section("counters", "Counters per packet", text, tuple(tables), figures)


def _figure(data: Data, batch: int) -> Figure:
    chosen = [choose(data.run, name, DRIVERS, DEFAULT_CONDITIONS) for name in PLOTTED]
    by_model = any(source.modelled for source in chosen)

    def draw(canvas: Canvas) -> None:
        for axes, source in zip(canvas.subplots(2, 3).flat, chosen, strict=True):
            _bars(data, axes, batch, source)
        patches = [Patch(color=colour(driver), label=driver.name) for driver in DRIVERS]
        patches.append(Patch(facecolor="none", edgecolor=LIGHT["ink"], linestyle=DASHES, label="published"))
        columns = len(patches)
        if by_model:
            fill, page = LIGHT["muted"], LIGHT["page"]
            patches.append(Patch(facecolor=fill, edgecolor=page, hatch=MODELLED_HATCH, label="modelled"))
            columns = len(patches) // 2
        canvas.legend(handles=patches, loc="outside lower center", ncols=columns, columnspacing=1.2, handlelength=1.4)

    origins = [_origin(data, batch, source) for source in chosen]
    named = "; ".join(
        f"{', '.join(s.metric.label for s, other in zip(chosen, origins, strict=True) if other == origin)}: {origin}"
        for origin in dict.fromkeys(origins)
    )
    pale = " Pale bars, left of ours: the paper's own drivers, measured here." if has_upstream(data.run) else ""
    hatched = " Hatched bars are modelled." if by_model else ""
    return Figure(
        f"counters-batch-{batch}",
        f"Counters per packet, batch {batch}",
        f"Filled bars: this run ({named}), with whiskers from the 10th to the 90th percentile.{hatched}{pale} Dashed "
        "bars: published. The figures of transpiled C were published without batch size.",
        draw,
        (6.4, 4.2),
    )


def _bars(data: Data, axes: Axes, batch: int, source: Source) -> None:
    axes.set_title(source.metric.label)
    hatch = MODELLED_HATCH if source.modelled else None
    for place, driver in enumerate(DRIVERS):
        known = data.published.get(source.metric.name, driver, batch)
        if known:
            axes.bar(place, known.value, 0.88, facecolor="none", edgecolor=LIGHT["ink"], linestyle=DASHES)
        theirs = _upstream(data, driver, batch, source)
        shift, width = (0.17, 0.3) if theirs else (0.0, 0.6)
        if theirs:
            axes.bar(
                place - shift,
                theirs.summary.median,
                width,
                facecolor=colour(driver),
                edgecolor=LIGHT["page"],
                linewidth=0,
                hatch=hatch,
                alpha=UPSTREAM_ALPHA,
            )
        value = find(data.run, driver, batch, source)
        if value is None:
            axes.text(place + shift, 0, "–", ha="center", va="bottom", color=LIGHT["muted"])
            continue
        summary = value.summary
        fill = colour(driver)
        page = LIGHT["page"]
        axes.bar(place + shift, summary.median, width, facecolor=fill, edgecolor=page, linewidth=0, hatch=hatch)
        if summary.count > 1:
            error = [[summary.median - summary.low], [summary.high - summary.median]]
            axes.errorbar(place + shift, summary.median, yerr=error, color=LIGHT["ink"], linewidth=1, capsize=2)
    axes.set_xticks([])
    axes.grid(visible=False, axis="x")
    axes.margins(x=0.04)


def _upstream(data: Data, driver: Driver, batch: int, source: Source) -> Measured | None:
    """Return the value of the paper's own driver, as its own build files or else our flags build it."""
    if driver.impl not in UPSTREAM:
        return None
    same = upstream(driver)
    return find(data.run, by_own_flags(same), batch, source) or find(data.run, same, batch, source)


def _origin(data: Data, batch: int, source: Source) -> str:
    """Return the backend of a panel and its number of repeats."""
    counts = [value.summary.count for driver in DRIVERS if (value := find(data.run, driver, batch, source))]
    if not counts:
        return "no backend (not measured)"
    count = repeats(counts)
    return f"{source.name}, {count} {'repeat' if count == '1' else 'repeats'}"
