"""The sections of the report. Each module has a function ``build(data) -> Section``."""

from __future__ import annotations

from collections.abc import Callable

from triptych_paper.report.model import Data, Section
from triptych_paper.report.sections import (
    applications,
    batches,
    checks,
    claims,
    code,
    compilers,
    counters,
    frames,
    hardening,
    hazards,
    interrupts,
    ladder,
    latency,
    lto,
    method,
    others,
    overflow,
    queues,
    rings,
    throughput,
    validation,
)

SECTIONS: tuple[Callable[[Data], Section], ...] = (
    claims.build,
    counters.build,
    validation.build,
    others.build,
    overflow.build,
    ladder.build,
    throughput.build,
    batches.build,
    latency.build,
    rings.build,
    frames.build,
    queues.build,
    interrupts.build,
    applications.build,
    hardening.build,
    lto.build,
    checks.build,
    compilers.build,
    hazards.build,
    code.build,
    method.build,
)
"""The builders of all sections, in the order of the report."""
