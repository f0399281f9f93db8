"""The checks in the machine code of the data path, as the runner counted them for each build."""

from __future__ import annotations

from dataclasses import dataclass, field

from triptych_paper.errors import DataError
from triptych_paper.records import Run

KINDS = {"bounds": "bounds checks", "overflow": "overflow checks", "trap": "traps", "other": "other panics"}
"""Kinds of checks, and their names in tables."""


@dataclass(frozen=True)
class RemainingChecks:
    """The checks in the machine code of one build."""

    impl: str
    variant: str
    compiler: str
    counts: dict[str, int] = field(default_factory=dict)
    """Number of checks by :data:`KINDS`; empty if they were not counted."""
    why_not: str = ""
    """Why they were not counted."""


def remaining_checks(run: Run) -> list[RemainingChecks]:
    """Return the builds of safe Rust, whose machine code the runner inspects.

    Raises :class:`DataError` if the record is malformed.
    """
    found = []
    where = run.folder / "run.json"
    for build in run.info.get("builds") or []:
        try:
            counts = {str(kind): int(count) for kind, count in (build.get("checks_in_loops") or {}).items()}
            why = str(build.get("checks_not_counted") or "")
            if counts or why:
                impl, variant, compiler = (str(build[key]) for key in ("impl", "variant", "toolchain"))
                found.append(RemainingChecks(impl, variant, compiler, counts, why))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{where} is malformed: {build!r} does not describe a build: {error!r}") from None
        if set(counts) - set(KINDS):
            raise DataError(f"{where} is malformed: {sorted(set(counts) - set(KINDS))} is not a kind of check")
    return found
