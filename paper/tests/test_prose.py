"""Figures in prose: every one comes from the archived run."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from triptych_paper.claims.model import Verdict
from triptych_paper.errors import DataError
from triptych_paper.prose import __main__ as command
from triptych_paper.prose.archive import ARCHIVE, Archive, Value
from triptych_paper.prose.blocks import cycles, names, render, than
from triptych_paper.prose.check import bare_cycles, problems, update
from triptych_paper.prose.documents import ROOT, blocks, documents, replaced
from triptych_paper.prose.unheld import Allowed, read_allowed, stale, unheld


def exact(value: float) -> Value:
    return Value(value, value, value)


def test_all_figures_in_documents_come_from_the_archived_run() -> None:
    assert problems() == []


def test_every_template_has_a_document() -> None:
    used = {name for path in documents() for name in blocks(path.read_text(encoding="utf-8"))}
    assert used == set(names())


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.002, "as many instructions as"),
        (1.14, "14 % more instructions than"),
        (0.952, "4.8 % fewer instructions than"),
    ],
)
def test_the_words_follow_the_count(ratio: float, words: str) -> None:
    assert than(exact(ratio), "instructions") == words


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (Value(1.1, 1.02, 1.2), "needs more TSC cycles than C"),
        (Value(0.8, 0.7, 0.9), "needs fewer TSC cycles than C"),
        (Value(0.8, 0.7, 1.1), "the spread covers both more and fewer"),
        (Value(1.1, 0.9, 1.3), "the spread covers both more and fewer"),
    ],
)
def test_the_words_follow_the_spread(ratio: Value, words: str) -> None:
    assert words in cycles(("TSC cycles", ratio))
    assert f"({ratio.low:.2f} to {ratio.high:.2f})" in cycles(("TSC cycles", ratio))


def test_core_cycles_are_preferred(archive: Path) -> None:
    path = archive / "compared-batch-32.csv"
    modelled = path.read_text(encoding="utf-8")
    assert Archive(archive).cycles("rust", 32)[0] == "modelled cycles of haswell"
    counted = modelled.replace("model,modelled,haswell,1.6,True", "perf,counted,,,False")
    path.write_text(counted, encoding="utf-8")
    assert Archive(archive).cycles("rust", 32)[0] == "core cycles"
    path.write_text(counted.replace("core_cycles_times_c", "tsc_cycles_times_c"), encoding="utf-8")
    assert Archive(archive).cycles("rust", 32)[0] == "TSC cycles"


def with_validation(archive: Path) -> Archive:
    """Give an archive another validation of the model."""
    (archive / "validation-lockstep.csv").write_text(
        "cpu,modelled,measured\nzen4,10,10\nzen4,22,20\nzen4,39,30\n", encoding="utf-8"
    )
    (archive / "validation-published-haswell.csv").write_text(
        "metric,modelled_to_published\ninstructions,1.5\ncore_cycles,0.91\ncore_cycles,1.12\n", encoding="utf-8"
    )
    return Archive(archive)


def test_the_text_on_the_model_has_its_errors_from_the_archive(archive: Path) -> None:
    text = " ".join(render("readme-model", with_validation(archive)).split())
    assert "0.91 to 1.12 times the published ones" in text
    assert "its median error is 10 %, with a rank correlation of 1.00." in text
    assert "3 cells, zen4." in text
    assert "Believe its order of drivers" in text
    assert "older than the model" not in text


def test_the_text_warns_of_an_order_that_is_not_the_measured_one(archive: Path) -> None:
    changed = with_validation(archive)
    (archive / "validation-lockstep.csv").write_text(
        "cpu,modelled,measured\nzen4,30,10\nzen4,22,20\nzen4,10,30\n", encoding="utf-8"
    )
    text = " ".join(render("readme-model", changed).split())
    assert "with a rank correlation of −1.00." in text
    assert "Believe its order" not in text
    assert "its order of drivers is not the measured one" in text


def test_the_text_on_an_archive_without_the_model_has_no_figures(archive: Path) -> None:
    (archive / "validation-lockstep.csv").unlink(missing_ok=True)
    assert "older than the model" in " ".join(render("readme-model", Archive(archive)).split())


def test_modelled_cycles_are_named_in_prose(archive: Path) -> None:
    changed = Archive(archive)
    assert changed.modelled == "haswell"
    assert changed.cycles("rust", 32)[0] == "modelled cycles of haswell"
    text = " ".join(render("readme-results", changed).split())
    assert "modelled cycles of haswell than C" in text
    assert "Parentheses hold" not in text
    assert "**modelled** for haswell" in " ".join(render("example-machine", changed).split())


def test_the_ladder_names_the_kind_of_its_cycles(archive: Path) -> None:
    path = archive / "ladder" / "ladder-batch-32.csv"
    records = pd.read_csv(path, dtype=str, keep_default_na=False)
    cycles_rows = records["metric"].isin(["tsc_cycles", "core_cycles"])
    records.loc[cycles_rows, "metric"] = "core_cycles"
    records["kind"], records["cpu"] = "modelled", "haswell"
    records.loc[cycles_rows, ["added_p10", "added_p90"]] = ""
    records.to_csv(path, index=False)
    kind, steps = Archive(archive).part("ladder").ladder_cycles(32)
    assert kind == "modelled cycles of haswell"
    assert steps
    text = " ".join(render("ladder-results", Archive(archive)).split())
    assert "the modelled cycles of haswell by half a cycle or more" in text


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Copy the archive, to change it."""
    return Path(shutil.copytree(ARCHIVE, tmp_path / "archive"))


