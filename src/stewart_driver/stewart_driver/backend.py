# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
The protocol between the cyclic process and whatever moves the legs.

A back end is made in the node's process, which checks its options, and pickled into the cyclic
process, where `open` and everything after it is called. So the constructor holds no handle,
socket or thread. Packages offer back ends through the entry-point group
``stewart.driver_backends``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from stewart_driver.errors import DriveFault, UnknownBackend
from stewart_driver.legs import Array, LegLimits

GROUP = 'stewart.driver_backends'


class Targets(NamedTuple):
    """
    What the drives shall do until the next exchange.

    Attributes
    ----------
    strokes, rates : ndarray, shape (6,)
        Legs 1 to 6 [m], [m/s].
    forces : ndarray, shape (6,)
        Feed-forward force, positive pushes apart [N]; zero where none is given.

    """

    strokes: Array
    rates: Array
    forces: Array


class Measurement(NamedTuple):
    """
    What the drives report in one exchange.

    Attributes
    ----------
    stamp : float
        Instant of the measurement on the steady clock [s].
    strokes, rates : ndarray, shape (6,)
        Legs 1 to 6 [m], [m/s].
    forces : ndarray, shape (6,), or None
        Measured force, positive pushes apart [N]; None where no force is measured.
    enabled : bool
        True while all six drives follow their targets.
    fault : DriveFault or None
        First fault that a drive reports.
    live, braked, sto : int
        One bit per leg, bit 0 is leg 1: its motor is under voltage, its brake is applied, its safe
        torque off is active.
    true_strokes : ndarray, shape (6,), or None
        Strokes without any error of the encoders [m]; only a simulated back end knows them.

    """

    stamp: float
    strokes: Array
    rates: Array
    forces: Array | None = None
    enabled: bool = False
    fault: DriveFault | None = None
    live: int = 0
    braked: int = 0
    sto: int = 0
    true_strokes: Array | None = None


class Backend(Protocol):
    """
    Six drives behind one transport.

    Every method may raise `TransportError`. After `disable` or `close` the outputs are safe.
    """

    name: ClassVar[str]
    options_type: ClassVar[type]

    def __init__(self, options: Any) -> None:
        """Check the options, an instance of `options_type` (a dataclass of plain values)."""

    @property
    def simulated(self) -> bool:
        """Whether no metal moves."""

    @property
    def cycle_time(self) -> float:
        """Time from one exchange to the next [s]."""

    @property
    def limits(self) -> LegLimits:
        """What these drives and legs may do."""

    @property
    def homed(self) -> bool:
        """Whether the strokes are absolute; known after `open`."""

    def open(self, now: float) -> None:
        """Take hold of the transport at the instant `now` of the steady clock [s]."""

    def close(self) -> None:
        """Make the outputs safe and let go of the transport; harmless when not open."""

    def enable(self) -> None:
        """Begin to switch the drives on; `Measurement.enabled` tells when they are."""

    def disable(self) -> None:
        """Switch the drives off."""

    def home(self) -> str:
        """Verify that the strokes are absolute; say what was verified or raise `HomingError`."""

    def reset_fault(self) -> None:
        """Acknowledge the faults of all drives."""

    def exchange(self, targets: Targets, now: float) -> Measurement:
        """
        Give the targets to the drives and take what they measure.

        Until all drives are enabled the targets equal the measured strokes.

        Parameters
        ----------
        targets : Targets
            What the drives shall do from now on.
        now : float
            Instant of the exchange on the steady clock [s].

        Returns
        -------
        Measurement
            State of the drives at the exchange.

        """


@runtime_checkable
class Described(Protocol):
    """A back end of which an operator wants to know more than its name."""

    @property
    def details(self) -> Mapping[str, str]:
        """What goes into the diagnostics beside the name."""


@runtime_checkable
class Timed(Protocol):
    """A simulated back end whose machine may have a clock of its own."""

    def require_callers_time(self) -> None:
        """Raise `ConfigurationError` unless no time passes for it but its caller's."""


@runtime_checkable
class Noting(Protocol):
    """A back end that has something to say about its last start, in ``driver/state``."""

    notes: str
    """What the operator has to know since the last start; empty if there is nothing."""


@runtime_checkable
class Waiting(Protocol):
    """A back end whose calls end later than they began, also on a clock that the caller steps."""

    @property
    def now(self) -> float:
        """Instant at which the last call was over, on the steady clock [s]."""


@runtime_checkable
class Explaining(Protocol):
    """A back end that knows why not all of its drives are on."""

    def why_not_on(self) -> str:
        """Name the legs and what their drives say; empty if all are on."""


@runtime_checkable
class Rescuable(Protocol):
    """A back end whose outputs outlive the cyclic process and can be made safe without it."""

    def rescue(self) -> str:
        """Make the outputs safe and say how; raises `TransportError`."""


def installed_backends() -> Mapping[str, Any]:
    """Return the entry points of all installed back ends by name."""
    return {point.name: point for point in entry_points(group=GROUP)}


def find_backend(name: str) -> type[Backend]:
    """
    Load the back end of this name; there is no fallback.

    Parameters
    ----------
    name : str
        Name of the entry point, for example ``simulated``.

    Returns
    -------
    type
        Class that fulfils `Backend`.

    Raises
    ------
    UnknownBackend
        If no installed package offers it; the message lists those that are.

    """
    known = installed_backends()
    if name not in known:
        raise UnknownBackend(name, tuple(known))
    backend: type[Backend] = known[name].load()
    return backend
