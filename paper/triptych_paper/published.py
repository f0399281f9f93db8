"""The published figures, from ``paper/published/``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd

from triptych_paper.errors import DataError
from triptych_paper.schema import OURS, C, Driver, metrics

PUBLISHED = Path(__file__).parent.parent / "published"
LANGUAGES = dict(zip(OURS, ("C", "Rust", "C2Rust"), strict=True))
"""The published counterpart of each driver. Overflow checks were published in prose only."""

CLOCKS = ("1.6 GHz", "3.3 GHz")
"""Clocks at which throughput was published."""


@dataclass(frozen=True)
class Figure:
    """A published value, and its text in the source."""

    value: float
    text: str


@dataclass(frozen=True)
class Published:
    """All published figures."""

    figures: dict[tuple[str, str, int | None], Figure]
    """By metric, language, and batch size where it was published."""
    throughput: dict[tuple[str, str], dict[int, float]] = field(default_factory=dict)
    """Mpps by batch size, by clock and language."""
    latency: dict[tuple[float, str], dict[str, float]] = field(default_factory=dict)
    """Microseconds by percentile, by offered load in Mpps and implementation."""
    lines: dict[str, int] = field(default_factory=dict)
    """Lines of code by language."""
    others: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Cycles per packet of other drivers, as text."""

    def get(self, metric: str, driver: Driver, batch: int) -> Figure | None:
        """Return the published counterpart of a value. One without batch size stands beside batch 32, the default."""
        language = LANGUAGES.get(driver, "")
        known = self.figures.get((metric, language, batch))
        return known or (self.figures.get((metric, language, None)) if batch == 32 else None)

    def mpps(self, clock: str, driver: Driver, batch: int) -> Figure | None:
        """Return the published throughput at a clock."""
        value = self.throughput.get((clock, LANGUAGES.get(driver, "")), {}).get(batch)
        return None if value is None else Figure(value, f"{value:.3g}")

    def ratio_to_c(self, metric: str, driver: Driver, batch: int) -> Figure | None:
        """Return the published ratio of another driver to C."""
        value, base = self.get(metric, driver, batch), self.get(metric, C, batch)
        if value is None or base is None or base.value == 0:
            return None
        return Figure(value.value / base.value, f"{value.value / base.value:.2f}")


def read_published(folder: Path = PUBLISHED) -> Published:
    """Read the published figures; :class:`DataError` if a file is missing or malformed."""
    read = partial(_read, folder)
    # Where the two sources differ, the paper is right (see published/README.md), so its rows come last and win.
    counters = read("counters.csv", ("value",)).sort_values(
        "source", key=lambda column: column == "paper", kind="stable"
    )
    unknown = set(counters["metric"]) - set(metrics())
    if unknown:
        raise DataError(f"{folder}/counters.csv: metrics.toml has no {', '.join(sorted(unknown))}")
    figures = {
        (metric, impl, int(batch) if batch else None): Figure(value, text)
        for metric, impl, batch, value, text in zip(
            counters["metric"], counters["impl"], counters["batch"], counters["value"], counters["text"], strict=True
        )
    }
    throughput = {
        (clock, str(language)): dict(zip(rows["batch"].astype(int), rows["mpps"], strict=True))
        for clock in CLOCKS
        for language, rows in read(f"throughput_batches_{clock.replace(' ', '')}.csv", ("batch", "mpps")).groupby(
            "language"
        )
    }
    latency = {
        (float(str(load)), str(impl)): dict(zip(rows["percentile"], rows["latency_us"], strict=True))
        for (load, impl), rows in read("latency.csv", ("load_mpps", "latency_us")).groupby(["load_mpps", "language"])
    }
    sizes = read("code_size.csv", ("lines",))
    lines = {language: int(count) for language, count in zip(sizes["language"], sizes["lines"], strict=True)}
    return Published(figures, throughput, latency, lines, read("cycles_per_packet.csv"))


def _read(folder: Path, name: str, numbers: tuple[str, ...] = ()) -> pd.DataFrame:
    """Read a file as text, and some of its columns as numbers. `text` is the first of them as it is printed."""
    path = folder / name
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        text = table[numbers[0]] if numbers else None
        return table.assign(text=text, **{column: pd.to_numeric(table[column]) for column in numbers})
    except (OSError, KeyError, ValueError, pd.errors.ParserError) as error:
        raise DataError(f"cannot read the published figures {path}: {error}") from None
