"""What each driver does when code, device or packet is wrong: the safety lab's table."""

from __future__ import annotations

from triptych_paper import hazards
from triptych_paper.hazards import CULPRITS, SUBJECTS, TONES, Hazard, Seen
from triptych_paper.report.model import Cell, Column, Data, Record, Section, Table

TITLE = "Hazards"

TITLES = {
    "application": "The application is at fault",
    "device": "The NIC is at fault",
    "driver": "The driver is at fault",
    "wire": "What comes on the wire is at fault",
}

HARDENED_NOTE = (
    "AddressSanitizer and UndefinedBehaviorSanitizer. They watch the driver's own memory, not packets, which are in "
    "memory shared with the NIC."
)


def build(data: Data) -> Section:
    """A table for each who may be at fault, and one of the sums."""
    text = (
        "The same mistakes, lies and frames, made with each driver and the software card, each in a process of its "
        "own. An outcome is concluded from what was seen: the compiler's error, exit status and signals, sanitizers, "
        "canaries in all memory that the card may write to, every frame that came back, and the IOMMU's faults. "
        "The words are defined in drivers/conformance/hazards.toml.",
    )
    path = hazards.find(data.run.folder)
    if path is None:
        return Section("hazards", TITLE, text, missing=("Not run here: `make safety-lab` does.",))
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
        return Cell("–", tone="none")
    # A footnote is a sentence.
    notes = (f"{seen.why[0].upper()}{seen.why[1:]}.",) if seen.why else ()
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
    return Table("hazards-sums", f"What {len(found)} hazards came to", columns, rows, records)
