"""The report: its sections, its formats and its files."""

import csv
import io
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from triptych_paper.claims.reader import read_claims
from triptych_paper.report import __main__ as command
from triptych_paper.report import files
from triptych_paper.report.build import build, read_data
from triptych_paper.report.model import Report, Section
from triptych_paper.statistics import Summary
from triptych_paper.tables import latex, markdown, terminal, tidy_csv
from triptych_paper.tables.model import Cell, Column, Table
from triptych_paper.tables.numbers import change, number, significant

from tests.example import ALL_CONDITIONS, CONDITIONS, HEADER, MakeRun, peer_rows, rows, with_conditions


def report(folder: Path) -> Report:
    return build(read_data(folder))


def section(built: Report, key: str) -> Section:
    return next(section for section in built.sections if section.key == key)


def table(built: Report, key: str) -> Table:
    return next(table for section in built.sections for table in section.tables if table.key == key)


def row(found: Table, label: str) -> tuple[Cell, ...]:
    return next(cells for cells in found.rows if cells[0].text == label)


# --- sections


def test_counters_have_their_published_counterparts(make_run: MakeRun) -> None:
    cells = row(table(report(make_run()), "counters-batch-32"), "instructions")
    assert cells[2] == Cell("208.0", published="209, 1.00")
    assert (cells[5].text, cells[6].text) == ("valgrind", "1")
    assert row(table(report(make_run()), "counters-batch-32"), "branch mispredicts")[5].text == "valgrind, simulated"


def test_the_typing_error_of_the_page_has_a_footnote(make_run: MakeRun) -> None:
    built = report(make_run())
    assert any("34.4" in note for note in row(table(built, "counters-batch-8"), "loads")[1].notes)
    assert not any("34.4" in note for note in table(built, "counters-batch-32").footnotes())


def test_a_spread_is_shown_where_there_is_one(make_run: MakeRun) -> None:
    cells = row(table(report(make_run()), "counters-batch-32"), "TSC cycles")
    assert " to " in cells[1].detail[0]
    assert cells[6].text == "11"


def test_a_missing_pmu_is_the_reason(make_run: MakeRun) -> None:
    cell = row(table(report(make_run()), "counters-batch-32"), "load L2 hits")[1]
    assert (cell.text, cell.notes) == ("–", ("not measurable here: no PMU",))


def test_multiplexed_values_are_marked(make_run: MakeRun) -> None:
    lines = with_conditions(["c,default,cc 1.0,32,perf,instructions,127,x/packet,1,0"], note="multiplexed")
    built = report(make_run(lines=lines, header=f"{HEADER},{CONDITIONS}"))
    found = table(built, "counters-batch-32")
    cell = row(found, "instructions")[1]
    assert any("scaled up" in note for note in cell.notes)
    record = next(r for r in found.records if r["impl"] == "c" and r["metric"] == "instructions")
    assert record["note"] == "multiplexed"


def test_drivers_are_not_compared_across_backends(make_run: MakeRun) -> None:
    perf = "rust,default,cc 1.0,32,perf,instructions,300,instructions/packet,1000,0"
    cells = row(table(report(make_run(lines=[*rows(), perf])), "counters-batch-32"), "instructions")
    assert cells[5].text == "perf"
    assert cells[1].text == "–"
    assert cells[2].text == "300.0"


def test_overflow_checks_are_compared_with_the_default_build(make_run: MakeRun) -> None:
    cells = row(table(report(make_run()), "overflow-batch-8"), "instructions")
    assert cells[2].detail == ("+6.2 %", "+13.0 a packet")
    throughput = row(table(report(make_run()), "overflow-batch-8"), "throughput")
    assert not any("a packet" in line for line in throughput[2].detail)


def test_a_run_of_the_whole_matrix_fills_every_section(matrix: Path) -> None:
    built = report(matrix)
    for found in built.sections:
        if found.key in ("applications", "hazards", "compilers", "interrupts", "others", "queues", "validation"):
            continue  # `make safety-lab`, `make compilers`, `make peers` and others fill them
        assert found.tables, found.key
        assert not found.missing, found.key
    assert row(table(built, "rings-mpps"), "64")[1].text == "19.0"
    assert row(table(built, "frames-mpps"), "1514")[1].text == "15.0"
    assert row(table(built, "hardening-batch-32"), "instructions")[2].detail == ("+10.0 %",)
    assert row(table(built, "lto-batch-32"), "instructions")[2].detail == ("+30.0 %",)
    assert row(table(built, "code"), "safe Rust")[4].text == "40"
    assert row(table(built, "throughput-batches"), "1")[1].detail == ("50 % full",)


