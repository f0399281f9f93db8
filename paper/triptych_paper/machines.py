"""Machines beside each other: published figures, upstream's raw data, and each box. No figure is of several boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from triptych_paper import claims, code
from triptych_paper.comparisons import Section
from triptych_paper.counters import ROWS
from triptych_paper.errors import DataError
from triptych_paper.index import in_processes
from triptych_paper.published import PUBLISHED, Published
from triptych_paper.records import machine, part, read_json, read_run, run_of_cells
from triptych_paper.schema import OURS, upstream
from triptych_paper.several import MANY, Merged, Part, label
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, significant
from triptych_paper.values import QUANTITIES, Values, value_cell

KEYS = tuple(key for key in ROWS if key != "burst_memory")
BATCHES = (32, 8)
NEAR = 6
"""Up to so many machines are named in a cell of the claims."""


class Line(NamedTuple):
    """A quantity of a machine: the values of the drivers, their ratios to C, and what counted them."""

    batch: int
    key: str
    whose: str
    values: tuple[Summary | None, ...]
    ratios: tuple[Summary | None, ...]
    origin: str


class Box(NamedTuple):
    """What the tables show of a machine."""

    name: str
    run: str
    facts: tuple[str, ...]
    lines: tuple[Line, ...]
    outcomes: tuple[claims.Outcome, ...]


def measure(
    name: str, folder: Path, cells: tuple[Path, ...], lines: code.CodeSize | None, known: list[claims.Claim]
) -> Box:
    """Compute the values, ratios and verdicts of a run, or of cells of several runs of a machine."""
    info = read_json(folder / "run.json") if cells and (folder / "run.json").is_file() else {}
    run = run_of_cells(folder, cells, info) if cells else read_run(folder)
    values, found = Values(run), []
    for batch in BATCHES:
        for key in KEYS:
            for whose, drivers in (("", OURS), (": upstream's drivers", tuple(map(upstream, OURS)))):
                source = values.choose(QUANTITIES[key], drivers, bool(whose))
                each = tuple(values.find(driver, batch, source) for driver in drivers)
                if any(each) and not (source.metric == "mpps" and values.paced_by_card(OURS, batch)):
                    ratios = tuple(values.ratio(driver, drivers[0], batch, source) for driver in drivers[1:])
                    found.append(Line(batch, key, whose, each, ratios, values.origin(source)))
    host, compilers = part(run.info, "host"), dict.fromkeys(run.samples["toolchain"])
    microcode = host.get("microcode") or part(host, "cpu").get("microcode") or ABSENT
    facts = (machine(run.info), str(microcode), ", ".join(compilers), run.revision)
    return Box(name or label(run), run.id, facts, tuple(found), tuple(claims.check_all(values, lines, known)))


def section(runs: Iterable[Part], published: Published, folder: Path, merged: Merged | None = None) -> Section:
    """Build the section of several machines, or of several runs of one."""
    lines, known = code.read_code(folder), claims.read_claims()
    boxes = list(in_processes(measure, ((*run, lines, known) for run in runs)))
    names = [box.name for box in boxes]
    boxes = [box._replace(name=f"{box.name}, {box.run}") if names.count(box.name) > 1 else box for box in boxes]
    columns = ("machine", "processor", "microcode", "compilers", "revision", "newest run")
    tables = [
        _findings("", "The machines", columns, [(box.name, *box.facts, box.run) for box in boxes], len(boxes)),
        *(beside(boxes, published, batch) for batch in BATCHES),
        _findings("-disagree", "Where machines disagree", ("what", "one", "other"), list(_disagreements(boxes))),
        _claims(boxes),
    ]
    text = ["Each machine stands for itself. No value here is a mean or a median over machines."]
    if merged:
        copies, again = merged.copies()
        text.append(f"{copies} files are copies of others, and count once. {again} cells have newer runs, which count.")
        text += [f"{path} was left out: {why}." for path, why in merged.index.wrong[:MANY]]
        found = merged.contradictions()
        tables.append(_findings("-contradictions", "Exact cells that contradict each other", ("cell", "values"), found))
        title = "Cells that a machine lacks"
        tables.append(_findings("-missing", title, ("machine", "cell", "command"), merged.missing()))
    filled = tuple(table for table in tables if table.rows)
    return Section("machines", "Machines beside each other", tuple(text), filled)


def _text(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, numeric=False) for name in names)


def _findings(
    key: str, title: str, headings: tuple[str, ...], found: Sequence[tuple[str, ...]], most: int = MANY
) -> Table:
    """Show the first findings, and count all of them; the CSV has each."""
    note = f"{len(found)} in all; the CSV has each." if len(found) > most else ""
    rows = tuple(tuple(map(Cell, one)) for one in found[:most])
    records = tuple(dict(zip(headings, one, strict=True)) for one in found)
    return Table(f"machines{key}", title, _text(*headings), rows, records, note)


def _published(published: Published, key: str, batch: int) -> Iterator[tuple[str, list[float | None]]]:
    """Return the published rows of a quantity: the paper with its counter page, and upstream's raw data for C."""
    metric, file = QUANTITIES[key].metric, PUBLISHED / "ixy_c_raw_counters.csv"
    found = [published.get(metric, driver, batch) for driver in OURS]
    if any(found):
        yield "published Xeon", [figure.value if figure else None for figure in found]
    try:
        raw = pd.read_csv(file).rename(columns={"l1d_loads": "loads"})
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read upstream's raw data {file}: {error}") from None
    # The throughput here is that of both directions.
    for _, row in raw[raw["batch"] == batch].iterrows() if metric in raw and metric != "mpps" else ():
        yield f"upstream's raw data, {row['ghz']:g} GHz", [row[metric], None, None]


