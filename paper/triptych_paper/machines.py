"""Machines beside each other: published figures, upstream's raw data, and each box. No figure is of several boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from triptych_paper import claims, code
from triptych_paper.comparisons import Section
from triptych_paper.counters import ROWS
from triptych_paper.errors import DataError
from triptych_paper.index import in_processes
from triptych_paper.published import PUBLISHED, Published
from triptych_paper.records import Run, machine, part, read_json, read_run, run_of_cells
from triptych_paper.schema import OURS, C, Driver, upstream
from triptych_paper.several import MANY, Merged, label
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, significant
from triptych_paper.values import QUANTITIES, Values, value_cell

KEYS = tuple(key for key in ROWS if key != "burst_memory")
BATCHES = (32, 8)
RAW = {"l1d_loads": "loads"}
"""Names of upstream's raw data that are other ones here."""

NEAR = 6
"""Up to so many machines are named in a cell of the claims."""


@dataclass(frozen=True)
class Box:
    """What the tables show of a machine."""

    name: str
    run: Run
    lines: tuple[tuple[int, str, str, tuple[Summary | None, ...], tuple[Summary | None, ...], str], ...]
    """Batch, key, whose drivers, their values, their ratios to C, and what counted them."""
    outcomes: tuple[claims.Outcome, ...]


def measure(folder: Path, cells: tuple[Path, ...], lines: code.CodeSize | None, known: list[claims.Claim]) -> Box:
    """Compute the values, ratios and verdicts of a run, or of cells of several runs of a machine."""
    info = read_json(folder / "run.json") if not cells or (folder / "run.json").is_file() else {}
    run = run_of_cells(folder, cells, info) if cells else read_run(folder)
    values = Values(run)
    found = []
    for batch in BATCHES:
        for key in KEYS:
            for whose, drivers in (("", OURS), ("upstream's drivers", tuple(map(upstream, OURS)))):
                source = values.choose(QUANTITIES[key], drivers, bool(whose))
                each = tuple(values.find(driver, batch, source) for driver in drivers)
                if any(each) and not (source.metric == "mpps" and values.paced_by_card(OURS, batch)):
                    ratios = tuple(values.ratio(driver, drivers[0], batch, source) for driver in drivers[1:])
                    found.append((batch, key, whose, each, ratios, values.origin(source)))
    samples = run.samples.iloc[:0]
    kept = Run(run.folder, run.info, samples, run.warnings, run.failures, run.not_measurable)
    return Box(label(run), kept, tuple(found), tuple(claims.check_all(values, lines, known)))


def section(
    runs: Iterable[tuple[Path, tuple[Path, ...]]], published: Published, folder: Path, merged: Merged | None = None
) -> Section:
    """Build the section of several machines, or of several runs of one."""
    lines, known = code.read_code(folder), claims.read_claims()
    boxes = list(in_processes(measure, ((*run, lines, known) for run in runs)))
    names = [box.name for box in boxes]
    boxes = [
        Box(f"{box.name}, {box.run.id}" if names.count(box.name) > 1 else box.name, box.run, box.lines, box.outcomes)
        for box in boxes
    ]
    tables = [_boxes(boxes), *(beside(boxes, published, batch) for batch in BATCHES), _disagree(boxes), _claims(boxes)]
    text = ["Each machine stands for itself. No value here is a mean or a median over machines."]
    if merged:
        copies, again = merged.copies()
        text.append(
            f"{copies} files are copies of another and count once. {again} cells were measured again on the same "
            "machine: the newest run counts."
        )
        text += [f"{path} was left out: {why}." for path, why in merged.index.wrong[:MANY]]
        found = [[Cell(name), Cell(said)] for name, said in merged.contradictions()]
        tables.append(_findings("contradictions", "Exact cells that contradict each other", ("cell", "values"), found))
        absent = [list(map(Cell, one)) for one in merged.missing()]
        tables.append(_findings("missing", "Cells that a machine lacks", ("machine", "cell", "command"), absent))
    return Section(
        "machines", "Machines beside each other", tuple(text), tuple(table for table in tables if table.rows)
    )


