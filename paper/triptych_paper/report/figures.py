"""Drawing: the look of all figures, and the forms they are written in.

A figure is drawn once, in the colours of :data:`LIGHT`. For dark pages, and for a page whose reader decides, the
colours in the SVG are replaced: every colour here has a name and is used for nothing else.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from triptych_paper.lookup import Driver
from triptych_paper.report.model import Figure
from triptych_paper.statistics import Summary

LIGHT = {
    "page": "#fffefd",
    "ink": "#1d2026",
    "muted": "#6a6f7a",
    "grid": "#dfe2e8",
    "c": "#3b6fd1",
    "rust": "#cf5b1c",
    "checked": "#8f2f52",
    "unsafe": "#14897c",
    "hardened": "#7a5cc9",
    "fortified": "#5d98c9",
}
"""Colours on white, by name."""

DARK = {
    "page": "#14161b",
    "ink": "#e7e9ee",
    "muted": "#9aa1ae",
    "grid": "#343943",
    "c": "#7ea6f7",
    "rust": "#f39457",
    "checked": "#e07fa4",
    "unsafe": "#4fc6b6",
    "hardened": "#b39bf5",
    "fortified": "#93c4ec",
}
"""The same on black."""

MARKERS = {"c": "o", "rust": "s", "checked": "D", "unsafe": "^", "hardened": "v", "fortified": "P"}

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "triptych",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": LIGHT["muted"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.facecolor": LIGHT["page"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.linewidth": 0.8,
    "grid.color": LIGHT["grid"],
    "grid.linewidth": 0.7,
    "figure.facecolor": LIGHT["page"],
    "figure.constrained_layout.use": True,
    "savefig.facecolor": LIGHT["page"],
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["ink"],
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "hatch.linewidth": 0.7,
}


def colour_name(driver: Driver) -> str:
    """Name of a driver's colour."""
    if driver.variant == "sanitized":
        return "hardened"
    if driver.variant == "fortified":
        return "fortified"
    if driver.impl == "rust" and driver.variant != "default":
        return "checked"
    return {"c": "c", "rust": "rust", "rust-unsafe": "unsafe"}[driver.impl]


def colour(driver: Driver) -> str:
    """Colour of a driver."""
    return LIGHT[colour_name(driver)]


def marker(driver: Driver) -> str:
    """Marker of a driver, so that colour is not all that tells drivers apart."""
    return MARKERS[colour_name(driver)]


def published_style(driver: Driver | None, dash: str = "--", marker_of: Driver | None = None) -> dict[str, Any]:
    """How a published line looks: hollow and broken; grey where no driver of ours has its colour."""
    shape = driver or marker_of
    return {
        "color": colour(driver) if driver else LIGHT["muted"],
        "marker": marker(shape) if shape else "o",
        "markerfacecolor": LIGHT["page"],
        "markersize": 4.0,
        "linestyle": dash,
    }


def measured_line(axes: Axes, driver: Driver, points: Sequence[tuple[int, Summary]]) -> None:
    """Draw the medians of a driver, with a band from the 10th to the 90th percentile."""
    if not points:
        return
    x = [place for place, _ in points]
    medians = [summary.median for _, summary in points]
    low, high = [summary.low for _, summary in points], [summary.high for _, summary in points]
    axes.plot(x, medians, color=colour(driver), marker=marker(driver), label=driver.name)
    axes.fill_between(x, low, high, color=colour(driver), alpha=0.15, linewidth=0)


def log2_axis(axes: Axes, ticks: Sequence[int], label: str) -> None:
    """Make the horizontal axis one of powers of two."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(ticks), [str(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(label)


def plain_log_axis(axes: Axes) -> None:
    """Label a logarithmic vertical axis with plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def canvas(figure: Figure) -> Canvas:
    """Draw a figure."""
    with mpl.rc_context(STYLE):
        drawn = Canvas(figsize=figure.size)
        figure.draw(drawn)
    return drawn


def svg(drawn: Canvas, key: str) -> str:
    """SVG in the colours of :data:`LIGHT`; its identifiers begin with `key`, so that several fit on one page."""
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    text = buffer.getvalue().decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{key}-', text)
    text = re.sub(r'href="#', f'href="#{key}-', text)
    return text.replace("url(#", f"url(#{key}-")


def pdf(drawn: Canvas) -> bytes:
    """PDF in the colours of :data:`LIGHT`."""
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        drawn.savefig(buffer, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return buffer.getvalue()


def recolour(text: str, colours: dict[str, str]) -> str:
    """Replace the colours of :data:`LIGHT` in an SVG."""
    for name, value in LIGHT.items():
        text = text.replace(value, colours[name])
    return text


def css_colours() -> dict[str, str]:
    """Each colour as the variable of the page's style sheet."""
    return {name: f"var(--{name})" for name in LIGHT}


def variables(colours: dict[str, str]) -> str:
    """Declarations of those variables."""
    return " ".join(f"--{name}: {value};" for name, value in colours.items())
