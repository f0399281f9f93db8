"""The claims of ``claims.toml``, and what a run says to each."""

from __future__ import annotations

import ast
import math
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeGuard

from triptych_paper.code import CodeSize
from triptych_paper.expressions import (
    SOURCES,
    ExpressionError,
    MissingError,
    Result,
    Scope,
    evaluate,
    holds,
    parse,
    uses_batch,
)
from triptych_paper.lookup import SIMULATED
from triptych_paper.records import BACKENDS, DataError, Run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLAIMS = Path(__file__).parent.parent / "claims.toml"


class Compare(Enum):
    """When a measured value agrees with a published one."""

    ABOUT = "about"
    """Within the tolerance."""
    WITHIN = "within"
    """In the published range, widened by the tolerance."""
    AT_LEAST = "at least"
    AT_MOST = "at most"


class Verdict(Enum):
    """What a run says to a claim."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    NOT_MEASURABLE = "not measurable here"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Measure:
    """A way to check a claim."""

    backends: tuple[str, ...]
    """The best first; the first that has all values is taken."""
    formula: ast.expr
    needs: ast.expr | None = None
    """What must hold for the values to mean something."""
    otherwise: str = ""
    """What to say if it does not."""


@dataclass(frozen=True)
class Claim:
    """Something quantitative that was published."""

    id: str
    topic: str
    says: str
    source: str
    unit: str
    published: tuple[float, float]
    """A range; twice the same for one value."""
    compare: Compare
    tolerance: float
    measures: tuple[Measure, ...]
    batches: tuple[int, ...] = ()
    neutral: float | None = None
    """The value that would mean no effect, if the claim is about an effect."""
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a run says to a claim."""

    claim: Claim
    verdict: Verdict
    reason: str = ""
    """Why there is no value."""
    backend: str = ""
    simulated: bool = False
    results: tuple[Result, ...] = ()
    """One for each batch size, or a single one."""

    @property
    def measured(self) -> tuple[float, float] | None:
        """The range of the values; twice the same for one."""
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
        """The least count of repeats that any value rests on."""
        return min((result.count for result in self.results), default=0)

    @property
    def deviation(self) -> float | None:
        """How far the measured value, or the end of a range that is farthest off, is from what was published."""
        if self.measured is None:
            return None
        low, high = self.claim.published
        below, above = self.measured[0] - low, self.measured[1] - high
        if low == high:
            return below if abs(below) >= abs(above) else above
        outside = [value for value in (min(below, 0.0), max(above, 0.0)) if value]
        return max(outside, key=abs, default=0.0)

    @property
    def firm(self) -> bool:
        """Whether all of the spread, from the 10th to the 90th percentile, gets the same verdict."""
        if self.spread is None:
            return True
        low, high = accepted(self.claim)
        inside = low <= self.spread[0] and self.spread[1] <= high
        return inside or self.spread[1] < low or self.spread[0] > high

    @property
    def direction(self) -> str:
        """Whether an effect that differs has the published sign, all of its spread; empty where that means nothing."""
        neutral = self.claim.neutral
        if neutral is None or self.measured is None or self.verdict is not Verdict.DIFFERS:
            return ""
        published = sum(self.claim.published) / 2 - neutral
        ends = self.spread or self.measured
        if all((value - neutral) * published > 0 for value in ends):
            return "same direction"
        if all((value - neutral) * published < 0 for value in ends):
            return "opposite direction"
        return "no clear effect" if published else ""


def check(claim: Claim, run: Run, code: CodeSize | None) -> Outcome:
    """Compute what a run says to a claim."""
    reasons = []
    for measure in claim.measures:
        for backend in measure.backends:
            results = []
            try:
                for batch in claim.batches or (None,):
                    if measure.needs is not None and not holds(measure.needs, Scope(run, code, backend, batch)):
                        raise MissingError(f"not measurable here: {measure.otherwise}")
                    results.append(evaluate(measure.formula, Scope(run, code, backend, batch)))
            except MissingError as missing:
                reasons.append(str(missing))
                continue
            same = all(agrees(claim, result.value) for result in results)
            verdict = Verdict.REPRODUCED if same else Verdict.DIFFERS
            simulated = any((backend, metric) in SIMULATED for metric in _metrics(measure.formula))
            return Outcome(claim, verdict, "", backend, simulated, tuple(results))
    # What another run could measure is worth saying; what no run can measure here is not, beside it.
    measurable = [reason for reason in reasons if not reason.startswith("not measurable")]
    verdict = Verdict.NOT_MEASURED if measurable else Verdict.NOT_MEASURABLE
    return Outcome(claim, verdict, (measurable or reasons)[0])


def accepted(claim: Claim) -> tuple[float, float]:
    """The range of values that are what was published, by the claim's own tolerance."""
    low, high = claim.published
    return (
        -math.inf if claim.compare is Compare.AT_MOST else low - claim.tolerance,
        math.inf if claim.compare is Compare.AT_LEAST else high + claim.tolerance,
    )


def agrees(claim: Claim, value: float) -> bool:
    """Whether a value is what was published."""
    low, high = accepted(claim)
    return low <= value <= high


