"""The claims: their formulas, their file and their verdicts."""

import json
import random
import re
from pathlib import Path

import pytest
from triptych_paper.claims.check import check, check_all, count, given
from triptych_paper.claims.expressions import ExpressionError, MissingError, Result, Scope, evaluate, holds, parse
from triptych_paper.claims.model import Outcome, Verdict
from triptych_paper.claims.reader import read_claims
from triptych_paper.code import read_code
from triptych_paper.drivers import Subject
from triptych_paper.errors import DataError
from triptych_paper.records import read_run

from tests.example import CONDITIONS, HEADER, MakeRun, code_with_upstream, peer_rows, rows, with_conditions

RATIO = 'each("rust", "default", 32, "tsc_cycles") / each("c", "default", 32, "tsc_cycles")'


def value(folder: Path, formula: str, backend: str = "lockstep", batch: int | None = None) -> Result:
    run = read_run(folder)
    return evaluate(parse(formula), Scope(run, read_code(run.folder), backend, batch))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * -3", -9),
        ("10 / 4 - 0.5", 2),
        (f"100 * ({RATIO} - 1)", 60),
        ('median("rust", "default", 32, "tsc_cycles") / median("c", "default", 32, "tsc_cycles")', 1.6),
    ],
)
def test_arithmetic(make_run: MakeRun, formula: str, expected: float) -> None:
    assert value(make_run(), formula).value == pytest.approx(expected)


def test_each_goes_repeat_by_repeat_and_keeps_the_spread(make_run: MakeRun) -> None:
    ratio = value(make_run(), RATIO)
    assert ratio.count == 11
    assert [ratio.low, ratio.high] == pytest.approx([1.6, 1.6])
    cycles = value(make_run(), 'each("c", "default", 32, "tsc_cycles")')
    assert cycles.low is not None
    assert cycles.high is not None
    assert cycles.low < cycles.value < cycles.high


def test_a_single_repeat_has_no_spread(make_run: MakeRun) -> None:
    result = value(make_run(), 'each("c", "default", 32, "instructions")', "valgrind")
    assert (result.value, result.low, result.high, result.count) == (130.0, None, None, 1)


def test_batch_is_a_name(make_run: MakeRun) -> None:
    assert value(make_run(), 'each("c", "default", batch, "loads") / batch', "valgrind", 8).value == 31.0 / 8


def test_conditions_are_keywords(matrix: Path) -> None:
    assert value(matrix, 'median("c", "default", 32, "latency_p50_us", offered=10)', "wall").value == 4.0
    assert value(matrix, 'median("c", "default", 32, "mpps", ring_size=64)', "wall").value == 19.0


def test_lines_of_code(matrix: Path) -> None:
    assert value(matrix, '100 * unsafe_lines("rust") / lines("rust")', "sources").value == 4.0
    with pytest.raises(MissingError, match="does not mark unsafe"):
        value(matrix, 'unsafe_lines("c")', "sources")


@pytest.mark.parametrize("formula", ["1 / 0", f"1 / ({RATIO} - {RATIO})"])
def test_a_division_by_zero_has_no_value(make_run: MakeRun, formula: str) -> None:
    with pytest.raises(MissingError, match="divides by zero"):
        value(make_run(), formula)


def test_a_missing_value_has_a_reason(make_run: MakeRun) -> None:
    with pytest.raises(MissingError, match="no PMU"):
        value(make_run(), RATIO, "perf")
    with pytest.raises(MissingError, match="no samples of c/default at batch 64"):
        value(make_run(), 'each("c", "default", 64, "tsc_cycles")')


