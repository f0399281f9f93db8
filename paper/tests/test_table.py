"""The command that prints tables."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from triptych_paper import table

from tests.example import MakeRun

PAPER = Path(__file__).parent.parent


def test_the_tables_are_printed_and_written(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run()
    assert table.main([str(folder)]) == 0
    out = capsys.readouterr().out
    assert "safe Rust" in out
    assert out.index("published claims, ") < out.index("Counters per packet")
    assert "published claims, " in (folder / "counters.md").read_text(encoding="utf-8")
    assert (folder / "counters.md").read_text(encoding="utf-8").startswith("# Counters per packet")
    assert (folder / "counters.csv").read_text(encoding="utf-8").startswith("impl,variant,batch")


def test_the_table_of_the_readme_is_markdown(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main([str(make_run()), "--readme"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("| per packet | C | safe Rust |")
    assert "- ³ Simulated" in out
    assert "⁴" not in out


def test_a_malformed_run_ends_with_1(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run(lines=["c,default,gcc,32,wall,mpps,fast,Mpackets/s,100,0"])
    assert table.main([str(folder)]) == 1
    captured = capsys.readouterr()
    assert "line 2" in captured.err
    assert captured.out == ""


def test_a_folder_that_cannot_be_written_ends_with_1(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run()
    (folder / "counters.md").mkdir()
    assert table.main([str(folder)]) == 1
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["a", "b"], ["--no-such-option", "a"], ["a", "--readme", "--section", "ladder"]]
)
def test_a_wrong_command_line_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        table.main(arguments)
    assert end.value.code == 2


def test_a_terminal_without_utf_8_gets_the_tables(make_run: MakeRun) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "triptych_paper.table", make_run()],
        env={**os.environ, "PYTHONPATH": str(PAPER), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Counters per packet, batch 32" in done.stdout


def card_run(make_run: MakeRun, ports: list[str], clock: dict[str, Any]) -> Path:
    """Write a run with a card that the run did not start."""
    return make_run(
        plan={"devices": ports},
        core_clock=clock,
        host={"kernel": "6.1.0", "nics": [{"address": "0000:03:00.0", "id": "8086:10fb"}]},
        settings={"wall": {"generator": "testpmd.toml on loadgen"}, "valgrind": {}},
    )


def test_values_of_a_real_card_say_so(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    clock = {"fixed_ghz": 3.3, "measured_ghz": [3.298, 3.301]}
    assert table.main([str(card_run(make_run, ["0000:03:00.0", "0000:03:00.1"], clock))]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "0000:03:00.0 (8086:10fb) and 0000:03:00.1 of a real card; load from testpmd.toml on loadgen" in out
    assert "fixed at 3.3 GHz, measured 3.30 GHz; the counters were published at 1.6 GHz" in out
    assert "wall, real card" in out


def test_values_of_a_running_software_card_say_so(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    clock = {"fixed_ghz": None, "measured_ghz": [2.5]}
    assert table.main([str(card_run(make_run, ["vfio-user:/a", "vfio-user:/b"], clock))]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "of a software card" in out
    assert "driver's core not fixed, measured 2.50 GHz" in out


def test_a_run_with_its_own_card_needs_no_label(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main([str(make_run())]) == 0
    assert "ports " not in capsys.readouterr().out