def _metrics(tree: ast.expr) -> set[str]:
    """Names of the metrics in a formula."""
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {text for text in constants if isinstance(text, str)}


def read_claims(path: Path = CLAIMS) -> list[Claim]:
    """Read the claims; :class:`DataError` names the claim that is wrong, and the mend."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the claims {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not TOML: {error}") from None
    entries = document.get("claim")
    if not isinstance(entries, list) or not entries:
        raise DataError(f"{path} holds no claims: it needs [[claim]] tables")
    claims: list[Claim] = []
    for place, entry in enumerate(entries, start=1):
        name = entry.get("id") or f"number {place}"
        try:
            claim = _claim(entry)
            if any(other.id == claim.id for other in claims):
                raise ValueError("there is another one with this id: give it one of its own")
        except (ValueError, ExpressionError) as error:
            raise DataError(f"{path}: claim {name}: {error}") from None
        claims.append(claim)
    return claims


FIELDS = {
    "id", "topic", "says", "source", "unit", "published", "compare", "tolerance", "batches", "neutral", "note",
    "measure",
}  # fmt: skip
MEASURE_FIELDS = {"backends", "formula", "needs", "otherwise"}


def _claim(entry: dict[str, Any]) -> Claim:
    _no_others(entry, FIELDS)
    published = _published(entry)
    one = published[0] == published[1]
    compare = _text(entry, "compare") if "compare" in entry else ("about" if one else "within")
    kinds = [kind.value for kind in Compare if (kind is Compare.WITHIN) != one]
    if compare not in kinds:
        raise ValueError(f"compare {compare!r} does not fit: use one of {', '.join(kinds)}")
    tolerance = entry.get("tolerance", 0.0 if compare.startswith("at ") else None)
    if not _is_number(tolerance) or tolerance < 0:
        raise ValueError("tolerance is missing or negative: say how far, in its unit, a value may be off")
    batches = entry.get("batches", [])
    if not isinstance(batches, list) or not all(isinstance(batch, int) and 1 <= batch <= 512 for batch in batches):
        raise ValueError("batches is not a list of batch sizes, such as [8, 32]")
    neutral = entry.get("neutral")
    if neutral is not None and not _is_number(neutral):
        raise ValueError("neutral is not a number: the value that would mean no effect, or leave it out")
    measures = entry.get("measure")
    if not isinstance(measures, list) or not measures:
        raise ValueError("there is no [[claim.measure]]: say by which backends and which formula it is checked")
    return Claim(
        id=_text(entry, "id"),
        topic=_text(entry, "topic"),
        says=_text(entry, "says"),
        source=_text(entry, "source"),
        unit=_text(entry, "unit"),
        published=published,
        compare=Compare(compare),
        tolerance=float(tolerance),
        measures=tuple(_measure(measure, bool(batches)) for measure in measures),
        batches=tuple(batches),
        neutral=None if neutral is None else float(neutral),
        note=_text(entry, "note") if "note" in entry else "",
    )


def _measure(entry: dict[str, Any], batches: bool) -> Measure:
    _no_others(entry, MEASURE_FIELDS)
    backends = entry.get("backends")
    known = (*BACKENDS, SOURCES)
    if not isinstance(backends, list) or not backends or any(backend not in known for backend in backends):
        raise ValueError(f"backends is not a list of some of {', '.join(known)}, the best first")
    formula = _expression(entry, "formula", batches)
    if isinstance(formula, ast.Compare):
        raise ValueError("formula compares, but a number is needed: comparisons belong into `needs`")
    needs = _expression(entry, "needs", batches) if "needs" in entry else None
    if needs is not None and not isinstance(needs, ast.Compare):
        raise ValueError("needs does not compare: use >=, >, <= or <")
    if (needs is None) != ("otherwise" not in entry):
        raise ValueError("`needs` and `otherwise` belong together: what must hold, and what to say if it does not")
    return Measure(tuple(backends), formula, needs, _text(entry, "otherwise") if needs is not None else "")


def _expression(entry: dict[str, Any], key: str, batches: bool) -> ast.expr:
    try:
        tree = parse(_text(entry, key))
    except ExpressionError as error:
        raise ValueError(f"{key}: {error}") from None
    if uses_batch(tree) and not batches:
        raise ValueError(f"{key}: `batch` has no value: give the claim `batches = [8, 32]`")
    return tree


def _published(entry: dict[str, Any]) -> tuple[float, float]:
    published: object = entry.get("published")
    if _is_number(published):
        return float(published), float(published)
    if isinstance(published, list) and len(published) == 2 and all(_is_number(value) for value in published):
        low, high = map(float, published)
        if low < high:
            return low, high
    raise ValueError("published is neither a number nor a range such as [90, 98]")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} is missing or empty: it needs a text")
    return value


def _no_others(entry: dict[str, Any], known: set[str]) -> None:
    others = set(entry) - known
    if others:
        raise ValueError(f"{', '.join(sorted(others))} is not known: there are {', '.join(sorted(known))}")
