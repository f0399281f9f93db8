"""Shortening the warnings of a run."""

from triptych_paper.warnings import fold


def test_the_first_of_many_represents_all() -> None:
    lost = [f"c/default batch {batch}, 10 Mpps, wall: {batch / 10} % of the frames were lost" for batch in (1, 8, 32)]
    assert fold(["busy", *lost, "no PMU"]) == (
        "busy",
        "c/default batch 1, 10 Mpps, wall: 0.1 % of the frames were lost (run.json has 2 more of this kind)",
        "no PMU",
    )


def test_warnings_that_differ_in_words_are_all_shown() -> None:
    warnings = ("c/default batch 8, wall: a", "rust/default batch 8, wall: b", "rust/no-lto batch 8, wall: b")
    assert fold(warnings) == warnings


def test_warnings_without_a_subject_are_all_shown() -> None:
    warnings = ("CPU 0 was busy", "CPU 1 was busy", "CPU 2 was busy")
    assert fold(warnings) == warnings
