import json
from pathlib import Path

import pytest
from triptych_paper import hazards
from triptych_paper.errors import DataError

HEADER = ",".join(hazards.COLUMNS)


def write(folder: Path, *rows: str) -> Path:
    path = folder / hazards.FILE
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def test_a_hazard_has_an_outcome_for_each_driver(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "dev-length-zero,CWE-1284,device,c,uncounted loss,32 lost,0.5",
        'dev-length-zero,CWE-1284,device,rust,counted drop,"32 lost, counted",0.4',
        "app-leak,CWE-401,application,c,leak,3,0.1",
    )
    found = hazards.read(path)
    assert [(hazard.id, hazard.title) for hazard in found] == [
        ("dev-length-zero", "dev-length-zero"),
        ("app-leak", "app-leak"),
    ]
    assert found[0].observations["rust"] == hazards.Observation("counted drop", "32 lost, counted", 0.4)
    assert list(hazards.by_party(found)) == ["application", "device"]
    assert hazards.counts(found, "c") == {"uncounted loss": 1, "leak": 1}
    assert hazards.counts(found, "rust-unsafe") == {}


def test_titles_and_reasons_come_from_run_json(tmp_path: Path) -> None:
    about = {"app-leak": {"title": "forget to free", "why": {"c": "no code frees it"}}}
    (tmp_path / "run.json").write_text(json.dumps({"hazards": about}))
    [hazard] = hazards.read(write(tmp_path, "app-leak,CWE-401,application,c,leak,3,0.1"))
    assert (hazard.title, hazard.observations["c"].why) == ("forget to free", "no code frees it")
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(DataError, match=r"run\.json"):
        hazards.read(tmp_path / hazards.FILE)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("a,CWE-1,device,cobol,leak,x,1", "unknown"),
        ("a,CWE-1,device,c,bang,x,1", "unknown"),
        ("a,CWE-1,printer,c,leak,x,1", "unknown"),
        ("a,CWE-1,device,c,leak,x,soon", "soon"),
        ("a,CWE-1,device,c,leak,x,1\na,CWE-1,device,c,leak,x,1", "twice"),
    ],
)
def test_an_error_names_the_place(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        hazards.read(write(tmp_path, row))


def test_other_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / hazards.FILE
    path.write_text("hazard,outcome\n")
    with pytest.raises(DataError, match="columns"):
        hazards.read(path)


def test_a_run_without_hazards_takes_those_of_the_newest_lab_run(tmp_path: Path) -> None:
    run, lab = tmp_path / "run", tmp_path / "lab"
    run.mkdir()
    lab.mkdir()
    assert hazards.find(run) is None
    (tmp_path / hazards.LATEST).symlink_to("lab")
    theirs = write(lab)
    found = hazards.find(run)
    assert found is not None and found.samefile(theirs)
    ours = write(run)
    assert hazards.find(run) == ours


def test_every_outcome_of_the_catalogue_is_known() -> None:
    catalogue = Path(__file__).parents[2] / "drivers/conformance/hazards.toml"
    text = catalogue.read_text(encoding="utf-8")
    outcomes = [line[2:].split("  ")[0] for line in text.splitlines() if line.startswith("# ") and "  " in line]
    assert set(hazards.TONES) <= set(outcomes)
