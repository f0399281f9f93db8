"""What Rust's overflow checks cost."""

from __future__ import annotations

from triptych_paper.lookup import CHECKED, RUST, UNSAFE, Driver, batches
from triptych_paper.report.cells import Pair, comparison
from triptych_paper.report.model import Data, Section

SHOWN = ("instructions", "branches", "branch_misses", "cycles", "mpps")
UNSAFE_CHECKED = Driver("rust-unsafe", "overflow-checks")


def build(data: Data) -> Section:
    """A table a batch size that was measured with and without."""
    text = (
        "Rust checks integer arithmetic for overflow only on request. Published: 0.8 % of the throughput at batch 8, "
        "nothing measurable at larger batches; 9 more instructions per packet, 8 of them branches; mispredicts "
        "unchanged. The verdicts are among the claims.",
    )
    there = {batch for metric in SHOWN for batch in batches(data.run, metric, (CHECKED,))}
    chosen = [batch for batch in (8, 32, 256) if batch in there] or sorted(there)[:3]
    if not chosen:
        missing = "Not measured in this run: safe Rust with overflow checks was not part of it."
        return Section("overflow", "Overflow checks", text, missing=(missing,))
    pairs = [Pair(RUST), Pair(CHECKED, RUST)]
    if any(batches(data.run, metric, (UNSAFE_CHECKED,)) for metric in SHOWN):
        pairs += [Pair(UNSAFE), Pair(UNSAFE_CHECKED, UNSAFE)]
    tables = [
        comparison(
            data, f"overflow-batch-{batch}", f"Overflow checks, batch {batch}", pairs, SHOWN, batch, difference=True
        )
        for batch in chosen
    ]
    return Section("overflow", "Overflow checks", text, tuple(tables))
