"""Checking a claim against a run."""

from __future__ import annotations

from triptych_paper.claims.expressions import SOURCES, MissingError, Scope, evaluate, holds, metrics_of
from triptych_paper.claims.model import Claim, Outcome, Verdict, agrees
from triptych_paper.code import CodeSize
from triptych_paper.records import Run
from triptych_paper.schema import source


def check(claim: Claim, run: Run, code: CodeSize | None) -> Outcome:
    """Check a claim by the first of its measures for which the run has all values."""
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
            agree = all(agrees(claim, result.value) for result in results)
            verdict = Verdict.REPRODUCED if agree else Verdict.DIFFERS
            simulated = backend != SOURCES and any(
                source(name, backend).simulated for name in metrics_of(measure.formula)
            )
            return Outcome(claim, verdict, "", backend, simulated, tuple(results))
    # A value that another run could measure is the reason to report, before one that this machine cannot measure.
    measurable = [reason for reason in reasons if not reason.startswith("not measurable")]
    verdict = Verdict.NOT_MEASURED if measurable else Verdict.NOT_MEASURABLE
    return Outcome(claim, verdict, (measurable or reasons)[0])
