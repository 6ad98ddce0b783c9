# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes into frames, whatever the bytes are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from stewart_driver.witmotion.frames import Frame, FRAME_LENGTH, HEADER, PARSERS

BODY = FRAME_LENGTH - 1


class Decoded(NamedTuple):
    """
    One frame and where it stood.

    Attributes
    ----------
    position : int
        Index of its first byte since the decoder was made.
    type : int
        Second byte, a FrameType.
    frame : Frame
        Its values.

    """

    position: int
    type: int
    frame: Frame


@dataclass(frozen=True)
class DecoderStatistics:
    """
    Counts since the decoder was made.

    Attributes
    ----------
    bytes : int
        Bytes fed.
    frames : int
        Frames found.
    bytes_skipped : int
        Bytes that belong to no frame.
    checksum_errors : int
        Places that look like a frame with a wrong sum.
    resyncs : int
        Frames found after bytes had to be skipped: each stands for one disturbance.

    """

    bytes: int = 0
    frames: int = 0
    bytes_skipped: int = 0
    checksum_errors: int = 0
    resyncs: int = 0


class Decoder:
    """
    Find the frames in a stream of bytes that comes in pieces.

    A frame is a header, a known type and ten bytes whose sum is the eleventh; anything else is
    skipped byte by byte, so that the next true frame is found even if it begins within what
    looked like one. No bytes whatever raise an exception. Of random bytes one place in 1.4e6
    (256 · 256 · 256 / 12) passes for a frame: that is all that the protocol's checksum can do.

    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rest = b''
        self._position = 0
        self._out_of_step = False
        self._frames = 0
        self._skipped = 0
        self._checksum_errors = 0
        self._resyncs = 0

    @property
    def position(self) -> int:
        """How many bytes were fed."""
        return self._position + len(self._rest)

    @property
    def statistics(self) -> DecoderStatistics:
        """The counts so far."""
        return DecoderStatistics(
            bytes=self.position,
            frames=self._frames,
            bytes_skipped=self._skipped,
            checksum_errors=self._checksum_errors,
            resyncs=self._resyncs,
        )

    def feed(self, data: bytes) -> list[Decoded]:
        """
        Take the next bytes.

        Parameters
        ----------
        data : bytes
            Any number of them.

        Returns
        -------
        list of Decoded
            The frames that ended in these bytes, in order.

        """
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
            parse = PARSERS.get(kind := buffer[start + 1])
            if parse is not None:
                if start > last:
                    break
                if sum(buffer[start : start + BODY]) & 0xFF == buffer[start + BODY]:
                    found.append(Decoded(origin + start, kind, parse(buffer, start + 2)))
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
