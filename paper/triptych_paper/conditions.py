"""The conditions of a measurement."""

from __future__ import annotations

from dataclasses import dataclass

RING_SIZE, FRAME_SIZE, QUEUES = 512, 60, 1
"""The defaults: descriptors per ring, bytes of a frame without CRC, and queue pairs of a device."""

POLL, INTERRUPTS = "poll", "interrupts"
"""What a driver does while no packets come: it polls, or it sleeps until an interrupt."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of a value, besides driver and batch size."""

    ring_size: int = RING_SIZE
    """Descriptors per ring."""
    frame_size: int = FRAME_SIZE
    """Bytes of a frame without CRC."""
    offered_mpps: float | None = None
    """Offered load, both directions together, Mpps. None for a load that saturates the driver."""

    queues: int = QUEUES
    """Queue pairs of each device."""

    waiting: str = POLL
    """What the driver does while no packets come."""

    def __str__(self) -> str:
        """Name the conditions that are not the default ones; empty if all are."""
        parts = []
        if self.ring_size != RING_SIZE:
            parts.append(f"rings of {self.ring_size}")
        if self.frame_size != FRAME_SIZE:
            parts.append(f"{self.frame_size}-byte frames")
        if self.queues != QUEUES:
            parts.append(f"{self.queues} queues")
        if self.waiting != POLL:
            parts.append("interrupts")
        if self.offered_mpps is not None:
            parts.append(f"{self.offered_mpps:g} Mpps offered")
        return ", ".join(parts)


DEFAULT_CONDITIONS = Conditions()
