"""The published claims, in ``paper/claims.csv``, and what a run says about them.

Every claim is about the paper's drivers. It is checked twice: with the paper's own drivers (subject `upstream`), which
says what reproduces, and with ours (subject `ours`), which shows the progress.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from triptych_paper import statistics
from triptych_paper.code import CodeSize
from triptych_paper.errors import DataError
from triptych_paper.schema import EXACT, OURS, UPSTREAM, Conditions, Driver, metrics, own_flags
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import Cell, Column, Record, Table
from triptych_paper.tables.numbers import significant
from triptych_paper.values import QUANTITIES, Quantity, Source, Values

FILE = Path(__file__).parents[1] / "claims.csv"

LEAST_SHARE, LARGEST_SHARE = 0.25, 4.0
"""An effect in the same direction is at least and at most so many times the published one."""

REPRODUCED, SAME, DIFFERS = "reproduced", "differs in size", "differs"
INCONCLUSIVE, UNLIKE, NO_WAY, ABSENT = "not decided", "not comparable", "not measurable here", "not measured"
VERDICTS = (REPRODUCED, SAME, DIFFERS, INCONCLUSIVE, UNLIKE, NO_WAY, ABSENT)
"""All verdicts. `differs in size` has the published direction; `not decided` has an interval with two verdicts."""

TONES = {REPRODUCED: "good", DIFFERS: "bad"}

FORMS: dict[str, Callable[[float], float]] = {
    "value": lambda value: value,
    "minus": lambda value: value,
    "percent_more": lambda ratio: 100 * (ratio - 1),
    "percent_less": lambda ratio: 100 * (1 - ratio),
    "percent_of": lambda ratio: 100 * ratio,
    "percent_rate": lambda ratio: 100 * ratio,
}
"""What a claim's form makes of a value, of a difference (`minus`), or of a ratio to the base."""

NEUTRAL = {"minus": 0.0, "percent_more": 0.0, "percent_less": 0.0, "percent_of": 100.0}
"""The value of a form that means no effect."""


@dataclass(frozen=True)
class Claim:
    """A published quantitative statement: a row of ``claims.csv``."""

    id: str
    driver: Driver
    low: float
    high: float
    """The published value or range, infinite at an open end."""
    text: str
    tolerance: float
    metric: str
    """A metric, a quotient of two (`l1_hits/loads`), `cycles`, `throughput`, or `lines`."""
    filter: dict[str, str]
    form: str
    unit: str
    topic: str
    says: str
    source: str
    note: str

    @property
    def neutral(self) -> float | None:
        """The value that means no effect; None if the claim is about none, or the tolerance reaches it."""
        value = NEUTRAL.get(self.form)
        if value is None or self.low - self.tolerance <= value <= self.high + self.tolerance:
            return None
        return value


@dataclass(frozen=True)
class Outcome:
    """What a run says about a claim."""

    claim: Claim
    subject: str
    verdict: str
    summary: Summary | None = None
    source: Source | None = None
    why: str = ""
    batch: str = ""
    """The batch sizes, if the claim is about several."""


def read_claims(path: Path = FILE) -> list[Claim]:
    """Read the claims; :class:`DataError` names the one that is wrong."""
    try:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the claims {path}: {error}") from None
    claims = []
    for row in rows:
        try:
            claims.append(_claim({str(name): str(value) for name, value in row.items()}))
        except (KeyError, ValueError) as error:
            raise DataError(f"{path}: claim {row.get('id')} is malformed: {error!r}") from None
    if len({claim.id for claim in claims}) != len(claims):
        raise DataError(f"{path}: a claim is listed twice")
    return claims


def _claim(row: dict[str, str]) -> Claim:
    published = row.pop("published")
    if published.startswith((">=", "<=")):
        bound = float(published[2:])
        low, high = (bound, math.inf) if published[0] == ">" else (-math.inf, bound)
    else:
        first, _, last = published.partition("..")
        low, high = float(first), float(last or first)
    text = published.replace("..", " to ").replace(">=", "at least ").replace("<=", "at most ")
    filters = dict(word.split("=") for word in row.pop("filter").split())
    if row["form"] not in FORMS or set(filters) - {"batch", "base", "base_batch", "offered"}:
        raise ValueError(f"form {row['form']!r} or a filter of {sorted(filters)} is unknown")
    driver, tolerance = _driver(row.pop("subject")), float(row.pop("tolerance"))
    return Claim(driver=driver, low=low, high=high, text=text, tolerance=tolerance, filter=filters, **row)


def _driver(text: str) -> Driver:
    impl, _, variant = text.partition("/")
    return Driver(impl, variant or "default")


