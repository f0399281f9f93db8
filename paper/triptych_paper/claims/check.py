"""Checking a claim against a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from triptych_paper.claims.expressions import (
    MissingError,
    Result,
    Scope,
    evaluate,
    holds,
    metrics_of,
    quantities_of,
)
from triptych_paper.claims.model import Claim, Measure, Outcome, Verdict
from triptych_paper.claims.verdicts import combine, decide, interval
from triptych_paper.code import CodeSize
from triptych_paper.facts import card
from triptych_paper.quantities import SOURCES, differences
from triptych_paper.records import Run
from triptych_paper.schema import source


def check(claim: Claim, run: Run, code: CodeSize | None) -> Outcome:
    """Check a claim by the first of its measures that has all values and counts what was published.

    If only measures of another quantity have values, the first of them is shown, without a judgement.
    """
    reasons = []
    unlike: Outcome | None = None
    for measure in claim.measures:
        for backend in measure.backends:
            try:
                results = _results(claim, measure, backend, run, code)
            except MissingError as missing:
                reasons.append(str(missing))
                continue
            verdict = combine(decide(claim, interval(result)) for result in results)
            outcome = Outcome(claim, verdict, "", backend, _simulated(measure, backend), results)
            apart = _apart(measure, backend, run)
            if not apart or measure.like:
                reason = _undecided(results) if verdict is Verdict.INCONCLUSIVE else ""
                return replace(outcome, reason=reason, like=measure.like if apart else "")
            unlike = unlike or replace(outcome, verdict=Verdict.NOT_COMPARABLE, reason=apart)
    if unlike:
        return unlike
    # A value that another run could measure is the reason to report, before one that this machine cannot measure.
    measurable = [reason for reason in reasons if not reason.startswith("not measurable")]
    verdict = Verdict.NOT_MEASURED if measurable else Verdict.NOT_MEASURABLE
    return Outcome(claim, verdict, (measurable or reasons)[0])


def count(verdicts: Iterable[Verdict]) -> str:
    """Count verdicts in a sentence, in the order of :class:`Verdict`."""
    counts = Counter(verdicts)
    parts = ", ".join(f"{counts[verdict]} {plural(verdict)}" for verdict in Verdict if counts[verdict])
    return f"Of {counts.total()} published claims: {parts}."


def plural(verdict: Verdict) -> str:
    """Name a verdict after a number of claims."""
    return "differ" if verdict is Verdict.DIFFERS else verdict.value


def _results(claim: Claim, measure: Measure, backend: str, run: Run, code: CodeSize | None) -> tuple[Result, ...]:
    results = []
    for batch in claim.batches or (None,):
        if measure.needs is not None and not holds(measure.needs, Scope(run, code, backend, batch)):
            raise MissingError(f"not measurable here: {measure.otherwise}")
        results.append(evaluate(measure.formula, Scope(run, code, backend, batch)))
    return tuple(results)


def _simulated(measure: Measure, backend: str) -> bool:
    return backend != SOURCES and any(source(name, backend).simulated for name in metrics_of(measure.formula))


def _apart(measure: Measure, backend: str, run: Run) -> str:
    """Say in which aspects a backend counts something else than the published figures; empty if it does not."""
    found: Iterable[str] = (
        str(difference)
        for name in sorted(quantities_of(measure.formula))
        for difference in differences(name, backend, card(run))
    )
    return "; ".join(dict.fromkeys(found))


def _undecided(results: Sequence[Result]) -> str:
    if any(result.count < 2 and not result.exact for result in results):
        return "a single repeat has no spread"
    return "the spread covers more than one verdict"
