"""The sections that read files of their own: the ladder, the compilers, the safety lab and the machine code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure as Canvas

from triptych_paper import statistics
from triptych_paper.comparisons import Section
from triptych_paper.errors import DataError
from triptych_paper.figures import LIGHT, Figure
from triptych_paper.records import Run, part, read_json, read_run
from triptych_paper.schema import OURS, RUST, Driver, upstream
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import interval, number, signed
from triptych_paper.values import QUANTITIES, Source, Values, record, value_cell

LADDER = "ladder.json"
QUANTITIES_OF_A_RUNG = ("instructions", "core_cycles", "tsc_memory", "tsc_warm")
TONES = {
    **dict.fromkeys(
        ("does not compile", "error returned", "counted drop", "no effect", "contained by the IOMMU"), "good"
    ),
    **dict.fromkeys(("panic/trap", "stalled queue", "uncounted loss", "wrong packet", "leak"), "neutral"),
    **dict.fromkeys(("silent corruption", "memory disclosed", "hang"), "bad"),
}
"""The outcomes of a hazard: `good` if the fault was prevented, contained or reported."""

SUBJECTS = {
    "c": "C",
    "c-hardened": "C, sanitizers",
    "rust": "safe Rust",
    "rust-trusted-device": "safe Rust, trusted device",
    "rust-untrusted-device-copy": "safe Rust, copy",
    "rust-unsafe": "unsafe Rust",
}


def newest(folder: Path, link: str, name: str) -> Path | None:
    """Return a file in a run's folder, or else that of the newest run that a link names."""
    return next((place for place in (folder / name, folder.parent / link / name) if place.is_file()), None)


def ladder(values: Values) -> Section:
    """Show what each safety feature adds: a table and a figure for each batch size."""
    text = (
        "Each rung differs from the one below by one feature. “Alone” is the shipped driver with only this feature "
        "removed or added. A cost is a price if both orders agree on it.",
    )
    path = values.run.folder / LADDER
    if not path.is_file():
        return Section(
            "ladder", "The cost ladder", text, missing="Not measured in this run: `make ladder` measures it."
        )
    document = read_json(path)
    try:
        rungs = [{**rung, "driver": Driver(rung["impl"], rung["variant"])} for rung in document["rungs"]]
        shipped = next(place for place, rung in enumerate(rungs) if rung["shipped"])
        beside = [(Driver(one["impl"], one["variant"]), str(one["title"])) for one in document.get("beside", [])]
        tables = [_rungs(values, rungs, beside, shipped, batch) for batch in (32, 8)]
    except (KeyError, TypeError, StopIteration) as error:
        raise DataError(f"{path} is malformed: {error!r}") from None
    figures = tuple(
        _steps_figure(values, rungs, batch) for batch, table in zip((32, 8), tables, strict=True) if table.rows
    )
    return Section("ladder", "The cost ladder", text, tuple(table for table in tables if table.rows), figures)


def _difference(values: Values, driver: Driver, base: Driver, batch: int, source: Source) -> Summary | None:
    return values.combined(driver, (base, batch), batch, source, statistics.difference)


def _rungs(
    values: Values, rungs: list[dict[str, Any]], beside: list[tuple[Driver, str]], shipped: int, batch: int
) -> Table:
    """Build the table of a batch size: value, step and step alone, for each quantity that was measured."""
    every = [rung["driver"] for rung in rungs]
    sources = {key: values.choose(QUANTITIES[key], every) for key in QUANTITIES_OF_A_RUNG}
    shown = [key for key in sources if any(values.find(driver, batch, sources[key]) for driver in every)]
    rows, records = [], []
    for place, rung in enumerate(rungs):
        cells = [Cell(str(rung["title"]) + (" (the shipped driver)" if rung["shipped"] else ""))]
        for key in shown:
            source, digits = sources[key], QUANTITIES[key].digits
            value = values.find(rung["driver"], batch, source)
            added = _difference(values, rung["driver"], every[place - 1], batch, source) if place else None
            alone = _alone(values, rungs, place, shipped, batch, source, added)
            cells += [value_cell(value, digits), _step(added, digits), _step(alone, digits)]
            medians = {name: step.median if step else None for name, step in (("added", added), ("alone", alone))}
            records.append({"rung": rung["name"], **record(rung["driver"], batch, source, value), **medians})
        rows.append(tuple(cells))
    for driver, title in beside:
        cells = [Cell(f"beside the ladder: {title}")]
        for key in shown:
            source, digits = sources[key], QUANTITIES[key].digits
            value = values.find(driver, batch, source)
            cells += [
                value_cell(value, digits),
                _step(_difference(values, driver, RUST, batch, source), digits),
                Cell(),
            ]
            records.append({"rung": title, **record(driver, batch, source, value)})
        rows.append(tuple(cells))
    columns = [Column(f"batch {batch}", numeric=False)]
    for key in shown:
        name = f"{QUANTITIES[key].name} ({sources[key].backend})"
        columns += [Column(name), Column("step", emphasis=False), Column("alone", emphasis=False)]
    title = f"Cost of each safety feature per packet, batch {batch}"
    note = "Steps are medians of the differences in the same round; below noisy ones is the 95 % interval."
    return Table(f"ladder-batch-{batch}", title, tuple(columns), tuple(rows) if shown else (), tuple(records), note)