def test_cycles_with_several_queues_have_a_table(make_run: MakeRun) -> None:
    lines = [f"{line},,,1,poll" for line in with_conditions(rows())]
    for impl, factor in (("c", 1.0), ("rust", 1.2), ("rust-unsafe", 1.1)):
        start = f"{impl},default,cc 1.0,32,lockstep,tsc_cycles"
        lines += [f"{start},{40 * factor},tsc cycles/packet,3840,{repeat},512,60,,,,,4,poll" for repeat in range(3)]
    built = report(make_run(lines=lines, header=f"{HEADER},{ALL_CONDITIONS}"))
    one, four = (row(table(built, "queues-cycles"), queues)[1] for queues in ("1", "4"))
    assert four.text == "40.0"
    assert four.detail[-1] == f"{4 * float(one.text) / 40:.1f} × on paper"


def test_throughput_of_several_threads_has_a_table(make_run: MakeRun) -> None:
    lines = [f"{line},,,1,poll" for line in with_conditions(rows())]
    start = "c,default,cc 1.0,32,wall,mpps,15.0,Mpps,3840"
    lines += [f"{start},{repeat},512,60,,,,,2,poll" for repeat in range(3)]
    built = report(make_run(lines=lines, header=f"{HEADER},{ALL_CONDITIONS}"))
    assert row(table(built, "queues-mpps"), "2")[1].text == "15.0"


def test_interrupts_have_their_processor_time_beside_that_of_polling(make_run: MakeRun) -> None:
    lines = [f"{line},,,1,poll" for line in with_conditions(rows())]
    for waiting, share, latency in (("poll", 1.0, 2.0), ("interrupts", 0.05, 60.0)):
        start, end = "c,default,cc 1.0,32,wall", f"1000,0,512,60,0.01,,,,1,{waiting}"
        lines += [f"{start},cpu_share,{share},ratio,{end}", f"{start},latency_p50_us,{latency},us,{end}"]
    built = report(make_run(lines=lines, header=f"{HEADER},{ALL_CONDITIONS}"))
    shares = table(built, "interrupts-cpu_share")
    assert row(shares, "0.01 Mpps, poll")[1].text == "1.00"
    assert row(shares, "0.01 Mpps, interrupts")[1].text == "0.05"
    assert row(table(built, "interrupts-latency_p50_us"), "0.01 Mpps, interrupts")[1].text == "60.00"


def test_latency_has_the_published_values_of_the_same_load(matrix: Path) -> None:
    built = report(matrix)
    cells = row(table(built, "latency-1mpps"), "50 %")
    assert cells[1] == Cell("4.00", ("3.20 to 4.80",))
    assert cells[5].text == "3.76"
    tail = row(table(built, "latency-1mpps"), "99.9999 %")
    assert tail[1].notes == ("Too few packets for this percentile.",)
    assert row(table(built, "latency-10mpps"), "frames lost")[1].text == "0.1 %"


def test_a_run_of_one_backend_has_reasons_for_the_rest(make_run: MakeRun) -> None:
    lines = [line for line in rows() if ",valgrind," in line]
    built = report(make_run(lines=lines, settings={"valgrind": {}}))
    for key in ("throughput", "latency", "rings", "frames", "queues", "interrupts", "hardening", "lto", "code"):
        assert section(built, key).missing, key
    assert section(built, "batches").missing == ("Not measured: cycles under the default conditions.",)


def test_a_run_without_published_batches(make_run: MakeRun) -> None:
    lines = ["c,default,cc 1.0,64,wall,mpps,20,Mpackets/s,1000,0"]
    built = report(make_run(lines=lines))
    assert section(built, "counters").missing
    assert section(built, "overflow").missing


def test_an_interrupted_or_quick_run_has_a_warning(make_run: MakeRun) -> None:
    failure = {"impl": "rust", "variant": "default", "batch": 8, "backend": "wall", "cause": "signal 11"}
    built = report(make_run(end=None, failures=[failure], command=["triptych", "run", "--quick"]))
    text = " ".join(built.warnings)
    assert "was interrupted" in text
    assert "signal 11" in text
    assert "quick trial run" in text


def test_every_value_has_unit_backend_and_repeats(matrix: Path) -> None:
    for found in (table for section in report(matrix).sections for table in section.tables):
        for record in found.records:
            if record.get("value") is not None:
                assert record["unit"], (found.key, record)
                assert record["backend"], (found.key, record)
                assert record["repeats"] >= 1, (found.key, record)


