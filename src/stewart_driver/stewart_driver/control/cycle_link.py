# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the driver node sees of a control loop, wherever the loop runs.

`CycleClient` runs it in a process of its own against the steady clock; `InlineCycle` steps it in
this process along simulated time. Both exchange records through a `SharedBlock`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stewart_driver.control.request import Request
from stewart_driver.control.shared_block import decode, SharedBlock
from stewart_driver.control.state_machine import State
from stewart_driver.legs import Array, LEGS
from stewart_driver.path.motion import LegMotion, Verdict

# What a stop may take beyond the time that follows from speed and deceleration, because cycles
# come late [s].
PATIENCE = 1.0


@dataclass(frozen=True)
class StateChange:
    """The driver's state after a change.

    Attributes:
        stamp: When it came, on the steady clock [s].
        state: The state.
        homed: Whether the strokes are absolute.
        reason: Why it is in this state.
        speed_scaling: Speed at which paths are played, 0.01 to 1 [-].
        override: Whether legs may be outside their strokes.
        live, braked, sto: Bits of the legs, see `Measurement`.
    """

    stamp: float
    state: State
    homed: bool
    reason: str
    speed_scaling: float = 1.0
    override: bool = False
    live: int = 0
    braked: int = 0
    sto: int = 0

    @property
    def holding(self) -> bool:
        """Whether nothing is followed, and what is live holds its leg where it stands."""
        return bool(self.live) and self.state in (State.DISABLED, State.FAULT)

    def told(self) -> dict[str, Any]:
        """Return what stewart_interfaces/DriverState has of it, by field."""
        return {
            'state': int(self.state),
            'homed': self.homed,
            'live': _per_leg(self.live),
            'braked': _per_leg(self.braked),
            'sto': _per_leg(self.sto),
            'holding': self.holding,
            'override': self.override,
            'speed_scaling': self.speed_scaling,
            'reason': self.reason,
        }


@dataclass(frozen=True, eq=False)
class Sample:
    """Measured and commanded legs at one instant.

    Attributes:
        stamp: Instant of the measurement on the steady clock [s].
        strokes, rates (6,): Measured, legs 1 to 6 [m], [m/s].
        forces (6,): Measured [N]; None where no force is measured.
        commanded_strokes, commanded_rates (6,): What the drives were told [m], [m/s]; None while
            they do not follow.
        true_strokes (6,): Strokes without errors of the encoders [m]; only simulated drives know
            them.
    """

    stamp: float
    strokes: Array
    rates: Array
    forces: Array | None
    commanded_strokes: Array | None
    commanded_rates: Array | None
    true_strokes: Array | None


@dataclass(frozen=True, eq=False)
class CycleCounters:
    """How the cyclic process has done since it started.

    Attributes:
        cycles, overruns: Cycles run, and periods skipped because a cycle came too late.
        latest, busiest: Worst wake-up lateness and longest work in one cycle [s].
        slipped: How far the path is behind its schedule [s].
        largest_following_error: Largest distance of any leg from its command [m].
        lost_setpoints, lost_samples: Records that their reader was too slow for.
        verdicts: What became of the setpoints.
        lateness, busy: Histograms, see `cycle_statistics`.
        longest_round_trip: Of a frame, where the back end has a wire [s].
        bad_working_counters, lost_frames, bus_restarts, emergencies: Frames that not every drive
            answered, frames that did not come back in time, how often the bus was brought up
            again, and emergencies that drives have sent.
        round_trips: Histogram.
    """

    cycles: int
    overruns: int
    latest: float
    busiest: float
    slipped: float
    largest_following_error: float
    lost_setpoints: int
    lost_samples: int
    verdicts: dict[Verdict, int]
    lateness: NDArray[np.uint64]
    busy: NDArray[np.uint64]
    longest_round_trip: float
    bad_working_counters: int
    lost_frames: int
    bus_restarts: int
    emergencies: int
    round_trips: NDArray[np.uint64]


