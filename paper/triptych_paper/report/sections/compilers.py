"""The drivers as several compilers build them: a run of its own, in a folder beside the other runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure as Canvas

from triptych_paper.drivers import DRIVERS, Driver, upstream
from triptych_paper.errors import DataError
from triptych_paper.machine_code import RemainingChecks, remaining_checks
from triptych_paper.records import Run, read_run
from triptych_paper.report.figures import colour, marker
from triptych_paper.report.model import Data, Figure, Section
from triptych_paper.report.sections import checks
from triptych_paper.schema import CORE_CYCLES, MODEL, TSC_CYCLES, Source, source
from triptych_paper.statistics import Summary, processors, select, summarise
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, signed

TITLE = "The drivers by compiler"
ALL = (*DRIVERS, *map(upstream, DRIVERS))
"""The drivers of the tables: ours, and the paper's if the comparison has them. The figures show ours."""
MISSING = "Not measured yet: `make compilers` measures the drivers by compiler."
COUNTED = ("instructions", "loads", "stores", "branches")
"""The metrics that one backend counts for all builds."""


def counting(run: Run) -> str:
    """Return the backend that counted: the model, or valgrind in older comparisons and where the model cannot trace."""
    return MODEL if "instructions" in processors(run.samples) else "valgrind"


def modelled(run: Run) -> tuple[Source, ...]:
    """Return the modelled cycles of a comparison: one source for each processor and clock."""
    found = processors(run.samples).get(CORE_CYCLES, {})
    return tuple(source(CORE_CYCLES, MODEL, cpu, clock) for cpu, clocks in found.items() for clock in clocks)


def shown(run: Run) -> tuple[Source, ...]:
    """Return the metrics of the tables, and their backends."""
    counted = (source(name, counting(run)) for name in COUNTED)
    return (*counted, source(TSC_CYCLES, "lockstep"), *modelled(run))


def heading(counted: Source) -> str:
    """Return the heading of a metric. Modelled cycles name their processor and clock."""
    return f"{counted.metric.label} ({counted.name})" if counted.modelled else counted.metric.label


def method(run: Run) -> str:
    """Say where the values come from."""
    backend = "The model" if counting(run) == MODEL else "Valgrind"
    text = (
        f"{backend} counts instructions, loads, stores and branches. Lockstep counts cycles of the time-stamp counter, "
        "with their 10th to 90th percentile."
    )
    if modelled(run):
        text += " Modelled cycles are those of the named processor, not measured, and the same in every run."
    return text


FORMAT = "triptych-compilers-1"
"""The format of the runner's result."""

JUDGED = ("instructions", TSC_CYCLES)
"""The metrics that decide whether a build is worse."""

TONES = {"worse": "bad", "better": "good"}


@dataclass(frozen=True)
class Words:
    """The words for a kind of comparison."""

    title: str
    newer: str
    method: str


BASES = {
    "version": Words(
        "Newer versions",
        "a newer version",
        "Each version is compared with the version before of the same compiler, with the same flags.",
    ),
    "flags": Words("Flags", "other flags", "Each compiler is compared with itself with the default flags."),
    "baseline": Words(
        "Beside the baseline", "the new build", "Each build is compared with the build that `--baseline` named."
    ),
}
"""The kinds of comparisons."""


@dataclass(frozen=True)
class CompilerSetting:
    """A compiler with its flags."""

    variant: str
    """The variant in ``samples.csv``."""
    compiler: str
    flags: str
    llvm: int | None
    """The major version of its LLVM; None for gcc."""
    default: bool
    """Whether the flags are those of the Makefile."""