def test_no_text_contains_nan(matrix: Path, make_run: MakeRun) -> None:
    for folder in (matrix, make_run(lines=rows()[:9])):
        for found in (table for section in report(folder).sections for table in section.tables):
            text = markdown.render(found)
            assert not re.search(r"\bnan\b|\binf\b|None", text), text


# --- forms

TABLE = Table(
    "odd",
    "50 % of R&D_x",
    (Column("what", numeric=False), Column("value", notes=("A # note.",))),
    ((Cell("a | b* {c} 3^2 ~ \\ <x>"), Cell("1.5", ("1 to 2",), ("A # note.", "Another."))),),
    ({"what": "a", "value": 1.5, "empty": None},),
    "How to read: 5 % & more.",
)


def test_markdown() -> None:
    assert markdown.render(TABLE).splitlines() == [
        "### 50 % of R&D_x",
        "",
        "| what | value¹ |",
        "|---|---:|",
        "| a \\| b\\* {c} 3^2 ~ \\\\ \\<x> | **1.5**¹⁺²<br>1 to 2 |",
        "",
        "How to read: 5 % & more.",
        "",
        "- ¹ A # note.",
        "- ² Another.",
    ]


def test_latex() -> None:
    text = latex.render(TABLE)
    assert r"\caption{50 \% of R\&D\_x}" in text
    assert (
        r"a | b* \{c\} 3\textasciicircum{}2 \textasciitilde{} \textbackslash{} \textless{}x\textgreater{} & "
        r"\shortstack[r]{1.5\tnote{1,2}\\{\scriptsize 1 to 2}} \\" in text
    )
    assert r"\item[1] A \# note." in text
    assert r"\begin{tabular}{lr}" in text


def test_latex_of_every_table_is_balanced(matrix: Path) -> None:
    for found in (table for section in report(matrix).sections for table in section.tables):
        text = "\n".join(line for line in latex.render(found).splitlines() if not line.startswith("%"))
        text = text.replace(r"\\{", r"\\ {")  # the end of a line before a group, not an escaped brace
        assert text.count("\\begin{") == text.count("\\end{"), found.key
        assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text)), found.key
        assert not re.search(r"(?<!\\)[%#_]", text), found.key
        body = text[text.index("\\midrule") : text.index("\\bottomrule")]
        for line in filter(lambda line: line.endswith(r" \\"), body.splitlines()):
            assert len(re.findall(r"(?<!\\)&", line)) == len(found.columns) - 1, line


def test_terminal() -> None:
    assert terminal.render_all([TABLE]).splitlines() == [
        "50 % of R&D_x",
        "──────────────────────────────",
        "what                    value¹",
        "──────────────────────────────",
        "a | b* {c} 3^2 ~ \\ <x>  1.5¹⁺²",
        "                        1 to 2",
        "──────────────────────────────",
        "",
        "How to read: 5 % & more.",
        "  ¹ A # note.",
        "  ² Another.",
    ]


def test_the_terminal_breaks_text_but_not_numbers() -> None:
    columns = (Column("what", numeric=False), Column("a long heading"))
    wide = Table("wide", "Wide", columns, ((Cell("many words " * 5), Cell("12345 (1, 2.00)")),), ())
    lines = terminal.render_all([wide], 40).splitlines()
    assert max(map(len, lines)) == 40
    assert any(line.endswith("12345 (1, 2.00)") for line in lines)


def test_csv() -> None:
    assert tidy_csv.render(TABLE.records) == "what,value\na,1.5\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0123, "0.0123"), (3.756, "3.76"), (54.12, "54.1"), (1234.0, "1234"), (0.0, "0"), (-2.5, "−2.50")],
)
def test_significant_figures(value: float, text: str) -> None:
    assert significant(value) == text


def test_numbers() -> None:
    assert number(-0.001, 1) == "0.0"
    assert number(-1.25, 1) == "−1.2"
    assert change(Summary(1.04, 0.99, 1.08, 5)) == "+4.0 % (−1.0 to +8.0)"
    assert change(Summary(1.0, 1.0, 1.0, 1)) == "0.0 %"


# --- files


