# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The node's end of the cyclic process: start it, talk to it, end it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
import os
import pickle
import subprocess
import time
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from stewart_driver.backend import Backend
from stewart_driver.child_process import ChildProcess
from stewart_driver.configuration import CycleConfiguration
from stewart_driver.cycle import Request
from stewart_driver.errors import CycleError
from stewart_driver.legs import Array
from stewart_driver.setpoint import Setpoint, Verdict
from stewart_driver.shared_block import decode, Phase, SharedBlock
from stewart_driver.state_machine import State

START_TIMEOUT = 10.0
REPLY_TIMEOUT = 0.5
# To reset a fault may mean to bring a whole bus up again.
RESET_TIMEOUT = 6.0
END_TIMEOUT = 3.0
POLL = 5e-4


@dataclass(frozen=True)
class StateChange:
    """The driver's state after a change, when it came on the steady clock [s], and why."""

    stamp: float
    state: State
    homed: bool
    reason: str


@dataclass(frozen=True, eq=False)
class Sample:
    """
    Measured and commanded legs at one instant.

    Attributes
    ----------
    stamp : float
        Instant of the measurement on the steady clock [s].
    strokes, rates : ndarray, shape (6,)
        Measured, legs 1 to 6 [m], [m/s].
    forces : ndarray, shape (6,), or None
        Measured [N]; None where no force is measured.
    commanded_strokes, commanded_rates : ndarray, shape (6,), or None
        What the drives were told [m], [m/s]; None while they do not follow.
    true_strokes : ndarray, shape (6,), or None
        Strokes without errors of the encoders [m]; only simulated drives know them.

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
    """
    How the cyclic process has done since it started.

    Attributes
    ----------
    cycles, overruns : int
        Cycles run, and periods skipped because a cycle came too late.
    latest, busiest : float
        Worst wake-up lateness and longest work in one cycle [s].
    slipped : float
        How far the path is behind its schedule [s].
    largest_following_error : float
        Largest distance of any leg from its command [m].
    lost_setpoints, lost_samples : int
        Records that their reader was too slow for.
    verdicts : dict of Verdict to int
        What became of the setpoints.
    lateness, busy : ndarray of uint64
        Histograms, see `cycle_statistics`.
    longest_round_trip : float
        Of a frame, where the back end has a wire [s].
    bad_working_counters, lost_frames, bus_restarts, emergencies : int
        Frames that not every drive answered, frames that did not come back in time, how often the
        bus was brought up again, and emergencies that drives have sent.
    round_trips : ndarray of uint64
        Histogram.

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


