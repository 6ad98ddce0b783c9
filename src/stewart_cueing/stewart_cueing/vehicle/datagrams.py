# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Datagrams of flight simulators, and a socket that keeps the newest sample.

Both programs have body axes x forward, y right, z down; `sample`s are in ours, y left, z up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
import math
import re
import socket
import struct
import time
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_cueing.errors import OtherVersion, VehicleInputError
from stewart_cueing.vehicle.inputs import FASTEST, require_of_a_vehicle
from stewart_cueing.vehicle.washout import GRAVITY
from stewart_kinematics.motion import Array

FORWARD_RIGHT_DOWN = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0])

YASIM = b'yasim'

HEADER, RECORD = 5, struct.Struct('<i8f')
"""X-Plane: ``DATA`` and one byte, then records of an index and eight numbers, little-endian."""

G_LOAD, ANGULAR_VELOCITY, ATTITUDE = 4, 16, 17
"""Indices of X-Plane's records. G_LOAD has the normal, axial and side load [g] in its fifth to
seventh number; in their first three ANGULAR_VELOCITY has rates, ATTITUDE pitch, roll and heading
[deg]."""

TURN, STILL = 0.1, 1e-5
"""A turn so far shows the version; less than the second between two packets is rounding [rad]."""

FASTEST_PITCH = 3.0
"""Pitch and yaw rates above it are no aircraft's [rad/s]: X-Plane 12 turns in deg/s, and
the roll that it sends first stands where X-Plane 11 has the pitch."""

MANY, WHILE = 20, 2.0
"""So many different samples with such rates within this time are of another version [s]; one alone
is a wild one of this. As long without any, and it is heard again."""

PAUSE = 1.0
"""A simulator that repeats one sample for so long is paused [s]."""

AWAY = 2.0
"""A simulator that is silent for so long gives way to another one [s]."""

SO_TIMESTAMPNS, TIMESPEC = 35, struct.Struct('@ll')
"""Of Linux: every datagram says when it came, in seconds and nanoseconds."""

ROOM = socket.CMSG_SPACE(TIMESPEC.size)
"""For these beside a datagram [B]."""

LONGEST = 65535
"""Length of a datagram at most [B]; X-Plane sends one of 5 kB if every index is checked."""


def flightgear(datagram: bytes) -> Array:
    """Return the sample (6,) of one line of ``config/flightgear.xml``: six numbers [SI].

    Tabs, commas, semicolons and spaces separate them. The name of the flight model may follow:
    that of `YASIM` has the surge's sign reversed, for it says -f in axes x forward, y left, z up.

    Raises:
        VehicleInputError: If it is no such line.
    """
    *cells, model = re.split(rb'\s*[,;]\s*|\s+', datagram.strip())
    if len(cells) == 5:  # a protocol that does not say the model
        cells, model = [*cells, model], b''
    if len(cells) != 6:
        raise VehicleInputError(
            f'expected six numbers from FlightGear, got {len(cells) + 1} cells in '
            f'{datagram[:60]!r}: is it started with the protocol stewart?'
        )
    try:
        values = [float(cell) for cell in cells]
    except ValueError as error:
        raise VehicleInputError(f'FlightGear sent what is no number: {datagram[:60]!r}') from error
    if model == YASIM:
        values[0] *= -1.0
    sample = np.array(values) * FORWARD_RIGHT_DOWN
    try:
        require_of_a_vehicle(sample)
    except VehicleInputError as error:
        raise VehicleInputError(f'{error}: {datagram[:60]!r}') from error
    return sample


def x_plane_11(datagram: bytes) -> Array:
    """Return the sample (6,) of a ``DATA`` packet of X-Plane up to 11: Q, P, R in rad/s.

    Raises:
        VehicleInputError: If it is truncated, foreign or lacks one of the two records.
        OtherVersion: If pitch or yaw are faster than `FASTEST_PITCH`, or the roll than `FASTEST`.
    """
    records = _records(datagram)
    turn = records[ANGULAR_VELOCITY]
    pitch, roll, yaw = map(abs, turn[:3])
    if max(pitch, yaw) > FASTEST_PITCH or roll > FASTEST:
        raise OtherVersion(
            f'rates of {turn[0]:.3g}, {turn[1]:.3g}, {turn[2]:.3g} rad/s, allowed are '
            f'{FASTEST_PITCH:g}, {FASTEST:g}, {FASTEST_PITCH:g}: X-Plane 12 sends deg/s, choose '
            'x_plane_12'
        )
    return _of_x_plane(records, np.array([turn[1], turn[0], turn[2]]))