def test_comparisons(make_run: MakeRun) -> None:
    run = read_run(make_run())
    assert holds(parse('median("c", "default", 32, "full_batch_ratio") >= 0.95'), Scope(run, None, "wall"))
    assert not holds(parse("1 > 2"), Scope(run, None, "wall"))


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("1 +", "parser refuses it"),
        ("__import__('os').system('true')", "does not exist"),
        ("(1).real", "is not allowed"),
        ("[1, 2][0]", "is not allowed"),
        ("2 ** 9 ** 9", "is not allowed"),
        ("'text'", "is not a number"),
        ("True", "is not a number"),
        ("size", "is not allowed"),
        ("1 < 2 < 3", "only one comparison"),
        ("1 == 1", "only one comparison"),
        ("lambda: 1", "is not allowed"),
        ('each("rust", "default", 32)', "has wrong arguments: write it like"),
        ('each("rust", "default", "32", "tsc_cycles")', "has wrong arguments: write it like"),
        ('full("rust", 32)', "has wrong arguments: write it like full("),
        ('each("fortran", "default", 32, "tsc_cycles")', "is unknown; use c, rust"),
        ('each("rust", "default", 32, "joules")', "is not in metrics.toml"),
        ('each("rust", "default", 32, "tsc_cycles", cpu=1)', "is not allowed"),
        ('each("rust", "default", 32, "tsc_cycles", offered="x")', "is not allowed"),
        ("(" * 300 + "1" + ")" * 300, "parser refuses it"),
    ],
)
def test_other_expressions_are_refused(formula: str, why: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse(formula)
    assert why in str(error.value)


def test_a_claim_is_about_the_papers_drivers_and_is_checked_for_ours_too(make_run: MakeRun) -> None:
    run = read_run(make_run(lines=[*rows(), *peer_rows()]))
    outcomes = {(o.claim.id, o.subject): o for o in check_all(read_claims(), run, None)}
    theirs = outcomes["instructions-c-b32", Subject.UPSTREAM]
    ours = outcomes["instructions-c-b32", Subject.OURS]
    # The paper's drivers have the flags of their own build files.
    assert theirs.results[0].value == pytest.approx(130 * 1.05)
    assert ours.results[0].value == pytest.approx(130)
    assert theirs.verdict is Verdict.REPRODUCED
    # The paper's drivers come first, claim by claim.
    assert next(iter(outcomes)) == ("instructions-b32", Subject.UPSTREAM)
    text = count(given(outcomes.values()))
    assert text.index("The paper's own drivers: of ") < text.index("Our drivers (progress): of ")


def test_a_run_without_the_papers_drivers_has_verdicts_on_ours_only(make_run: MakeRun) -> None:
    subjects = {outcome.subject for outcome in check_all(read_claims(), read_run(make_run()), None)}
    assert subjects == {Subject.OURS}


def test_a_driver_of_another_project_that_is_missing_has_a_reason(make_run: MakeRun) -> None:
    lines = [line for line in [*rows(), *peer_rows()] if not line.startswith("ixy-c2rust,")]
    skipped = [{"impl": "ixy-c2rust", "variant": "default", "reason": "C2Rust is not installed"}]
    run = read_run(make_run(lines=lines, skipped_peers=skipped))
    claims = {claim.id: claim for claim in read_claims()}
    found = check(claims["transpiled-instructions"], run, None, Subject.UPSTREAM)
    assert (found.verdict, found.reason) == (
        Verdict.NOT_MEASURED,
        "not measured: ixy-c2rust/default was skipped: C2Rust is not installed",
    )
    # Lockstep links a driver into its own process, which another project's program cannot be. Wall takes its place.
    assert check(claims["cycles-b32"], run, None, Subject.UPSTREAM).backend == "wall"
    # Another run can have the model, which any machine can compute.
    assert check(claims["ipc-c-b32"], run, None, Subject.UPSTREAM).verdict is Verdict.NOT_MEASURED
    overflow = check(claims["overflow-instructions"], run, None, Subject.UPSTREAM)
    assert "the run has no ixy-rs/overflow-checks; `make peers`" in overflow.reason


def test_the_lines_of_the_papers_drivers_compare_and_ours_do_not(make_run: MakeRun) -> None:
    folder = make_run(lines=[*rows(), *peer_rows()])
    (folder / "code.json").write_text(json.dumps(code_with_upstream()), encoding="utf-8")
    outcomes = check_all(read_claims(), read_run(folder), read_code(folder))
    found = {(o.claim.id, o.subject): o.verdict for o in outcomes}
    for claim in ("lines-c", "lines-rust", "lines-ratio", "unsafe-lines", "unsafe-share"):
        assert found[claim, Subject.UPSTREAM] is Verdict.REPRODUCED
    assert found["lines-c", Subject.OURS] is Verdict.NOT_COMPARABLE


def test_a_program_that_is_slower_than_another_sets_its_own_pace(make_run: MakeRun) -> None:
    formula = 'full("c", "default", 32)'
    run = read_run(make_run(lines=[*rows(), *peer_rows()]))
    upstream = Scope(run, None, "wall", subject=Subject.UPSTREAM)
    assert evaluate(parse(formula), Scope(run, None, "wall")).value == 0.995
    # ixy forwards 11.5 Mpps, and our transpiled driver 21.1.
    assert evaluate(parse(formula), upstream).value == 1.0
    alone = [*(line for line in rows() if ",wall," not in line), *peer_rows()]
    slow = read_run(make_run(lines=alone))
    assert evaluate(parse(formula), Scope(slow, None, "wall", subject=Subject.UPSTREAM)).value == 0.0
    with pytest.raises(MissingError, match="`make peers`"):
        evaluate(parse(formula), Scope(read_run(make_run()), None, "wall", subject=Subject.UPSTREAM))


LIKE = """
[like]
clock = "Both run under the same clock."
"""

CLAIM = """
[[claim]]
id = "more-cycles"
topic = "Counters"
says = "Rust needs 60 % more"
source = "[L] 1"
unit = "%"
published = 60
tolerance = 5
neutral = 0
[[claim.measure]]
backends = ["perf"]
formula = '100 * (each("rust", "default", 32, "core_cycles") / each("c", "default", 32, "core_cycles") - 1)'
like = "clock"
[[claim.measure]]
backends = ["lockstep"]
formula = '100 * (each("rust", "default", 32, "tsc_cycles") / each("c", "default", 32, "tsc_cycles") - 1)'
like = "clock"
"""


def outcome(folder: Path, text: str, tmp_path: Path) -> Outcome:
    path = tmp_path / "claims.toml"
    path.write_text(LIKE + text, encoding="utf-8")
    run = read_run(folder)
    return check(read_claims(path)[0], run, read_code(run.folder))


def test_the_first_backend_with_all_values_gives_the_verdict(make_run: MakeRun, tmp_path: Path) -> None:
    found = outcome(make_run(), CLAIM, tmp_path)
    assert (found.verdict, found.backend, found.count) == (Verdict.REPRODUCED, "lockstep", 11)
    assert found.measured == pytest.approx((60, 60))
    assert found.deviation == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("published", "verdict", "deviation"),
    [
        ("30", Verdict.SAME_DIRECTION, 30),
        ("-20", Verdict.DIFFERS, 80),
        ("300", Verdict.DIFFERS, -240),
        ("10", Verdict.DIFFERS, 50),
    ],
)
def test_an_effect_of_another_size_has_a_direction(
    make_run: MakeRun, tmp_path: Path, published: str, verdict: Verdict, deviation: float
) -> None:
    found = outcome(make_run(), CLAIM.replace("published = 60", f"published = {published}"), tmp_path)
    assert found.verdict is verdict
    assert found.deviation == pytest.approx(deviation)