def build(data: Data) -> Section:
    """Build tables and a figure for each batch size: all builds, pairs of the same LLVM, and comparisons."""
    folder = data.run.folder.parent / "compilers" / "latest"
    if not folder.exists():
        return Section("compilers", TITLE, missing=(MISSING,))
    run = read_run(folder)
    settings, skipped = _plan(run)
    missing = [f"Not measured: {entry['name']}, {entry['why']}." for entry in skipped]
    missing += [f"Not measured: {failure.impl}, {failure.variant}: {failure.cause}" for failure in run.failures]
    text = [
        f"This is the run {run.id}, whose sources and machine may differ from those of the other sections. Each "
        "compiler builds the drivers with the flags of the Makefile, except for the flags that a table names.",
    ]
    compared = _compared(run)
    if compared is None:
        missing.append("The comparison was interrupted: no builds were compared.")
    else:
        text += _verdicts(compared)
        missing += [f"Not compared: {_not_compared(entry)}." for entry in compared["not_compared"]]
    tables: list[Table] = []
    figures: list[Figure] = []
    for batch in sorted({int(batch) for batch in run.samples["batch"]}, reverse=True):
        rows = [(driver, s) for driver in ALL for s in settings if _instructions(run, driver.impl, s.variant, batch)]
        if not rows:
            continue
        tables.append(_table(run, rows, batch))
        if compared:
            tables += _pairs(compared, batch)
            tables += [table for basis in BASES for table in _comparisons(compared, basis, batch)]
        ours = [(driver, setting) for driver, setting in rows if driver in DRIVERS]
        if ours:
            figures.append(_figure(run, ours, batch))
    if not tables:
        return Section("compilers", TITLE, tuple(text), missing=(MISSING, *missing))
    remaining = [(_build_name(entry, settings), entry) for entry in remaining_checks(run)]
    if remaining:
        tables.append(
            checks.table("compilers-checks", "Checks in the loops of safe Rust's data path, by compiler", remaining)
        )
    return Section("compilers", TITLE, tuple(text), tuple(tables), tuple(figures), tuple(missing))


def _build_name(entry: RemainingChecks, settings: list[CompilerSetting]) -> str:
    flags = next((setting.flags for setting in settings if setting.variant == entry.variant), entry.variant)
    return f"{entry.compiler} {flags}"


def _compared(run: Run) -> dict[str, Any] | None:
    """Return the result of the runner; None if the comparison was interrupted."""
    path = run.folder / "compilers.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ValueError(f"the format is {found['format']!r}, not {FORMAT!r}")
        return {key: found[key] for key in ("judge", "comparisons", "not_compared", "same_llvm")}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is malformed: {error!r}; `make compilers` writes it again") from None


def _not_compared(entry: dict[str, Any]) -> str:
    basis = "with the baseline" if entry["basis"] == "baseline" else f"by {entry['basis']}"
    return f"{Driver(str(entry['impl'])).name} {basis}: {', '.join(entry['what'])}: {entry['why']}"


def _verdicts(compared: dict[str, Any]) -> list[str]:
    """Say for each kind of comparison how many builds are worse, or that none were compared."""
    sentences = []
    for basis, words in BASES.items():
        made = [each for each in compared["comparisons"] if each["basis"] == basis]
        worse = sum(_is_worse(each) for each in made)
        if made:
            sentences.append(f"Worse with {words.newer}: {worse} of {len(made)} comparisons.")
        elif basis != "baseline":
            sentences.append(f"Worse with {words.newer}: not compared.")
    return [" ".join(sentences)]


def _is_worse(made: dict[str, Any]) -> bool:
    changes = (*made["metrics"].values(), *made.get("modelled", ()))
    return any(change["verdict"] == "worse" for change in changes)


Processor = tuple[str, float]
"""A modelled processor and its clock, GHz."""


def _on(entry: dict[str, Any]) -> Processor:
    """Return the processor of modelled cycles in the runner's result."""
    return str(entry["cpu"]), float(entry["clock_ghz"])


def _heading(on: Processor) -> str:
    cpu, clock = on
    return heading(source(CORE_CYCLES, MODEL, cpu, clock))


def _processors(entries: list[dict[str, Any]]) -> list[Processor]:
    """Return the processors of comparisons or pairs, each once. Older results have none."""
    return list(dict.fromkeys(_on(found) for entry in entries for found in entry.get("modelled", ())))


def _plan(run: Run) -> tuple[list[CompilerSetting], list[dict[str, Any]]]:
    """Return the settings of a comparison, and those that were skipped with the reasons."""
    try:
        plan = run.info["plan"]["compare"]
        settings = [_setting(entry) for entry in plan.get("settings", plan.get("ways"))]
        return settings, [dict(entry) for entry in plan["skipped"]]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{run.folder / 'run.json'} does not describe a comparison of compilers: {error!r}") from None


def _setting(entry: dict[str, Any]) -> CompilerSetting:
    words = [f"-O{entry['opt']}"]
    if entry["target_cpu"] not in DEFAULT_CPU:
        words.append(str(entry["target_cpu"]))
    if not entry["lto"]:
        words.append("no LTO")
    if entry["pgo"]:
        words.append("PGO")
    return CompilerSetting(
        variant=str(entry["variant"]),
        compiler=str(entry.get("label") or f"{entry['family']} {entry['version']}"),
        flags=" ".join(words),
        llvm=None if entry["llvm"] is None else int(entry["llvm"]),
        default=bool(entry["default"] if "default" in entry else entry["usual"]),
    )


