"""What was published, and what this run says to it."""

from __future__ import annotations

from collections import Counter

from triptych_paper.claims import Claim, Compare, Outcome, Verdict, check, read_claims
from triptych_paper.report.cells import ABSENT, MULTIPLEXED_NOTE, significant, signed
from triptych_paper.report.model import Cell, Column, Data, Record, Section, Table

TONES = {Verdict.REPRODUCED: "good", Verdict.DIFFERS: "bad"}


def build(data: Data) -> Section:
    """One table a topic, and how many claims fared how."""
    outcomes = [check(claim, data.run, data.code) for claim in read_claims()]
    counts = Counter(outcome.verdict for outcome in outcomes)
    said = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    simulated = sum(outcome.simulated for outcome in outcomes if outcome.measured)
    text = [
        f"Of {len(outcomes)} published claims: {said}. A verdict compares numbers, nothing else: the drivers are not "
        "the published ones, and where no hardware counters are, neither is what counts. The column “counted by” "
        "says which it was.",
    ]
    if simulated:
        text.append(f"{simulated} of the verdicts rest on simulated caches or branch prediction, and are marked so.")
    topics = list(dict.fromkeys(outcome.claim.topic for outcome in outcomes))
    tables = [
        _table(place, topic, [outcome for outcome in outcomes if outcome.claim.topic == topic])
        for place, topic in enumerate(topics, start=1)
    ]
    return Section("claims", "Claims and verdicts", tuple(text), tuple(tables))


def _table(place: int, topic: str, outcomes: list[Outcome]) -> Table:
    columns = (
        Column("claim", numeric=False),
        Column("published"),
        Column("measured"),
        Column("verdict", numeric=False),
        Column("counted by", numeric=False),
        Column("repeats"),
    )
    rows = tuple(_row(outcome) for outcome in outcomes)
    key = "claims-" + topic.lower().replace(",", "").replace(" ", "-")
    return Table(key, f"Claims {place}: {topic}", columns, rows, tuple(_record(outcome) for outcome in outcomes))


def _row(outcome: Outcome) -> tuple[Cell, ...]:
    claim = outcome.claim
    notes = (claim.note,) if claim.note else ()
    measured = Cell(ABSENT)
    if outcome.measured:
        spread = outcome.spread
        detail = [f"{_plain(spread[0], claim)} to {_plain(spread[1], claim)}"] if spread else []
        if claim.batches:
            detail.append(f"batch {', '.join(map(str, claim.batches))}")
        multiplexed = any(result.multiplexed for result in outcome.results)
        measured = Cell(
            _range(outcome.measured, claim), tuple(detail), (MULTIPLEXED_NOTE,) if multiplexed else ()
        )
    return (
        Cell(claim.says, (claim.source,), notes),
        Cell(_published(claim), (f"± {claim.tolerance:g}",) if claim.tolerance else ()),
        measured,
        _verdict(outcome),
        Cell((outcome.backend + (", simulated" if outcome.simulated else "")) or ABSENT),
        Cell(str(outcome.count) if outcome.count else ABSENT),
    )


def _verdict(outcome: Outcome) -> Cell:
    if outcome.verdict in TONES:
        detail = [_deviation(outcome)]
        if outcome.direction:
            detail.append(outcome.direction)
        return Cell(outcome.verdict.value, tuple(line for line in detail if line), (), TONES[outcome.verdict])
    reason = outcome.reason.removeprefix(f"{outcome.verdict.value}: ")
    reason = reason.removeprefix("not measured in this run: ")
    return Cell(outcome.verdict.value, (reason,), (), "none")


def _deviation(outcome: Outcome) -> str:
    if outcome.deviation is None:
        return ""
    if outcome.claim.compare in (Compare.AT_LEAST, Compare.AT_MOST):
        side = "above" if outcome.deviation > 0 else "below"
        return f"{significant(abs(outcome.deviation), 2)} {_unit(outcome.claim, True)} {side}"
    if outcome.deviation == 0:
        return "within the range"
    # A deviation that rounds to nothing is none worth a number.
    text = signed(outcome.deviation, _digits(outcome.deviation))
    return f"by {text} {_unit(outcome.claim, True)}"


def _digits(value: float) -> int:
    size = abs(value)
    return 0 if size >= 100 else 1 if size >= 1 else 2 if size >= 0.1 else 4


def _plain(value: float, claim: Claim) -> str:
    if claim.unit in ("%", "% of C"):
        return significant(value, 3) if abs(value) < 10 else significant(value, 3)
    return significant(value, 3) if abs(value) < 1000 else f"{value:.0f}"


def _range(values: tuple[float, float], claim: Claim) -> str:
    low, high = (_plain(value, claim) for value in values)
    return f"{low} {_unit(claim)}" if low == high else f"{low} to {high} {_unit(claim)}"


def _published(claim: Claim) -> str:
    low, high = (f"{value:g}" for value in claim.published)
    prefix = {Compare.AT_LEAST: "≥ ", Compare.AT_MOST: "≤ "}.get(claim.compare, "")
    return prefix + (f"{low} {_unit(claim)}" if low == high else f"{low} to {high} {_unit(claim)}")


def _unit(claim: Claim, difference: bool = False) -> str:
    if difference and claim.unit in ("%", "% of C"):
        return "points"
    return claim.unit


def _record(outcome: Outcome) -> Record:
    claim, measured, spread = outcome.claim, outcome.measured, outcome.spread
    return {
        "id": claim.id,
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
        "backend": outcome.backend,
        "simulated": outcome.simulated if measured else None,
        "repeats": outcome.count,
        "verdict": outcome.verdict.value,
        "deviation": outcome.deviation,
        "direction": outcome.direction,
        "reason": outcome.reason,
        "note": claim.note,
    }
