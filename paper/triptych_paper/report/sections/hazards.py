"""The behaviour of each driver when code, device or packet is wrong: the tables of the safety lab."""

from __future__ import annotations

from triptych_paper import hazards
from triptych_paper.hazards import CULPRITS, SUBJECTS, TONES, Hazard, Seen
from triptych_paper.report.model import Data, Section
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table, sentence

TITLE = "Hazards"

TITLES = {
    "application": "The application is at fault",
    "device": "The NIC is at fault",
    "driver": "The driver is at fault",
    "wire": "The traffic is at fault",
}

HARDENED_NOTE = (
    "AddressSanitizer and UndefinedBehaviorSanitizer. They watch the driver's own memory. Packets are in memory that "
    "the NIC shares, and the sanitizers do not watch that."
)


def build(data: Data) -> Section:
    """Build a table of the sums, and one for each party at fault."""
    text = (
        "The safety lab provokes the same faults with each driver and the software card, each in a process of its own. "
        "It concludes the outcome from evidence: the compiler's error, exit status and signals, sanitizers, canaries "
        "in all memory that the card may write to, every frame that came back, and the IOMMU's faults. "
        "drivers/conformance/hazards.toml defines the outcomes.",
    )
    path = hazards.find(data.run.folder)
    if path is None:
        return Section("hazards", TITLE, text, missing=("The safety lab has not run here: `make safety-lab` runs it.",))
    found = hazards.read(path)
    tables = [_table(culprit, group) for culprit, group in hazards.by_culprit(found).items()]
    return Section("hazards", TITLE, text, (_sums(found), *tables))


def _columns(first: str) -> tuple[Column, ...]:
    names = (
        Column(name, numeric=False, notes=(HARDENED_NOTE,) if impl == "c-hardened" else ())
        for impl, name in SUBJECTS.items()
    )
    return (Column(first, numeric=False), *names)


def _table(culprit: str, group: list[Hazard]) -> Table:
    rows, records = [], []
    for hazard in group:
        cells = []
        for impl in SUBJECTS:
            seen = hazard.seen.get(impl)
            cells.append(_cell(seen))
            records.append(_record(hazard, impl))
        rows.append((Cell(hazard.title, (hazard.weakness,)), *cells))
    key = f"hazards-{CULPRITS.index(culprit) + 1}-{culprit}"
    return Table(key, TITLES[culprit], _columns("hazard"), tuple(rows), tuple(records))


def _cell(seen: Seen | None) -> Cell:
    if seen is None:
        return Cell(ABSENT, tone="none")
    notes = (f"{sentence(seen.why)}.",) if seen.why else ()
    return Cell(seen.outcome, (), notes, TONES[seen.outcome])


def _record(hazard: Hazard, impl: str) -> Record:
    seen = hazard.seen.get(impl)
    return {
        "hazard": hazard.id,
        "class": hazard.weakness,
        "at_fault": hazard.at_fault,
        "impl": impl,
        "outcome": seen.outcome if seen else "",
        "evidence": seen.evidence if seen else "",
    }


def _sums(found: list[Hazard]) -> Table:
    counts = {impl: hazards.counts(found, impl) for impl in SUBJECTS}
    there = [outcome for outcome in TONES if any(outcome in count for count in counts.values())]
    rows = tuple(
        (Cell(outcome, tone=TONES[outcome]), *(Cell(str(counts[impl].get(outcome, ""))) for impl in SUBJECTS))
        for outcome in there
    )
    records: tuple[Record, ...] = tuple(
        {"impl": impl, "outcome": outcome, "hazards": counts[impl].get(outcome, 0)}
        for outcome in there
        for impl in SUBJECTS
    )
    columns = (_columns("outcome")[0], *(Column(column.heading, notes=column.notes) for column in _columns("")[1:]))
    return Table("hazards-sums", f"Outcomes of {len(found)} hazards", columns, rows, records)