def beside(boxes: list[Box], published: Published, batch: int) -> Table:
    """Show values and ratios: a row for each quantity and machine."""
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for key in KEYS:
        quantity, first = QUANTITIES[key], len(rows)
        mine = [(box.name, line) for box in boxes for line in box.lines if (line.batch, line.key) == (batch, key)]
        for name, values in _published(published, key, batch) if mine else ():
            texts = [ABSENT if value is None else number(value, quantity.digits) for value in values]
            texts += [number(value / values[0], 2) if value and values[0] else ABSENT for value in values[1:]]
            rows.append((Cell(), *map(Cell, (name, *texts, "published"))))
        for name, line in mine:
            cells = [value_cell(one, quantity.digits) for one in line.values]
            cells += [value_cell(one, 2) for one in line.ratios]
            rows.append((Cell(), Cell(name + line.whose), *cells, Cell(line.origin)))
            for driver, one, ratio in zip(OURS, line.values, (None, *line.ratios), strict=True):
                impl = (upstream(driver) if line.whose else driver).impl
                found = {"machine": name, "quantity": key, "batch": batch, "metric": quantity.metric, "impl": impl}
                ends = {"value": one.median, "low": one.low, "high": one.high} if one else {}
                records.append(found | ends | ({"ratio": ratio.median} if ratio else {}))
        if rows[first:]:
            rows[first] = (Cell(quantity.name), *rows[first][1:])
    columns = (*_text("per packet", "machine"), *(Column(driver.name) for driver in OURS))
    columns += (*(Column(f"{driver.name} ÷ C") for driver in OURS[1:]), *_text("counted by"))
    return Table(f"machines-batch-{batch}", f"Counters and ratios, batch {batch}", columns, tuple(rows), tuple(records))


def _disagreements(boxes: list[Box]) -> Iterator[tuple[str, str, str]]:
    """Find intervals of a ratio to C that do not meet, and claims with several verdicts."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for box in boxes:
        for line in box.lines:
            for driver, ratio in zip(OURS[1:], line.ratios, strict=True):
                if ratio and ratio.low is not None and ratio.high is not None and not line.whose:
                    what = f"{QUANTITIES[line.key].name}, batch {line.batch}: {driver.name} ÷ C"
                    said = f"{box.name}: {ratio.median:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"
                    found.setdefault(what, []).append((ratio.low, ratio.high, said))
    for what, ends in found.items():
        least, most = min(ends, key=lambda end: end[1]), max(ends)
        if least[1] < most[0]:
            yield what, least[2], most[2]
    for one, verdicts in _verdicts(boxes):
        decided = [f"{name}: {_where(verdicts[name])}" for name in claims.VERDICTS[:3] if name in verdicts]
        if len(decided) > 1:
            yield f"{one.claim.says} ({one.subject})", decided[0], "; ".join(decided[1:])


def _verdicts(boxes: list[Box]) -> list[tuple[claims.Outcome, dict[str, list[str]]]]:
    """Return each claim, as its first outcome, and the machines by verdict."""
    found: dict[tuple[str, str], tuple[claims.Outcome, dict[str, list[str]]]] = {}
    for box in boxes:
        for one in box.outcomes:
            _, verdicts = found.setdefault((one.subject, one.claim.id), (one, {}))
            text = f"{box.name} ({significant(one.summary.median)})" if one.summary else box.name
            verdicts.setdefault(one.verdict, []).append(text)
    return list(found.values())


def _where(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= NEAR else f"{len(names)} machines"


def _claims(boxes: list[Box]) -> Table:
    """Show the verdicts that each machine has; claims that no machine could judge are only in the CSV."""
    shown = claims.VERDICTS[:4]
    rows = []
    for one, verdicts in _verdicts(boxes):
        if set(verdicts) & set(shown):
            each = (Cell(_where(verdicts.get(name, [])), tone=claims.TONES.get(name, "")) for name in shown)
            rows.append((Cell(one.claim.says), Cell(one.subject), Cell(f"{one.claim.text} {one.claim.unit}"), *each))
    records = tuple({"machine": box.name, **claims.record(one)} for box in boxes for one in box.outcomes)
    columns = (*_text("claim", "drivers"), Column("published"), *_text(*shown))
    return Table("machines-claims", "Claims, judged on each machine", columns, tuple(rows), records)
