"""The rule of the verdicts: what an interval of measured values says about a claim.

The rule divides the numbers into three parts:

- *reproduced*: the published value or range, widened by the tolerance;
- *same direction*, for an effect: on the published side of no effect, and between a quarter and four times as large;
- *differs*: all others.

A verdict needs the whole interval in its part. An interval that lies partly in *same direction* and partly in
*reproduced* has the direction for certain. Every other interval that touches two parts is *inconclusive*.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from triptych_paper.claims.expressions import Result
from triptych_paper.claims.model import Claim, Compare, Verdict

LEAST_SHARE, LARGEST_SHARE = 0.25, 4.0
"""An effect in the same direction is at least and at most so many times the published one."""

ENOUGH, MANY = 5, 10
"""From so many repeats on, the interval is the range of the values, and their 10th to 90th percentile."""

Interval = tuple[float, float]


def interval(result: Result) -> Interval:
    """Return the interval in which the value lies.

    A count without noise is a point. With few repeats the interval is wider than their range, and a single noisy value
    says nothing about its noise. The repeats of a session resemble each other, so the interval does not shrink as their
    number grows.
    """
    if result.exact:
        return result.value, result.value
    if result.count >= MANY and result.low is not None and result.high is not None:
        return result.low, result.high
    if result.count >= ENOUGH:
        return result.least, result.most
    if result.count > 1:
        width = result.most - result.least
        return result.least - width, result.most + width
    return -math.inf, math.inf


def accepted(claim: Claim) -> Interval:
    """Return the range of values that reproduce a claim."""
    low, high = claim.published
    return (
        -math.inf if claim.compare is Compare.AT_MOST else low - claim.tolerance,
        math.inf if claim.compare is Compare.AT_LEAST else high + claim.tolerance,
    )


def directed(claim: Claim) -> Interval | None:
    """Return the range of effects with the published direction and order of size; None for no effect."""
    if claim.neutral is None:
        return None
    low, high = (value - claim.neutral for value in claim.published)
    sizes = sorted((abs(low), abs(high)))
    ends = (LEAST_SHARE * sizes[0], LARGEST_SHARE * sizes[1])
    return (claim.neutral + ends[0], claim.neutral + ends[1]) if low > 0 else (
        claim.neutral - ends[1], claim.neutral - ends[0]
    )  # fmt: skip


def decide(claim: Claim, values: Interval) -> Verdict:
    """Return the verdict for one interval."""
    within = accepted(claim)
    if _inside(values, within):
        return Verdict.REPRODUCED
    direction = directed(claim)
    # Both contain the published value, so together they have no gap.
    either = within if direction is None else (min(within[0], direction[0]), max(within[1], direction[1]))
    if direction is not None and _inside(values, either):
        return Verdict.SAME_DIRECTION
    apart = values[1] < either[0] or values[0] > either[1]
    return Verdict.DIFFERS if apart else Verdict.INCONCLUSIVE


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of a claim about several batch sizes: one that differs refutes it; all must reproduce it."""
    found = set(verdicts)
    for verdict in (Verdict.DIFFERS, Verdict.INCONCLUSIVE, Verdict.SAME_DIRECTION):
        if verdict in found:
            return verdict
    return Verdict.REPRODUCED


def explain(claim: Claim, values: Interval) -> str:
    """Say in words how an interval lies to the effect of a claim that differs; empty without an effect."""
    direction = directed(claim)
    if claim.neutral is None or direction is None:
        return ""
    low, high = values
    if low <= claim.neutral <= high:
        return "no clear effect"
    same = (low > claim.neutral) == (direction[0] > claim.neutral)
    if not same:
        return "opposite direction"
    larger = low > direction[1] if direction[0] > claim.neutral else high < direction[0]
    size = f"more than {LARGEST_SHARE:g} times" if larger else f"less than {LEAST_SHARE:.0%} of"
    return f"{size} the published effect".replace("%", " %")


def _inside(values: Interval, limits: Interval) -> bool:
    return limits[0] <= values[0] and values[1] <= limits[1]
