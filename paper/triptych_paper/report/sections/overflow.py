"""The cost of Rust's overflow checks."""

from __future__ import annotations

from triptych_paper.drivers import CHECKED, RUST, UNSAFE, UNSAFE_CHECKED
from triptych_paper.lookup import batches
from triptych_paper.report.comparisons import Comparison, comparison_table
from triptych_paper.report.model import Data, Section
from triptych_paper.schema import CYCLES

SHOWN = ("instructions", "branches", "branch_misses", CYCLES, "mpps")
TITLE = "Overflow checks"


def build(data: Data) -> Section:
    """Build a table for each batch size that was measured with and without overflow checks."""
    text = (
        "An optimised Rust program checks integer arithmetic for overflow only on request. The paper reports a cost of "
        "0.8 % of the throughput at batch 8, and no measurable cost at larger batches. It counts 9 more instructions "
        "per packet, 8 of them branches, and unchanged mispredicts. The section on claims has the verdicts.",
    )
    present = {batch for name in SHOWN for batch in batches(data.run, name, (CHECKED,))}
    chosen = [batch for batch in (8, 32, 256) if batch in present] or sorted(present)[:3]
    if not chosen:
        missing = "Not measured: this run did not include safe Rust with overflow checks."
        return Section("overflow", TITLE, text, missing=(missing,))
    comparisons = [Comparison(RUST), Comparison(CHECKED, RUST)]
    if any(batches(data.run, name, (UNSAFE_CHECKED,)) for name in SHOWN):
        comparisons += [Comparison(UNSAFE), Comparison(UNSAFE_CHECKED, UNSAFE)]
    tables = [
        comparison_table(
            data, f"overflow-batch-{batch}", f"{TITLE}, batch {batch}", comparisons, SHOWN, batch, difference=True
        )
        for batch in chosen
    ]
    return Section("overflow", TITLE, text, tuple(tables))
