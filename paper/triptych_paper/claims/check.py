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
from triptych_paper.drivers import Subject
from triptych_paper.facts import card
from triptych_paper.lookup import apart, has_upstream, wall_demoted
from triptych_paper.quantities import SOURCES, differences
from triptych_paper.records import Run
from triptych_paper.schema import source


def check(claim: Claim, run: Run, code: CodeSize | None, subject: Subject = Subject.OURS) -> Outcome:
    """Check a claim by the first of its measures that has all values and counts what was published.

    `subject` says whose drivers are checked: a claim of the paper is about the paper's own.

    If only measures of another quantity have values, the first of them is shown, without a judgement.
    """
    reasons = []
    unlike: Outcome | None = None
    for measure, backend in _ways(claim, run):
        try:
            results = _results(claim, measure, backend, run, code, subject)
        except MissingError as missing:
            reasons.append(str(missing))
            continue
        verdict = combine(decide(claim, interval(result)) for result in results)
        outcome = Outcome(claim, subject, verdict, "", backend, _simulated(measure, backend), results)
        # The lines of the paper's drivers are counted at the commits that the paper counted.
        same_sources = backend == SOURCES and subject is Subject.UPSTREAM
        differences = "" if same_sources else _apart(measure, backend, run, results)
        if not differences or measure.like:
            reason = _undecided(results) if verdict is Verdict.INCONCLUSIVE else ""
            return replace(outcome, reason=reason, like=measure.like if differences else "")
        unlike = unlike or replace(outcome, verdict=Verdict.NOT_COMPARABLE, reason=differences)
    if unlike:
        return unlike
    # A value that another run could measure is the reason to report, before one that this machine cannot measure.
    measurable = [reason for reason in reasons if not reason.startswith("not measurable")]
    verdict = Verdict.NOT_MEASURED if measurable else Verdict.NOT_MEASURABLE
    return Outcome(claim, subject, verdict, (measurable or reasons)[0])


def check_all(claims: Iterable[Claim], run: Run, code: CodeSize | None) -> list[Outcome]:
    """Check all claims for each subject that the run has: the paper's drivers first, then ours."""
    subjects = [Subject.OURS]
    if has_upstream(run):
        subjects.insert(0, Subject.UPSTREAM)
    return [check(claim, run, code, subject) for claim in claims for subject in subjects]


def given(outcomes: Iterable[Outcome]) -> list[tuple[Subject, Verdict, bool]]:
    """Return the verdicts of outcomes with their subjects, and whether modelled values gave them."""
    return [(outcome.subject, outcome.verdict, outcome.modelled is not None) for outcome in outcomes]


def count(verdicts: Iterable[tuple[Subject, Verdict, bool]]) -> str:
    """Count verdicts in a sentence for each subject, in the order of :class:`Verdict`.

    The third part of a verdict says whether modelled values gave it.
    """
    listed = list(verdicts)
    sentences = []
    for subject in Subject:
        counts = Counter(verdict for whose, verdict, _ in listed if whose is subject)
        modelled = Counter(verdict for whose, verdict, by_model in listed if whose is subject and by_model)
        parts = ", ".join(
            f"{counts[verdict]} {plural(verdict)}" + (f" ({modelled[verdict]} modelled)" if modelled[verdict] else "")
            for verdict in Verdict
            if counts[verdict]
        )
        if counts:
            sentences.append(f"{SUBJECTS[subject]}: of {counts.total()} published claims, {parts}.")
    return " ".join(sentences)


SUBJECTS = {
    Subject.UPSTREAM: "The paper's own drivers",
    Subject.OURS: "Our drivers (progress)",
}
"""The subjects as a summary names them."""


def plural(verdict: Verdict) -> str:
    """Name a verdict after a number of claims."""
    return "differ" if verdict is Verdict.DIFFERS else verdict.value


def _ways(claim: Claim, run: Run) -> list[tuple[Measure, str]]:
    """Return the measures with their backends, the best first; `wall` comes last if the model says more."""
    ways = [(measure, backend) for measure in claim.measures for backend in measure.backends]
    demoted = wall_demoted(run)
    return sorted(ways, key=lambda way: demoted and way[1] == "wall")


def _results(
    claim: Claim, measure: Measure, backend: str, run: Run, code: CodeSize | None, subject: Subject
) -> tuple[Result, ...]:
    results = []
    for batch in claim.batches or (None,):
        if measure.needs is not None and not holds(measure.needs, Scope(run, code, backend, batch, subject)):
            raise MissingError(f"not measurable here: {measure.otherwise}")
        results.append(evaluate(measure.formula, Scope(run, code, backend, batch, subject)))
    return tuple(results)


def _simulated(measure: Measure, backend: str) -> bool:
    return backend != SOURCES and any(source(name, backend).simulated for name in metrics_of(measure.formula))


def _apart(measure: Measure, backend: str, run: Run, results: Sequence[Result]) -> str:
    """Say in which aspects a backend counts something else than the published figures; empty if it does not."""
    found = [
        difference
        for name in sorted(quantities_of(measure.formula))
        for difference in differences(name, backend, card(run))
    ]
    found += [difference for result in results for origin in result.sources for difference in apart(run, origin)]
    return "; ".join(dict.fromkeys(map(str, found)))


def _undecided(results: Sequence[Result]) -> str:
    if any(result.count < 2 and not result.exact for result in results):
        return "a single repeat has no spread"
    return "the spread covers more than one verdict"
