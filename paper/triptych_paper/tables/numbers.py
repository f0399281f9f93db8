"""Numbers as tables and captions show them."""

from __future__ import annotations

from triptych_paper.statistics import Summary


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


def interval(summary: Summary, digits: int) -> str:
    """Format the 95 % interval; empty for a value without noise or without an interval."""
    if summary.low is None or summary.high is None or summary.exact:
        return ""
    low, high = number(summary.low, digits), number(summary.high, digits)
    return f"{low} to {high}"


def with_interval(summary: Summary, digits: int) -> str:
    """Format a median, with its interval in parentheses if it has one."""
    between = interval(summary, digits)
    return number(summary.median, digits) + (f" ({between})" if between else "")
