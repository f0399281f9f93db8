"""The published claims and the verdicts of this run."""

from __future__ import annotations

import math

from triptych_paper.claims.check import check_all, count, given
from triptych_paper.claims.model import Claim, Compare, Outcome, Verdict
from triptych_paper.claims.reader import read_claims
from triptych_paper.claims.verdicts import explain, interval
from triptych_paper.drivers import Subject
from triptych_paper.lookup import NO_UPSTREAM, has_upstream
from triptych_paper.report.model import Data, Section
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, signed
from triptych_paper.values import MULTIPLEXED_NOTE

PERCENT = ("%", "% of C")
"""Units whose differences are in percentage points."""

TONES = {Verdict.REPRODUCED: "good", Verdict.SAME_DIRECTION: "neutral", Verdict.DIFFERS: "bad"}


SUBJECT_NAMES = {Subject.UPSTREAM: "upstream", Subject.OURS: "ours"}
"""The subjects in a cell of the table."""

ALWAYS = ("id", "subject", "published", "measured", "verdict", "backend")
"""The first columns of the records, which they have even without a value."""


def build(data: Data) -> Section:
    """Build a table for each topic, and count the verdicts."""
    outcomes = check_all(read_claims(), data.run, data.code)
    whose = (
        "The verdicts on the paper's own drivers (upstream) say what reproduces here. The verdicts on ours say what "
        "another implementation of the same task changes."
        if has_upstream(data.run)
        else f"{NO_UPSTREAM} So the verdicts compare our drivers with claims about others."
    )
    text = [
        f"{count(given(outcomes))} {whose}",
        "A verdict needs a measurement that could have said otherwise, so the whole spread has to lie on one side. "
        "Below each published value is its tolerance. “Same direction” is an effect of the published sign, between a "
        "quarter and four times as large. “Inconclusive” means that the spread covers more than one verdict. “Not "
        "comparable” means that the backend counts another unit, at another level or in another scope; the value is "
        "shown, and not judged. paper/README.md has the rule.",
    ]
    if any(outcome.modelled for outcome in outcomes):
        text.append(
            "A verdict that is “modelled” judges the model of the named processor, and not a measurement. Such values "
            "have no spread. The section on validation shows how far they are from measured and from published ones."
        )
    topics = list(dict.fromkeys(outcome.claim.topic for outcome in outcomes))
    tables = [
        _table(place, topic, [outcome for outcome in outcomes if outcome.claim.topic == topic])
        for place, topic in enumerate(topics, start=1)
    ]
    return Section("claims", "Claims and verdicts", tuple(text), tuple(tables), joined=ALWAYS)


def _table(place: int, topic: str, outcomes: list[Outcome]) -> Table:
    columns = (
        Column("claim", numeric=False),
        Column("published"),
        Column("drivers", numeric=False),
        Column("measured"),
        Column("verdict", numeric=False),
        Column("counted by", numeric=False),
        Column("repeats", emphasis=False),
    )
    rows = tuple(
        _row(outcome, place > 0 and outcomes[place - 1].claim is outcome.claim)
        for place, outcome in enumerate(outcomes)
    )
    key = "claims-" + topic.lower().replace(",", "").replace(" ", "-")
    return Table(key, f"Claims {place}: {topic}", columns, rows, tuple(_record(outcome) for outcome in outcomes))


def _row(outcome: Outcome, repeated: bool) -> tuple[Cell, ...]:
    """Return the row of a claim and a subject; `repeated` says that the row before has the same claim."""
    claim = outcome.claim
    notes = (claim.note,) if claim.note else ()
    measured = Cell(ABSENT)
    if outcome.measured:
        detail = [*_unit_line(claim)]
        if outcome.spread:
            detail.append(_range(outcome.spread, claim))
        if claim.batches:
            detail.append(_batches(claim.batches))
        multiplexed = any(result.multiplexed for result in outcome.results)
        text = _range(outcome.measured, claim) + _short_unit(claim)
        measured = Cell(text, tuple(detail), (MULTIPLEXED_NOTE,) if multiplexed else ())
    tolerance = (f"± {claim.tolerance:g}",) if claim.tolerance else ()
    return (
        Cell() if repeated else Cell(claim.says, (claim.source,), notes),
        Cell() if repeated else Cell(_published(claim), (*_unit_line(claim), *tolerance)),
        Cell(SUBJECT_NAMES[outcome.subject]),
        measured,
        _verdict(outcome),
        Cell(
            _counted_by(outcome) or ABSENT,
            notes=(outcome.like,) if outcome.like else (),
        ),
        Cell(str(outcome.count) if outcome.count else ABSENT),
    )