def _text(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, numeric=False) for name in names)


def _findings(key: str, title: str, headings: tuple[str, ...], found: list[list[Cell]]) -> Table:
    """Show the first findings, and count all of them; the CSV has each."""
    note = f"{len(found)} in all; the CSV has each." if len(found) > MANY else ""
    records: tuple[Record, ...] = tuple(dict(zip(headings, [cell.text for cell in row], strict=True)) for row in found)
    return Table(f"machines-{key}", title, _text(*headings), tuple(map(tuple, found[:MANY])), records, note)


def _boxes(boxes: list[Box]) -> Table:
    rows, records = [], []
    for box in boxes:
        info = box.run.info
        compilers = dict.fromkeys(str(build.get("toolchain")).split(",")[0] for build in info.get("builds") or [])
        microcode = part(info, "host").get("microcode") or part(part(info, "host"), "cpu").get("microcode")
        described = [
            box.name,
            machine(info),
            str(microcode or ABSENT),
            ", ".join(compilers) or ABSENT,
            box.run.revision,
        ]
        rows.append(tuple(map(Cell, [*described, box.run.id])))
        records.append(
            dict(zip(("machine", "processor", "microcode", "compilers", "revision"), described, strict=True))
        )
    columns = _text("machine", "processor", "microcode", "compilers", "revision", "newest run")
    return Table("machines", "The machines", columns, tuple(rows), tuple(records))


def _published(published: Published, key: str, batch: int) -> Iterator[tuple[str, list[float | None]]]:
    """Return the published rows of a quantity: the counter page and paper, and upstream's raw data for C."""
    # The published cycles are those of the core, which is another row than those of a time-stamp counter.
    metric = QUANTITIES[key].metric
    found = [published.get(metric, driver, batch) if key != "mpps" else None for driver in OURS]
    if any(found):
        yield "published Xeon", [figure.value if figure else None for figure in found]
    try:
        raw = pd.read_csv(PUBLISHED / "ixy_c_raw_counters.csv").rename(columns=RAW)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read upstream's raw data {PUBLISHED}/ixy_c_raw_counters.csv: {error}") from None
    for clock, value in (
        raw.loc[raw["batch"] == batch, ["ghz", metric]].itertuples(index=False) if metric in raw else ()
    ):
        yield f"upstream's raw data, {clock:g} GHz", [value, None, None]


def beside(boxes: list[Box], published: Published, batch: int) -> Table:
    """Show values and ratios: a row for each quantity and machine."""
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for key in KEYS:
        digits, metric = QUANTITIES[key].digits, QUANTITIES[key].metric
        mine = [(box, line) for box in boxes for line in box.lines if line[:2] == (batch, key)]
        first = len(rows)
        for name, values in _published(published, key, batch) if mine else ():
            ratios = [value / values[0] if value and values[0] else None for value in values[1:]]
            texts = [ABSENT if value is None else number(value, digits) for value in values]
            texts += [ABSENT if ratio is None else number(ratio, 2) for ratio in ratios]
            rows.append((Cell(), Cell(name), *map(Cell, texts), Cell("published")))
        for box, (_, _, whose, each, ratios_here, origin) in mine:
            name = f"{box.name}: {whose}" if whose else box.name
            cells = [*(value_cell(one, digits) for one in each), *(value_cell(one, 2) for one in ratios_here)]
            rows.append((Cell(), Cell(name), *cells, Cell(origin)))
            for driver, one, ratio in zip(OURS, each, (None, *ratios_here), strict=True):
                if one:
                    shown = upstream(driver) if whose else driver
                    records.append(_record(box.name, key, batch, metric, shown, one, ratio))
        if rows[first:]:
            rows[first] = (Cell(QUANTITIES[key].name), *rows[first][1:])
    columns = (*_text("per packet", "machine"), *(Column(driver.name) for driver in OURS))
    columns += (*(Column(f"{driver.name} ÷ C") for driver in OURS[1:]), *_text("counted by"))
    return Table(f"machines-batch-{batch}", f"Counters and ratios, batch {batch}", columns, tuple(rows), tuple(records))


