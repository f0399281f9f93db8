"""Putting a report together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from triptych_paper.claims import Verdict
from triptych_paper.code import read_code
from triptych_paper.ladder import read_ladder
from triptych_paper.published import read_published
from triptych_paper.records import Run, read_run
from triptych_paper.report.model import Data, Report, Section, Tile
from triptych_paper.report.sections import SECTIONS
from triptych_paper.report.warnings import fold


def read_data(folder: Path) -> Data:
    """Read a run and what was published; :class:`DataError` if anything is missing or malformed."""
    run = read_run(folder)
    return Data(run, read_published(), read_code(run.folder), read_ladder(run.folder))


def build(data: Data) -> Report:
    """Build all sections."""
    run = data.run
    sections = tuple(section(data) for section in SECTIONS)
    warnings = list(fold(run.warnings))
    if not run.ended:
        warnings.insert(0, "The run did not come to its end: what it had measured until then is here.")
    if run.failures:
        warnings.append(
            f"{len(run.failures)} measurements failed and are absent; run.json has their causes. The first: "
            f"{run.failures[0].cause}"
        )
    if _part(run.info, "settings").get("quick") or "--quick" in _command(run):
        warnings.insert(0, "A quick run, to see that everything works: few packets and repeats, rough figures.")
    return Report(
        title="One network driver, three ways",
        subtitle="C, safe Rust and transpiled unsafe Rust on the 82599, measured beside what was published",
        facts=_facts(run),
        warnings=tuple(warnings),
        tiles=_tiles(sections),
        sections=sections,
    )


def _tiles(sections: tuple[Section, ...]) -> tuple[Tile, ...]:
    verdicts = [
        record["verdict"]
        for section in sections
        if section.key == "claims"
        for table in section.tables
        for record in table.records
    ]
    verbs = {
        Verdict.REPRODUCED: "reproduced",
        Verdict.DIFFERS: "with another result",
        Verdict.NOT_MEASURABLE: "not measurable here",
        Verdict.NOT_MEASURED: "not measured in this run",
    }
    tones = {Verdict.REPRODUCED: "good", Verdict.DIFFERS: "bad"}
    return tuple(
        Tile(verdicts.count(verdict.value), f"of {len(verdicts)} claims {verbs[verdict]}", tones.get(verdict, ""))
        for verdict in Verdict
    )


def _facts(run: Run) -> tuple[tuple[str, str], ...]:
    host = _part(run.info, "host")
    cpu, git = _part(host, "cpu"), _part(run.info, "git")
    machine = [str(cpu.get("model_name") or "unknown processor"), f"{cpu.get('cpus', '?')} CPUs"]
    if isinstance(cpu.get("family"), int):
        machine.append(f"family {cpu['family']} model {cpu.get('model', '?')}")
    if cpu.get("virtual_machine"):
        machine.append("virtual machine")
    clock = [f"TSC {cpu['tsc_mhz']:.0f} MHz"] if isinstance(cpu.get("tsc_mhz"), (int, float)) else []
    clock.append(f"governor {host.get('governor') or 'unknown'}")
    pmu = _part(host, "pmu")
    counters = "yes" if pmu.get("present") else "none: nothing here was counted by hardware"
    revision = str(git.get("revision") or "")[:10] or "no revision"
    builds = [build for build in run.info.get("builds") or [] if isinstance(build, dict)]
    compilers = list(dict.fromkeys(str(build.get("toolchain")) for build in builds))
    used = [f"{backend} ({count})" for backend, count in run.samples["backend"].value_counts(sort=False).items()]
    return (
        ("run", run.id + ("" if run.ended else ", did not come to its end")),
        ("machine", ", ".join([*machine, f"Linux {host.get('kernel', '?')}"])),
        ("clock", ", ".join(clock)),
        ("hardware counters", counters),
        ("sources", revision + (" with changes" if git.get("dirty") else "")),
        ("compilers", ", ".join(compilers) or "unknown"),
        ("samples", f"{len(run.samples)}, by backend: {', '.join(used)}"),
    )


def _command(run: Run) -> list[str]:
    command = run.info.get("command")
    return [str(word) for word in command] if isinstance(command, list) else []


def _part(info: dict[str, Any], key: str) -> dict[str, Any]:
    value = info.get(key)
    return value if isinstance(value, dict) else {}
