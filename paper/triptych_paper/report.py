"""Write the report of a run, or of machines: HTML, PDF, tables and figures.

Usage: ``python -m triptych_paper.report results/latest [RUN...]``, or with folders of machines: ``results``

Writes the folder ``report/`` into the folder of the run. With several runs of one matrix, the report of each also shows
all of them side by side. Of folders of machines, one page shows the machines beside each other, and their history. It
is in ``report/`` of the folder that holds them all, without PDF.

Ends with 0; 1 if a file is missing, malformed or cannot be written, or if the runs do not belong together; 2 on a wrong
command line.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from triptych_paper import (
    __version__,
    applications,
    claims,
    code,
    counters,
    figures,
    history,
    limit,
    machines,
    other_runs,
    several,
)
from triptych_paper.comparisons import COMPARISONS, Section, bars, others_published, section
from triptych_paper.errors import DataError
from triptych_paper.published import Published, read_published
from triptych_paper.records import Run, machine, part
from triptych_paper.schema import UPSTREAM
from triptych_paper.tables import latex, markdown
from triptych_paper.values import Values
from triptych_paper.warnings import fold

FOLDER = "report"
TEMPLATES = Path(__file__).parent / "templates"
FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"
"""matplotlib includes fonts, so the PDF does not need the system's."""


@dataclass(frozen=True)
class Report:
    """The whole report."""

    title: str
    answers: tuple[tuple[str, tuple[str, ...]], ...]
    """The first page: a question, and the paragraphs of its answer."""
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    outcomes: tuple[claims.Outcome, ...]


def build(run: Run, together: Sequence[Run] = ()) -> Report:
    """Build all sections of a run, and one more if it is reported together with others."""
    values, published, lines = Values(run), read_published(), code.read_code(run.folder)
    outcomes = claims.check_all(values, lines, claims.read_claims())
    compared = {one.key: section(one, values, published) for one in COMPARISONS}
    if compared["others"].tables:
        found = compared["others"]
        compared["others"] = Section(found.key, found.title, found.text, (*found.tables, others_published(published)))
    checks = tuple(other_runs.checks(run))
    sections = (
        *(
            (machines.section([("", one.folder, ()) for one in together], published, run.folder),)
            if len(together) > 1
            else ()
        ),
        _counters(values, published),
        Section("claims", "Claims", (CLAIMS,), tuple(claims.tables(outcomes))),
        compared.pop("others"),
        limit.section(values, published),
        other_runs.ladder(values),
        *compared.values(),
        applications.section(run.folder),
        Section("checks", "Checks that remain", (), checks, missing="" if checks else "Not counted in this run."),
        other_runs.compilers(run.folder),
        other_runs.hazards(run.folder),
        Section(
            "code", "Lines of code", (), tuple(code.tables(lines, published)), missing="" if lines else "Not counted."
        ),
    )
    answers = _answers(values, outcomes)
    title = "One network driver, three ways"
    return Report(title, answers, facts(run), warnings(run), sections, tuple(outcomes))


def of_machines(paths: Sequence[Path], folder: Path) -> Report:
    """Build the page of merged folders: machines beside each other, and their history."""
    merged = several.Merged(paths)
    ((cells,),) = merged.index.ask("SELECT count(*) FROM cell")
    if not cells:
        raise DataError(f"{', '.join(map(str, paths))}: no cells below; `triptych run` measures some")
    beside = machines.section(merged.machines(), read_published(), folder, merged)
    sections = (beside, history.section(history.history(merged.index)))
    known = (("machines", f"{len(merged.machines())}"), ("cells", f"{cells:,}"))
    return Report("One network driver on many machines", (), known, (), sections, ())


def alone(title: str, section: Section) -> Report:
    """Return the page of one section."""
    return Report(title, (), (), (), (section,), ())


CLAIMS = (
    "Each quantitative claim of the paper and of its counter page. A verdict needs the whole 95 % interval: within the "
    "tolerance it is reproduced; with the published direction, and a quarter to four times the effect, it differs in "
    "size; outside of both it differs; an interval with two verdicts decides nothing."
)


def _counters(values: Values, published: Published) -> Section:
    built = [counters.per_packet(values, published, batch) for batch in (32, 8)]
    built += [counters.compared(values, published, batch) for batch in (32, 8)]
    tables = tuple(table for table in built if table.rows)
    text = () if values.has_upstream else (counters.NO_UPSTREAM,)
    return Section("counters", "Counters per packet", text, tables, (bars(values, published),))


