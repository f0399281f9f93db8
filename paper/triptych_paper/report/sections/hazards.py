"""The behaviour of each driver when code, device or packet is wrong: the tables of the safety lab."""

from __future__ import annotations

from triptych_paper import hazards
from triptych_paper.hazards import PARTIES, SUBJECTS, TONES, Hazard, Observation
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
    tables = [_table(party, group) for party, group in hazards.by_party(found).items()]
    return Section("hazards", TITLE, text, (_sums(found), *tables))


def _columns(first: str) -> tuple[Column, ...]:
    names = (
        Column(name, numeric=False, notes=(HARDENED_NOTE,) if impl == "c-hardened" else ())
        for impl, name in SUBJECTS.items()
    )
    return (Column(first, numeric=False), *names)


def _table(party: str, group: list[Hazard]) -> Table:
    rows, records = [], []
    for hazard in group:
        cells = []
        for impl in SUBJECTS:
            observation = hazard.observations.get(impl)
            cells.append(_cell(observation))
            records.append(_record(hazard, impl))
        rows.append((Cell(hazard.title, (hazard.weakness,)), *cells))
    key = f"hazards-{PARTIES.index(party) + 1}-{party}"
    return Table(key, TITLES[party], _columns("hazard"), tuple(rows), tuple(records))


def _cell(observation: Observation | None) -> Cell:
    if observation is None:
        return Cell(ABSENT, tone="neutral")
    notes = (f"{sentence(observation.why)}.",) if observation.why else ()
    return Cell(observation.outcome, (), notes, TONES[observation.outcome])


def _record(hazard: Hazard, impl: str) -> Record:
    observation = hazard.observations.get(impl)
    return {
        "hazard": hazard.id,
        "class": hazard.weakness,
        "at_fault": hazard.at_fault,
        "impl": impl,
        "outcome": observation.outcome if observation else "",
        "evidence": observation.evidence if observation else "",
    }


def _sums(found: list[Hazard]) -> Table:
    counts = {impl: hazards.counts(found, impl) for impl in SUBJECTS}
    occurring = [outcome for outcome in TONES if any(outcome in count for count in counts.values())]
    rows = tuple(
        (Cell(outcome, tone=TONES[outcome]), *(Cell(str(counts[impl].get(outcome, ""))) for impl in SUBJECTS))
        for outcome in occurring
    )
    records: tuple[Record, ...] = tuple(
        {"impl": impl, "outcome": outcome, "hazards": counts[impl].get(outcome, 0)}
        for outcome in occurring
        for impl in SUBJECTS
    )
    columns = (_columns("outcome")[0], *(Column(column.heading, notes=column.notes) for column in _columns("")[1:]))
    return Table("hazards-sums", f"Outcomes of {len(found)} hazards", columns, rows, records)