DEFAULT_CPU = ("default", "usual")
"""The names of the default target processor; older comparisons have the second one."""


def _summary(run: Run, impl: str, variant: str, batch: int, counted: Source) -> Summary | None:
    return summarise(select(run.samples, Driver(impl, variant), batch, counted))


def _instructions(run: Run, impl: str, variant: str, batch: int) -> Summary | None:
    return _summary(run, impl, variant, batch, source("instructions", counting(run)))


def _table(run: Run, rows: list[tuple[Driver, CompilerSetting]], batch: int) -> Table:
    cells, records = [], []
    for driver, setting in rows:
        llvm = str(setting.llvm) if setting.llvm else ABSENT
        line = [Cell(driver.name), Cell(setting.compiler), Cell(llvm), Cell(setting.flags)]
        for counted in shown(run):
            summary = _summary(run, driver.impl, setting.variant, batch, counted)
            if not summary:
                line.append(Cell(ABSENT))
                continue
            spread = f"{number(summary.low, 1)} to {number(summary.high, 1)}"
            line.append(Cell(number(summary.median, 1), (spread,) if counted.metric.name == TSC_CYCLES else ()))
            record: Record = {
                "impl": driver.impl,
                "compiler": setting.compiler,
                "llvm": setting.llvm,
                "flags": setting.flags,
                "batch": batch,
                "metric": counted.metric.name,
                "value": summary.median,
                "p10": summary.low,
                "p90": summary.high,
                "repeats": summary.count,
                "backend": counted.backend,
            }
            if counted.modelled:
                record |= {"cpu": counted.cpu, "clock_ghz": counted.clock_ghz}
            records.append(record)
        cells.append(tuple(line))
    texts = [Column(heading, numeric=False) for heading in ("driver", "compiler", "LLVM", "flags")]
    return Table(
        f"compilers-batch-{batch}",
        f"The drivers by compiler, per packet, batch {batch}",
        (*texts, *(Column(heading(counted)) for counted in shown(run))),
        tuple(cells),
        tuple(records),
        method(run),
    )


def _pairs(compared: dict[str, Any], batch: int) -> list[Table]:
    """Pair C by clang with Rust by the rustc of the same LLVM, both with the default flags."""
    cells: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    pairs = [pair for pair in compared["same_llvm"] if pair["batch"] == batch]
    modelled_on = _processors(pairs)
    for pair in pairs:
        driver = Driver(str(pair["impl"]))
        line = [Cell(str(pair[key])) for key in ("llvm", "c", "rust")]
        instructions, cycles = pair["instructions"], pair["cycles"] or {}
        both: Record = {**{key: pair[key] for key in ("llvm", "c", "rust")}, "impl": driver.impl, "batch": batch}
        times = {"instructions": {"median": instructions}, TSC_CYCLES: cycles}
        records += [
            {**both, "metric": name, "times_c": ratio.get("median"), "p10": ratio.get("low"), "p90": ratio.get("high")}
            for name, ratio in times.items()
        ]
        ratios = {_on(found): float(found["ratio"]) for found in pair.get("modelled", ())}
        records += [
            {**both, "metric": CORE_CYCLES, "times_c": times_c, "cpu": cpu, "clock_ghz": clock}
            for (cpu, clock), times_c in ratios.items()
        ]
        spread = (f"{number(cycles['low'], 2)} to {number(cycles['high'], 2)}",) if cycles else ()
        cells.append(
            (
                *line,
                Cell(driver.name),
                Cell(ABSENT if instructions is None else number(instructions, 2)),
                Cell(number(cycles["median"], 2) if cycles else ABSENT, spread),
                *(Cell(number(ratios[on], 2) if on in ratios else ABSENT) for on in modelled_on),
            )
        )
    if not cells:
        return []
    texts = [Column(heading, numeric=False) for heading in ("LLVM", "C by", "Rust by", "driver")]
    return [
        Table(
            f"compilers-same-llvm-batch-{batch}",
            f"Rust and C by the same LLVM, batch {batch}",
            (
                *texts,
                Column("instructions, times C"),
                Column("TSC cycles, times C"),
                *(Column(f"{_heading(on)}, times C") for on in modelled_on),
            ),
            tuple(cells),
            tuple(records),
            "TSC cycles: the median of the ratios in the same round, with the 10th to 90th percentile.",
        )
    ]


