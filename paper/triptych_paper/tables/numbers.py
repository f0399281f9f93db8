"""Numbers as tables and captions show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT


def number(value: float, digits: int) -> str:
    """Format a value with a real minus sign; a negative zero loses its sign."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def significant(value: float, figures: int = 3) -> str:
    """Format a value with so many significant figures and without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, figures - 1 - int(f"{abs(value):e}".split("e")[1]))
    return number(value, digits)


def signed(value: float, digits: int) -> str:
    """Format a difference with its sign."""
    text = number(value, digits)
    return f"+{text}" if value > 0 and float(text) > 0 else text


def change(ratio: Summary) -> str:
    """Format a ratio as a change with its spread: 1.04 is `+4.0 %`."""

    def part(factor: float) -> str:
        return signed(100 * (factor - 1), 1 if abs(factor - 1) < 1 else 0)

    text = f"{part(ratio.median)} %"
    return text if ratio.count < 2 else f"{text} ({part(ratio.low)} to {part(ratio.high)})"


def spread(summary: Summary, text: Callable[[float], str]) -> tuple[str, ...]:
    """Format the 10th and 90th percentile; empty for a single value, and where both look alike."""
    if summary.count < 2:
        return ()
    low, high = text(summary.low), text(summary.high)
    return (f"{low} to {high}",) if low != high else ()


def repeats(counts: Iterable[int]) -> str:
    """Format the numbers of repeats of several values: `30`, or `1 to 30`."""
    known = sorted({count for count in counts if count})
    if not known:
        return ABSENT
    return str(known[0]) if len(known) == 1 else f"{known[0]} to {known[-1]}"
