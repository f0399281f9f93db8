"""The warnings of a run, shortened."""

from __future__ import annotations

import re
from collections.abc import Iterable

# The subject of a warning, such as "c/default batch 32, 10 Mpps, wall: ".
_SUBJECT = re.compile(r"^[\w-]+/[\w-]+ batch \d+[^:]*: ")
_NUMBER = re.compile(r"\d+(\.\d+)?")

# Up to this many warnings that differ only in subject and numbers are all shown.
_FEW = 2


def fold(warnings: Iterable[str]) -> tuple[str, ...]:
    """Keep the order; of many warnings that differ only in subject and numbers, keep the first and count the others."""
    groups: dict[str, list[str]] = {}
    for warning in warnings:
        subject = _SUBJECT.match(warning)
        kind = _NUMBER.sub("#", warning[subject.end() :]) if subject else warning
        groups.setdefault(kind, []).append(warning)
    kept: list[str] = []
    for group in groups.values():
        if len(group) <= _FEW:
            kept += group
        else:
            kept.append(f"{group[0]} (run.json has {len(group) - 1} more of this kind)")
    return tuple(kept)
