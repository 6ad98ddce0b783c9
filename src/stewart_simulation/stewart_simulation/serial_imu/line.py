# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong between the sensor and the host."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from stewart_simulation.serial_imu.protocol import FRAME_LENGTH


@dataclass
class Line:
    """Disturbances of a serial line, each for so many bytes or frames to come.

    Attributes:
        garbage: Random bytes to insert before the next cycle.
        lose: Bytes to swallow.
        corrupt: Frames whose checksum shall be wrong.
        bit_errors: Probability that a byte has one bit flipped, from now on [-].
    """

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    garbage: int = 0
    lose: int = 0
    corrupt: int = 0
    bit_errors: float = 0.0

    def disturb(self, data: bytes) -> bytes:
        """Return what arrives of `data`, whole frames, at the same speed."""
        if not (self.garbage or self.lose or self.corrupt or self.bit_errors):
            return data
        bytes_ = bytearray(data)
        for start in range(0, len(bytes_) - FRAME_LENGTH + 1, FRAME_LENGTH):
            if self.corrupt > 0:
                self.corrupt -= 1
                bytes_[start + FRAME_LENGTH - 1] ^= 0x01
        if self.bit_errors > 0.0:
            for index in np.flatnonzero(self.rng.random(len(bytes_)) < self.bit_errors):
                bytes_[index] ^= 1 << int(self.rng.integers(8))
        lost = min(self.lose, len(bytes_))
        self.lose -= lost
        inserted, self.garbage = self.rng.bytes(self.garbage), 0
        return inserted + bytes(bytes_[lost:])

    def misread(self, data: bytes, sent_at: int, read_at: int) -> bytes:
        """Return what arrives of `data` where the two ends differ in speed: nothing but noise."""
        if sent_at == read_at or not data:
            return data
        # A slow receiver sees several characters as one, a fast one sees mostly frame errors.
        count = max(1, len(data) * min(read_at, sent_at) // max(sent_at, 1))
        return self.rng.bytes(count)
