"""The language of the formulas in ``claims.toml``: arithmetic over the samples of a run.

::

    100 * (each("rust", "default", 32, "loads") / each("c", "default", 32, "loads") - 1)

- ``each(impl, variant, batch, metric)`` has one value for each repeat. Arithmetic goes repeat by repeat, so that a
  disturbance of a repeat cancels. The result is the median with its spread.
- ``median(impl, variant, batch, metric)`` is one number.
- Both accept ``offered=`` (Mpps), ``ring_size=`` and ``frame_size=``; the defaults are those of a usual run. ``clock=``
  (GHz) is that of the modelled processor; the default is the clock at which the metric was published.
- ``full(impl, variant, batch)`` is the share of full batches. The programs of other projects do not report it. It is 1
  for one that forwards at most 80 % of what another driver forwards in the same run: the card can offer it more.
- ``lines(impl)`` and ``unsafe_lines(impl)`` are lines of code.
- ``impl`` is a role: `c`, `rust` or `rust-unsafe`. The subject of a verdict says whose driver plays it.
- ``batch`` is the batch size, if a claim is about several.

A formula has numbers, ``+ - * /``, parentheses and these names. A condition is one comparison (``>= > <= <``) of two
formulas. Python's parser parses both and this module walks the tree; Python never evaluates them.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import pandas as pd

from triptych_paper.code import CodeSize
from triptych_paper.conditions import DEFAULT_CONDITIONS, FRAME_SIZE, RING_SIZE, Conditions
from triptych_paper.drivers import UPSTREAM, Driver, Subject, by_own_flags
from triptych_paper.lookup import reason, recorded
from triptych_paper.quantities import CODE, SOURCES
from triptych_paper.records import Run
from triptych_paper.samples import MULTIPLEXED
from triptych_paper.schema import BACKENDS, ROLES, Source, metrics, source
from triptych_paper.statistics import Summary, rows, summarise

Value: TypeAlias = "float | str | pd.Series[float]"

SAMPLES = ("each", "median")
FULL = "full"
FUNCTIONS = (*SAMPLES, FULL, *CODE)

SLOWER = 0.8
"""A program that forwards at most this share of what the fastest driver of the run forwards sets its own pace."""

OPERATORS: dict[type[ast.operator], Callable[..., object]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.GtE: lambda a, b: a >= b,
    ast.Gt: lambda a, b: a > b,
    ast.LtE: lambda a, b: a <= b,
    ast.Lt: lambda a, b: a < b,
}


class ExpressionError(Exception):
    """A formula is malformed; the message gives the error and the allowed forms."""


class MissingError(Exception):
    """The run lacks a value; the message says why."""


@dataclass
class Scope:
    """The values that a formula can use."""

    run: Run
    code: CodeSize | None
    backend: str
    batch: int | None = None
    subject: Subject = Subject.OURS
    """Whose drivers the formula is about."""
    counts: list[int] = field(default_factory=list)
    """Number of repeats of each value that was used."""
    multiplexed: bool = False
    sources: list[Source] = field(default_factory=list)
    """Where the values came from."""


@dataclass(frozen=True)
class Result:
    """The value of a formula."""

    value: float
    low: float | None
    high: float | None
    """10th and 90th percentile over the repeats; None for a single one."""
    count: int
    multiplexed: bool = False
    least: float = math.nan
    most: float = math.nan
    """The smallest and the largest value of a repeat."""
    exact: bool = False
    """Whether every value behind it has no noise, so that it needs no repeats."""
    sources: tuple[Source, ...] = ()
    """Where the values behind it came from; empty for lines of code."""


def parse(text: str) -> ast.expr:
    """Parse and check a formula or condition; :class:`ExpressionError` if it is malformed."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"Python's parser refuses it: {error}") from None
    _check(tree.left if isinstance(tree, ast.Compare) else tree)
    if isinstance(tree, ast.Compare):
        if len(tree.ops) != 1 or type(tree.ops[0]) not in COMPARISONS:
            raise ExpressionError("only one comparison is allowed, with >=, >, <= or <")
        _check(tree.comparators[0])
    return tree


def uses_batch(tree: ast.expr) -> bool:
    """Return whether a formula uses the name `batch`."""
    return any(isinstance(node, ast.Name) and node.id == "batch" for node in ast.walk(tree))