def _record(
    name: str, key: str, batch: int, metric: str, driver: Driver, value: Summary, ratio: Summary | None
) -> Record:
    found: Record = {"machine": name, "quantity": key, "batch": batch, "metric": metric, "impl": driver.impl}
    found |= {"value": value.median, "low": value.low, "high": value.high}
    return found | ({"ratio": ratio.median, "ratio_low": ratio.low, "ratio_high": ratio.high} if ratio else {})


def _disagree(boxes: list[Box]) -> Table:
    """Show where machines disagree: intervals of a ratio that do not meet, and claims with several verdicts."""
    found = []
    for batch in BATCHES:
        for key in KEYS:
            for place, driver in enumerate(OURS[1:]):
                ratios = [
                    (line[4][place], box.name)
                    for box in boxes
                    for line in box.lines
                    if line[:3] == (batch, key, "") and line[4][place]
                ]
                ends = [(one.low, one.high, one.median, name) for one, name in ratios if one and one.low is not None]
                if not ends:
                    continue
                least, most = min(ends, key=lambda end: end[1] or 0), max(ends, key=lambda end: end[0] or 0)
                if (least[1] or 0) < (most[0] or 0):
                    said = [f"{one[3]}: {one[2]:.3f} ({one[0]:.3f} to {one[1]:.3f})" for one in (least, most)]
                    what = f"{QUANTITIES[key].name}, batch {batch}: {driver.name} ÷ {C.name}"
                    found.append([Cell(what), Cell(said[0]), Cell(said[1])])
    for verdicts in _verdicts(boxes):
        decided = {name: where for name, where in verdicts[1].items() if name in claims.VERDICTS[:3]}
        if len(decided) > 1:
            said = [f"{name}: {_where(where)}" for name, where in decided.items()]
            found.append([Cell(verdicts[0].claim.says), Cell(said[0]), Cell("; ".join(said[1:]))])
    return _findings("disagree", "Where machines disagree", ("what", "one", "other"), found)


def _verdicts(boxes: list[Box]) -> Iterator[tuple[claims.Outcome, dict[str, list[str]]]]:
    """Return each claim, as its first outcome, and the machines by verdict."""
    found: dict[tuple[str, str], tuple[claims.Outcome, dict[str, list[str]]]] = {}
    for box in boxes:
        for one in box.outcomes:
            _, verdicts = found.setdefault((one.subject, one.claim.id), (one, {}))
            text = f" ({significant(one.summary.median)})" if one.summary else ""
            verdicts.setdefault(one.verdict, []).append(f"{box.name}{text}")
    yield from found.values()


def _where(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= NEAR else f"{len(names)} machines"


def _claims(boxes: list[Box]) -> Table:
    """Show the verdicts that each machine has; claims that no machine could judge are only in the CSV."""
    shown = claims.VERDICTS[:4]
    rows = [
        (
            Cell(one.claim.says),
            Cell(one.subject),
            Cell(f"{one.claim.text} {one.claim.unit}"),
            *(Cell(_where(verdicts.get(verdict, [])), tone=claims.TONES.get(verdict, "")) for verdict in shown),
        )
        for one, verdicts in _verdicts(boxes)
        if set(verdicts) & set(shown)
    ]
    records = tuple({"machine": box.name, **claims.record(one)} for box in boxes for one in box.outcomes)
    columns = (*_text("claim", "drivers"), Column("published"), *_text(*shown))
    return Table("machines-claims", "Claims, judged on each machine", columns, tuple(rows), records)