def x_plane_12(datagram: bytes) -> Array:
    """Return the sample (6,) of a ``DATA`` packet of X-Plane 12: P, Q, R in deg/s.

    Raises:
        VehicleInputError: As of `x_plane_11`.
    """
    records = _records(datagram)
    return _of_x_plane(records, np.radians(records[ANGULAR_VELOCITY][:3]))


PARSERS: dict[str, Callable[[bytes], Array]] = {
    'flightgear': flightgear,
    'x_plane_11': x_plane_11,
    'x_plane_12': x_plane_12,
}


def _records(datagram: bytes) -> dict[int, tuple[float, ...]]:
    if datagram[:4] != b'DATA':
        raise VehicleInputError(f'expected a packet DATA of X-Plane, got {datagram[:8]!r}')
    size = len(datagram) - HEADER
    if size < 0 or size % RECORD.size:
        raise VehicleInputError(
            f'a packet of X-Plane of {len(datagram)} bytes is truncated: expected {HEADER} and a '
            f'multiple of {RECORD.size}'
        )
    found = {record[0]: record[1:] for record in RECORD.iter_unpack(datagram[HEADER:])}
    missing = [index for index in (G_LOAD, ANGULAR_VELOCITY) if index not in found]
    if missing:
        raise VehicleInputError(
            f'X-Plane sent the records {sorted(found)}: check {missing} in its Data Output, too'
        )
    return found


def _of_x_plane(records: dict[int, tuple[float, ...]], turn: Array) -> Array:
    normal, axial, side = records[G_LOAD][4:7]
    force = GRAVITY * np.array([axial, side, -normal])
    sample = np.concatenate([force, turn]) * FORWARD_RIGHT_DOWN
    require_of_a_vehicle(sample)
    return sample


def _place(sender: tuple[str, int]) -> str:
    """Return address and port in words."""
    host, port = sender
    return f'{host}:{port}'


class _Turning:
    """Which version of X-Plane sends, by how far an aircraft turns and what its rates say.

    The same turn has numbers in version 12 that are 57 times those of version 11.

    Attributes:
        form: Which of them the last turn by `TURN` was; empty before the first.
    """

    def __init__(self) -> None:
        self._attitude, self._time = Rotation.identity(), -np.inf
        self._turned = self._said = 0.0
        self.form = ''

    def hear(self, datagram: bytes, now: float) -> None:
        """Take note of a packet, which may have an `ATTITUDE`."""
        records, step = _records(datagram), now - self._time
        degrees = np.array(records.get(ATTITUDE, [np.nan])[:3])
        if not np.isfinite(degrees).all() or step <= 0.0:
            return
        attitude = Rotation.from_euler('ZYX', degrees[[2, 0, 1]], degrees=True)
        turned = (self._attitude.inv() * attitude).magnitude()
        self._attitude, self._time = attitude, now
        # What turns faster was put elsewhere.
        if step > PAUSE or not STILL < turned < FASTEST * step:
            return
        self._turned += turned
        self._said += step * float(np.linalg.norm(records[ANGULAR_VELOCITY][:3]))
        if self._turned > TURN:
            many = self._said > math.sqrt(180.0 / math.pi) * self._turned
            self.form = 'x_plane_12' if many else 'x_plane_11'
            self._turned = self._said = 0.0


class _Version:
    """Whether a simulator is of the version that is expected, by how often its samples are not."""

    def __init__(self) -> None:
        self._last, self._times = b'', deque[float](maxlen=MANY)
        self._plausible_since = -np.inf
        self.refusal = ''

    def wild(self, datagram: bytes, now: float, reason: str) -> None:
        """Take note of a sample that a simulator of this version does not send, and why."""
        self._plausible_since = np.inf
        if datagram != self._last:
            self._last = datagram
            self._times.append(now)
        if len(self._times) == MANY and now - self._times[0] <= WHILE:
            self.refusal = f'{reason}; nothing is taken before {WHILE:g} s without such rates'

    def plausible(self, now: float) -> bool:
        """Take note of a sample of this version; return whether it is to be believed."""
        self._plausible_since = min(self._plausible_since, now)
        if now - self._plausible_since >= WHILE:
            self.refusal = ''
        return not self.refusal