def test_a_wide_spread_is_inconclusive(make_run: MakeRun, tmp_path: Path) -> None:
    lines = [line for line in rows() if not line.startswith("rust,default,cc 1.0,32,lockstep")]
    lines += [
        f"rust,default,cc 1.0,32,lockstep,tsc_cycles,{33 * (0.7 + repeat / 8)},x,1,{repeat}" for repeat in range(11)
    ]
    found = outcome(make_run(lines=lines), CLAIM, tmp_path)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason == "the spread covers more than one verdict"


def test_one_noisy_repeat_is_inconclusive_and_one_exact_count_is_not(make_run: MakeRun, tmp_path: Path) -> None:
    lines = [line for line in rows() if not (",32,lockstep," in line and not line.endswith(",3"))]
    found = outcome(make_run(lines=lines), CLAIM, tmp_path)
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, "a single repeat has no spread")
    exact = CLAIM.replace('"tsc_cycles"', '"instructions"').replace('"lockstep"', '"valgrind"')
    assert outcome(make_run(), exact, tmp_path).verdict is Verdict.REPRODUCED


def test_another_unit_is_not_comparable_but_shown(make_run: MakeRun, tmp_path: Path) -> None:
    unlike = CLAIM.replace('"tsc_cycles"', '"loads"').replace('"lockstep"', '"valgrind"').replace('like = "clock"', "")
    found = outcome(make_run(), unlike, tmp_path)
    assert found.verdict is Verdict.NOT_COMPARABLE
    assert found.measured == pytest.approx((60, 60))
    assert "unit: load micro-operations there, load accesses of instructions here" in found.reason


