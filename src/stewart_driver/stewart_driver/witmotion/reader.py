# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep a sensor talking: open, find the speed, configure, stream, and all over when it is lost.

This is a conversation (see `link`), in real time the body of a thread of its own; what it has to
give lies in a bounded queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum
import threading
import time
from typing import NamedTuple, Protocol, TypeAlias

from stewart_driver.errors import StewartError
from stewart_driver.offers import Offers
from stewart_driver.witmotion.clock import Arrival, OwnTime, SampleClock
from stewart_driver.witmotion.frames import TimeFrame
from stewart_driver.witmotion.link import carry_out, Conversation, ForTime, Interrupted, Link
from stewart_driver.witmotion.samples import (
    CycleGrouper,
    Decoded,
    DecoderStatistics,
    GroupingStatistics,
    Sample,
)
from stewart_driver.witmotion.settings import configure, order, probe, SensorSettings
from stewart_driver.witmotion.transport import PortError, SensorSilent, Transport
from stewart_tables.settings import param


def thread_meter() -> Callable[[], float]:
    """Return a function that tells the processor time of the thread that calls this one [s].

    The clock's number is taken while the thread certainly lives; asked for by the thread's own
    number later, a thread that has just ended could bring the process down.

    Returns:
        May be called from any thread; 0 once the thread has ended.
    """
    clock = time.pthread_getcpuclockid(threading.get_ident())

    def used() -> float:
        try:
            return time.clock_gettime(clock)
        except OSError:
            return 0.0

    return used


# Far more than the table's steps, far less than the distance of two of them.
RATE_TOLERANCE = 0.1
# When the stream is first held against the settings, and how rarely it is in the end [s].
FIRST_CHECK = 2.0
LAST_CHECK = 60.0
# A sensor that streams and did not answer, because this computer stood still maybe, is asked so
# often again; that interrupts the stream.
AGAIN = 2
# Of so many reads one waits for the next byte, and so tells sharply when it came: about twice in
# a block of the clock, and the reads after it are nearly as sharp.
SHARP = 8


class ReaderPhase(Enum):
    """What the reader is about."""

    STOPPED = 'not running'
    OPENING = 'opening the port'
    PROBING = 'looking for the speed'
    CONFIGURING = 'configuring the sensor'
    STREAMING = 'receiving'
    WAITING = 'waiting before the next attempt'


@dataclass(frozen=True)
class ReaderSettings(SensorSettings):
    """How the reader behaves, and what the sensor shall send."""

    port: str = param('/dev/ttyUSB0', 'serial device, best /dev/serial/by-id/…')
    auto_baud: bool = param(True, 'look for the sensor at all speeds, not at `baud` alone')
    configure: bool = param(True, 'bring the sensor to these settings; false: write nothing')
    queue: int = param(400, 'samples kept while the node is busy; the oldest are dropped', min=1)
    silence: float = param(
        1.5,
        'time without a frame after which the speed is looked for again; 3 cycles at least [s]',
        min=0.2,
    )
    batch_interval: float = param(
        0.0,
        'pause between two reads; costs age, and stamps where samples get lost; 0.04 saves 3 % of '
        'a core [s]',
        min=0.0,
        max=0.2,
    )
    backoff_min: float = param(0.5, 'shortest wait before another attempt [s]', min=0.05)
    backoff_max: float = param(8.0, 'longest wait before another attempt [s]', min=0.05)


class StampedSample(NamedTuple):
    """A sample and when it was sent.

    Attributes:
        stamp: Steady time at which the first byte of the cycle left the sensor [s].
    """

    stamp: float
    sample: Sample