def _alone(
    values: Values,
    rungs: list[dict[str, Any]],
    place: int,
    shipped: int,
    batch: int,
    source: Source,
    added: Summary | None,
) -> Summary | None:
    """Return the cost of a feature as the only difference to the shipped driver; None if that was not built."""
    if place in (shipped, shipped + 1):
        return added
    if not rungs[place].get("alone"):
        return None
    itself, other = rungs[shipped]["driver"], Driver(rungs[place]["impl"], rungs[place]["alone"])
    having, without = (other, itself) if place > shipped else (itself, other)
    return _difference(values, having, without, batch, source)


def _step(step: Summary | None, digits: int) -> Cell:
    if step is None:
        return Cell()
    between = interval(step, digits)
    return Cell(signed(step.median, digits), (between,) if between else ())


def _steps_figure(values: Values, rungs: list[dict[str, Any]], batch: int) -> Figure:
    source = values.choose(QUANTITIES["instructions"], [rung["driver"] for rung in rungs])
    found = [(str(rung["title"]), values.find(rung["driver"], batch, source)) for rung in rungs]
    shown = [(title, value.median) for title, value in found if value]

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        axes.barh(range(len(shown)), [value for _, value in shown], color=LIGHT["rust"])
        axes.set_yticks(range(len(shown)), [title for title, _ in shown])
        axes.invert_yaxis()
        axes.set_xlabel(f"instructions per packet, by {source.backend}")
        axes.grid(visible=False, axis="y")

    title = f"Instructions of each rung, batch {batch}"
    return Figure(f"ladder-batch-{batch}", title, "Each rung adds one feature to the one above.", draw, (6.4, 4.4))


def compilers(folder: Path) -> Section:
    """Show the drivers by compiler, from the newest run of ``make compilers``."""
    path = folder.parent / "compilers" / "latest"
    if not path.exists():
        return Section("compilers", "The drivers by compiler", missing="Not measured: `make compilers` measures it.")
    run = read_run(path)
    values = Values(run)
    try:
        settings = {entry["variant"]: _setting(entry) for entry in run.info["plan"]["compare"]["settings"]}
    except (KeyError, TypeError) as error:
        raise DataError(f"{path / 'run.json'} does not describe a comparison of compilers: {error!r}") from None
    text = (
        f"This is the run {run.id}. Each compiler builds the drivers with the flags of the Makefile, "
        "unless a row names others.",
    )
    tables = [
        *(_by_compiler(values, settings, batch) for batch in (32, 8)),
        *_same_llvm(path),
        *checks(run, "compilers-checks"),
    ]
    return Section("compilers", "The drivers by compiler", text, tuple(table for table in tables if table.rows))


def _setting(entry: dict[str, Any]) -> tuple[str, str]:
    """Return the name of a compiler, and the flags that are not the Makefile's."""
    words = [
        f"-O{entry['opt']}",
        *([str(entry["target_cpu"])] if entry["target_cpu"] not in ("default", "usual") else []),
    ]
    words += ([] if entry["lto"] else ["no LTO"]) + (["PGO"] if entry["pgo"] else [])
    return str(entry.get("label") or f"{entry['family']} {entry['version']}"), " ".join(words)


def _by_compiler(values: Values, settings: dict[str, tuple[str, str]], batch: int) -> Table:
    every = [Driver(impl.impl, variant) for impl in (*OURS, *map(upstream, OURS)) for variant in settings]
    keys = ("instructions", "loads", "stores", "branches", "tsc_memory", "tsc_warm")
    sources = {key: values.choose(QUANTITIES[key], every) for key in keys}
    rows, records = [], []
    for driver in every:
        found = {key: values.find(driver, batch, source) for key, source in sources.items()}
        if any(found.values()):
            cells = [value_cell(value, QUANTITIES[key].digits) for key, value in found.items()]
            compiler, flags = settings[driver.variant]
            rows.append((Cell(Driver(driver.impl).name), Cell(compiler), Cell(flags), *cells))
            named = {"compiler": compiler, "flags": flags}
            records += [{**named, **record(driver, batch, sources[key], value)} for key, value in found.items()]
    columns = [Column(name, numeric=False) for name in ("driver", "compiler", "flags")]
    columns += [Column(QUANTITIES[key].name) for key in keys]
    title = f"The drivers by compiler, batch {batch}"
    return Table(f"compilers-batch-{batch}", title, tuple(columns), tuple(rows), tuple(records))