def test_a_backend_that_counts_what_was_published_comes_first(make_run: MakeRun, tmp_path: Path) -> None:
    lines = [line.replace("valgrind,loads", "perf,loads") for line in rows()]
    both = [*rows(), *(line for line in lines if ",perf," in line)]
    text = CLAIM.replace('"core_cycles"', '"loads"').replace('"tsc_cycles"', '"loads"')
    text = text.replace('"perf"]', '"valgrind"]').replace('"lockstep"]', '"perf"]').replace('like = "clock"\n', "")
    found = outcome(make_run(lines=both), text, tmp_path)
    assert found.backend == "perf"
    assert found.verdict is not Verdict.NOT_COMPARABLE


def test_a_verdict_does_not_depend_on_the_order_of_the_rows(matrix: Path) -> None:
    samples = matrix / "samples.csv"
    header, *lines = samples.read_text(encoding="utf-8").splitlines()

    def verdicts() -> list[tuple[Verdict, object]]:
        run = read_run(matrix)
        return [(found.verdict, found.spread) for claim in read_claims() if (found := check(claim, run, None))]

    before = verdicts()
    random.Random(3).shuffle(lines)
    samples.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    assert verdicts() == before


def test_the_counts_of_the_verdicts_add_up(matrix: Path) -> None:
    run = read_run(matrix)
    claims = read_claims()
    outcomes = check_all(claims, run, read_code(run.folder))
    text = count(given(outcomes))
    assert text.startswith(f"Our drivers (progress): of {len(claims)} published claims, ")
    assert sum(int(number) for number in re.findall(r"(\d+) [a-z]", text.split(",", 1)[1])) == len(claims)


def test_not_measurable_differs_from_not_measured(make_run: MakeRun, tmp_path: Path) -> None:
    perf_only = CLAIM[: CLAIM.rindex("[[claim.measure]]")]
    assert outcome(make_run(), perf_only, tmp_path).verdict is Verdict.NOT_MEASURABLE
    other_batch = outcome(make_run(), CLAIM.replace("32", "64"), tmp_path)
    assert other_batch.verdict is Verdict.NOT_MEASURED
    assert "batch 64" in other_batch.reason


@pytest.mark.parametrize(
    ("compare", "published", "verdict"),
    [
        ("at least", "50", Verdict.REPRODUCED),
        ("at least", "70", Verdict.DIFFERS),
        ("at most", "70", Verdict.REPRODUCED),
        ("at most", "50", Verdict.DIFFERS),
        ("within", "[50, 58]", Verdict.REPRODUCED),
        ("within", "[10, 20]", Verdict.DIFFERS),
    ],
)
def test_ways_to_compare(make_run: MakeRun, tmp_path: Path, compare: str, published: str, verdict: Verdict) -> None:
    text = CLAIM.replace("published = 60", f'published = {published}\ncompare = "{compare}"').replace("neutral = 0", "")
    assert outcome(make_run(), text, tmp_path).verdict is verdict


def test_all_batches_have_to_agree(make_run: MakeRun, tmp_path: Path) -> None:
    lines = [line for line in rows() if not line.startswith("rust,default,cc 1.0,8,lockstep")]
    lines += [f"rust,default,cc 1.0,8,lockstep,tsc_cycles,{66 + repeat / 4},x,1,{repeat}" for repeat in range(11)]
    text = CLAIM.replace("32", "batch").replace("neutral = 0", "batches = [8, 32]")
    found = outcome(make_run(lines=lines), text, tmp_path)
    assert found.verdict is Verdict.DIFFERS
    assert found.measured is not None
    assert found.measured[0] == pytest.approx(60)
    assert found.measured[1] > 90
    assert found.count == 11


WALL = CLAIM[: CLAIM.index("[[claim.measure]]")] + CLAIM[CLAIM.rindex("[[claim.measure]]") :].replace(
    "lockstep", "wall"
)
NEEDS = """needs = 'median("c", "default", 32, "full_batch_ratio") >= 0.95'
otherwise = "the card sets the pace"
"""


def test_a_false_condition_withholds_the_verdict(make_run: MakeRun, tmp_path: Path) -> None:
    text = WALL + NEEDS
    assert outcome(make_run(), text, tmp_path).backend == "wall"
    starved = [line.replace("full_batch_ratio,0.995", "full_batch_ratio,0.1") for line in rows()]
    found = outcome(make_run(lines=starved), text, tmp_path)
    assert found.verdict is Verdict.NOT_MEASURABLE
    assert "the card sets the pace" in found.reason