def _counted_by(outcome: Outcome) -> str:
    if outcome.modelled:
        return outcome.modelled.name
    return outcome.backend + (", simulated" if outcome.simulated else "")


def _batches(batches: tuple[int, ...]) -> str:
    if len(batches) > 3:
        return f"batch {batches[0]} to {batches[-1]}"
    return f"batch {', '.join(map(str, batches))}"


def _verdict(outcome: Outcome) -> Cell:
    if outcome.verdict in TONES:
        differs = outcome.verdict is Verdict.DIFFERS and len(outcome.results) == 1
        lines = [_deviation(outcome), explain(outcome.claim, interval(outcome.results[0])) if differs else ""]
        return Cell(outcome.verdict.value, tuple(line for line in lines if line), (), TONES[outcome.verdict])
    reason = outcome.reason.removeprefix(f"{outcome.verdict.value}: ")
    return Cell(outcome.verdict.value, (reason,), (), "neutral")


def _deviation(outcome: Outcome) -> str:
    claim, deviation = outcome.claim, outcome.deviation
    assert deviation is not None
    unit = "points" if claim.unit in PERCENT else claim.unit
    if claim.compare in (Compare.AT_LEAST, Compare.AT_MOST):
        return f"{number(abs(deviation), _digits(claim))} {unit} {'above' if deviation > 0 else 'below'}"
    if claim.compare is Compare.WITHIN and deviation == 0:
        return "within the range"
    return f"by {signed(deviation, _digits(claim))} {unit}"


def _digits(claim: Claim) -> int:
    """Return the number of decimals that shows on which side of the tolerance a value lies."""
    if claim.tolerance == 0:
        return 1
    return max(0, 1 - math.floor(math.log10(claim.tolerance)))


def _range(values: tuple[float, float], claim: Claim) -> str:
    low, high = (number(value, _digits(claim)) for value in values)
    return low if low == high else f"{low} to {high}"


def _published(claim: Claim) -> str:
    low, high = (f"{value:g}" for value in claim.published)
    prefix = {Compare.AT_LEAST: "≥ ", Compare.AT_MOST: "≤ "}.get(claim.compare, "")
    return prefix + (low if low == high else f"{low} to {high}") + _short_unit(claim)


def _short_unit(claim: Claim) -> str:
    return f" {claim.unit}" if claim.unit in (*PERCENT, "µs") else ""


def _unit_line(claim: Claim) -> tuple[str, ...]:
    """Return a long unit, which gets a line of its own; empty for a short one."""
    return () if _short_unit(claim) else (claim.unit,)


def _record(outcome: Outcome) -> Record:
    claim, measured, spread = outcome.claim, outcome.measured, outcome.spread
    return {
        "id": claim.id,
        "subject": outcome.subject.value,
        "published": _plain(claim.published, claim.compare),
        "measured": _plain(measured) if measured else "",
        "verdict": outcome.verdict.value,
        "backend": outcome.backend,
        "says": claim.says,
        "source": claim.source,
        "unit": claim.unit,
        "published_low": claim.published[0],
        "published_high": claim.published[1],
        "compare": claim.compare.value,
        "tolerance": claim.tolerance,
        "measured_low": measured[0] if measured else None,
        "measured_high": measured[1] if measured else None,
        "p10": spread[0] if spread else None,
        "p90": spread[1] if spread else None,
        "kind": outcome.kind,
        "cpu": outcome.modelled.cpu if outcome.modelled else "",
        "clock_ghz": outcome.modelled.clock_ghz if outcome.modelled else None,
        "simulated": outcome.simulated if measured else None,
        "repeats": outcome.count,
        "deviation": outcome.deviation,
        "reason": outcome.reason,
        "note": claim.note,
    }


def _plain(values: tuple[float, float], compare: Compare = Compare.ABOUT) -> str:
    """Return a value or a range as plain text, which other programs can read."""
    prefix = {Compare.AT_LEAST: ">= ", Compare.AT_MOST: "<= "}.get(compare, "")
    low, high = (f"{value:.6g}" for value in values)
    return prefix + (low if low == high else f"{low} to {high}")
