"""Building a report from all of its sections."""

from __future__ import annotations

from pathlib import Path

from triptych_paper.claims.check import plural
from triptych_paper.claims.model import Verdict
from triptych_paper.code import read_code
from triptych_paper.drivers import Subject
from triptych_paper.facts import facts, quick
from triptych_paper.ladder import read_beside, read_ladder
from triptych_paper.published import read_published
from triptych_paper.records import read_run
from triptych_paper.report.model import Data, Report, Section, Tile
from triptych_paper.report.sections import SECTIONS
from triptych_paper.warnings import fold


def read_data(folder: Path) -> Data:
    """Read a run and the published figures; :class:`DataError` if a file is missing or malformed."""
    run = read_run(folder)
    folder = run.folder
    return Data(run, read_published(), read_code(folder), read_ladder(folder), read_beside(folder))


def build(data: Data) -> Report:
    """Build all sections."""
    run = data.run
    sections = tuple(section(data) for section in SECTIONS)
    warnings = list(fold(run.warnings))
    if not run.ended:
        warnings.insert(0, "The run was interrupted. The report shows the samples that it had until then.")
    if run.failures:
        warnings.append(
            f"{len(run.failures)} measurements failed; run.json has the causes. The first: {run.failures[0].cause}"
        )
    if quick(run):
        warnings.insert(0, "This is a quick trial run: it has few packets and repeats, so its figures are rough.")
    return Report(
        title="One network driver, three ways",
        subtitle="C, safe Rust and transpiled unsafe Rust on the 82599, beside the published figures",
        facts=facts(run),
        warnings=tuple(warnings),
        tiles=_tiles(sections),
        sections=sections,
    )


def _tiles(sections: tuple[Section, ...]) -> tuple[Tile, ...]:
    records = [
        record
        for section in sections
        if section.key == "claims"
        for table in section.tables
        for record in table.records
    ]
    # The head shows the verdicts on the paper's own drivers, if the run has them.
    subject = next((s for s in Subject if any(record["subject"] == s.value for record in records)), Subject.OURS)
    verdicts = [record["verdict"] for record in records if record["subject"] == subject.value]
    whose = "the paper's drivers" if subject is Subject.UPSTREAM else "our drivers"
    tones = {Verdict.REPRODUCED: "good", Verdict.DIFFERS: "bad"}
    counted = {verdict: verdicts.count(verdict.value) for verdict in Verdict}
    return tuple(
        Tile(number, f"of {len(verdicts)} claims {plural(verdict)}, by {whose}", tones.get(verdict, ""))
        for verdict, number in counted.items()
        if number
    )