@dataclass(frozen=True)
class ReaderStatus:
    """How the reader is doing; counts run from its start over all connections.

    Attributes:
        trouble: Why there is no connection; empty while there is one.
        misconfigured: Why the sensor could not be configured; empty if it could.
        baud: Speed of the line; 0 while there is none.
        connections: How often frames began to come.
        dropped: Samples that were not taken in time.
        decoder: Counts of bytes and frames of this connection.
        grouping: Counts of samples of this connection.
        pattern: Types of a cycle as they come.
        period, gaps, restarts, lateness: Of the `SampleClock`.
        cpu: Processor time of the thread [s].
    """

    phase: ReaderPhase
    trouble: str
    misconfigured: str
    baud: int
    connections: int
    dropped: int
    decoder: DecoderStatistics
    grouping: GroupingStatistics
    pattern: tuple[int, ...]
    period: float
    gaps: int
    restarts: int
    lateness: float
    cpu: float


class ImuReader:
    """Read samples: in a thread of its own, or along simulated time by `converse`.

    Args:
        open_port: Takes a speed, returns an open Transport or raises PortError.
        now, sleep: Steady time, and waiting for a time [s].
        notify: Called from the thread whenever samples were added to the queue.
    """

    def __init__(
        self,
        open_port: Callable[[int], Transport],
        settings: ReaderSettings,
        *,
        now: Callable[[], float],
        sleep: Callable[[float], object],
        notify: Callable[[], object] = lambda: None,
    ) -> None:
        self._open = open_port
        self._settings = settings
        self._now, self._sleep, self._notify = now, sleep, notify
        self._cpu: Callable[[], float] = float
        self._queue: deque[StampedSample] = deque(maxlen=settings.queue)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.run, name='imu_reader', daemon=True)
        self._phase = ReaderPhase.STOPPED
        self._trouble = self._misconfigured = ''
        self._unanswered = False
        self._link: Link | None = None
        self._grouper = CycleGrouper()
        self._clock, self._own_time = SampleClock(1.0 / settings.rate), OwnTime()
        self._connections = self._dropped = 0
        self._wait = settings.backoff_min

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close the port; returns when both is done."""
        self._stop.set()
        self._thread.join()

    def take(self) -> list[StampedSample]:
        """Return the samples that came since the last call, oldest first."""
        # Others may append meanwhile.
        return [self._queue.popleft() for _ in range(len(self._queue))]

    @property
    def status(self) -> ReaderStatus:
        """How it is doing; may be asked from any thread."""
        link, clock, grouper = self._link, self._clock, self._grouper
        counts = grouper.statistics
        return ReaderStatus(
            phase=self._phase,
            trouble=self._trouble,
            misconfigured=self._misconfigured,
            baud=link.baud if link else 0,
            connections=self._connections,
            dropped=self._dropped,
            decoder=link.decoder.statistics if link else DecoderStatistics(),
            grouping=replace(counts, types=dict(counts.types)),
            pattern=grouper.pattern,
            period=clock.period,
            gaps=clock.gaps,
            restarts=clock.restarts,
            lateness=clock.lateness,
            cpu=self._cpu(),
        )

    @property
    def attentive(self) -> bool:
        """Whether it streams, and reads whatever comes as soon as it is there."""
        return self._phase is ReaderPhase.STREAMING and not self._settings.batch_interval

    def run(self) -> None:
        """Converse in real time until stopped."""
        self._cpu = thread_meter()
        carry_out(self.converse(), self._sleep, self._stop.wait)

    def converse(self) -> Conversation[None]:
        """Connect again and again until stopped."""
        try:
            while True:
                try:
                    self._phase = ReaderPhase.OPENING
                    with closing(self._open(self._settings.baud)) as transport:
                        self._link = Link(transport, self._now, self._stop.is_set)
                        yield from self._connect(self._link)
                except StewartError as error:
                    self._trouble = str(error)
                self._link = None
                yield from self._pause()
        except Interrupted:
            pass
        finally:
            self._link = None
            self._phase = ReaderPhase.STOPPED

    def _pause(self) -> Conversation[None]:
        self._phase = ReaderPhase.WAITING
        yield ForTime(self._wait, idle=True)
        if self._stop.is_set():
            raise Interrupted
        self._wait = min(2.0 * self._wait, self._settings.backoff_max)

    def _connect(self, link: Link) -> Conversation[None]:
        """Stay with an open port until it is lost or the sensor falls silent."""
        speed = self._settings.baud
        while True:
            self._phase = ReaderPhase.PROBING
            speed = yield from probe(link, order(speed) if self._settings.auto_baud else (speed,))
            self._trouble = ''
            yield from self._configure(link)
            self._wait = self._settings.backoff_min
            self._connections += 1
            speed = link.baud
            yield from self._stream(link)
            self._trouble = f'no frame for {self._settings.silence:g} s at {speed} baud'

    def _configure(self, link: Link, *, obeys: bool = True) -> Conversation[None]:
        """Configure; a sensor that refuses is still read, and the reason told."""
        self._grouper = CycleGrouper()
        self._clock, self._own_time = SampleClock(1.0 / self._settings.rate), OwnTime()
        if not self._settings.configure:
            return
        self._phase = ReaderPhase.CONFIGURING
        try:
            yield from configure(link, self._settings, obeys=obeys)
            self._grouper.expect(self._settings.pattern)
            self._misconfigured, self._unanswered = '', False
        except PortError:
            raise
        except StewartError as error:
            self._misconfigured = str(error)
            self._unanswered = isinstance(error, SensorSilent)

    def _stream(self, link: Link) -> Conversation[None]:
        """Receive until no frame comes for too long."""
        self._phase = ReaderPhase.STREAMING
        patience = FIRST_CHECK
        heard = now = self._now()
        check = now + patience
        reads, restarts, asked = 0, 0, 0
        silence = max(self._settings.silence, 3.0 / self._settings.rate)
        while now - heard <= silence:
            for decoded in (yield from link.reads()):
                if decoded:
                    heard = self._now()
                    self._put(link, decoded)
            now = self._now()
            reads += 1
            if reads % SHARP and self._settings.batch_interval:
                yield ForTime(self._settings.batch_interval)
            if now > check:
                drifted = self._settings.configure and self._drifted()
                if drifted or (self._unanswered and asked < AGAIN):
                    patience = min(2.0 * patience, LAST_CHECK)
                    # One restart shows whether it helps.
                    told = restarts > 0 and self._settings.save
                    yield from self._configure(link, obeys=told or not drifted)
                    restarts, asked = restarts + drifted, asked + (not drifted)
                    self._phase = ReaderPhase.STREAMING
                    heard = now = self._now()
                elif restarts:
                    # It sends as wanted again, whatever was wrong.
                    self._misconfigured, patience = '', FIRST_CHECK
                check = now + patience

    def _put(self, link: Link, decoded: list[Decoded]) -> None:
        samples = self._grouper.feed(decoded)
        if not samples:
            return
        read = []
        for sample in samples:
            frame = sample.get(TimeFrame)
            own = None if frame is None else frame.datetime
            cycles = self._own_time.cycles(sample.cycles, own, self._clock.period)
            read.append(Arrival(link.arrivals.of(sample.position, sample.lead), cycles))
        for stamp, sample in zip(self._clock.stamp(read), samples, strict=True):
            self._dropped += len(self._queue) == self._queue.maxlen
            self._queue.append(StampedSample(stamp, sample))
        self._notify()

    def _drifted(self) -> bool:
        """Tell whether the sensor does not send what it was told: restarted, or told otherwise."""
        return (
            self._grouper.pattern != self._settings.pattern
            or abs(self._clock.period * self._settings.rate - 1.0) > RATE_TOLERANCE
        )


class SteppedReader(Protocol):
    """A reader and its sensor, stepped along simulated time."""

    @property
    def status(self) -> ReaderStatus:
        """How it is doing."""

    @property
    def due(self) -> float:
        """When there is something to do [s]."""

    def step(self) -> list[StampedSample]:
        """Do what is due by now; return the samples that are complete."""

    def end(self) -> None:
        """Close the port."""


Listen: TypeAlias = Callable[[ReaderSettings], SteppedReader]
"""Opens a port and begins to read."""

OFFERS: Offers[Listen] = Offers()