def decide(claim: Claim, low: float, high: float) -> str:
    """Return the verdict of an interval: the whole of it must lie where the verdict says."""
    within = claim.low - claim.tolerance, claim.high + claim.tolerance
    if within[0] <= low and high <= within[1]:
        return REPRODUCED
    either, directed = within, claim.neutral is not None and math.isfinite(claim.low + claim.high)
    if directed:
        neutral = claim.neutral or 0.0
        effects = sorted((claim.low - neutral, claim.high - neutral), key=abs)
        ends = sorted((neutral + LEAST_SHARE * effects[0], neutral + LARGEST_SHARE * effects[1]))
        either = min(within[0], ends[0]), max(within[1], ends[1])
    if directed and either[0] <= low and high <= either[1]:
        return SAME
    return DIFFERS if high < either[0] or low > either[1] else INCONCLUSIVE


def check_all(values: Values, code: CodeSize | None, claims: list[Claim]) -> list[Outcome]:
    """Check all claims for each subject that the run has."""
    subjects = (["upstream"] if values.has_upstream else []) + ["ours"]
    return [check(values, code, claim, subject) for subject in subjects for claim in claims]


def check(values: Values, code: CodeSize | None, claim: Claim, subject: str) -> Outcome:
    """Check one claim. Of several batch sizes, one that differs refutes it, and all must reproduce it."""
    if claim.metric.split("/")[0] in ("lines", "unsafe_lines"):
        return _check_lines(code, claim, subject)
    found = [_check_batch(values, claim, subject, int(batch)) for batch in claim.filter["batch"].split("|")]
    order = (DIFFERS, NO_WAY, ABSENT, UNLIKE, INCONCLUSIVE, SAME, REPRODUCED)
    worst = min(found, key=lambda outcome: order.index(outcome.verdict))
    return replace(worst, batch="" if len(found) == 1 else worst.batch)


def _check_batch(values: Values, claim: Claim, subject: str, batch: int) -> Outcome:
    """Check a claim at one batch size, by the first backend that has a comparable value."""
    why = ""
    for quantity in _quantities(claim):
        source = values.choose(quantity, [_whose(claim.driver, subject, values)], subject == "upstream")
        summary = _measure(values, claim, subject, batch, source)
        outcome = Outcome(claim, subject, ABSENT, summary, source, batch=f"batch {batch}")
        if summary is None:
            at = Conditions(offered_mpps=float(claim.filter.get("offered", 0)))
            why = why or values.reason(_whose(claim.driver, subject, values), batch, source, at)
            continue
        unlike = _unlike(values, claim, source)
        if unlike:
            return replace(outcome, verdict=UNLIKE, why=unlike)
        if summary.low is None or summary.high is None:
            return replace(outcome, verdict=INCONCLUSIVE, why="too few repeats for an interval")
        return replace(outcome, verdict=decide(claim, summary.low, summary.high))
    return Outcome(claim, subject, NO_WAY if why.startswith("not measurable") else ABSENT, why=why)


def _quantities(claim: Claim) -> list[Quantity]:
    """Return the ways to measure a claim, the best first."""
    if claim.metric in ("cycles", "throughput"):
        # A driver that sets the pace forwards as many packets as its cycles allow, so the ratios are the same.
        first = ["mpps"] if claim.metric == "throughput" else []
        return [QUANTITIES[key] for key in (*first, "core_cycles", "tsc_memory")]
    return [QUANTITIES[claim.metric.split("/")[0]]]


def _whose(driver: Driver, subject: str, values: Values) -> Driver:
    """Return the driver that plays a role: upstream's has the flags of its own build files, if the run has it so."""
    if subject == "ours":
        return driver
    theirs = Driver(UPSTREAM[driver.impl], driver.variant)
    own = own_flags(theirs)
    return own if values.has(own) else theirs


def _measure(values: Values, claim: Claim, subject: str, batch: int, source: Source) -> Summary | None:
    """Compute the value of a claim."""
    at = Conditions(offered_mpps=float(claim.filter.get("offered", 0)))
    driver = _whose(claim.driver, subject, values)
    if claim.form == "value":
        return values.find(driver, batch, source, at)
    if claim.form == "percent_rate":
        part, whole = values.find(driver, batch, source), None
        name = claim.metric.split("/")[1]
        if part:
            whole = values.find(driver, batch, replace(source, metric=name, placement=""))
        return part.changed(lambda value: 100 * value / whole.median) if part and whole and whole.median else None
    base = _whose(_driver(claim.filter["base"]), subject, values), int(claim.filter.get("base_batch", batch))
    if claim.form == "minus":
        return values.combined(driver, base, batch, source, statistics.difference, at)
    if source.metric == "mpps" and values.paced_by_card(OURS, batch):
        return None
    inverse = claim.metric == "throughput" and source.metric != "mpps"
    one, other = (base[0], (driver, batch)) if inverse else (driver, base)
    found = values.combined(one, other, batch, source, statistics.ratio, at)
    return found.changed(FORMS[claim.form]) if found else None