def _answers(values: Values, outcomes: list[claims.Outcome]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Answer what a reader asks first."""
    subject = "upstream" if values.has_upstream else "ours"
    whose = (
        "of the paper's own drivers" if subject == "upstream" else "of our drivers, as the paper's are not in this run"
    )
    mine = [one for one in outcomes if one.subject == subject and claims.kind(one) != "simulated"]

    def listed(*verdicts: str) -> str:
        said = [one.claim.says for one in mine if one.verdict in verdicts]
        return "; ".join(said) + "." if said else "None of the claims."

    run = values.run
    reasons = dict.fromkeys(one.why for one in mine if one.verdict in (claims.NO_WAY, claims.ABSENT))
    believe = (
        "Counts are exact: they count executed instructions, and are equal in every run. Simulated cache hits and "
        "mispredicts say what the named processor's caches would do, and no claim above rests on them.",
        "Measured cycles are those of this machine's time-stamp counter, with each line where DMA would leave it. "
        "Ratios compare between machines; cycles do not. Their intervals cover the processes and rounds of this run.",
        "No one has run this with a real card, a hardware counter of Intel, or an Arm board yet, unless the facts "
        "below name one.",
    )
    costs = tuple(line.removeprefix("- ").replace("**", "") for line in counters.sentences(values))
    return (
        ("What reproduces?", (f"{claims.sentence(outcomes)}", f"Reproduced {whose}: {listed(claims.REPRODUCED)}")),
        (
            "What does not?",
            (f"Differs: {listed(claims.DIFFERS)}", f"Same direction, another size: {listed(claims.SAME)}"),
        ),
        ("What was not measured?", tuple(why for why in reasons if why) or ("Nothing.",)),
        ("What does safe Rust cost here?", costs or ("Not measured in this run.",)),
        ("What can you believe?", believe),
        ("How to cite this run", (cite(run),)),
    )


def cite(run: Run) -> str:
    """Return a citation of the run."""
    year = str(run.info.get("start") or "")[:4]
    return (
        f"The Triptych contributors. Triptych {__version__}, revision {run.revision}, run {run.id} on "
        f"{machine(run.info)}{', ' + year if year else ''}. CITATION.cff has the project's address."
    )


def facts(run: Run) -> tuple[tuple[str, str], ...]:
    """Describe machine, sources and compilers in a few lines."""
    host = part(run.info, "host")
    cpu = part(host, "cpu")
    clock = f"{cpu['tsc_mhz']:.0f} MHz" if isinstance(cpu.get("tsc_mhz"), (int, float)) else "unknown"
    compilers = dict.fromkeys(str(build.get("toolchain")).split(",")[0] for build in run.info.get("builds") or [])
    used = ", ".join(
        f"{backend} ({count})" for backend, count in run.samples["backend"].value_counts(sort=False).items()
    )
    counted = part(host, "pmu").get("present")
    loads = part(part(part(run.info, "settings"), "lockstep"), "placed_load_tsc_cycles")
    placed = ", ".join(f"{placement} {cycles:.0f}" for placement, cycles in loads.items())
    return (
        ("run", run.id + ("" if run.ended else ", interrupted")),
        ("machine", f"{machine(run.info)}, Linux {host.get('kernel', '?')}"),
        ("clock", f"{cpu.get('counter') or 'TSC'} {clock}, governor {host.get('governor') or 'unknown'}"),
        ("hardware counters", "yes" if counted else "none: no value of this run is from hardware counters"),
        *((("load of a placed line", f"{placed} TSC cycles"),) if placed else ()),
        ("card", run.card),
        ("sources", run.revision),
        ("compilers", ", ".join(compilers) or "unknown"),
        ("samples", f"{len(run.samples)}, by backend: {used}"),
    )


def warnings(run: Run) -> tuple[str, ...]:
    """Return the warnings of a run, the most important ones first."""
    found = []
    words = [str(word) for word in run.info.get("command") or []]
    if part(run.info, "settings").get("quick") or "--quick" in words:
        found.append("This is a quick trial run: it has few packets and repeats, so its figures are rough.")
    if not run.ended:
        found.append("The run was interrupted. The report shows the samples that it had until then.")
    ours = [failure for failure in run.failures if failure.get("impl") in UPSTREAM]
    if ours:
        found.append(f"{len(ours)} measurements failed; run.json has the causes. The first: {ours[0]['cause']}")
    return (*found, *_missing_peers(run), *fold(run.warnings))


def _missing_peers(run: Run) -> list[str]:
    """Name the drivers of other projects that were not measured, or not everywhere: one line for each reason."""
    absent = [(peer, peer.get("reason")) for peer in run.info.get("skipped_peers") or ()]
    absent += [(failure, failure["cause"]) for failure in run.failures if failure.get("impl") not in UPSTREAM]
    reasons: dict[str, dict[str, None]] = {}
    for peer, reason in absent:
        reasons.setdefault(str(reason), {})[f"{peer.get('impl')}/{peer.get('variant')}"] = None
    return [f"Skipped {', '.join(names)}: {reason}" for reason, names in reasons.items()]


def write(report: Report, run_folder: Path) -> Path:
    """Replace `report/`. If a file cannot be written, the old report stays as it is."""
    target = run_folder / FOLDER
    try:
        with tempfile.TemporaryDirectory(prefix=".report.", dir=run_folder) as temporary:
            fresh = Path(temporary) / FOLDER
            _write(report, fresh)
            if target.exists():
                target.rename(Path(temporary) / "old")
            fresh.rename(target)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None
    return target


def _write(report: Report, folder: Path) -> None:
    drawings = write_page(report, folder, "report.html")
    _text(folder / "tables" / "claims.csv", claims.csv(report.outcomes))
    (folder / "report.pdf").write_bytes(pdf(report, drawings))


def write_page(report: Report, folder: Path, name: str) -> dict[str, str]:
    """Write a page as HTML, with its tables and figures beside it; return the drawings."""
    tables, plots = folder / "tables", folder / "figures"
    try:
        tables.mkdir(parents=True, exist_ok=True)
        plots.mkdir(exist_ok=True)
        return _write_page(report, folder, name)
    except OSError as error:
        raise DataError(f"cannot write {folder}: {error.strerror or error}") from None


def _write_page(report: Report, folder: Path, name: str) -> dict[str, str]:
    tables, plots = folder / "tables", folder / "figures"
    for table in (table for one in report.sections for table in one.tables):
        _text(tables / f"{table.key}.md", markdown.render(table))
        _text(tables / f"{table.key}.tex", latex.render(table))
        _text(tables / f"{table.key}.csv", markdown.csv(table.records))
    drawings = {}
    for figure in (figure for one in report.sections for figure in one.figures):
        drawn = figures.canvas(figure)
        drawings[figure.key] = figures.svg(drawn, figure.key)
        _text(plots / f"{figure.key}.svg", drawings[figure.key])
        _text(plots / f"{figure.key}-dark.svg", figures.recolour(drawings[figure.key], figures.DARK))
        (plots / f"{figure.key}.pdf").write_bytes(figures.pdf(drawn))
    _text(folder / name, page(report, drawings))
    return drawings


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def page(report: Report, drawings: Mapping[str, str], for_print: bool = False) -> str:
    """Return the page as HTML. With `for_print` it suits :func:`pdf`: always light, with page numbers."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["fonts"] = FONTS.as_uri()
    colours = {"light": figures.variables(figures.LIGHT), "dark": figures.variables(figures.DARK)}
    styles = Markup(environment.get_template("report.css").render(**colours, for_print=for_print))
    shown = {
        key: Markup(svg if for_print else figures.recolour(svg, figures.css_colours())) for key, svg in drawings.items()
    }
    return environment.get_template("report.html").render(report=report, drawings=shown, styles=styles)


def pdf(report: Report, drawings: Mapping[str, str]) -> bytes:
    """Return the report as PDF; :class:`DataError` if a system library is missing."""
    # Without this, the date makes two PDFs of the same run differ.
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    try:
        import weasyprint
    except OSError as error:
        raise DataError(
            f"cannot write the PDF: a system library is missing ({error}); `bench/setup/setup.sh paper` installs it"
        ) from None
    # WeasyPrint warns of each property that only SVG has.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    document = weasyprint.HTML(string=page(report, drawings, for_print=True), base_url=str(TEMPLATES))
    written: bytes = document.write_pdf()
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.report",
        description="Write the report of a run: report.html, report.pdf, every table and every figure.",
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a results folder, such as results/latest")
    options = parser.parse_args(arguments)
    try:
        if not all(map(several.is_run, options.runs)):
            top = Path(os.path.commonpath([path.resolve() for path in options.runs]))
            write_page(of_machines(options.runs, top), top / FOLDER, "report.html")
            print(f"{os.path.relpath(top / FOLDER)}/report.html, with tables and figures beside it")
            return 0
        runs = several.read_runs(options.runs)
        for run in runs:
            written = write(build(run, runs), run.folder)
            print(f"{os.path.relpath(written)}/report.html and report.pdf, with tables and figures beside them")
    except DataError as error:
        print(f"triptych_paper.report: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