class DatagramSocket:
    """Newest sample of the simulator that sends datagrams here first, until it is silent.

    One of another version is not heard: what it sends may look like a sample at times.

    Args:
        form: One of `PARSERS`.
        port: Where they arrive; 0 takes a free one, see `port`.
        clock: Returns the time [s].

    Attributes:
        port: Where they arrive.
        paused: Whether the simulator has repeated one sample for `PAUSE`.
        came_ns: When the newest sample came [ns since the epoch].
        received, refused: Datagrams so far that were used and not.
        refusal: Why the last one was refused.
        other: That another simulator sends at the same time, in a sentence; empty if none does.

    Raises:
        OSError: If the port is taken.
    """

    def __init__(
        self, form: str, port: int, address: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._form, self._parse = form, PARSERS[form]
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((address, port))
        except OSError:
            self._socket.close()
            raise
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.setblocking(False)
        self.came_ns = 0
        self.port = int(self._socket.getsockname()[1])
        self.received, self.refused, self.refusal = 0, 0, ''
        self._clock, self._last, self._changed = clock, np.full(6, np.nan), 0.0
        self._heard, self.paused = 0.0, False
        self._sender: Any = None
        self._sent = 0.0
        self._version, self._turning = _Version(), _Turning()
        self.other, self._other_heard = '', 0.0

    @property
    def version(self) -> str:
        """X-Plane's version, as a form, or why it is not known; empty for other simulators."""
        if self._form == 'flightgear':
            return ''
        return self._turning.form or f'not known before a turn with index {ATTITUDE} sent'

    @property
    def doubt(self) -> str:
        """That the rates heard may be those of another version of X-Plane; empty if not."""
        if self._form == 'flightgear' or self._turning.form or not self.received:
            return ''
        return (
            f'whether this is {self._form} is not known before a turn with index {ATTITUDE} sent: '
            'the rates of the other version are 57 times as large, or as small'
        )

    def mean(self) -> Array | None:
        """Return the mean of the samples (6,) that have come since the last call.

        Whoever looks once a period would else pick one of those that come faster, and vibration
        would be slow motion. None if none has come, or if the simulator is paused.
        """
        samples: list[Array] = []
        now = self._clock()
        for datagram, stamp in self._of_one_sender(now):
            try:
                came = self._parse(datagram)
                self._require_version(datagram, now)
            except VehicleInputError as error:
                self.refusal = str(error)
                if isinstance(error, OtherVersion):
                    self._version.wild(datagram, now, self.refusal)
            else:
                if self._version.plausible(now):
                    samples.append(came)
                    self.came_ns = stamp
                    self.received += 1
                    continue
            self.refused += 1
            if self._version.refusal:
                samples.clear()
                self.refusal = self._version.refusal
        if not samples:
            # One that was closed is silent, not paused.
            self.paused = self.paused and now - self._heard <= PAUSE
            return None
        self._heard = now
        if not np.array_equal(samples[-1], self._last):
            self._last, self._changed = samples[-1], now
        self.paused = now - self._changed > PAUSE
        return None if self.paused else np.asarray(np.mean(samples, axis=0))

    def _require_version(self, datagram: bytes, now: float) -> None:
        if self._form == 'flightgear':
            return
        self._turning.hear(datagram, now)
        if self._turning.form not in {'', self._form}:
            raise OtherVersion(
                f'by index {ATTITUDE} the aircraft turns as one of {self._turning.form}: choose it'
            )

    def _of_one_sender(self, now: float) -> list[tuple[bytes, int]]:
        """Return what has come of one simulator, and when [ns]; refuse what others send."""
        came, senders = [], []
        with suppress(BlockingIOError):
            for _ in range(1000):
                data, [(*_, stamp)], _, sender = self._socket.recvmsg(LONGEST, ROOM)
                seconds, nanoseconds = TIMESPEC.unpack(stamp)
                came.append((data, seconds * 1_000_000_000 + nanoseconds))
                senders.append(sender)
        if self._sender in senders:
            self._sent = now
        elif now - self._sent > AWAY:
            self._sender = None
        if self._sender is None:
            sent = zip(came, senders, strict=True)
            self._sender = next((who for (what, _), who in sent if self._is_sample(what)), None)
            self._sent = now
        if now - self._other_heard > AWAY:
            self.other = ''
        if self._sender is None:
            return came
        others = [sender for sender in senders if sender != self._sender]
        if others:
            self.refused += len(others)
            self._other_heard = now
            self.other = self.refusal = (
                f'another simulator, at {_place(others[-1])}, is not heard while the one at '
                f'{_place(self._sender)} sends'
            )
        return [item for item, who in zip(came, senders, strict=True) if who == self._sender]

    def _is_sample(self, datagram: bytes) -> bool:
        """Tell whether a datagram is one of a simulator."""
        with suppress(VehicleInputError):
            self._parse(datagram)
            return True
        return False

    def close(self) -> None:
        """Give the port back."""
        self._socket.close()
