"""Reading a run: defaults of columns, and errors that name the line."""

from pathlib import Path

import pytest
from triptych_paper.errors import DataError
from triptych_paper.records import read_run

from tests.synthetic import HEADER, row, rows, write_run


def test_columns_that_a_file_lacks_have_defaults(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    old = "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat"
    (folder / "samples.csv").write_text(f"{old}\nc,default,cc,32,valgrind,loads,3,x,9,0\n")
    sample = read_run(folder).samples.iloc[0]
    assert (sample["ring_size"], sample["waiting"], sample["placement"], sample["process"]) == (512, "poll", "", 0)
    assert sample["offered_mpps"] == 0.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (row("perl", "default", 32, "trace", "loads", 1), "line 3: impl 'perl' is unknown"),
        (row("c", "default", 32, "model", "loads", 1), "it holds modelled values"),
        (row("c", "default", 32, "trace", "luck", 1), "line 3: metric 'luck' is unknown"),
        (row("c", "default", 32, "trace", "loads", float("nan")), "line 3: value 'nan' is not a number"),
        (row("c", "default", 32, "trace", "loads", -1), "line 3: value '-1.000000' is no valid number"),
        (row("c", "default", 32, "trace", "loads", 1, repeat="half"), "line 3: repeat 'half' is not a number"),
        (row("c", "default", 32, "trace", "loads", 1, placement="moon"), "line 3: placement 'moon' is unknown"),
        (row("c", "default", 8, "trace", "loads", 1), "line 3: the same sample of loads a second time"),
    ],
)
def test_a_wrong_sample_is_named_with_its_line(tmp_path: Path, wrong: str, message: str) -> None:
    folder = write_run(tmp_path, [row("c", "default", 8, "trace", "loads", 1), wrong])
    with pytest.raises(DataError, match=r"samples\.csv") as error:
        read_run(folder)
    assert message in str(error.value)


def test_files_that_are_missing_or_no_record_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a results folder"):
        read_run(tmp_path / "nothing")
    folder = write_run(tmp_path, [])
    with pytest.raises(DataError, match="measured nothing"):
        read_run(folder)
    (folder / "samples.csv").write_text(HEADER.replace("metric,", "") + "\n")
    with pytest.raises(DataError, match="the columns metric are missing"):
        read_run(folder)
    (folder / "samples.csv").unlink()
    with pytest.raises(DataError, match=r"samples\.csv is missing"):
        read_run(folder)
    (folder / "run.json").write_text("[")
    with pytest.raises(DataError, match=r"run\.json is malformed"):
        read_run(folder)


def test_of_several_simulated_processors_the_published_one_stays(tmp_path: Path) -> None:
    placed = [
        row("c", "default", 32, "trace", "l1_hits", 1, cpu=cpu, placement="memory") for cpu in ("zen4", "haswell")
    ]
    samples = read_run(write_run(tmp_path, [*rows(), *placed[:1]])).samples
    assert set(samples["cpu"]) == {"", "haswell"}
    assert set(read_run(write_run(tmp_path, placed[:1])).samples["cpu"]) == {"zen4"}