def _same_llvm(folder: Path) -> list[Table]:
    """Pair C by clang with Rust by the rustc of the same LLVM, as the runner compared them."""
    path = folder / "compilers.json"
    if not path.is_file():
        return []
    rows, records = [], []
    try:
        for pair in read_json(path)["same_llvm"]:
            cycles = pair["cycles"] or {}
            named = {key: pair[key] for key in ("llvm", "c", "rust", "impl", "batch")}
            ends = (f"{number(cycles['low'], 2)} to {number(cycles['high'], 2)}",) if cycles else ()
            counted = ABSENT if pair["instructions"] is None else number(pair["instructions"], 2)
            texts = [str(text) for name, text in named.items() if name != "impl"]
            timed = Cell(number(cycles["median"], 2), ends) if cycles else Cell(ABSENT)
            rows.append((*map(Cell, texts), Cell(Driver(named["impl"]).name), Cell(counted), timed))
            records.append(
                {**named, "instructions_times_c": pair["instructions"], "cycles_times_c": cycles.get("median")}
            )
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} is malformed: {error!r}; `make compilers` writes it again") from None
    columns = [Column(name, numeric=False) for name in ("LLVM", "C by", "Rust by", "batch", "driver")]
    columns += [Column("instructions, times C"), Column("TSC cycles, times C")]
    return [Table("compilers-same-llvm", "Rust and C by the same LLVM", tuple(columns), tuple(rows), tuple(records))]


def checks(run: Run, key: str = "checks") -> list[Table]:
    """Count the checks in the loops of safe Rust's data path, as the runner found them in the machine code."""
    kinds = {"bounds": "bounds checks", "overflow": "overflow checks", "trap": "traps", "other": "other panics"}
    rows, records = [], []
    for build in run.info.get("builds") or []:
        if not str(build.get("impl")).startswith("rust") or not build.get("checks_in_loops"):
            continue
        counts = build["checks_in_loops"]
        driver = Driver(build["impl"], build["variant"])
        named = {"impl": driver.impl, "variant": driver.variant, "compiler": build["toolchain"]}
        rows.append(
            (Cell(driver.name), Cell(str(build["toolchain"])), *(Cell(str(counts.get(kind, 0))) for kind in kinds))
        )
        records.append({**named, **counts})
    columns = [Column("build", numeric=False), Column("compiler", numeric=False), *map(Column, kinds.values())]
    title = "Checks in the loops of safe Rust's data path"
    return [Table(key, title, tuple(columns), tuple(rows), tuple(records))] if rows else []


def hazards(folder: Path) -> Section:
    """Show the outcome of each hazard with each driver, from the newest run of ``make safety-lab``."""
    path = newest(folder, "latest-safety", "hazards.csv")
    if path is None:
        return Section("hazards", "Hazards", missing="Not measured: `make safety-lab` runs the hazards.")
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        unknown = set(table["outcome"]) - set(TONES) | set(table["impl"]) - set(SUBJECTS)
        described = (
            part(read_json(path.with_name("run.json")), "hazards") if path.with_name("run.json").is_file() else {}
        )
        if unknown or table.duplicated(["hazard", "impl"]).any():
            raise DataError(f"{path} is malformed: {', '.join(sorted(unknown)) or 'a hazard is listed twice'}")
        tables = [_hazards_of(str(party), rows, described) for party, rows in table.groupby("at_fault", sort=False)]
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} is malformed: {error!r}") from None
    text = ("What each driver does when the application, the card, the driver itself or the wire is wrong.",)
    return Section("hazards", "Hazards", text, tuple(tables))


def _hazards_of(party: str, rows: pd.DataFrame, described: dict[str, Any]) -> Table:
    shown = [impl for impl in SUBJECTS if impl in set(rows["impl"])]
    lines = []
    for name, found in rows.groupby("hazard", sort=False):
        about = part(described, str(name))
        outcomes = found.set_index("impl")
        cells = [Cell(str(about.get("title") or name)), Cell(str(found["class"].iloc[0]))]
        for impl in shown:
            outcome = str(outcomes.loc[impl, "outcome"]) if impl in outcomes.index else ""
            why = str(part(about, "why").get(impl) or "")
            cells.append(Cell(outcome or ABSENT, notes=(why,) if why else (), tone=TONES.get(outcome, "")))
        lines.append(tuple(cells))
    columns = [Column(name, numeric=False) for name in ("hazard", "class", *(SUBJECTS[impl] for impl in shown))]
    records: tuple[Record, ...] = tuple({str(k): v for k, v in row.items()} for row in rows.to_dict("records"))
    return Table(f"hazards-{party}", f"At fault: the {party}", tuple(columns), tuple(lines), records)