class Page(HTMLParser):
    """Collects the resources and links of a page, and checks that its tags are closed."""

    VOID = frozenset(("meta", "br", "img", "link", "hr", "input"))

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        if tag in ("img", "script", "link", "iframe", "image", "object", "source"):
            self.loads.append(values.get("src") or values.get("href") or values.get("xlink:href") or tag)
        if tag == "a":
            self.targets.append(values.get("href", ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> has no opening tag"
        opened = self.open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of a run of the whole matrix, once for all tests."""
    import json

    from tests.example import code, matrix_rows, write_run

    folder = write_run(tmp_path_factory.mktemp("results"), matrix_rows(), f"{HEADER},{CONDITIONS}")
    (folder / "code.json").write_text(json.dumps(code()), encoding="utf-8")
    assert command.main([str(folder)]) == 0
    return folder / "report"


def test_the_page_is_well_formed_and_self_contained(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.loads == []
    assert not re.search(r"@import|url\((?!#)|src=", text)
    assert len(page.ids) == len(set(page.ids)), sorted({i for i in page.ids if page.ids.count(i) > 1})
    assert {target.removeprefix("#") for target in page.targets} <= set(page.ids)
    assert "prefers-color-scheme: dark" in text
    assert "{{" not in text
    assert "#3b6fd1;" in text  # the colour is the value of a variable
    assert 'fill: #3b6fd1"' not in text  # figures use the variable


def test_every_table_and_figure_has_its_files(written: Path) -> None:
    tables = {path.stem for path in (written / "tables").glob("*.csv")}
    assert {"counters-batch-32", "throughput-batches", "latency-1mpps", "code", "claims-latency"} <= tables
    for ending in ("md", "tex"):
        # One file has the records of all tables of claims.
        assert {path.stem for path in (written / "tables").glob(f"*.{ending}")} == tables - {"claims"}
    for path in (written / "tables").glob("*.csv"):
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
        assert len({len(line) for line in lines}) == 1, path
    figures = {path.stem for path in (written / "figures").glob("*.pdf")}
    assert {"counters-batch-32", "throughput-batches", "latency", "hardening"} <= figures
    for name in figures:
        for path in (written / "figures" / f"{name}.svg", written / "figures" / f"{name}-dark.svg"):
            assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
        assert (written / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_a_report_with_other_drivers_shows_them_beside_published_ones(make_run: MakeRun) -> None:
    built = report(make_run(lines=[*rows(), *peer_rows()]))
    section = next(section for section in built.sections if section.key == "others")
    assert [each.key for each in section.tables] == ["others-batch-32", "others-batch-8", "others-published"]
    assert not section.missing
    vector = row(table(built, "others-published"), "DPDK l2fwd vector")
    assert vector[3].text == "61"
    assert {"paper's drivers"} <= {" ".join(tile.label.split()[-2:]) for tile in built.tiles}
    claims = next(section for section in built.sections if section.key == "claims")
    subjects = {record["subject"] for each in claims.tables for record in each.records}
    assert subjects == {"upstream", "ours"}


def test_all_claims_are_in_one_file_with_their_subjects(written: Path) -> None:
    with (written / "tables" / "claims.csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    assert list(records[0])[:6] == ["id", "subject", "published", "measured", "verdict", "backend"]
    found = {record["id"]: record for record in records}
    assert len(found) == len(records) == len(read_claims())
    lines = found["lines-ratio"]
    assert (lines["subject"], lines["published"], lines["backend"]) == ("ours", "16", "sources")
    assert found["mispredict-rate"]["published"] == "0.2 to 0.3"
    assert found["l1-hit-rate"]["published"] == ">= 98"
    assert found["ipc-c-b32"]["measured"] == ""


def test_the_pdf_is_complete(written: Path) -> None:
    data = (written / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert data.rstrip().endswith(b"%%EOF")
    assert len(data) > 50_000


def test_old_tables_are_removed(written: Path) -> None:
    stale = written / "tables" / "stale.csv"
    stale.write_text("old\n")
    # An empty report: the whole one takes seconds.
    files.write(Report("t", "s", ()), written.parent)
    assert not stale.exists()
    assert not list(written.parent.glob(".report.*"))


def test_a_failed_write_keeps_the_old_report(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run()
    (folder / "report").mkdir()
    (folder / "report" / "report.html").write_text("old")

    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_text", full)
    assert command.main([str(folder)]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert (folder / "report" / "report.html").read_text() == "old"
    assert not list(folder.glob(".report.*"))


def test_a_missing_run_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([str(tmp_path / "none")]) == 1
    assert "is not a results folder" in capsys.readouterr().err


def test_a_malformed_code_json_is_named(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run()
    (folder / "code.json").write_text('{"revision": "x", "files": {"c": [{"path": "a"}]}}')
    assert command.main([str(folder)]) == 1
    assert "code.json is malformed" in capsys.readouterr().err


def test_a_wrong_command_line_ends_with_2() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "triptych_paper.report", "--wrong"],
        env={"PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
