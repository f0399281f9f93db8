"""The archived run in ``paper/example``: the only source of measured figures in prose."""

from __future__ import annotations

import csv
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triptych_paper.claims.check import count
from triptych_paper.claims.model import Verdict
from triptych_paper.drivers import Subject
from triptych_paper.errors import DataError
from triptych_paper.facts import machine
from triptych_paper.records import Run, read_info
from triptych_paper.schema import CORE_CYCLES, PAPER_CPU, TSC_CYCLES
from triptych_paper.tables.numbers import number, signed
from triptych_paper.validation import rank_correlation

ARCHIVE = Path(__file__).parents[2] / "example"

Row = dict[str, str]


@dataclass(frozen=True)
class Value:
    """A measured value with its spread."""

    value: float
    low: float
    high: float
    """10th and 90th percentile; equal to the value for a count without noise."""

    @property
    def exact(self) -> bool:
        """Whether it has no spread."""
        return self.low == self.high

    def text(self, digits: int = 1) -> str:
        """Write the value, with its spread if it has one."""
        return number(self.value, digits) + self._spread(digits)

    def difference(self, digits: int = 1) -> str:
        """Write the value as a difference with its sign, with its spread if it has one."""
        if self.exact:
            return signed(self.value, digits)
        return f"{signed(self.value, digits)} ({signed(self.low, digits)} to {signed(self.high, digits)})"

    def _spread(self, digits: int) -> str:
        return "" if self.exact else f" ({number(self.low, digits)} to {number(self.high, digits)})"

    def beyond(self, neutral: float) -> bool:
        """Return whether the whole spread lies on one side of a value."""
        return self.low > neutral or self.high < neutral


@dataclass(frozen=True)
class Step:
    """A rung of the archived cost ladder."""

    name: str
    title: str
    shipped: bool
    value: Value | None
    added: Value | None
    alone: Value | None


@dataclass(frozen=True)
class Agreement:
    """How the model of the archived run agrees with measured and with published cycles."""

    cpu: str
    """The processor of the machine, whose cycles lockstep measured."""
    cells: int
    correlation: float | None
    """Rank correlation over these cells."""
    median_error: float
    lowest: float
    highest: float
    """The range of modelled ÷ published cycles of the paper's own drivers."""


