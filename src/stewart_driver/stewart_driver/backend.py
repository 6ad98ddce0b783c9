# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What stands between the cyclic process and whatever moves the legs.

A back end is made in the node's process, which checks its options, and pickled into the cyclic
process, where `open` and everything after it is called. So the constructor holds no handle,
socket or thread. Packages offer back ends through the entry-point group
``stewart.driver_backends``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, ClassVar, NamedTuple

from stewart_driver.control.cycle_statistics import WireStatistics
from stewart_driver.errors import HomingError, LegFault, UnknownBackend
from stewart_driver.legs import Array, LegLimits
from stewart_driver.path.motion import LegMotion
from stewart_tables.installed import installed

GROUP = 'stewart.driver_backends'


class Measurement(NamedTuple):
    """What the drives report in one exchange.

    Attributes:
        stamp: Instant of the measurement on the steady clock [s].
        strokes, rates (6,): Legs 1 to 6 [m], [m/s].
        forces (6,): Measured force, positive pushes apart [N]; None where none is measured.
        enabled: True while all six drives follow their targets.
        fault: First fault that a drive reports.
        live, braked, sto: One bit per leg, bit 0 is leg 1: its motor is under voltage, its brake
            is applied, its safe torque off is active.
        late: Whether the targets came too late for their cycle, so that the drives keep theirs.
        deaf: One bit per leg: it does not hear the driver, and may hold by itself.
    """

    stamp: float
    strokes: Array
    rates: Array
    forces: Array | None = None
    enabled: bool = False
    fault: LegFault | None = None
    live: int = 0
    braked: int = 0
    sto: int = 0
    late: bool = False
    deaf: int = 0


def never() -> bool:
    """Return that no quick stop is asked for."""
    return False


class Backend(ABC):
    """Six drives behind one transport.

    Every method may raise `TransportError`. After `disable` or `close` the outputs are safe. What
    follows `exchange` has a default, for transports that have no more to say.

    Args:
        options: An instance of `options_type`, a dataclass of plain values, which is checked.

    Attributes:
        simulated: Whether no metal moves.
        cycle_time: Time from one exchange to the next [s].
        limits: What these drives and legs may do.
        notes: What the operator has to know since the last start, for ``driver/state``; may be
            empty.
        why_live: Why the motors stay under voltage after `disable`; empty where they do not.
        longest_closing: `close` may take so long [s], while unpowered legs sink, for example.
        rig_file: The machine's own file, which says of which platform it is; empty where there is
            none.
        wire: How the frames fare, where there are frames.
        moves_home: Whether `home` switches the drives on and moves the legs.
        holds_blindly: Whether a leg is held although its measured stroke is wrong.
        interrupted: Tells whether a quick stop is asked for, while the back end is busy with a
            request; legs that are held then are to be let go.
        runs_on: So long its legs run on at their last rate when the next target does not come [s];
            0 where drives stop at the last one.
        compiles: Whether the cyclic process shall load compiled kernels. Without them a cycle
            takes some 20 µs more, and no compiler is in a process with real-time priority.
    """

    name: ClassVar[str]
    options_type: ClassVar[type]
    simulated: bool
    cycle_time: float
    limits: LegLimits
    notes: str = ''
    why_live: str = ''
    rig_file: str = ''
    longest_closing: float = 0.0
    wire: WireStatistics | None = None
    moves_home: bool = False
    holds_blindly: bool = False
    interrupted: Callable[[], bool] = staticmethod(never)
    runs_on: float = 0.0
    compiles: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, options: Any) -> None:
        """Check the options."""

    @staticmethod
    def placed(options: Any, namespace: str) -> Any:
        """Return the options as they count for a driver in a namespace of the graph."""
        return options

    def keep_within(self, limits: LegLimits) -> None:  # noqa: B027
        """Be told, before `open`, to which part of its limits the driver keeps the legs."""

    @property
    def homed(self) -> bool:
        """Whether the strokes are absolute; known after `open`."""
        return False

    @abstractmethod
    def open(self, now: float) -> None:
        """Take hold of the transport at the instant `now` of the steady clock [s]."""

    @abstractmethod
    def close(self) -> None:
        """Make the outputs safe and let go of the transport; harmless when not open."""

    @abstractmethod
    def enable(self) -> None:
        """Begin to switch the drives on; `Measurement.enabled` tells when they are."""

    @abstractmethod
    def disable(self) -> None:
        """Switch the drives off."""

    def release(self) -> None:
        """Switch the drives off, all in the same cycle, where one of them cannot be held."""
        self.disable()

    def withdraw(self) -> None:  # noqa: B027
        """Ask no drive to come on any more; those that hold their legs go on."""

    @abstractmethod
    def home(self) -> str:
        """Verify that the strokes are absolute; say what was verified or raise `HomingError`."""

    @property
    def homing(self) -> bool:
        """Whether drives move their legs home by themselves; `home` renews that request."""
        return False

    def finish_homing(self) -> str:
        """Take what such a motion has found; say so or raise `HomingError`."""
        raise HomingError('these drives do not move home by themselves')

    def held(self, measured: Array) -> Array:
        """Return the strokes (6,) at which drives that are coming on hold their legs [m].

        Args:
            measured (6,): Where the legs are, as far as anybody knows; the default.
        """
        return measured

    @abstractmethod
    def reset_fault(self) -> None:
        """Acknowledge the faults of all drives."""

    @abstractmethod
    def exchange(self, targets: LegMotion, now: float) -> Measurement:
        """Give the targets to the drives and take what they measure.

        Until all drives are enabled the targets equal the measured strokes.

        Args:
            targets: What the drives shall do from now on; their stamp says nothing here.
            now: Instant of the exchange on the steady clock [s].
        """

    @property
    def details(self) -> Mapping[str, str]:
        """What goes into the diagnostics beside the name."""
        return {}

    @property
    def measures_forces(self) -> bool:
        """Whether measurements hold forces; known after `open`."""
        return False

    @property
    def now(self) -> float:
        """Instant at which the last call was over, where it took stepped time [s]."""
        return -inf

    @property
    def shift(self) -> float:
        """How much later than a period the next cycle shall begin, for the drives' clock [s]."""
        return 0.0

    @property
    def stall_limit(self) -> float:
        """Time without a cycle after which `rescue` has to be called [s]."""
        return inf

    def require_callers_time(self) -> None:  # noqa: B027
        """Raise `ConfigurationError` unless no time passes for it but its caller's."""

    @property
    def starting(self) -> bool:
        """Whether drives are still on their way to where they can be switched on."""
        return False

    def why_not_on(self) -> str:
        """Name the legs that are not on and what their drives say; empty if all are on."""
        return ''

    def rescue(self) -> str:
        """Make outputs safe that have outlived the cyclic process, from another process.

        Returns:
            How; empty where nothing outlives the process.
        """
        return ''


def installed_backends() -> Mapping[str, Any]:
    """Return the entry points of all installed back ends by name."""
    return {point.name: point for point in installed(GROUP)}


def find_backend(name: str) -> type[Backend]:
    """Load the back end of the entry point ``name``; there is no fallback.

    Raises:
        UnknownBackend: If no installed package offers it; the message lists those that are.
    """
    known = installed_backends()
    if name not in known:
        raise UnknownBackend(name, tuple(known))
    backend: type[Backend] = known[name].load()
    return backend
