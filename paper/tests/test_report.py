"""The report: its first page, its sections, and its files."""

import json
from pathlib import Path

import pytest
from triptych_paper import report
from triptych_paper.comparisons import Section
from triptych_paper.errors import DataError
from triptych_paper.records import read_run
from triptych_paper.tables import latex, markdown, terminal
from triptych_paper.tables.model import Cell, Column, Table

from tests.synthetic import cycles, row, rows, write_run

RUNGS = (("00-transpiled", "rust-unsafe", "default"), ("01-drop", "rust", "ladder-01"), ("02-all", "rust", "default"))


def ladder(folder: Path) -> None:
    rungs = [
        {"name": name, "impl": impl, "variant": variant, "title": name[3:], "shipped": name == "02-all", "alone": None}
        for name, impl, variant in RUNGS
    ]
    (folder / "ladder.json").write_text(json.dumps({"rungs": rungs}))


def bench() -> list[str]:
    """The samples of `make bench`, and of a rung."""
    lines = rows()
    for impl, factor in (("c", 1.0), ("rust", 1.2), ("rust-unsafe", 0.9)):
        for batch in (1, 64, 256):
            lines.append(row(impl, "default", batch, "trace", "instructions", (70 + 90 / batch) * factor))
            lines += cycles(impl, "default", batch, "lockstep", (40 + 50 / batch) * factor)
        for load in (1, 10):
            latency = [
                row(impl, "default", 32, "wall", "latency_p50_us", 3, repeat=n, offered_mpps=load) for n in range(5)
            ]
            lines += latency
        for waiting in ("poll", "interrupts"):
            at = {"offered_mpps": 0.1, "waiting": waiting}
            lines.append(row(impl, "default", 32, "wall", "cpu_share", 0.5, **at))
            lines.append(row(impl, "default", 32, "wall", "cpu_share", 0.9, **{**at, "offered_mpps": 5}))
        for name, value in (("ring_size", 64), ("frame_size", 1514), ("queues", 2)):
            lines.append(row(impl, "default", 32, "wall", "mpps", 9, **{name: value}))
    lines += [row("c", variant, 32, "trace", "instructions", 90) for variant in ("trapping-ubsan", "no-lto")]
    lines += [row("dpdk-vector", "default", 32, "trace", "instructions", 100)]
    for place, value in (("lockstep", 4), ("burst", 6)):
        lines += cycles("c", "tuned", 32, place, value) + cycles("rust", "tuned", 32, place, 1.02 * value)
    lines += cycles("dpdk-vector", "default", 32, "burst", 20)
    lines += [row("c", "tuned", batch, "trace", "instructions", 20) for batch in (32, 31)]
    lines += [row("rust", "tuned", 32, "trace", "instructions", 21)]
    lines += [row("rust", "ladder-01", 32, "trace", "instructions", 77)]
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run, with the files of all other runs beside it."""
    found = write_run(tmp_path_factory.mktemp("results"), bench())
    ladder(found)
    files = {"c": [{"path": "rx.c", "twin": "rx", "lines": 830, "unsafe_lines": None}]}
    (found / "code.json").write_text(json.dumps({"revision": "0", "files": files}))
    hazards = ["hazard,class,at_fault,impl,outcome,evidence,seconds", "lie,CWE-1,device,c,hang,x,1"]
    (found / "hazards.csv").write_text("\n".join([*hazards, "lie,CWE-1,device,rust,no effect,x,1\n"]))
    compilers = found.parent / "compilers" / "latest"
    compilers.mkdir(parents=True)
    setting = {"variant": "a", "label": "cc 9", "opt": "2", "target_cpu": "zen9", "lto": False, "pgo": False}
    write_run(compilers, [row("c", "a", 32, "trace", "instructions", 80)], plan={"compare": {"settings": [setting]}})
    for path in (compilers / "2026-01-02T03-04-05Z").iterdir():
        path.rename(compilers / path.name)
    return found


@pytest.fixture(scope="module")
def sections(folder: Path) -> dict[str, Section]:
    return {section.key: section for section in report.build(read_run(folder)).sections}


def test_every_section_that_was_measured_has_tables(sections: dict[str, Section]) -> None:
    missing = {key for key, section in sections.items() if not section.tables}
    assert missing == {"applications"}
    assert sections["applications"].missing.startswith("Not measured here: `make apps`")


def test_the_comparisons_show_the_change_against_their_base(sections: dict[str, Section]) -> None:
    overflow = sections["overflow"].tables[0]
    record = next(r for r in overflow.records if r["variant"] == "overflow-checks" and r["metric"] == "instructions")
    assert (record["base"], record["ratio"]) == ("rust/default", pytest.approx(1.3 / 1.2))
    assert "+8.3 %" in str(overflow.rows[0])
    batches = sections["batches"].tables[0]
    assert [line[0].text for line in batches.rows] == ["1", "8", "32", "64", "256"]
    assert [table.key for table in sections["queues"].tables] == ["queues-mpps"]


def test_the_limit_has_a_row_for_each_path_and_divides_by_the_same_path_and_by_dpdk(
    sections: dict[str, Section],
) -> None:
    tables = {table.key: table for table in sections["limit"].tables}
    paths = tables["limit-batch-32"]
    names = [line[0].text for line in paths.rows]
    assert names[:4] == ["C", "C, tuned", "safe Rust", "safe Rust, tuned"] and names[-1] == "ixy.rs"
    assert "DPDK, vector" in names and "safe Rust, overflow checks" not in names
    assert [cell.text for cell in paths.rows[1][-2:]] == ["0.20", "0.30"]
    ratio = tables["limit-ratios-batch-32"].rows[2]
    assert [cell.text for cell in ratio[:4]] == ["tuned", "safe Rust", "1.05", "1.02"]
    assert [line[0].text for line in tables["limit-batch-31"].rows] == ["C, tuned"]
    assert {line[0].text.split(" ")[0] for line in tables["tinynf-published"].rows} == {"TinyNF", "DPDK"}
    # No other table has a row for a path, or for a batch of which only a path was measured.
    others = [table for key, section in sections.items() if key != "limit" for table in section.tables]
    assert not any("tuned" in line[0].text or line[0].text == "31" for table in others for line in table.rows)


def test_the_ladder_shows_the_step_from_the_rung_below(sections: dict[str, Section]) -> None:
    steps = [line[2].text for line in sections["ladder"].tables[0].rows]
    assert steps == ["", "+5.0", "+19.0"]


def test_other_runs_fill_their_sections(sections: dict[str, Section]) -> None:
    assert [cell.text for cell in sections["compilers"].tables[0].rows[0][:4]] == [
        "C",
        "cc 9",
        "-O2 zen9 no LTO",
        "80.0",
    ]
    assert [cell.tone for cell in sections["hazards"].tables[0].rows[0]] == ["", "", "bad", "good"]
    assert sections["checks"].tables[0].rows[0][2].text == "2"


def test_the_files_are_complete_and_the_first_page_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main([str(folder)]) == 0
    assert "report.html" in capsys.readouterr().out
    written = folder / "report"
    page = (written / "report.html").read_text()
    for question in ("What reproduces?", "What does not?", "What does safe Rust cost here?", "What can you believe?"):
        assert question in page
    assert "revision 0123456789, run 2026-01-02T03-04-05Z on A Processor, 2 CPUs, 2026." in page
    assert "memory 210 TSC cycles" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert (written / "report.pdf").read_bytes().startswith(b"%PDF")
    tables = {path.name for path in (written / "tables").iterdir()}
    assert {"counters-batch-32.csv", "counters-batch-8.md", "ladder-batch-32.tex", "claims.csv"} <= tables
    first = (written / "tables" / "claims.csv").read_text().splitlines()
    assert first[0].startswith("id,subject,published,measured,verdict,backend")
    verdicts = {line.split(",")[4] for line in first[1:]} - {""}
    assert {line.split(",")[1] for line in first[1:]} == {"upstream", "ours"}
    assert all(verdict.startswith(("reproduced", "differs", "not")) for verdict in verdicts if verdict.isalpha())
    figures = {path.name for path in (written / "figures").iterdir()}
    assert {f"counters-batch-32{end}" for end in (".svg", "-dark.svg", ".pdf")} <= figures


def test_a_malformed_file_of_a_section_is_named(folder: Path, tmp_path: Path) -> None:
    broken = write_run(tmp_path)
    for name, text in (
        ("ladder.json", '{"rungs": [1]}'),
        ("hazards.csv", "hazard\n1\n"),
        ("code.json", '{"files": 1}'),
    ):
        (broken / name).write_text(text)
        with pytest.raises(DataError, match=name):
            report.build(read_run(broken))
        (broken / name).unlink()


def test_warnings_of_one_kind_are_folded_and_failures_named(tmp_path: Path) -> None:
    many = [f"c/default batch {batch}, wall: {batch} dropped" for batch in (1, 2, 4, 8)]
    failure = {"impl": "c", "variant": "default", "batch": 1, "backend": "wall", "cause": "no card"}
    run = read_run(write_run(tmp_path, warnings=many, failures=[failure], end=None))
    found = report.warnings(run)
    assert len(found) == 3
    assert "interrupted" in found[0] and "no card" in found[1] and "3 more of this kind" in found[2]


def test_peers_that_were_skipped_or_failed_are_named_once_for_each_reason(tmp_path: Path) -> None:
    skipped = [{"impl": "ixy", "variant": variant, "reason": "no network"} for variant in ("default", "own-flags")]
    failed = {"impl": "dpdk-vector", "variant": "default", "backend": "trace", "cause": "no huge pages"}
    failures = [{**failed, "batch": batch} for batch in (32, 8)]
    run = read_run(write_run(tmp_path, skipped_peers=skipped, failures=failures))
    assert report.warnings(run) == (
        "Skipped ixy/default, ixy/own-flags: no network",
        "Skipped dpdk-vector/default: no huge pages",
    )


def test_all_formats_escape_what_they_must() -> None:
    cell = Cell("a|b_c & <d>", ("1 to 2",), ("a note",))
    table = Table("key", "Title", (Column("x", numeric=False), Column("y")), ((cell, Cell("1")),), ())
    assert "a\\|b_c & \\<d><br>1 to 2" not in markdown.render(table)
    assert "a\\|b_c & \\<d>¹<br>1 to 2" in markdown.render(table)
    assert r"a|b\_c \& \textless{}d\textgreater{}\tnote{1}" in latex.render(table)
    assert "¹ A note" in terminal.render_all([table])
