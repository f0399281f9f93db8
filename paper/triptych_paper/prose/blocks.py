"""Rendering the templates of ``paper/prose``: each becomes a block of a Markdown document."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

from triptych_paper.errors import DataError
from triptych_paper.prose import applications
from triptych_paper.prose.archive import Archive, Step, Value
from triptych_paper.published import Published, read_published
from triptych_paper.tables.numbers import number, signed

TEMPLATES = Path(__file__).parents[2] / "prose"

WIDTH = 120
"""Longest line of a paragraph or list; a table keeps its lines."""


def names(folder: Path = TEMPLATES) -> list[str]:
    """Return the names of all blocks."""
    return sorted(path.name.removesuffix(".md.j2") for path in folder.glob("*.md.j2"))


def render(name: str, archive: Archive | None = None, folder: Path = TEMPLATES) -> str:
    """Render a block; :class:`DataError` if the template is wrong or the archive lacks a figure."""
    archive = archive or Archive()
    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        # The templates make Markdown, where nothing is escaped.
        autoescape=False,
    )
    environment.filters.update(than=than, cycles=cycles, listed=listed, size=size, signed=signed, number=number)
    environment.globals.update(
        run=archive,
        ladder=archive.part("ladder"),
        compilers=archive.part("compilers"),
        applications=applications.Applications(archive.folder / "applications"),
        **applications.GLOBALS,
        published=PublishedFigures(read_published()),
        total=total,
        span=span,
        held_in_both_orders=held_in_both_orders,
        changed=changed,
        by_name=by_name,
    )
    try:
        text = environment.get_template(f"{name}.md.j2").render()
    except TemplateError as error:
        raise DataError(f"{folder / name}.md.j2: {error.__class__.__name__}: {error}") from None
    return "\n".join(line for raw in text.strip().split("\n") for line in _wrap(raw))


def _wrap(line: str) -> list[str]:
    if len(line) <= WIDTH or line.startswith("|"):
        return [line]
    indent = re.match(r"\s*(?:[-*] |\d+\. )?", line)
    spaces = " " * len(indent.group()) if indent else ""
    return textwrap.wrap(line, WIDTH, subsequent_indent=spaces, break_long_words=False, break_on_hyphens=False)


def than(ratio: Value, what: str) -> str:
    """Compare a count with another in words: `14 % more instructions than`, or `as many instructions as`."""
    percent = 100 * (ratio.value - 1)
    if abs(percent) < 0.5:
        return f"as many {what} as"
    return f"{number(abs(percent), 0 if abs(percent) >= 10 else 1)} % {'more' if percent > 0 else 'fewer'} {what} than"


def cycles(named: tuple[str, Value]) -> str:
    """Compare cycles with those of C, in words that fit the whole spread of the ratio."""
    what, ratio = named
    text = ratio.text(2)
    if ratio.low > 1:
        return f"needs more {what} than C: {text} times as many"
    if ratio.high < 1:
        return f"needs fewer {what} than C: {text} times as many"
    return f"needs {text} times the {what} of C, so the spread covers both more and fewer"


def size(value: Value | float | None, digits: int = 1) -> str:
    """Write the size of a difference without its sign; empty without one."""
    number_of = value.value if isinstance(value, Value) else value
    return "" if number_of is None else number(abs(number_of), digits)


def listed(parts: Iterable[str]) -> str:
    """Join texts, which may have commas of their own; `none` without any."""
    return "; ".join(parts) or "none"


def by_name(steps: Iterable[Step], name: str) -> Step:
    """Return a rung; :class:`DataError` if the archive lacks it."""
    found = [step for step in steps if step.name == name]
    if not found:
        raise DataError(f"the archived ladder has no rung {name}: measure it again, or change the template")
    return found[0]


def total(steps: Iterable[Step]) -> float:
    """Sum what rungs add."""
    return sum(step.added.value for step in steps if step.added)


def span(*values: Value | None, digits: int = 0) -> str:
    """Write the range of several values: `13 to 17`."""
    known = sorted(value.value for value in values if value)
    if not known:
        raise DataError("the archive has none of the values of a range")
    low, high = number(known[0], digits), number(known[-1], digits)
    return low if low == high else f"{low} to {high}"


def held_in_both_orders(steps: Iterable[Step], within: float = 0.5) -> list[Step]:
    """Return the rungs that add the same on top of the others as they do alone."""
    return [step for step in steps if step.added and step.alone and abs(step.added.value - step.alone.value) <= within]


def changed(steps: Iterable[Step], least: float = 0.5) -> list[Step]:
    """Return the rungs whose whole spread has one sign; without a spread, those that add or save at least `least`."""
    return [
        step
        for step in steps
        if step.added and (abs(step.added.value) >= least if step.added.exact else step.added.beyond(0))
    ]


class PublishedFigures:
    """Published figures for templates."""

    def __init__(self, published: Published) -> None:
        """Wrap the figures of ``paper/published``."""
        self._published = published

    def counter(self, metric: str, language: str, batch: int) -> float:
        """Return a published counter per packet."""
        return self._published.figures[(metric, language, batch)].value

    def more(self, metric: str, batch: int, base_batch: int | None = None) -> str:
        """Return how much more Rust needs than C, in percent without decimals."""
        base = self.counter(metric, "C", base_batch or batch)
        return number(100 * (self.counter(metric, "Rust", batch) / base - 1), 0)

    def mpps(self, clock: str, language: str, batch: int) -> float:
        """Return a published throughput."""
        return self._published.throughput[(clock, language)][batch]

    def share(self, clock: str) -> str:
        """Return the range of Rust's share of C's throughput over all batch sizes, in percent."""
        ours, theirs = (self._published.throughput[(clock, language)] for language in ("Rust", "C"))
        shares = [100 * ours[batch] / theirs[batch] for batch in ours]
        return f"{number(min(shares), 0)} to {number(max(shares), 0)}"

    def raw(self, metric: str, batch: int) -> float:
        """Return a counter of the published C driver on another processor."""
        return self._published.c_counters[batch][metric]