class CycleClient(ChildProcess):
    """
    A running cyclic process.

    Parameters
    ----------
    backend : Backend
        Not opened; it is pickled into the process.
    configuration : CycleConfiguration
        Limits and settings.
    timeout : float
        Longest time until the first cycle has run [s].

    Attributes
    ----------
    last_refusal : str
        Why the last refused setpoint was refused.

    Raises
    ------
    CycleError
        If the process does not start, with the reason that it gave.

    """

    called: ClassVar[str] = 'the cyclic process'

    def __init__(
        self,
        backend: Backend,
        configuration: CycleConfiguration,
        timeout: float = START_TIMEOUT,
    ) -> None:
        """Start the process and wait for its first cycle."""
        self.last_refusal = ''
        self._failures: list[str] = []
        descriptor = SharedBlock.allocate()
        try:
            self._block = SharedBlock(descriptor)
            super().__init__(
                ('stewart_driver.cyclic_process', str(descriptor), str(os.getpid())),
                stdin=subprocess.PIPE,
                pass_fds=(descriptor,),
            )
        finally:
            os.close(descriptor)
        try:
            self._hand_over((backend, configuration))
            self._wait_for_start(timeout)
        except BaseException:
            self._end_now()
            raise

    @property
    def cycles(self) -> int:
        """Cycles run so far."""
        return int(self._block.words['cycles'])

    def offer(self, setpoint: Setpoint) -> None:
        """Give a setpoint to the interpolator."""
        self._block.setpoints.push(
            stamp=setpoint.stamp,
            strokes=setpoint.strokes,
            rates=setpoint.rates,
            forces=setpoint.forces,
        )

    def report_tracking_error(self, position: float, rotation: float) -> None:
        """Give the Cartesian tracking error to the supervision [m], [rad]."""
        self._block.tracking.push(position=position, rotation=rotation)

    def request(self, request: Request, timeout: float | None = None) -> tuple[bool, str]:
        """
        Ask for something and wait for the answer, which comes in the next cycle.

        Parameters
        ----------
        request : Request
            What is wanted.
        timeout : float or None
            Longest wait [s]; None takes what such a request may need.

        Returns
        -------
        tuple of bool and str
            Whether it is carried out, and one sentence.

        """
        if timeout is None:
            timeout = RESET_TIMEOUT if request is Request.RESET_FAULT else REPLY_TIMEOUT
        number = self._block.requests.push(code=request)
        limit = time.monotonic() + timeout
        while self.alive and time.monotonic() < limit:
            for reply in self._block.replies.pop_all():
                if int(reply['request']) == number:
                    return bool(reply['accepted']), decode(reply['message'])
            time.sleep(POLL)
        return False, self.epitaph() or f'the cyclic process did not answer within {timeout:g} s'

    def quick_stop(self, timeout: float = REPLY_TIMEOUT) -> tuple[bool, str]:
        """
        Raise the quick-stop flag, which the next cycle obeys before anything else.

        Parameters
        ----------
        timeout : float
            Longest wait for the cycle to see it [s].

        Returns
        -------
        tuple of bool and str
            Whether the cycle has seen it, and one sentence.

        """
        words = self._block.words
        words['quick_stops'] += 1
        limit = time.monotonic() + timeout
        while self.alive and time.monotonic() < limit:
            if words['quick_stops_seen'] == words['quick_stops']:
                return True, 'quick stop: all legs come to rest, then the drives are off'
            time.sleep(POLL)
        return False, self.epitaph() or f'the cyclic process did not answer within {timeout:g} s'

    def state_changes(self) -> list[StateChange]:
        """Return what changed since the last call, oldest first."""
        return [
            StateChange(
                float(event['stamp']),
                State(int(event['state'])),
                bool(event['homed']),
                decode(event['reason']),
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

    def end(self, timeout: float = END_TIMEOUT) -> None:
        """
        Bring the legs to rest, switch the drives off and end the process.

        Parameters
        ----------
        timeout : float
            Longest time that this may take [s]; then the process is killed.

        Raises
        ------
        CycleError
            If the process had to be killed or ended with an error.

        """
        self._block.words['end'] = 1
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            self._end_now()
            raise CycleError(
                f'the cyclic process did not end within {timeout:g} s and was killed'
            ) from error
        if code:
            raise CycleError(self.epitaph())

    def _hand_over(self, payload: Any) -> None:
        assert self._process.stdin is not None
        try:
            with self._process.stdin as pipe:
                pickle.dump(payload, pipe)
        except BrokenPipeError:
            self._process.wait()
            raise CycleError(f'{self.epitaph()} before it took its configuration') from None

    def _wait_for_start(self, timeout: float) -> None:
        limit = time.monotonic() + timeout
        while self._block.words['phase'] == Phase.STARTING:
            if not self.alive:
                raise CycleError(self.epitaph())
            if time.monotonic() > limit:
                raise CycleError(f'the cyclic process did not start within {timeout:g} s')
            time.sleep(POLL)
        if self._block.words['phase'] == Phase.FAILED:
            raise CycleError(f'the cyclic process did not start: {self._said()}')

    def _said(self) -> str:
        self._failures += [decode(failure['text']) for failure in self._block.failures.pop_all()]
        return '; '.join(self._failures)

    def _end_now(self) -> None:
        self.kill()
        self._process.wait()


def _known(values: Array) -> Array | None:
    # A tenth of the time that numpy takes to begin; a sample asks four times.
    return None if any(map(isnan, values.tolist())) else values
