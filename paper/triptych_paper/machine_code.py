"""Checks that are left in the machine code of the data path, as the runner counted them for each build."""

from __future__ import annotations

from dataclasses import dataclass, field

from triptych_paper.records import DataError, Run

KINDS = {"bounds": "bounds checks", "overflow": "overflow checks", "trap": "traps", "other": "other panics"}
"""What is counted, and what it is called."""


@dataclass(frozen=True)
class Left:
    """What is left in one build."""

    impl: str
    variant: str
    compiler: str
    counts: dict[str, int] = field(default_factory=dict)
    """By :data:`KINDS`; empty if nothing was counted."""
    why_not: str = ""
    """Why nothing was counted."""


def checks_left(run: Run) -> list[Left]:
    """The builds of a run whose machine code was looked at: those of safe Rust.

    Raises :class:`DataError` if the record is malformed.
    """
    found = []
    where = run.folder / "run.json"
    for build in run.info.get("builds") or []:
        try:
            counts = {str(kind): int(count) for kind, count in (build.get("checks_in_loops") or {}).items()}
            why = str(build.get("checks_not_counted") or "")
            if counts or why:
                found.append(Left(str(build["impl"]), str(build["variant"]), str(build["toolchain"]), counts, why))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{where} is malformed: {build!r} is no build: {error!r}") from None
        if set(counts) - set(KINDS):
            raise DataError(f"{where} is malformed: {sorted(set(counts) - set(KINDS))} is no kind of check")
    return found