def test_another_verdict_in_the_archive_is_found(archive: Path) -> None:
    records = pd.read_csv(archive / "claims.csv", dtype=str, keep_default_na=False)
    first = records.loc[0, "verdict"]
    records.loc[0, "verdict"] = next(verdict.value for verdict in Verdict if verdict.value != first)
    records.to_csv(archive / "claims.csv", index=False)
    found = problems(archive=archive)
    assert [line for line in found if "README.md: block readme-verdicts differs from the archived run" in line]


def test_another_machine_in_the_archive_is_found(archive: Path) -> None:
    path = archive / "run.json"
    path.write_text(re.sub(r'"cpus": (\d+)', r'"cpus": 9\1', path.read_text(encoding="utf-8")), encoding="utf-8")
    assert any("block readme-results differs" in line for line in problems(archive=archive))


def test_a_missing_figure_names_the_command(archive: Path) -> None:
    (archive / "claims.csv").unlink()
    with pytest.raises(DataError, match="make paper-example"):
        problems(archive=archive)


def test_an_archive_without_compilers_leaves_their_sentence_out(archive: Path) -> None:
    shutil.rmtree(archive / "compilers", ignore_errors=True)
    assert "LLVM" not in render("readme-results", Archive(archive))


def test_documents_are_updated(tmp_path: Path) -> None:
    page = "# Page\n\n<!-- figures: readme-verdicts -->\nold\n<!-- /figures -->\n\nEnd.\n"
    new = replaced(page, lambda name: f"new {name}")
    assert new == page.replace("old", "new readme-verdicts")
    assert blocks(new) == {"readme-verdicts": "new readme-verdicts"}
    assert replaced(new, lambda name: f"new {name}") == new
    with pytest.raises(DataError, match="cannot list the documents"):
        update(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "<!-- figures: a -->\nno end\n",
        "no start\n<!-- /figures -->\n",
        "in a line <!-- figures: a -->\n<!-- /figures -->\n",
        "<!-- figures: a -->\n<!-- figures: b -->\n<!-- /figures -->\n",
    ],
)
def test_a_marker_without_a_partner_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match="markers of figures"):
        blocks(text)


@pytest.mark.parametrize(
    "text",
    [
        "C needs 76.9 instructions.",
        "It costs 3 cycles.",
        "It needs 14 % more.",
        "Rust is 2.5× slower.",
        "an IPC of 5.01",
        "It forwards 17 to 31 Mpps.",
        "It needs **23.4** cycles.",
        "It needs 23.4\ncycles.",
        "| costs | +3.0 instructions |",
        "It is 2 times as fast.",
    ],
)
def test_a_figure_in_prose_is_found(text: str) -> None:
    assert len(unheld("page.md", text, [])) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`make budget` allows 0.5 instructions.".replace("0.5 instructions", "`0.5 instructions`"),
        "```sh\nmake bench  # 12 cycles\n```",
        "<!-- figures: a -->\n12 cycles\n<!-- /figures -->",
        "Rings have 512 descriptors.",
        "a batch of 32",
        "section 6.3 of the paper",
    ],
)
def test_what_is_no_figure_in_prose_is_left_alone(text: str) -> None:
    assert unheld("page.md", text, []) == []


def test_an_allowed_figure_is_allowed_in_its_words_only() -> None:
    allowed = [Allowed("page.md", "over 5 % too much", "a limit")]
    assert unheld("page.md", "over 5 % too much", allowed) == []
    assert unheld("other.md", "over 5 % too much", allowed)
    assert [found.line for found in unheld("page.md", "over 5 % too much\n\nbut 7 % more", allowed)] == [3]
    assert stale({"page.md": "over 6 % too much"}, allowed) == allowed


def test_every_allowed_figure_has_a_reason(tmp_path: Path) -> None:
    files, allowed = read_allowed()
    assert files
    assert allowed
    path = tmp_path / "allowed.toml"
    path.write_text('[files]\n[[figure]]\nfile = "a.md"\ntexts = ["5 %"]\nwhy = " "\n', encoding="utf-8")
    with pytest.raises(DataError, match="no reason"):
        read_allowed(path)


def test_cycles_need_their_spread_and_their_machine() -> None:
    machine = " The run: 2026-01-02, A Processor, 2 CPUs."
    assert bare_cycles("It needs 23.4 (20.1 to 25.0) cycles." + machine) == []
    assert bare_cycles("It needs 23.4 cycles." + machine) == ["“23.4 cycles” has no spread"]
    assert bare_cycles("It needs 23.4 (20.1 to 25.0) cycles.") == ["cycles stand here without the run and its machine"]
    assert bare_cycles("| TSC cycles | **23.4** (94)<br>20.1 to 25.0 |\n" + machine) == []
    assert bare_cycles("| cycles | **23.4** (94) | modelled, haswell at 1.6 GHz |\n" + machine) == []
    assert bare_cycles("| TSC cycles | **23.4** (94) |\n" + machine) == ["“**23.4** (94)” has no spread"]


def test_the_command_checks_without_changing(capsys: pytest.CaptureFixture[str]) -> None:
    before = (ROOT / "README.md").read_bytes()
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().out == ""
    assert (ROOT / "README.md").read_bytes() == before
