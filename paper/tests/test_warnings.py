"""Many warnings of one kind are told once."""

from triptych_paper.report.warnings import fold


def test_the_first_of_many_stands_for_all() -> None:
    lost = [f"c/default batch {batch}, 10 Mpps, wall: {batch / 10} % of the frames were lost" for batch in (1, 8, 32)]
    assert fold(["busy", *lost, "no PMU"]) == (
        "busy",
        "c/default batch 1, 10 Mpps, wall: 0.1 % of the frames were lost (2 more like this are in run.json)",
        "no PMU",
    )


def test_what_differs_in_words_is_told() -> None:
    warnings = ("c/default batch 8, wall: a", "rust/default batch 8, wall: b", "rust/no-lto batch 8, wall: b")
    assert fold(warnings) == warnings


def test_what_is_about_no_cell_is_told_one_by_one() -> None:
    warnings = ("CPU 0 was busy", "CPU 1 was busy", "CPU 2 was busy")
    assert fold(warnings) == warnings
