"""The drivers as several compilers build them: a comparison of its own, which lies beside the runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure as Canvas

from triptych_paper.lookup import DRIVERS, Driver
from triptych_paper.machine_code import Left, checks_left
from triptych_paper.records import DataError, Run, read_run
from triptych_paper.report.cells import ABSENT, METRICS, number, signed
from triptych_paper.report.figures import colour, marker
from triptych_paper.report.model import Cell, Column, Data, Figure, Record, Section, Table
from triptych_paper.report.sections import checks
from triptych_paper.statistics import Summary, select, summarise

SHOWN = {
    "instructions": "valgrind",
    "loads": "valgrind",
    "stores": "valgrind",
    "branches": "valgrind",
    "cycles": "lockstep",
}
"""What is shown, and what counts it."""

MISSING = "Not measured yet: the drivers by compiler. `make compilers` measures them."


@dataclass(frozen=True)
class Way:
    """A compiler and how it is used."""

    variant: str
    compiler: str
    flags: str
    llvm: int | None
    usual: bool


def build(data: Data) -> Section:
    """For each batch size a table of all, C beside Rust of the same LLVM, what got worse, and a figure."""
    title = "What each compiler makes of the drivers"
    folder = data.run.folder.parent / "compilers" / "latest"
    if not folder.exists():
        return Section("compilers", title, missing=(MISSING,))
    run = read_run(folder)
    ways, skipped = _plan(run)
    missing = [f"Not measured: {entry['name']}, {entry['why']}." for entry in skipped]
    missing += [f"Not measured: {failure.impl}, {failure.variant}: {failure.cause}" for failure in run.failures]
    text = (
        f"A comparison of its own, {run.id}, whose sources and machine may be others than those of this run. Each "
        "compiler builds the drivers with the flags of the Makefile, but for what is named.",
    )
    compared = _compared(run)
    if compared is None:
        missing.append("The comparison did not come to its end: what it says of versions and pairs is absent.")
    tables: list[Table] = []
    figures: list[Figure] = []
    for batch in sorted({int(batch) for batch in run.samples["batch"]}, reverse=True):
        rows = [(driver, way) for driver in DRIVERS for way in ways if _summary(run, driver.impl, way.variant, batch)]
        if not rows:
            continue
        tables.append(_table(run, rows, batch))
        tables += _pairs((compared or {}).get(batch, {}), batch)
        tables += _regressions((compared or {}).get(batch, {}), batch)
        figures.append(_figure(run, rows, batch))
    if not tables:
        return Section("compilers", title, text, missing=(MISSING, *missing))
    left = [(_build_name(entry, ways), entry) for entry in checks_left(run)]
    if left:
        tables.append(
            checks.table("compilers-checks", "Checks in the loops of safe Rust's data path, by compiler", left)
        )
    return Section("compilers", title, text, tuple(tables), tuple(figures), tuple(missing))


def _build_name(entry: Left, ways: list[Way]) -> str:
    flags = next((way.flags for way in ways if way.variant == entry.variant), entry.variant)
    return f"{entry.compiler} {flags}"


def _compared(run: Run) -> dict[int, dict[str, Any]] | None:
    """What the runner found in the comparison, by batch size; None if it did not come to that."""
    path = run.folder / "compilers.json"
    try:
        return {int(entry["batch"]): dict(entry) for entry in json.loads(path.read_text(encoding="utf-8"))}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is malformed: {error!r}") from None


def _plan(run: Run) -> tuple[list[Way], list[dict[str, Any]]]:
    try:
        plan = run.info["plan"]["compare"]
        ways = [
            Way(
                variant=str(way["variant"]),
                compiler=f"{way['family']} {way['version']}",
                flags=_flags(way),
                llvm=None if way["llvm"] is None else int(way["llvm"]),
                usual=bool(way["usual"]),
            )
            for way in plan["ways"]
        ]
        return ways, [dict(entry) for entry in plan["skipped"]]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{run.folder / 'run.json'} is not of a comparison of compilers: {error!r}") from None


def _flags(way: dict[str, Any]) -> str:
    words = [f"-O{way['opt']}"]
    if way["target_cpu"] != "usual":
        words.append(str(way["target_cpu"]))
    if not way["lto"]:
        words.append("no LTO")
    if way["pgo"]:
        words.append("PGO")
    return " ".join(words)


def _summary(run: Run, impl: str, variant: str, batch: int, metric: str = "instructions") -> Summary | None:
    return summarise(select(run.samples, impl, variant, batch, SHOWN[metric], metric))


def _table(run: Run, rows: list[tuple[Driver, Way]], batch: int) -> Table:
    cells, records = [], []
    for driver, way in rows:
        line = [Cell(driver.name), Cell(way.compiler), Cell(str(way.llvm) if way.llvm else ABSENT), Cell(way.flags)]
        for metric, backend in SHOWN.items():
            summary = _summary(run, driver.impl, way.variant, batch, metric)
            if not summary:
                line.append(Cell(ABSENT))
                continue
            spread = f"{number(summary.low, 1)} to {number(summary.high, 1)}"
            line.append(Cell(number(summary.median, 1), (spread,) if metric == "cycles" else ()))
            record: Record = {
                "impl": driver.impl,
                "compiler": way.compiler,
                "llvm": way.llvm,
                "flags": way.flags,
                "batch": batch,
                "metric": metric,
                "value": summary.median,
                "p10": summary.low,
                "p90": summary.high,
                "repeats": summary.count,
                "backend": backend,
            }
            records.append(record)
        cells.append(tuple(line))
    texts = [Column(heading, numeric=False) for heading in ("driver", "compiler", "LLVM", "flags")]
    return Table(
        f"compilers-batch-{batch}",
        f"The drivers by compiler, per packet, batch {batch}",
        (*texts, *(Column(METRICS[metric].label) for metric in SHOWN)),
        tuple(cells),
        tuple(records),
        "Instructions, loads, stores and branches as valgrind counts them; cycles of the time-stamp counter in "
        "lockstep, with the 10th and 90th percentile below.",
    )


def _pairs(compared: dict[str, Any], batch: int) -> list[Table]:
    """C by clang beside Rust by the rustc that has the same LLVM, both with the usual flags."""
    cells: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for pair in compared.get("pairs", []):
        driver = Driver(str(pair["implementation"]))
        line = [Cell(str(pair[key])) for key in ("llvm", "c", "rust")]
        instructions, cycles = pair["instructions"], pair["cycles"] or {}
        times = {"instructions": {"median": instructions}, "cycles": cycles}
        for metric, ratio in times.items():
            records.append(
                {
                    "llvm": pair["llvm"],
                    "c": pair["c"],
                    "rust": pair["rust"],
                    "impl": driver.impl,
                    "batch": batch,
                    "metric": metric,
                    "times_c": ratio.get("median"),
                    "p10": ratio.get("low"),
                    "p90": ratio.get("high"),
                }
            )
        spread = (f"{number(cycles['low'], 2)} to {number(cycles['high'], 2)}",) if cycles else ()
        cells.append(
            (
                *line,
                Cell(driver.name),
                Cell(ABSENT if instructions is None else number(instructions, 2)),
                Cell(number(cycles["median"], 2) if cycles else ABSENT, spread),
            )
        )
    if not cells:
        return []
    texts = [Column(heading, numeric=False) for heading in ("LLVM", "C by", "Rust by", "driver")]
    return [
        Table(
            f"compilers-same-llvm-batch-{batch}",
            f"Rust beside C of the same LLVM, batch {batch}",
            (*texts, Column("instructions, times C"), Column("cycles, times C")),
            tuple(cells),
            tuple(records),
            "Cycles: the median of the ratios of rounds, which were taken in turn, with the 10th and 90th percentile.",
        )
    ]


def _regressions(compared: dict[str, Any], batch: int) -> list[Table]:
    """Versions whose code needs more than that of the next older one."""
    cells: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for found in compared.get("regressions", []):
        driver = Driver(str(found["implementation"]))
        before, after = (float(value) for value in found["values"])
        cells.append(
            (
                Cell(driver.name),
                Cell(str(found["flags"])),
                Cell(str(found["from"])),
                Cell(str(found["to"])),
                Cell(str(found["metric"])),
                Cell(number(before, 1)),
                Cell(number(after, 1)),
                Cell(f"{signed(100 * (after / before - 1), 1)} %", tone="bad"),
            )
        )
        records.append(
            {
                "impl": driver.impl,
                "flags": found["flags"],
                "from": found["from"],
                "to": found["to"],
                "batch": batch,
                "metric": found["metric"],
                "before": before,
                "after": after,
            }
        )
    if not cells:
        return []
    texts = [Column(heading, numeric=False) for heading in ("driver", "flags", "version", "newer version", "metric")]
    return [
        Table(
            f"compilers-worse-batch-{batch}",
            f"Worse with a newer version, batch {batch}",
            (*texts, Column("before"), Column("after"), Column("change")),
            tuple(cells),
            tuple(records),
            "Each version beside the next older one of the same compiler, with the same flags: more than 1 % and 0.2 "
            "instructions a packet, or more than 2 % of the cycles with spreads that do not touch.",
        )
    ]


def _figure(run: Run, rows: list[tuple[Driver, Way]], batch: int) -> Figure:
    usual = [(driver, way) for driver, way in rows if way.usual]

    def draw(canvas: Canvas) -> None:
        for axes, metric in zip(canvas.subplots(1, len(SHOWN), sharey=True), SHOWN, strict=True):
            most = 0.0
            for place, (driver, way) in enumerate(usual):
                summary = _summary(run, driver.impl, way.variant, batch, metric)
                if not summary:
                    continue
                most = max(most, summary.high)
                error = [[summary.median - summary.low], [summary.high - summary.median]]
                look = {"color": colour(driver), "marker": marker(driver)}
                axes.errorbar(summary.median, place, xerr=error, capsize=2, linestyle="none", **look)
            axes.set_title(METRICS[metric].label)
            # Room for the whole marker.
            axes.set_xlim(0, 1.12 * most or 1)
            axes.set_yticks(range(len(usual)), [f"{driver.name}, {way.compiler}" for driver, way in usual])
            axes.set_ylim(len(usual) - 0.5, -0.5)

    return Figure(
        f"compilers-batch-{batch}",
        f"The drivers by compiler, batch {batch}",
        "Per packet, with the usual flags. Instructions, loads, stores and branches as valgrind counts them; cycles of "
        "the time-stamp counter in lockstep, bars from the 10th to the 90th percentile.",
        draw,
        (8.2, 1.0 + 0.24 * len(usual)),
    )
