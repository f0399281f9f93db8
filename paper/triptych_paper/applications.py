"""The applications under real clients: ``apps.csv`` and ``layers.csv`` of a run of ``make apps``."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from triptych_paper.comparisons import Section
from triptych_paper.errors import DataError
from triptych_paper.other_runs import newest
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import significant

APPS, LAYERS = "apps.csv", "layers.csv"
SERVERS = {
    "c/default": "C",
    "rust/default": "safe Rust",
    "rust-unsafe/default": "unsafe Rust",
    "c/trapping-ubsan": "C, checks",
    "rust/overflow-checks": "safe Rust, checks",
    "rust-unsafe/overflow-checks": "unsafe Rust, checks",
    "kernel/default": "kernel's sockets",
    "redis-server/default": "redis-server",
    "nginx/default": "nginx",
}
"""The servers and builds of drivers, and their names in tables."""

PEERS = ("redis-server/default", "nginx/default")
LANGUAGES = tuple(SERVERS)[:6]
PARTS = {"driver": "driver", "stack": "smoltcp", "application": "application", "libraries": "libraries"}
"""The layers of a request, and their names in tables."""


def section(folder: Path) -> Section:
    """Build the tables of the newest run of ``make apps``."""
    title = "Applications"
    text = (
        "One application over three drivers: only the library of the driver differs. Rates and percentiles are medians "
        "over the rounds. A rate is divided by that of C in the same round, with the range over the rounds.",
    )
    path = newest(folder, "latest-apps", APPS)
    if path is None:
        return Section("applications", title, text, missing="Not measured here: `make apps` measures it.")
    return Section("applications", title, text, tables(path.parent))


def tables(folder: Path) -> tuple[Table, ...]:
    """Build the tables of a run: rates, ratios to C, and instructions by layer."""
    try:
        apps = pd.read_csv(folder / APPS)
        apps["server"] = apps["server"] + "/" + apps["variant"]
        apps["load"] = apps["application"] + ": " + apps["client"]
        unknown = set(apps["server"]) - set(SERVERS)
        if unknown or (apps["rate"] <= 0).any():
            raise DataError(
                f"{folder / APPS}: a rate is not positive, or a server is unknown: {', '.join(sorted(unknown))}"
            )
        layers = pd.read_csv(folder / LAYERS) if (folder / LAYERS).is_file() else None
        found = [_rates(apps), _ratios(apps), *([_layers(layers)] if layers is not None else [])]
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{folder} has no tables of applications that can be read: {error!r}") from None
    return tuple(found)


def _rates(apps: pd.DataFrame) -> Table:
    """Show the rate of each server, and the 99th percentile of its latency."""
    medians = apps.groupby(["load", "server"], sort=False)[["rate", "p99_ms"]].median()
    cells, records = {}, []
    for row in medians.reset_index().to_dict("records"):
        load, server, rate, p99 = (row[name] for name in ("load", "server", "rate", "p99_ms"))
        text = f"{rate / 1e9:.2f} Gbit/s" if "curl" in load else f"{significant(rate / 1000)} k"
        cells[load, server] = Cell(text, () if math.isnan(p99) else (f"{p99:.1f} ms",))
        records.append({"load": load, "server": server, "rate": rate, "p99_ms": p99})
    shown = [server for server in SERVERS if server in set(apps["server"]) and "checks" not in SERVERS[server]]
    own = [server for server in shown if server not in PEERS]
    rows = []
    for load in apps["load"].unique():
        peer = next((server for server in PEERS if (load, server) in cells), "")
        theirs = cells.get((load, peer), Cell(ABSENT))
        named = replace(theirs, text=f"{theirs.text} ({SERVERS[peer]})") if peer else theirs
        rows.append((Cell(load), *(cells.get((load, server), Cell(ABSENT)) for server in own), named))
    columns = (
        Column("requests per second, and p99 below", numeric=False),
        *(Column(SERVERS[server], emphasis=False) for server in own),
    )
    title = "Requests per second"
    return Table("applications-rates", title, (*columns, Column("peer", emphasis=False)), tuple(rows), tuple(records))


def _ratios(apps: pd.DataFrame) -> Table:
    """Divide each driver's rate and p99 by those of C in the same round."""
    rounds = apps.pivot_table(["rate", "p99_ms"], ["load", "round"], "server", sort=False)
    shown = [server for server in LANGUAGES[1:] if server in set(apps["server"])]
    ratios = {
        (name, server): (rounds[name][server] / rounds[name][LANGUAGES[0]]).dropna()
        for name in ("rate", "p99_ms")
        for server in shown
    }
    rows, records = [], []
    for load in apps["load"].unique():
        cells = []
        for server in shown:
            rate, p99 = (ratios[name, server] for name in ("rate", "p99_ms"))
            found, later = (one[one.index.get_level_values("load") == load] for one in (rate, p99))
            cells.append(Cell(_range(found) or ABSENT, tuple(filter(None, [_range(later)]))))
            records.append({"load": load, "server": server, "rate_times_c": found.median()})
        rows.append((Cell(load), *cells))
    # The geometric mean over all clients, for each round.
    means = {key: np.exp(np.log(values).groupby(level="round").mean()) for key, values in ratios.items()}
    overall = (Cell(_range(means["rate", server]), (_range(means["p99_ms", server]),)) for server in shown)
    rows.append((Cell("all, geometric mean"), *overall))
    heading = Column("requests per second ÷ C, and p99 ÷ C below", numeric=False)
    columns = (heading, *(Column(SERVERS[server], emphasis=False) for server in shown))
    note = "In parentheses is the range over the rounds."
    title = "Requests per second, times C"
    return Table("applications-ratios", title, columns, tuple(rows), tuple(records), note)


def _range(values: pd.Series[float]) -> str:
    """Format the median of some rounds with their range; empty without any."""
    if values.empty:
        return ""
    return f"{values.median():.2f} ({values.min():.2f} to {values.max():.2f})"


def _layers(layers: pd.DataFrame) -> Table:
    """Divide the instructions of a request among the layers."""
    # A layer has the name `application`, too.
    layers = layers.rename(columns={"application": "program"})
    counts = layers.pivot_table("instructions", ["program", "client", "server"], "layer", "median", sort=False)
    rows, records = [], []
    for found in counts.fillna(0.0).reset_index().to_dict("records"):
        application, client, server = (str(found[name]) for name in ("program", "client", "server"))
        known = {name: float(found.get(name, 0.0)) for name in PARTS}
        total = sum(known.values())
        texts = [f"{count:,.0f}" for count in (*known.values(), total)]
        name = SERVERS[f"{server}/default"]
        share = f"{100 * known['driver'] / total:.1f} %"
        rows.append(tuple(map(Cell, (f"{application}: {client}", name, *texts, share))))
        records.append({"program": application, "client": client, "server": server, **known, "total": total})
    headings = (*PARTS.values(), "total", "driver's share")
    columns = (Column("request", numeric=False), Column("over", numeric=False), *map(Column, headings))
    title = "Instructions of a request by layer, in user mode, counted by callgrind"
    every: tuple[Record, ...] = tuple(records)
    return Table("applications-layers", title, columns, tuple(rows), every)