def metrics_of(tree: ast.expr) -> set[str]:
    """Return the names of the metrics in a formula."""
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {text for text in constants if isinstance(text, str) and text in metrics()}


def quantities_of(tree: ast.expr) -> set[str]:
    """Return the names of the metrics and of the kinds of lines in a formula."""
    functions = {
        node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return metrics_of(tree) | (functions & set(CODE))


def exact(tree: ast.expr, backend: str) -> bool:
    """Return whether a backend counts everything in a formula without noise."""
    return backend == SOURCES or all(source(name, backend).exact for name in metrics_of(tree))


def _check(node: ast.expr) -> None:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        _check(node.left)
        _check(node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _check(node.operand)
    elif isinstance(node, ast.Call):
        _check_call(node)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise ExpressionError(f"{node.value!r} is not a number")
    elif not (isinstance(node, ast.Name) and node.id == "batch"):
        raise ExpressionError(
            f"`{ast.unparse(node)}` is not allowed: use numbers, + - * /, {', '.join(FUNCTIONS)} and `batch`"
        )


def _check_call(node: ast.Call) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    if name in CODE:
        usage = f'{name}("rust")'
        kinds: tuple[type, ...] = (str,)
        keywords: tuple[str, ...] = ()
    elif name == FULL:
        usage = 'full("rust", "default", 32)'
        kinds = (str, str, int)
        keywords = ()
    elif name in SAMPLES:
        usage = f'{name}("rust", "default", 32, "loads")'
        kinds = (str, str, int, str)
        keywords = ("offered", "ring_size", "frame_size", "clock")
    else:
        raise ExpressionError(f"function {name}() does not exist: use {', '.join(FUNCTIONS)}")
    fits = len(node.args) == len(kinds) and all(
        (isinstance(argument, ast.Constant) and isinstance(argument.value, kind))
        or (kind is int and isinstance(argument, ast.Name) and argument.id == "batch")
        for argument, kind in zip(node.args, kinds, strict=True)
    )
    if not fits:
        raise ExpressionError(f"`{ast.unparse(node)}` has wrong arguments: write it like {usage}")
    impl = node.args[0]
    if isinstance(impl, ast.Constant) and impl.value not in ROLES:
        raise ExpressionError(f"{impl.value!r} in `{ast.unparse(node)}` is unknown; use {', '.join(ROLES)}")
    metric = node.args[-1]
    if name in SAMPLES and isinstance(metric, ast.Constant) and metric.value not in metrics():
        unknown = f"metric {metric.value!r} in `{ast.unparse(node)}` is not in metrics.toml"
        raise ExpressionError(f"{unknown}; the valid names are {', '.join(metrics())}")
    for keyword in node.keywords:
        number = isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, (int, float))
        if keyword.arg not in keywords or not number:
            allowed = f"use {', '.join(keywords)}, each with a number" if keywords else f"{name}() takes no keywords"
            raise ExpressionError(f"`{ast.unparse(keyword)}` is not allowed: {allowed}")


def evaluate(tree: ast.expr, scope: Scope) -> Result:
    """Compute a formula; :class:`MissingError` if the run lacks a value or the formula divides by zero."""
    value = _value(tree, scope)
    if isinstance(value, pd.Series):
        if not all(map(math.isfinite, value)):
            raise MissingError("the formula divides by zero")
        summary = summarise(value)
    else:
        number = float(value)
        summary = Summary(number, number, number, min(scope.counts, default=1))
    if summary is None:
        raise MissingError("not measured: the values have no common repeat")
    spread = isinstance(value, pd.Series) and summary.count > 1
    return Result(
        summary.median,
        summary.low if spread else None,
        summary.high if spread else None,
        summary.count,
        scope.multiplexed,
        float(value.min()) if isinstance(value, pd.Series) else summary.median,
        float(value.max()) if isinstance(value, pd.Series) else summary.median,
        exact(tree, scope.backend),
        tuple(scope.sources),
    )


def holds(tree: ast.expr, scope: Scope) -> bool:
    """Return whether a condition is true; :class:`MissingError` if the run lacks a value."""
    if not isinstance(tree, ast.Compare):
        raise ExpressionError("a condition needs a comparison: use >=, >, <= or <")
    left, right = (evaluate(side, scope).value for side in (tree.left, tree.comparators[0]))
    return COMPARISONS[type(tree.ops[0])](left, right)


def _value(node: ast.expr, scope: Scope) -> Value:
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, scope), _value(node.right, scope)
        if isinstance(left, pd.Series) and isinstance(right, pd.Series):
            both = left.index.intersection(right.index)
            left, right = left.loc[both], right.loc[both]
        try:
            result: Value = OPERATORS[type(node.op)](left, right)  # type: ignore[assignment]
        except ZeroDivisionError:
            raise MissingError("the formula divides by zero") from None
        return result
    if isinstance(node, ast.UnaryOp):
        operand = _value(node.operand, scope)
        assert not isinstance(operand, str)
        return -operand
    if isinstance(node, ast.Call):
        return _call(node, scope)
    if isinstance(node, ast.Name):
        if scope.batch is None:
            raise ExpressionError("`batch` has no value: give the claim `batches = [8, 32]`")
        return scope.batch
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, (int, float, str))
    return node.value