def _unlike(values: Values, claim: Claim, source: Source) -> str:
    """Say why a value does not compare. In a ratio, the clock and the card cancel, but not the unit."""
    cancels = claim.form in ("percent_more", "percent_less", "percent_of") and source.backend not in EXACT
    return "" if cancels else values.unlike(source)


def _check_lines(code: CodeSize | None, claim: Claim, subject: str) -> Outcome:
    """Check a claim about lines of code. Those of the paper's drivers are counted at the commits that it counted."""
    metric, _, whole = claim.metric.partition("/")
    drivers = [claim.driver.impl, claim.filter.get("base", claim.driver.impl)]
    impls = [UPSTREAM[impl] if subject == "upstream" else impl for impl in drivers]
    if code is None or not all(impl in code.files for impl in impls):
        return Outcome(claim, subject, ABSENT, why="the lines were not counted: `make paper` counts them")
    value = float(code.count(impls[0], metric))
    if whole or claim.form == "percent_more":
        value = FORMS[claim.form](value / code.count(impls[1], whole or metric))
    summary = Summary(value, value, value, value, value, 1, 1)
    source = Source(metric, "sources")
    if subject == "ours" and claim.form != "percent_more":
        why = "our drivers have later cards, VFIO and the software card, which the paper's lack"
        return Outcome(claim, subject, UNLIKE, summary, source, why)
    return Outcome(claim, subject, decide(claim, value, value), summary, source)


def kind(outcome: Outcome) -> str:
    """Return how the value of an outcome came about."""
    if outcome.source is None:
        return ""
    return "counted" if outcome.source.backend == "sources" else outcome.source.kind


def count(outcomes: list[Outcome], subject: str) -> dict[str, int]:
    """Count the verdicts from counted and measured values; claims that only a simulation judged are left out."""
    found = [one.verdict for one in outcomes if one.subject == subject and kind(one) != "simulated"]
    return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found}


def sentence(outcomes: list[Outcome]) -> str:
    """Say in a sentence for each subject how many claims reproduce."""
    said = []
    for subject, whose in (("upstream", "The paper's own drivers"), ("ours", "Our drivers")):
        counts = count(outcomes, subject)
        if counts:
            parts = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
            said.append(f"{whose}: of {sum(counts.values())} counted and measured claims, {parts}.")
    return " ".join(said)


def measured_text(outcome: Outcome) -> str:
    """Format the measured value with its interval."""
    summary = outcome.summary
    if summary is None:
        return ""
    text = significant(summary.median)
    if summary.exact or summary.low is None or summary.high is None:
        return text
    return f"{text} ({significant(summary.low)} to {significant(summary.high)})"


def tables(outcomes: list[Outcome]) -> list[Table]:
    """Build a table for each subject."""
    columns = [Column("claim", numeric=False), Column("published"), Column("measured")]
    columns += [Column(name, numeric=False) for name in ("verdict", "counted by")]
    found = []
    for subject, title in (("upstream", "The paper's own drivers"), ("ours", "Our drivers")):
        mine = [outcome for outcome in outcomes if outcome.subject == subject]
        rows = []
        for one in mine:
            unit = one.claim.unit
            source = f"{one.source.backend}, simulated" if kind(one) == "simulated" and one.source else ""
            verdict = Cell(
                one.verdict,
                (one.batch,) if one.batch else (),
                (one.why,) if one.why else (),
                TONES.get(one.verdict, ""),
            )
            rows.append(
                (
                    Cell(one.claim.says, notes=(one.claim.note,) if one.claim.note else ()),
                    Cell(f"{one.claim.text} {unit}"),
                    Cell(measured_text(one)),
                    verdict,
                    Cell(source or (_name(one.source) if one.source else "")),
                )
            )
        if rows:
            found.append(Table(f"claims-{subject}", title, tuple(columns), tuple(rows), tuple(map(record, mine))))
    return found


def _name(source: Source) -> str:
    cycles = f", {metrics()[source.metric].label}" if source.metric.endswith("_cycles") else ""
    return f"{source.backend}{cycles}{', lines in memory' if source.placement == 'memory' else ''}"


def record(outcome: Outcome) -> Record:
    """Return an outcome as a row of ``claims.csv`` in the report."""
    claim, summary = outcome.claim, outcome.summary
    return {
        "id": claim.id,
        "subject": outcome.subject,
        "published": claim.text,
        "measured": summary.median if summary else None,
        "verdict": outcome.verdict,
        "backend": outcome.source.backend if outcome.source else "",
        "kind": kind(outcome),
        "low": summary.low if summary else None,
        "high": summary.high if summary else None,
        "unit": claim.unit,
        "why": outcome.why,
    }


def csv(outcomes: Iterable[Outcome]) -> str:
    """Write ``claims.csv`` of the report, with all of its columns."""
    text: str = pd.DataFrame(map(record, outcomes)).to_csv(index=False, float_format="%.6g", lineterminator="\n")
    return text