class Archive:
    """The tables and the description of an archived run, or of a part of it such as the cost ladder."""

    def __init__(self, folder: Path = ARCHIVE) -> None:
        """Remember the folder; each file is read when it is asked for."""
        self.folder = folder

    def part(self, name: str) -> Archive:
        """Return a part of the archive that is a run of its own: `ladder` or `compilers`."""
        return Archive(self.folder / name)

    def has(self, table: str) -> bool:
        """Return whether the archive has a table."""
        return (self.folder / f"{table}.csv").is_file()

    def rows(self, table: str) -> list[Row]:
        """Return the records of a table."""
        path = self.folder / f"{table}.csv"
        try:
            with path.open(encoding="utf-8", newline="") as file:
                return list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"cannot read {path}: {error}; `make paper-example` writes it") from None

    def text(self, name: str) -> str:
        """Return a file that the archive holds as text."""
        path = self.folder / name
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}; `make paper-example` writes it") from None

    @property
    def verdicts(self) -> str:
        """The count of the verdicts, as a sentence for each subject."""
        # Archives from before the paper's own drivers were measured name no subject.
        return count(
            (Subject(row.get("subject", Subject.OURS.value)), Verdict(row["verdict"]), row.get("kind") == "modelled")
            for row in self.rows("claims")
        )

    @property
    def info(self) -> dict[str, Any]:
        """The description of the run."""
        return read_info(self.folder / "run.json")

    @property
    def where(self) -> str:
        """The run, whose name is its time, and its machine: they stand beside every figure with noise."""
        run = Run(self.folder, str(self.info.get("id", "")), _NO_SAMPLES, (), info=self.info)
        return f"{run.id}, {machine(run)}"

    def toolchain(self, impl: str) -> str:
        """Return the compiler of a driver, built by default."""
        for build in self.info.get("builds", []):
            if build.get("impl") == impl and build.get("variant") == "default":
                return str(build.get("toolchain", "an unknown compiler"))
        return "an unknown compiler"

    def value(self, table: str, field: str = "value", **wanted: object) -> Value:
        """Return the one value of a table whose record has the wanted fields; :class:`DataError` without one."""
        found = [row for row in self.rows(table) if all(row.get(key) == str(text) for key, text in wanted.items())]
        value = _value(found[0], field) if len(found) == 1 else None
        if value is None:
            raise DataError(f"{self.folder / table}.csv has no {field} of {wanted}: prose needs it; measure it again")
        return value

    def counter(self, metric: str, impl: str, batch: int, variant: str = "default") -> Value:
        """Return a counter per packet."""
        return self.value(f"counters-batch-{batch}", metric=metric, impl=impl, variant=variant)

    def times_c(self, metric: str, impl: str, batch: int) -> Value:
        """Return the ratio of a driver to C in the same round."""
        return self.value(f"compared-batch-{batch}", metric=f"{metric}_times_c", impl=impl, variant="default")

    def cycles(self, impl: str, batch: int) -> tuple[str, Value]:
        """Return the kind of cycles that the run counted or modelled, and their ratio to C in the same round."""
        rows = {row["metric"]: row for row in self.rows(f"compared-batch-{batch}") if row["value"]}
        found = rows.get(f"{CORE_CYCLES}_times_c")
        if found is None:
            return "TSC cycles", self.times_c(TSC_CYCLES, impl, batch)
        kind = f"modelled cycles of {found['cpu']}" if found.get("kind") == "modelled" else "core cycles"
        return kind, self.times_c(CORE_CYCLES, impl, batch)

    @property
    def modelled(self) -> str:
        """The processor whose modelled cycles the tables show; empty without the model."""
        rows = self.rows("counters-batch-32")
        return next((row["cpu"] for row in rows if row["metric"] == CORE_CYCLES and row.get("kind") == "modelled"), "")

    def agreement(self) -> Agreement | None:
        """Return how the model agrees with lockstep and with the published cycles; None if the archive has neither."""
        published = f"validation-published-{PAPER_CPU}"
        if not (self.has("validation-lockstep") and self.has(published)):
            return None
        here = self.rows("validation-lockstep")
        cycles = [row for row in self.rows(published) if row["metric"] == CORE_CYCLES]
        values = [(float(row["modelled"]), float(row["measured"])) for row in here]
        errors = sorted(abs(modelled / measured - 1) for modelled, measured in values)
        ratios = sorted(float(row["modelled_to_published"]) for row in cycles)
        return Agreement(
            cpu=here[0]["cpu"],
            cells=len(here),
            correlation=rank_correlation(values),
            median_error=statistics.median(errors),
            lowest=ratios[0],
            highest=ratios[-1],
        )

    def same_llvm(self, batch: int) -> tuple[str, Value] | None:
        """Return the newest LLVM that built both C and safe Rust, and the ratio of their instructions."""
        table = f"compilers-same-llvm-batch-{batch}"
        if not self.has(table):
            return None
        pairs = [row for row in self.rows(table) if row["impl"] == "rust" and row["metric"] == "instructions"]
        newest = max(pairs, key=lambda row: int(row["llvm"]), default=None)
        value = _value(newest, "times_c") if newest else None
        return (newest["llvm"], value) if newest and value else None

    def ladder(self, metric: str, batch: int) -> list[Step]:
        """Return the rungs of the cost ladder from the bottom; only the archive's part `ladder` has them."""
        return [
            Step(
                row["rung"], row["title"], row["shipped"] == "True",
                _value(row, "value"), _value(row, "added"), _value(row, "alone"),
            )
            for row in self.rows(f"ladder-batch-{batch}")
            if row["metric"] == metric
        ]  # fmt: skip

    def ladder_cycles(self, batch: int) -> tuple[str, list[Step]]:
        """Return the kind of cycles that the archived ladder has, and its rungs by them."""
        rows = [row for row in self.rows(f"ladder-batch-{batch}") if row["metric"] == CORE_CYCLES and row["value"]]
        if not rows:
            return "TSC cycles", self.ladder(TSC_CYCLES, batch)
        kind = f"modelled cycles of {rows[0]['cpu']}" if rows[0].get("kind") == "modelled" else "core cycles"
        return kind, self.ladder(CORE_CYCLES, batch)

    def ladder_backend(self, metric: str, batch: int) -> str:
        """Return the backend that counted a metric of the archived ladder."""
        rows = (row for row in self.rows(f"ladder-batch-{batch}") if row["metric"] == metric and row["value"])
        return next((row["backend"] for row in rows), "no backend")


_NO_SAMPLES: Any = None


def _value(row: Row, field: str) -> Value | None:
    """Return a field of a record with its percentiles; None if it is empty."""
    text = row.get(field, "")
    if not text:
        return None
    prefix = "" if field in ("value", "times_c") else f"{field}_"
    value = float(text)
    low, high = (float(row.get(f"{prefix}{end}") or value) for end in ("p10", "p90"))
    return Value(value, low, high)
