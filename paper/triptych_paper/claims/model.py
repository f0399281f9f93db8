"""Claims, verdicts and outcomes."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum

from triptych_paper.claims.expressions import Result
from triptych_paper.drivers import Subject
from triptych_paper.schema import Source


class Compare(Enum):
    """The rule by which a measured value agrees with a published one."""

    ABOUT = "about"
    """It differs by at most the tolerance."""
    WITHIN = "within"
    """It lies in the published range, widened by the tolerance."""
    AT_LEAST = "at least"
    """It is no smaller, or smaller by at most the tolerance."""
    AT_MOST = "at most"
    """It is no larger, or larger by at most the tolerance."""


class Verdict(Enum):
    """The result of checking a claim against a run. ``verdicts.py`` has the rule."""

    REPRODUCED = "reproduced"
    SAME_DIRECTION = "same direction"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"
    NOT_MEASURABLE = "not measurable here"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Measure:
    """A way to check a claim."""

    backends: tuple[str, ...]
    """The best first. The first one that has all values gives the verdict."""
    formula: ast.expr
    needs: ast.expr | None = None
    """The condition under which the values are meaningful."""
    otherwise: str = ""
    """The reason to report if the condition is false."""
    like: str = ""
    """Why the values compare, although the backend counts something else than the published figures."""


@dataclass(frozen=True)
class Claim:
    """A published quantitative statement. ``paper/claims.toml`` explains the fields."""

    id: str
    topic: str
    says: str
    source: str
    unit: str
    published: tuple[float, float]
    """A range; both ends are equal for a single value."""
    compare: Compare
    tolerance: float
    measures: tuple[Measure, ...]
    batches: tuple[int, ...] = ()
    neutral: float | None = None
    """The value that means no effect, if the claim is about an effect."""
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """A claim's verdict for one run and one subject, with the values behind it."""

    claim: Claim
    subject: Subject
    verdict: Verdict
    reason: str = ""
    """The reason for a missing value."""
    backend: str = ""
    simulated: bool = False
    results: tuple[Result, ...] = ()
    """One for each batch size, or a single one."""
    like: str = ""
    """Why the values compare, although the backend counts something else than the published figures."""

    @property
    def modelled(self) -> Source | None:
        """The first modelled value behind the verdict; None if it is about measured and counted values."""
        origins = (origin for result in self.results for origin in result.sources)
        return next((origin for origin in origins if origin.modelled), None)

    @property
    def kind(self) -> str:
        """How the values came about, see :attr:`Source.kind`: `counted` for lines of code, empty without a value."""
        kinds = [origin.kind for result in self.results for origin in result.sources]
        for kind in ("modelled", "simulated", "measured"):
            if kind in kinds:
                return kind
        return "counted" if self.results else ""

    @property
    def measured(self) -> tuple[float, float] | None:
        """Range of the values; both ends are equal for a single value."""
        values = [result.value for result in self.results]
        return (min(values), max(values)) if values else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """10th and 90th percentile of a single value with repeats."""
        if len(self.results) != 1 or self.results[0].low is None or self.results[0].high is None:
            return None
        return self.results[0].low, self.results[0].high

    @property
    def count(self) -> int:
        """Smallest number of repeats behind any of the values."""
        return min((result.count for result in self.results), default=0)

    @property
    def deviation(self) -> float | None:
        """Distance of the measured value, or of the farther end of its range, from the published one."""
        if self.measured is None:
            return None
        low, high = self.claim.published
        below, above = self.measured[0] - low, self.measured[1] - high
        if low == high:
            return below if abs(below) >= abs(above) else above
        outside = [value for value in (min(below, 0.0), max(above, 0.0)) if value]
        return max(outside, key=abs, default=0.0)
