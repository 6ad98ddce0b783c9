# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes into frames, frames of one output cycle into one sample, whatever the bytes are.

A cycle's frames are sent back to back in ascending order of their types, and every cycle has the
same types. So a frame belongs to the cycle before it only if its type is higher and no byte lies
between the two; otherwise a new sample begins. A sample never mixes two cycles, except when the
bytes lost on the way are exactly a multiple of a cycle and begin and end between frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import cast, NamedTuple, TypeVar

from stewart_driver.witmotion.frames import (
    AngleFrame,
    Frame,
    FRAME_LENGTH,
    FrameType,
    HEADER,
    PARSERS,
    QuaternionFrame,
    TYPES,
)

BODY = FRAME_LENGTH - 1
# As plain numbers, which are equal in a third of the time.
ACCELERATION, ANGULAR_VELOCITY = int(FrameType.ACCELERATION), int(FrameType.ANGULAR_VELOCITY)
REGISTER = int(FrameType.REGISTER)
NEITHER = b'', b''


class Decoded(NamedTuple):
    """One frame and where it stood.

    Attributes:
        position: Index of its first byte since the decoder was made.
        type: Second byte, a FrameType.
        payload: Eight bytes.
    """

    position: int
    type: int
    payload: bytes

    @property
    def frame(self) -> Frame:
        """What it says."""
        return PARSERS[self.type](self.payload)


@dataclass(frozen=True)
class DecoderStatistics:
    """Counts since the decoder was made.

    Attributes:
        bytes_skipped: Bytes that belong to no frame.
        checksum_errors: Places that look like a frame with a wrong sum.
        resyncs: Frames found after bytes had to be skipped: each stands for one disturbance.
    """

    bytes: int = 0
    frames: int = 0
    bytes_skipped: int = 0
    checksum_errors: int = 0
    resyncs: int = 0


class Decoder:
    """Find the frames in a stream of bytes that comes in pieces.

    A frame is a header, a known type and ten bytes whose sum is the eleventh; anything else is
    skipped byte by byte, so that the next true frame is found even if it begins within what
    looked like one. No bytes whatever raise an exception. Of random bytes one place in 1.4e6
    (256 · 256 · 256 / 12) passes for a frame: that is all that the protocol's checksum can do.
    """

    def __init__(self) -> None:
        self._rest = b''
        self._position = 0
        self._out_of_step = False
        self._frames = self._skipped = self._checksum_errors = self._resyncs = 0

    @property
    def position(self) -> int:
        """How many bytes were fed."""
        return self._position + len(self._rest)

    @property
    def statistics(self) -> DecoderStatistics:
        """The counts so far."""
        return DecoderStatistics(
            self.position, self._frames, self._skipped, self._checksum_errors, self._resyncs
        )

    def feed(self, data: bytes) -> list[Decoded]:
        """Take the next bytes; return the frames that end in them, in order."""
        buffer = self._rest + data
        origin = self._position
        last = len(buffer) - FRAME_LENGTH
        found: list[Decoded] = []
        here = 0
        while (start := buffer.find(HEADER, here)) >= 0:
            if start > here:
                self._skip(start - here)
                here = start
            if start + 1 == len(buffer):
                break
            kind = buffer[start + 1]
            if kind in PARSERS:
                if start > last:
                    break
                end = start + BODY
                if sum(buffer[start:end]) & 0xFF == buffer[end]:
                    found.append(Decoded(origin + start, kind, buffer[start + 2 : end]))
                    here = start + FRAME_LENGTH
                    if self._out_of_step:
                        self._out_of_step = False
                        self._resyncs += 1
                    continue
                self._checksum_errors += 1
            self._skip(1)
            here = start + 1
        else:
            self._skip(len(buffer) - here)
            here = len(buffer)
        self._frames += len(found)
        self._rest = buffer[here:]
        self._position += here
        return found

    def _skip(self, count: int) -> None:
        if count:
            self._skipped += count
            self._out_of_step = True


F = TypeVar('F', bound=Frame)

# After so many equal cycles their last type ends a sample, not the first of the next cycle.
LEARNED_AFTER = 3
# Noise between two cycles is not a spoilt cycle if it is shorter than this share of one.
NOISE = 0.1


class Sample(NamedTuple):
    """What the sensor said in one cycle.

    Attributes:
        position: Index of the sample's first byte in the stream.
        payloads: Of its frames, by type; never changed once made.
        complete: False if a type is missing that the other cycles have.
        lead: Bytes of the cycle before the first byte, of frames that are missing.
        cycles: How many cycles after the sample before it, as bytes tell: one more for each spoilt
            one, 0 if both are what is left of one cycle.
    """

    position: int
    payloads: dict[int, bytes]
    complete: bool
    lead: int = 0
    cycles: int = 1

    def get(self, kind: type[F]) -> F | None:
        """Return the frame of a class; None if this cycle has none."""
        code = TYPES[kind]
        payload = self.payloads.get(code)
        return None if payload is None else cast(F, PARSERS[code](payload))


