"""What was noticed during a run, told so that a reader gets through it."""

from __future__ import annotations

import re
from collections.abc import Iterable

# "c/default batch 32, 10 Mpps, wall: ": what a warning is about.
_SUBJECT = re.compile(r"^[\w-]+/[\w-]+ batch \d+[^:]*: ")
_NUMBER = re.compile(r"\d+(\.\d+)?")

# As many warnings that say the same of different measurements are told one by one.
_FEW = 2


def fold(warnings: Iterable[str]) -> tuple[str, ...]:
    """The warnings in their order; of many that differ in subject and numbers only, the first and how many more."""
    groups: dict[str, list[str]] = {}
    for warning in warnings:
        subject = _SUBJECT.match(warning)
        kind = _NUMBER.sub("#", warning[subject.end() :]) if subject else warning
        groups.setdefault(kind, []).append(warning)
    told: list[str] = []
    for group in groups.values():
        if len(group) <= _FEW:
            told += group
        else:
            told.append(f"{group[0]} ({len(group) - 1} more like this are in run.json)")
    return tuple(told)
