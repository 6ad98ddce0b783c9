# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the driver node sees of a control loop, wherever the loop runs.

`CycleClient` runs it in a process of its own against the steady clock; `InlineCycle` steps it in
this process along simulated time. Both exchange records through a `SharedBlock`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from math import isnan
from typing import Any, NamedTuple, TypeAlias

from stewart_driver.control.cycle_statistics import CycleCounters
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import AT_REST, Request, State
from stewart_driver.legs import Array, LEGS
from stewart_driver.path.motion import LegMotion

# What a stop may take beyond the time that follows from speed and deceleration, because cycles
# come late [s].
STOP_SLACK = 1.0
# So many answers that nobody has read yet are kept.
UNREAD = 16
Answer: TypeAlias = Callable[[], 'tuple[bool, str] | None']


class StateChange(NamedTuple):
    """The driver's state after a change.

    Attributes:
        stamp: When it came, on the steady clock [s].
        homed: Whether the strokes are absolute.
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
        return bool(self.live) and self.state in AT_REST

    def told(self) -> dict[str, Any]:
        """Return what stewart_interfaces/DriverState has of it, by field."""
        per_leg = {
            name: [bool(bits >> leg & 1) for leg in range(LEGS)]
            for name, bits in (('live', self.live), ('braked', self.braked), ('sto', self.sto))
        }
        return {
            'state': int(self.state),
            'homed': self.homed,
            **per_leg,
            'holding': self.holding,
            'override': self.override,
            'speed_scaling': self.speed_scaling,
            'reason': self.reason,
        }


class Sample(NamedTuple):
    """Measured and commanded legs at one instant.

    Attributes:
        stamp: Instant of the measurement on the steady clock [s].
        strokes, rates (6,): Measured, legs 1 to 6 [m], [m/s].
        forces (6,): Measured [N]; None where no force is measured.
        commanded_strokes (6,): What the drives were told [m]; None while they do not follow.
    """

    stamp: float
    strokes: Array
    rates: Array
    forces: Array | None
    commanded_strokes: Array | None


class CycleLink(ABC):
    """The node's end of a control loop.

    Attributes:
        longest_stop: Time in which legs at the highest rate are brought to rest, and have settled,
            and `STOP_SLACK` [s].
        last_refusal: Why the last refused setpoint was refused.
    """

    def __init__(self, block: SharedBlock, longest_stop: float) -> None:
        self._block, self.longest_stop = block, longest_stop + STOP_SLACK
        self._replies: dict[int, tuple[bool, str]] = {}
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
    def exit_reason(self) -> str:
        """Return one sentence on why the loop is gone; empty while it is alive."""

    @abstractmethod
    def kill(self) -> None:
        """End the loop at once, whatever it is doing."""

    @abstractmethod
    def request(self, request: Request, value: float = 0.0) -> tuple[bool, str]:
        """Return whether a request, with a value where it has one, is carried out, and why."""

    @abstractmethod
    def begin(self, request: Request) -> Answer:
        """Ask for something; return what gives the answer of `request` once it has come."""

    @abstractmethod
    def quick_stop(self) -> tuple[bool, str]:
        """Return whether the quick stop reaches all drives, and one sentence."""

    @abstractmethod
    def end(self) -> None:
        """Bring the legs to rest, switch the drives off and end; raises `CycleError`."""

    @property
    def cycles(self) -> int:
        """Cycles run so far."""
        return int(self._block.words['cycles'])

    def offer(self, setpoint: LegMotion) -> None:
        """Give a setpoint to the interpolator."""
        stamp, strokes, rates, forces = setpoint
        self._block.setpoints.push(stamp=stamp, strokes=strokes, rates=rates, forces=forces)

    def jog(self, rates: Array, stamp: float) -> None:
        """Move legs at rest at these rates, shape (6,) [m/s], for a tenth of a second after it.

        Args:
            stamp: Instant of the request on the steady clock [s]; one that is yet to come is now.
        """
        self._block.jogs.push(stamp=min(stamp, self.steady()), rates=rates)

    def report_tracking_error(self, position: float, rotation: float) -> None:
        """Give the Cartesian tracking error to the supervision [m], [rad]."""
        self._block.tracking.push(position=position, rotation=rotation)

    def state_changes(self) -> list[StateChange]:
        """Return what changed since the last call, oldest first."""
        changes = []
        for event in self._block.events.pop_all():
            event['state'] = State(event['state'])
            changes.append(StateChange(**{name: event[name] for name in StateChange._fields}))
        return changes

    def samples(self) -> Iterator[Sample]:
        """Return the samples since the last call, oldest first."""
        for stamp, strokes, rates, forces, commanded in self._block.samples.pop_values():
            yield Sample(stamp, strokes, rates, _known(forces), _known(commanded))

    def notes(self) -> list[str]:
        """Return what the loop was not permitted, as it said since the last call."""
        return [note['text'] for note in self._block.notes.pop_all()]

    def counters(self) -> CycleCounters:
        """Return the statistics as they are now."""
        for refusal in self._block.refusals.pop_all():
            self.last_refusal = refusal['text']
        return CycleCounters.read(self._block.words, self._block.samples.lost)

    def _push(self, request: Request, value: float, deadline: float = 0.0) -> int:
        """Put a request into the ring, to be carried out until then [s]; return its number."""
        quick_stops = self._block.words['quick_stops']
        return self._block.requests.push(
            code=request, value=value, deadline=deadline, quick_stops=quick_stops
        )

    def _reply_to(self, number: int) -> tuple[bool, str] | None:
        """Return the answer to a request, if it has come."""
        for reply in self._block.replies.pop_all():
            self._replies[reply['request']] = reply['accepted'], reply['message']
        while len(self._replies) > UNREAD:
            # Nobody waits for it any more.
            del self._replies[min(self._replies)]
        return self._replies.pop(number, None)

    def _stopped(self) -> tuple[bool, str] | None:
        """Return the answer to the last quick stop, if it has come."""
        answer = None
        for reply in self._block.stops.pop_all():
            if reply['quick_stops'] == self._block.words['quick_stops']:
                answer = reply['accepted'], reply['message']
        return answer


def _known(values: Array) -> Array | None:
    # One NaN makes the sum one; numpy takes ten times as long to begin, and a sample asks twice.
    return None if isnan(sum(values.tolist())) else values