def _median(value: dict[str, Any] | float) -> float:
    """Return the median of a spread. Modelled cycles are one value."""
    return float(value["median"] if isinstance(value, dict) else value)


def _modelled_limit(judge: dict[str, Any]) -> str:
    """Say which change of modelled cycles counts; empty for older results."""
    if "modelled_percent" not in judge:
        return ""
    cycles = judge["modelled_cycles"]
    least = "" if cycles is None else f", or of {cycles:g} cycles a packet,"
    return f" A change of modelled cycles beyond {judge['modelled_percent']:g} %{least} counts, too."


def _comparisons(compared: dict[str, Any], basis: str, batch: int) -> list[Table]:
    """List all comparisons of a kind, with the verdict of the runner."""
    cells: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    chosen = [made for made in compared["comparisons"] if made["basis"] == basis and made["batch"] == batch]
    modelled_on = _processors(chosen)
    for made in chosen:
        driver = Driver(str(made["impl"]))
        sides = [f"{made[side]['compiler']} {made[side]['flags']}" for side in ("from", "to")]
        line = [Cell(driver.name), *(Cell(side) for side in sides)]
        changes = {_on(change): change for change in made.get("modelled", ())}
        judged: list[tuple[str, Processor | None, Any]] = [
            *((metric, None, made["metrics"].get(metric)) for metric in JUDGED),
            *((CORE_CYCLES, on, changes.get(on)) for on in modelled_on),
        ]
        for metric, on, change in judged:
            if change is None:
                line.append(Cell(ABSENT))
                continue
            before, after = (_median(change[key]) for key in ("before", "after"))
            verdict = str(change["verdict"])
            percent = float(change["percent"])
            details = (f"{signed(percent, 1)} %, {verdict.replace('-', ' ')}",)
            line.append(Cell(f"{number(before, 1)} → {number(after, 1)}", details, tone=TONES.get(verdict, "")))
            record: Record = {
                "basis": basis,
                "impl": driver.impl,
                "from": sides[0],
                "to": sides[1],
                "batch": batch,
                "metric": metric,
                "before": before,
                "after": after,
                "percent": percent,
                "verdict": verdict,
            }
            if on:
                record |= {"cpu": on[0], "clock_ghz": on[1]}
            records.append(record)
        cells.append(tuple(line))
    if not cells:
        return []
    judge, words = compared["judge"], BASES[basis]
    texts = [Column(heading, numeric=False) for heading in ("driver", "from", "to")]
    return [
        Table(
            f"compilers-by-{basis}-batch-{batch}",
            f"{words.title}, batch {batch}",
            (*texts, Column("instructions"), Column("TSC cycles"), *(Column(_heading(on)) for on in modelled_on)),
            tuple(cells),
            tuple(records),
            f"{words.method} A change counts beyond {judge['instructions_percent']:g} % and {judge['instructions']:g} "
            f"instructions a packet, or beyond {judge['cycles_percent']:g} % of the TSC cycles with spreads that "
            f"do not touch.{_modelled_limit(judge)}",
        )
    ]


def _figure(run: Run, rows: list[tuple[Driver, CompilerSetting]], batch: int) -> Figure:
    default = [(driver, setting) for driver, setting in rows if setting.default]

    def draw(canvas: Canvas) -> None:
        panels = shown(run)
        for axes, counted in zip(canvas.subplots(1, len(panels), sharey=True), panels, strict=True):
            most = 0.0
            for place, (driver, setting) in enumerate(default):
                summary = _summary(run, driver.impl, setting.variant, batch, counted)
                if not summary:
                    continue
                most = max(most, summary.high)
                error = [[summary.median - summary.low], [summary.high - summary.median]]
                look = {"color": colour(driver), "marker": marker(driver)}
                axes.errorbar(summary.median, place, xerr=error, capsize=2, linestyle="none", **look)
            axes.set_title(heading(counted).replace(" (", "\n("))
            # Room for the whole marker.
            axes.set_xlim(0, 1.12 * most or 1)
            axes.set_yticks(range(len(default)), [f"{driver.name}, {setting.compiler}" for driver, setting in default])
            axes.set_ylim(len(default) - 0.5, -0.5)

    return Figure(
        f"compilers-batch-{batch}",
        f"The drivers by compiler, batch {batch}",
        f"Per packet, with the default flags. {method(run)}",
        draw,
        (8.2, 1.0 + 0.24 * len(default)),
    )
