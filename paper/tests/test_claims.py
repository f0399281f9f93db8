"""Claims: the file, the forms, and the rule of the verdicts."""

from pathlib import Path

import pandas as pd
import pytest
from triptych_paper import claims
from triptych_paper.claims import check_all, decide, read_claims
from triptych_paper.code import CodeSize
from triptych_paper.errors import DataError
from triptych_paper.published import read_published
from triptych_paper.records import read_run
from triptych_paper.schema import Driver
from triptych_paper.values import Source, Values

from tests.synthetic import rows, write_run

CODE = CodeSize({
    impl: [{"path": "x", "twin": "rx", "lines": lines, "unsafe_lines": unsafe}]
    for impl, lines, unsafe in (("c", 3000, None), ("rust", 4000, 100), ("ixy", 831, None), ("ixy-rs", 961, 124))
})  # fmt: skip


def outcomes(folder: Path) -> dict[tuple[str, str], claims.Outcome]:
    found = check_all(Values(read_run(folder)), CODE, read_claims())
    return {(one.claim.id, one.subject): one for one in found}


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (60, 70, "reproduced"),
        (20, 40, "differs in size"),
        (60, 80, "differs in size"),
        (0, 0, "differs"),
        (-20, -10, "differs"),
        (300, 400, "differs"),
        (0, 70, "not decided"),
    ],
)
def test_a_verdict_needs_the_whole_interval(low: float, high: float, verdict: str) -> None:
    claim = next(claim for claim in read_claims() if claim.id == "instructions-b32")
    assert decide(claim, low, high) == verdict


def test_a_bound_and_a_claim_of_no_effect_have_no_direction() -> None:
    known = {claim.id: claim for claim in read_claims()}
    assert [decide(known["l1-hit-rate"], value, value) for value in (99, 90)] == ["reproduced", "differs"]
    assert decide(known["overflow-throughput-large"], 3, 3) == "differs"
    assert decide(known["transpiled-faster"], 97, 101) == "not decided"


def test_each_form_computes_what_it_says(tmp_path: Path) -> None:
    found = outcomes(write_run(tmp_path))

    def measured(name: str, subject: str = "ours") -> float:
        summary = found[name, subject].summary
        assert summary is not None
        return summary.median

    assert measured("instructions-b32") == pytest.approx(20)
    assert measured("instructions-b32", "upstream") == pytest.approx(65)
    assert measured("overflow-instructions") == pytest.approx(8)
    assert measured("transpiled-fewer-instructions") == pytest.approx(90)
    assert measured("instructions-c-batches") == pytest.approx(0)
    assert measured("l1-hit-rate-b32") == pytest.approx(100 * 17.8 / 18, abs=0.01)
    assert measured("cycles-b32") == pytest.approx(20)
    assert measured("lines-ratio", "upstream") == pytest.approx(100 * (961 / 831 - 1))
    assert measured("unsafe-share", "upstream") == pytest.approx(100 * 124 / 961)


def test_verdicts_name_their_backend_and_the_reason(tmp_path: Path) -> None:
    found = outcomes(write_run(tmp_path))
    upstream = found["instructions-b32", "upstream"]
    assert (upstream.verdict, upstream.source and upstream.source.backend) == ("reproduced", "trace")
    assert found["instructions-b32", "ours"].verdict == "differs in size"
    # Without hardware counters, cycles themselves cannot be judged, but their ratio can.
    cycles = found["cycles-b32", "upstream"]
    assert cycles.source is not None and (cycles.source.backend, cycles.source.placement) == ("burst", "memory")
    assert found["ipc-c-b32", "ours"].verdict == "not measurable here"
    assert found["transpiled-cycles", "ours"].verdict == "not comparable"
    assert found["lines-c", "ours"].verdict == "not comparable"
    assert found["latency-1mpps-p50", "ours"].verdict == "not measured"


def test_throughput_of_a_driver_that_waits_for_the_card_is_judged_by_cycles(tmp_path: Path) -> None:
    assert outcomes(write_run(tmp_path))["share-of-c-b32", "ours"].source == Source("mpps", "wall")
    starved = [line.replace("full_batch_ratio,0.99", "full_batch_ratio,0.04") for line in rows()]
    by_cycles = outcomes(write_run(tmp_path, starved))["share-of-c-b32", "ours"]
    assert by_cycles.source == Source("tsc_cycles", "lockstep", "memory")
    assert by_cycles.summary is not None and by_cycles.summary.median == pytest.approx(100 / 1.2)


def test_the_sums_leave_out_what_only_a_simulation_judged(tmp_path: Path) -> None:
    found = list(outcomes(write_run(tmp_path)).values())
    simulated = [one for one in found if claims.kind(one) == "simulated" and one.subject == "ours"]
    assert simulated
    assert sum(claims.count(found, "ours").values()) == len(read_claims()) - len(simulated)


def test_without_upstream_only_our_drivers_have_verdicts(tmp_path: Path) -> None:
    assert {subject for _, subject in outcomes(write_run(tmp_path, rows(upstream=False)))} == {"ours"}


def test_a_claim_that_is_malformed_is_named(tmp_path: Path) -> None:
    table = pd.read_csv(claims.FILE, dtype=str, keep_default_na=False)
    wrong = tmp_path / "claims.csv"
    for column, value in (("form", "guess"), ("published", "many"), ("filter", "moon=1"), ("id", "instructions-b8")):
        table.assign(**{column: [value, *table[column].iloc[1:]]}).to_csv(wrong, index=False)
        with pytest.raises(DataError, match=r"malformed|twice"):
            read_claims(wrong)


def test_published_texts_are_as_printed_and_the_paper_wins() -> None:
    published = read_published()
    loads, unknown = published.get("loads", Driver("c"), 8), published.get("instructions", Driver("rust-unsafe"), 32)
    assert loads is not None and loads.text == "33.4"
    assert unknown is not None and unknown.text == "121"
    assert published.get("instructions", Driver("rust-unsafe"), 8) is None
    ratio = published.ratio_to_c("core_cycles", Driver("rust"), 32)
    assert ratio is not None and ratio.text == "1.06"
