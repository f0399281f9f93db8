"""Drawing: the style of all figures, and the formats in which they are written.

A figure is drawn once, in the colours of :data:`LIGHT`. Dark SVGs, and the page that follows the reader's setting, get
the same drawing with other colours. Each colour here has one purpose, so that it can be replaced.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullLocator

from triptych_paper.schema import UPSTREAM, Driver
from triptych_paper.statistics import Summary


@dataclass(frozen=True)
class Figure:
    """A plot."""

    key: str
    """File name without extension."""
    title: str
    caption: str
    draw: Callable[[Canvas], None]
    size: tuple[float, float] = (6.4, 3.4)
    """Width and height, inches."""


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
"""Colours on a light page, by name."""

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
"""Colours on a dark page, by the same names."""

MARKERS = {"c": "o", "rust": "s", "checked": "D", "unsafe": "^", "hardened": "v", "fortified": "P", "muted": "x"}

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
    """Return the name of a driver's colour; upstream's is that of our driver in the same language."""
    impl = {theirs: ours for ours, theirs in UPSTREAM.items()}.get(driver.impl, driver.impl)
    if driver.variant in ("trapping-ubsan", "fortified"):
        return "hardened" if driver.variant == "trapping-ubsan" else "fortified"
    if impl == "rust" and driver.variant not in ("default", "own-flags"):
        return "checked"
    return {"c": "c", "rust": "rust", "rust-unsafe": "unsafe"}.get(impl, "muted")


def colour(driver: Driver) -> str:
    """Return the colour of a driver."""
    return LIGHT[colour_name(driver)]


def marker(driver: Driver) -> str:
    """Return the marker of a driver. It distinguishes drivers without colour."""
    return MARKERS[colour_name(driver)]


def measured_line(axes: Axes, driver: Driver, points: Sequence[tuple[float, Summary]]) -> None:
    """Draw the medians of a driver, with a band of their 95 % intervals."""
    x = [place for place, _ in points]
    medians = [summary.median for _, summary in points]
    low = [summary.median if summary.low is None else summary.low for _, summary in points]
    high = [summary.median if summary.high is None else summary.high for _, summary in points]
    axes.plot(x, medians, color=colour(driver), marker=marker(driver), label=driver.name)
    axes.fill_between(x, low, high, color=colour(driver), alpha=0.15, linewidth=0)


def log2_axis(axes: Axes, ticks: Sequence[float], label: str) -> None:
    """Make the horizontal axis logarithmic, with powers of two."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(label)


def canvas(figure: Figure) -> Canvas:
    """Draw a figure."""
    with mpl.rc_context(STYLE):
        drawn = Canvas(figsize=figure.size)
        figure.draw(drawn)
    return drawn


def svg(drawn: Canvas, key: str) -> str:
    """Return the SVG in the colours of :data:`LIGHT`.

    Its identifiers begin with `key`, so that one page can hold several. Coordinates have two decimals.
    """
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    text = buffer.getvalue().decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{key}-', text)
    text = re.sub(r'href="#', f'href="#{key}-', text)
    return _compact(text.replace("url(#", f"url(#{key}-"))


def _compact(svg: str) -> str:
    """Round coordinates, drop comments and needless groups, and write one line for each group of axes."""
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<[^>]*>", lambda tag: _NUMBER.sub(_rounded, " ".join(tag[0].split())), svg)
    svg = re.sub(r">\s+<", "><", svg)
    svg = re.sub(r'<g id="(?![^"]*-(?:axes|legend)_\d+")[^"]*">', "<g>", svg)
    needless = 1
    while needless:
        svg, needless = re.subn(r"<g>((?:(?!</?g\b).)*)</g>", r"\1", svg)
    return re.sub(r"(<g id=)", r"\n\1", svg).rstrip() + "\n"


_NUMBER = re.compile(r"-?\d+\.\d{2,}")


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def pdf(drawn: Canvas) -> bytes:
    """Return the PDF in the colours of :data:`LIGHT`."""
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
    """Return each colour as a variable of the page's style sheet."""
    return {name: f"var(--{name})" for name in LIGHT}


def variables(colours: dict[str, str]) -> str:
    """Return the declarations of these variables."""
    return " ".join(f"--{name}: {value};" for name, value in colours.items())
