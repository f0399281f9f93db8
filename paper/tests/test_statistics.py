"""The interval of a median, ratios within rounds, and two states."""

import numpy as np
import pandas as pd
import pytest
from triptych_paper.statistics import paired, ratio, summarise


def samples(values: np.ndarray) -> pd.DataFrame:
    """Samples of a table of processes and rounds."""
    process, repeat = np.indices(values.shape)
    return pd.DataFrame({"process": process.ravel(), "repeat": repeat.ravel(), "value": values.ravel()})


def noisy(processes: float, rounds: float, seed: int = 1) -> np.ndarray:
    """Values around 100, with noise between the processes and between the rounds of each."""
    random = np.random.default_rng(seed)
    return 100 + random.normal(0, processes, (8, 1)) + random.normal(0, rounds, (8, 30))


def test_noise_between_processes_widens_the_interval_and_noise_of_rounds_hardly_does() -> None:
    calm, rough = summarise(samples(noisy(0, 5))), summarise(samples(noisy(5, 5)))
    assert calm is not None and calm.low is not None and calm.high is not None
    assert rough is not None and rough.low is not None and rough.high is not None
    assert calm.high - calm.low < 3
    assert rough.high - rough.low > 2 * (calm.high - calm.low)
    assert calm.low <= calm.median <= calm.high
    # The percentiles of the rounds stay wide: they are no uncertainty of the median.
    assert calm.p90 - calm.p10 > 10


def test_the_interval_covers_the_true_median_in_most_runs() -> None:
    found = [summarise(samples(noisy(2, 5, seed))) for seed in range(60)]
    covered = [
        one for one in found if one and one.low is not None and one.high is not None and one.low < 100 < one.high
    ]
    assert len(covered) >= 48


def test_equal_values_give_equal_intervals() -> None:
    assert summarise(samples(noisy(3, 3))) == summarise(samples(noisy(3, 3)))


def test_processes_of_unequal_length_count_with_their_own_rounds() -> None:
    values = samples(noisy(0, 1))
    summary = summarise(values[(values["process"] > 0) | (values["repeat"] < 3)])
    assert summary is not None and summary.low is not None and summary.high is not None
    assert 99 < summary.low <= summary.high < 101


def test_an_exact_value_is_a_point_and_few_noisy_ones_have_no_interval() -> None:
    one = samples(np.array([[7.0]]))
    assert summarise(one.iloc[:0]) is None
    exact, noise = summarise(one, exact=True), summarise(one)
    assert exact is not None and (exact.low, exact.high, exact.exact) == (7.0, 7.0, True)
    assert noise is not None and (noise.low, noise.high, noise.exact) == (None, None, False)


def test_a_disturbance_of_a_round_cancels_in_the_ratio() -> None:
    base = noisy(20, 20)
    found = summarise(paired(samples(1.05 * base), samples(base), ratio))
    assert found is not None and found.low is not None
    assert (found.median, found.low, found.high) == pytest.approx((1.05, 1.05, 1.05))
    shorter = paired(samples(base), samples(base).iloc[5:], ratio)
    assert len(shorter) == base.size - 5
    assert paired(samples(base), samples(0 * base), ratio).empty


def test_two_groups_of_processes_are_two_states_and_a_spread_is_none() -> None:
    values = noisy(0.5, 1)
    calm = summarise(samples(values))
    values[:3] *= 0.7
    split = summarise(samples(values))
    values[1:3] *= 1 / 0.7
    outlier = summarise(samples(values))
    assert calm is not None and calm.states == ()
    assert split is not None and split.states == pytest.approx((70, 100), abs=2)
    assert outlier is not None and outlier.states == ()


def test_a_change_of_unit_keeps_low_below_high() -> None:
    summary = summarise(samples(noisy(1, 1)))
    assert summary is not None
    inverse = summary.changed(lambda value: 1000 / value)
    assert inverse.low is not None and inverse.high is not None
    assert inverse.low <= inverse.median <= inverse.high