@dataclass
class GroupingStatistics:
    """Counts since the grouper was made.

    Attributes:
        samples: Samples given out, incomplete ones included.
        incomplete: Those among them that lack a type.
        repeated: Those among them that carry the same acceleration and angular velocity as the one
            before.
    """

    samples: int = 0
    incomplete: int = 0
    repeated: int = 0
    types: dict[int, int] = field(default_factory=dict)


class CycleGrouper:
    """Collect frames until their cycle is over.

    The types of a cycle are learned from the stream, independently of the settings.

    Attributes:
        pattern: Types of a complete cycle, empty until learned.
    """

    def __init__(self) -> None:
        self.statistics = GroupingStatistics()
        self.pattern: tuple[int, ...] = ()
        self._open: dict[int, bytes] = {}
        self._position = 0
        self._next = -1
        self._last = 0
        self._answers = self._begin = self._begun = 0
        self._candidate: tuple[int, ...] = ()
        self._votes = 0
        self._inertial: tuple[bytes, bytes] = NEITHER

    def feed(self, decoded: Iterable[Decoded]) -> list[Sample]:
        """Take the next frames of the stream; return the samples that are now known to be over."""
        samples: list[Sample] = []
        counts = self.statistics.types
        for position, kind, payload in decoded:
            if kind == REGISTER:
                # An answer may stand between two frames of a cycle and parts nothing.
                self._answers += FRAME_LENGTH
                if position == self._next:
                    self._next += FRAME_LENGTH
                continue
            counts[kind] = counts.get(kind, 0) + 1
            if position != self._next or kind <= self._last:
                self._close(samples)
                self._position, self._begin = position, position - self._answers
            elif not self._open:
                # The cycle goes on after what was taken for its end: it has become longer.
                self.pattern = ()
                self._position, self._begin = position, position - self._answers
            self._open[kind] = payload
            self._last, self._next = kind, position + FRAME_LENGTH
            if self.pattern and kind == self.pattern[-1]:
                self._close(samples)
        return samples

    def expect(self, types: Sequence[int]) -> None:
        """Set the types of a cycle, as configured."""
        self.pattern = tuple(sorted(types))
        self._candidate, self._votes = self.pattern, 0

    def _close(self, samples: list[Sample]) -> None:
        if not self._open:
            return
        payloads, self._open = self._open, {}
        types = tuple(payloads)
        lead, cycles = self._count(types[0])
        if types == self.pattern:
            self._votes = 0
        else:
            self._learn(types)
        complete = not self.pattern or types == self.pattern
        # The fourth word of an angular velocity may be anything.
        inertial = payloads.get(ACCELERATION, b''), payloads.get(ANGULAR_VELOCITY, b'')[:6]
        statistics = self.statistics
        statistics.samples += 1
        statistics.incomplete += not complete
        statistics.repeated += inertial != NEITHER and inertial == self._inertial
        self._inertial = inertial
        samples.append(Sample(self._position, payloads, complete, lead, cycles))

    def _count(self, first: int) -> tuple[int, int]:
        """Return how many bytes of its cycle precede a sample, and cycles since the last one."""
        lead = self.pattern.index(first) * FRAME_LENGTH if first in self.pattern else 0
        passed, self._begun = self._begin - lead - self._begun, self._begin - lead
        if not self.pattern or not self.statistics.samples:
            return lead, 1
        return lead, max(0, ceil(passed / (len(self.pattern) * FRAME_LENGTH) - NOISE))

    def _learn(self, types: tuple[int, ...]) -> None:
        self._votes = self._votes + 1 if types == self._candidate else 1
        self._candidate = types
        if self._votes >= LEARNED_AFTER:
            self.pattern, self._votes = types, 0


# Rounded to 2⁻¹⁵ the norm is within 1e-4 of 1; before its filter has begun a sensor sends zeros.
NORM_TOLERANCE = 0.01
UNKNOWN = [-1.0, *(8 * [0.0])]
"""Covariance of what is not reported."""


def isotropic(sigma: float) -> list[float]:
    """Return the covariance of three independent values with one standard deviation."""
    return [sigma * sigma if row == column else 0.0 for row in range(3) for column in range(3)]


def attitude_of(sample: Sample) -> tuple[float, float, float, float] | None:
    """Return the attitude that a sample carries, as a unit quaternion x, y, z, w.

    The quaternion frame if there is one, otherwise the angles; None if there is neither, or only
    the zeros of a filter that has not begun.
    """
    quaternion = sample.get(QuaternionFrame)
    if quaternion is None:
        angle = sample.get(AngleFrame)
        return None if angle is None else angle.quaternion_xyzw
    x, y, z, w = quaternion.quaternion_xyzw
    norm = (x * x + y * y + z * z + w * w) ** 0.5
    if abs(norm - 1.0) > NORM_TOLERANCE:
        return None
    return x / norm, y / norm, z / norm, w / norm