class CycleLink(ABC):
    """The node's end of a control loop.

    Args:
        block: The node's view of the memory that both ends share.
        longest_stop: Time in which legs at the highest rate are brought to rest, and have settled
            [s].

    Attributes:
        longest_stop: The same, and some patience [s].
        last_refusal: Why the last refused setpoint was refused.
    """

    def __init__(self, block: SharedBlock, longest_stop: float) -> None:
        self._block, self.longest_stop = block, longest_stop + PATIENCE
        self.last_refusal = ''

    @abstractmethod
    def steady(self) -> float:
        """Return the present time of the loop's clock [s]."""

    @abstractmethod
    def pause(self) -> None:
        """Let about a millisecond, or one cycle, of the loop's time pass."""

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether the loop can still run."""

    @abstractmethod
    def epitaph(self) -> str:
        """Return one sentence on why the loop is gone; empty while it is alive."""

    @abstractmethod
    def kill(self) -> None:
        """End the loop at once, whatever it is doing."""

    @abstractmethod
    def request(self, request: Request, value: float = 0.0) -> tuple[bool, str]:
        """Return whether a request, with a value where it has one, is carried out, and why."""

    @abstractmethod
    def quick_stop(self) -> tuple[bool, str]:
        """Return whether the loop has seen the quick stop, and one sentence."""

    @abstractmethod
    def end(self) -> None:
        """Bring the legs to rest, switch the drives off and end; raises `CycleError`."""

    @property
    def cycles(self) -> int:
        """Cycles run so far."""
        return int(self._block.words['cycles'])

    def offer(self, setpoint: LegMotion) -> None:
        """Give a setpoint to the interpolator."""
        self._block.setpoints.push(
            stamp=setpoint.stamp,
            strokes=setpoint.strokes,
            rates=setpoint.rates,
            forces=setpoint.forces,
        )

    def jog(self, rates: Array) -> None:
        """Move legs at rest at these rates for a tenth of a second, shape (6,) [m/s]."""
        self._block.jogs.push(stamp=self.steady(), rates=rates)

    def report_tracking_error(self, position: float, rotation: float) -> None:
        """Give the Cartesian tracking error to the supervision [m], [rad]."""
        self._block.tracking.push(position=position, rotation=rotation)

    def state_changes(self) -> list[StateChange]:
        """Return what changed since the last call, oldest first."""
        return [
            StateChange(
                float(event['stamp']),
                State(int(event['state'])),
                bool(event['homed']),
                decode(event['reason']),
                float(event['speed_scaling']),
                bool(event['override']),
                int(event['live']),
                int(event['braked']),
                int(event['sto']),
            )
            for event in self._block.events.pop_all()
        ]

    def samples(self) -> Iterator[Sample]:
        """Return the samples since the last call, oldest first."""
        for record in self._block.samples.pop_all():
            yield Sample(
                float(record['stamp']),
                record['strokes'],
                record['rates'],
                _known(record['forces']),
                _known(record['commanded_strokes']),
                _known(record['commanded_rates']),
                _known(record['true_strokes']),
            )

    def notes(self) -> list[str]:
        """Return what the loop was not permitted, as it said since the last call."""
        return [decode(note['text']) for note in self._block.notes.pop_all()]

    def counters(self) -> CycleCounters:
        """Return the statistics as they are now."""
        words = self._block.words
        for refusal in self._block.refusals.pop_all():
            self.last_refusal = decode(refusal['text'])
        return CycleCounters(
            cycles=int(words['cycles']),
            overruns=int(words['overruns']),
            latest=float(words['latest']),
            busiest=float(words['busiest']),
            slipped=float(words['slipped']),
            largest_following_error=float(words['largest_following_error']),
            lost_setpoints=int(words['lost_setpoints']),
            lost_samples=self._block.samples.lost,
            verdicts={verdict: int(words['verdicts'][verdict]) for verdict in Verdict},
            lateness=words['lateness'].copy(),
            busy=words['busy'].copy(),
            longest_round_trip=float(words['longest_round_trip']),
            bad_working_counters=int(words['bad_working_counters']),
            lost_frames=int(words['lost_frames']),
            bus_restarts=int(words['bus_restarts']),
            emergencies=int(words['emergencies']),
            round_trips=words['round_trips'].copy(),
        )


def _known(values: Array) -> Array | None:
    # A tenth of the time that numpy takes to begin; a sample asks four times.
    return None if any(map(isnan, values.tolist())) else values


def _per_leg(mask: int) -> list[bool]:
    return [bool(mask >> leg & 1) for leg in range(LEGS)]
