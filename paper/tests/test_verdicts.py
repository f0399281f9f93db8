"""The rule of the verdicts, on intervals alone."""

import ast
import itertools
import math
import random
from dataclasses import replace

import pytest
from triptych_paper.claims.expressions import Result
from triptych_paper.claims.model import Claim, Compare, Measure, Verdict
from triptych_paper.claims.verdicts import accepted, combine, decide, directed, explain, interval

PLAIN = Claim(
    id="more",
    topic="Counters",
    says="Rust needs 65 % more",
    source="[L]",
    unit="%",
    published=(65.0, 65.0),
    compare=Compare.ABOUT,
    tolerance=6.5,
    measures=(Measure(("lockstep",), ast.Constant(1)),),
    neutral=0.0,
)
FEWER = replace(PLAIN, published=(90.0, 98.0), compare=Compare.WITHIN, tolerance=1.0, neutral=100.0)
SMALL = replace(PLAIN, published=(0.8, 0.8), tolerance=0.4)
NONE = replace(PLAIN, published=(0.0, 0.0), tolerance=1.0, neutral=None)
AT_MOST = replace(PLAIN, published=(100.0, 100.0), compare=Compare.AT_MOST, tolerance=0.0, neutral=None)
CLAIMS = (PLAIN, FEWER, SMALL, NONE, AT_MOST)

WEAKER = {
    Verdict.REPRODUCED: {Verdict.REPRODUCED, Verdict.SAME_DIRECTION, Verdict.INCONCLUSIVE},
    Verdict.SAME_DIRECTION: {Verdict.SAME_DIRECTION, Verdict.INCONCLUSIVE},
    Verdict.DIFFERS: {Verdict.DIFFERS, Verdict.INCONCLUSIVE},
    Verdict.INCONCLUSIVE: {Verdict.INCONCLUSIVE},
}
"""The verdicts that a wider interval may have."""


@pytest.mark.parametrize(
    ("claim", "values", "verdict"),
    [
        (PLAIN, (60, 70), Verdict.REPRODUCED),
        (PLAIN, (0.2, 0.2), Verdict.DIFFERS),
        (PLAIN, (20, 40), Verdict.SAME_DIRECTION),
        (PLAIN, (40, 70), Verdict.SAME_DIRECTION),
        (PLAIN, (-5, 40), Verdict.INCONCLUSIVE),
        (PLAIN, (-5, 90), Verdict.INCONCLUSIVE),
        (PLAIN, (-30, -20), Verdict.DIFFERS),
        (PLAIN, (300, 400), Verdict.DIFFERS),
        (SMALL, (-17.7, 16.2), Verdict.INCONCLUSIVE),
        (SMALL, (0.5, 1.1), Verdict.REPRODUCED),
        (NONE, (-17.7, 16.2), Verdict.INCONCLUSIVE),
        (NONE, (-0.3, 0.4), Verdict.REPRODUCED),
        (NONE, (3, 9), Verdict.DIFFERS),
        (FEWER, (80, 85), Verdict.SAME_DIRECTION),
        (FEWER, (101, 120), Verdict.DIFFERS),
        (AT_MOST, (95, 99), Verdict.REPRODUCED),
        (AT_MOST, (95, 101), Verdict.INCONCLUSIVE),
        (AT_MOST, (101, 103), Verdict.DIFFERS),
    ],
)
def test_the_whole_interval_gives_the_verdict(claim: Claim, values: tuple[float, float], verdict: Verdict) -> None:
    assert decide(claim, values) is verdict


def test_a_wider_interval_never_has_a_firmer_verdict() -> None:
    chance = random.Random(1)
    for claim in CLAIMS:
        middle = sum(claim.published) / 2
        for _ in range(3000):
            low, high = sorted(chance.gauss(middle, 1.5 * abs(middle) + 2) for _ in range(2))
            if chance.random() < 0.3:
                high = low
            wider = (low - chance.expovariate(0.1), high + chance.choice([0.0, chance.expovariate(0.1)]))
            assert decide(claim, wider) in WEAKER[decide(claim, (low, high))], (claim.says, low, high, wider)


def test_a_wider_interval_of_one_batch_never_makes_all_firmer() -> None:
    for others in itertools.product(WEAKER, repeat=2):
        for before, after in ((a, b) for a in WEAKER for b in WEAKER[a]):
            assert combine((*others, after)) in WEAKER[combine((*others, before))]


def test_an_exact_value_is_never_inconclusive() -> None:
    chance = random.Random(2)
    for claim in CLAIMS:
        for _ in range(1000):
            value = chance.gauss(sum(claim.published) / 2, 100)
            exact = Result(value, None, None, 1, least=value, most=value, exact=True)
            assert decide(claim, interval(exact)) is not Verdict.INCONCLUSIVE


def test_the_published_value_itself_is_reproduced() -> None:
    for claim in CLAIMS:
        assert decide(claim, claim.published) is Verdict.REPRODUCED
        assert accepted(claim)[0] <= claim.published[0]


def test_no_effect_is_never_the_same_direction() -> None:
    for claim in (PLAIN, FEWER, SMALL):
        direction = directed(claim)
        assert direction is not None
        assert claim.neutral is not None
        assert not direction[0] <= claim.neutral <= direction[1]
        assert decide(claim, (claim.neutral, claim.neutral)) is Verdict.DIFFERS


def noisy(count: int, least: float = 1.0, most: float = 2.0) -> Result:
    return Result(1.5, 1.2, 1.8, count, least=least, most=most)


def test_the_interval_is_wider_with_fewer_repeats() -> None:
    assert interval(noisy(1)) == (-math.inf, math.inf)
    assert interval(noisy(3)) == (0.0, 3.0)
    assert interval(noisy(5)) == (1.0, 2.0)
    assert interval(noisy(400)) == (1.2, 1.8)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0.2, 0.2), "less than 25 % of the published effect"),
        ((-3, 2), "no clear effect"),
        ((-30, -20), "opposite direction"),
        ((300, 400), "more than 4 times the published effect"),
    ],
)
def test_a_difference_is_explained(values: tuple[float, float], words: str) -> None:
    assert explain(PLAIN, values) == words