def _call(node: ast.Call, scope: Scope) -> Value:
    assert isinstance(node.func, ast.Name)
    arguments = [_value(argument, scope) for argument in node.args]
    impl = scope.subject.impl(str(arguments[0]))
    if node.func.id in CODE:
        if scope.code is None:
            raise MissingError("not measured: the lines of code of this run were not counted")
        lines = scope.code.lines(impl) if node.func.id == "lines" else scope.code.unsafe_lines(impl)
        if not lines and node.func.id == "lines":
            raise MissingError(f"not measured: the lines of {impl} were not counted")
        if lines is None:
            raise MissingError(f"not measurable: the language of {impl} does not mark unsafe code")
        return float(lines)
    assert scope.backend in BACKENDS
    driver, batch = Driver(impl, str(arguments[1])), int(arguments[2])  # type: ignore[arg-type]
    if node.func.id == FULL:
        return _full(driver, batch, scope.run)
    given = {str(keyword.arg): float(ast.literal_eval(keyword.value)) for keyword in node.keywords}
    origin = recorded(scope.run, source(str(arguments[3]), scope.backend, clock_ghz=given.get("clock")))
    if origin not in scope.sources:
        scope.sources.append(origin)
    conditions = Conditions(
        ring_size=int(given.get("ring_size", RING_SIZE)),
        frame_size=int(given.get("frame_size", FRAME_SIZE)),
        offered_mpps=given.get("offered"),
    )
    driver = _built(driver, batch, origin, conditions, scope.run)
    found = rows(scope.run.samples, driver, batch, origin, conditions)
    if found.empty:
        raise MissingError(reason(scope.run, driver, batch, origin, conditions))
    values: pd.Series[float] = found.set_index("repeat")["value"]
    scope.counts.append(len(values))
    scope.multiplexed = scope.multiplexed or bool((found["note"] == MULTIPLEXED).any())
    return float(values.median()) if node.func.id == "median" else values


def _built(driver: Driver, batch: int, origin: Source, conditions: Conditions, run: Run) -> Driver:
    """Return a driver as it counts: the paper built its drivers by their own build files. ixy by C2Rust has none."""
    if driver.impl not in UPSTREAM.values():
        return driver
    own = by_own_flags(driver)
    return driver if rows(run.samples, own, batch, origin, conditions).empty else own


def _full(driver: Driver, batch: int, run: Run) -> float:
    """Return the share of full batches under the default conditions."""
    shares = source("full_batch_ratio", "wall")
    throughput = source("mpps", "wall")
    driver = _built(driver, batch, throughput, DEFAULT_CONDITIONS, run)
    found = summarise(rows(run.samples, driver, batch, shares)["value"])
    if found:
        return found.median
    own = summarise(rows(run.samples, driver, batch, throughput)["value"])
    if driver.impl not in UPSTREAM.values() or own is None:
        raise MissingError(reason(run, driver, batch, shares if driver.impl in ROLES else throughput))
    same = run.samples[(run.samples["batch"] == batch) & (run.samples["backend"] == "wall")]
    drivers = {Driver(*build) for build in zip(same["impl"], same["variant"], strict=True)}
    medians = [s.median for d in drivers if (s := summarise(rows(run.samples, d, batch, throughput)["value"]))]
    return 1.0 if own.median <= SLOWER * max(medians) else 0.0