def test_simulated_and_multiplexed_values_are_marked(make_run: MakeRun, tmp_path: Path) -> None:
    text = CLAIM.replace('"tsc_cycles"', '"branch_misses"').replace('"lockstep"', '"valgrind"')
    assert outcome(make_run(), text, tmp_path).simulated
    lines = [
        *with_conditions(["c,default,cc 1.0,32,perf,core_cycles,10,x,1,0"], note="multiplexed"),
        *with_conditions(["rust,default,cc 1.0,32,perf,core_cycles,16,x,1,0"]),
    ]
    found = outcome(make_run(lines=lines, header=f"{HEADER},{CONDITIONS}"), CLAIM, tmp_path)
    assert found.results[0].multiplexed
    assert not found.simulated


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('unit = "%"', "", "claim more-cycles: unit is missing"),
        ("published = 60", 'published = "many"', "published is neither a number nor a range"),
        ("published = 60", "published = [2, 1]", "published is neither a number nor a range"),
        ("tolerance = 5", "", "tolerance is missing"),
        ("tolerance = 5", "tolerance = -1", "tolerance is missing or negative"),
        ("tolerance = 5", 'tolerance = 5\ncompare = "roughly"', "compare 'roughly' does not fit"),
        ("tolerance = 5", 'tolerance = 5\ncompare = "within"', "compare 'within' does not fit"),
        ("tolerance = 5", "tolerance = 5\nbatches = [0]", "batches is not a list"),
        ("neutral = 0", 'neutral = "x"', "neutral is not a number"),
        ("neutral = 0", "neutral = 58", "the tolerance includes neutral"),
        ('like = "clock"', 'like = "magic"', "like 'magic' is not in the table"),
        ("neutral = 0", "neutrl = 0", "neutrl is unknown; the valid fields are"),
        ('"lockstep"]', '"guess"]', "backends is not a list of some of"),
        ('32, "tsc_cycles") - 1', '32, "cycles") - 1', "formula: metric 'cycles' in"),
        ('"lockstep"]', '"valgrind"]', "backend valgrind does not count tsc_cycles; lockstep, wall do"),
        ('32, "tsc_cycles") - 1', 'batch, "tsc_cycles") - 1', "`batch` has no value"),
        ("formula = '100", "formula = '1 < 100", "formula compares"),
        ("formula", "needs = '1'\notherwise = 'x'\nformula", "needs does not compare"),
        ("formula", "needs = '1 < 2'\nformula", "belong together"),
        ('id = "more-cycles"', "", "claim number 1: id is missing"),
    ],
)
def test_a_malformed_claim_is_named_with_the_fix(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in CLAIM
    path = tmp_path / "claims.toml"
    path.write_text(LIKE + CLAIM.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_claims(path)
    assert why in str(error.value)
    assert "claims.toml" in str(error.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no claims"),
        ("claim = 1", "holds no claims"),
        ("[[claim", "is not TOML"),
        (LIKE + CLAIM + CLAIM, "this id"),
    ],
)
def test_a_file_without_claims_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=why):
        read_claims(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.toml"):
        read_claims(tmp_path / "none.toml")


def test_the_claims_themselves(matrix: Path) -> None:
    run = read_run(matrix)
    found = {claim.id: check(claim, run, read_code(run.folder)) for claim in read_claims()}
    assert len(found) >= 40
    # The Rust of the fixture executes 1.6 times the instructions of its C, and has nearly the published lines of code.
    assert found["instructions-b32"].verdict is Verdict.REPRODUCED
    assert found["lines-c"].verdict is Verdict.NOT_COMPARABLE
    assert found["unsafe-share"].verdict is Verdict.NOT_COMPARABLE
    assert found["branches-b32"].verdict is Verdict.NOT_COMPARABLE
    # Each load access is one micro-operation, so loads compare although the units have two names.
    assert found["loads-c-b32"].verdict is Verdict.REPRODUCED
    assert "one load micro-operation" in found["loads-c-b32"].like
    assert found["transpiled-cycles"].verdict is Verdict.NOT_MEASURED
    assert found["latency-20mpps-p50"].verdict is Verdict.NOT_MEASURED
    # At some batch sizes only half of the batches are full, so the verdict is based on cycles.
    assert found["share-of-c"].backend == "lockstep"
    assert {claim.topic for claim in read_claims()} >= {"Counters per packet", "Overflow checks", "Latency"}
