# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The WIT standard protocol as the vendor publishes it, from the sensor's side.

Written down apart from the driver's tables, from the registers of the vendor's SDK: the two meet
in the tests only.
"""

from __future__ import annotations

FRAME_LENGTH = 11
HEADER = 0x55
PREFIX = b'\xff\xaa'
COMMAND_LENGTH = 5
UNLOCK = 0xB588
UNLOCKED_FOR = 10.0
BITS_PER_BYTE = 10

# Registers.
SAVE, CONTENT, RATE, BAUD = 0x00, 0x02, 0x03, 0x04
BANDWIDTH, GYROSCOPE_RANGE, ACCELEROMETER_RANGE = 0x1F, 0x20, 0x21
ALGORITHM, READ, KEY = 0x24, 0x27, 0x69

# Frames: bit 0 of CONTENT is the first of the stream's.
TIME, ACCELERATION, ANGULAR_VELOCITY, ANGLE, MAGNETIC_FIELD = range(0x50, 0x55)
PORT, PRESSURE, POSITION, GROUND_VELOCITY, QUATERNION, ACCURACY = range(0x55, 0x5B)
ANSWER = 0x5F

# What a code means: [Hz], [baud], [Hz], [°/s], [g]. The last two rates are a single cycle, none.
RATES = {
    0x01: 0.2, 0x02: 0.5, 0x03: 1.0, 0x04: 2.0, 0x05: 5.0, 0x06: 10.0, 0x07: 20.0,
    0x08: 50.0, 0x09: 100.0, 0x0A: 125.0, 0x0B: 200.0, 0x0C: 0.0, 0x0D: 0.0,
}  # fmt: skip
SINGLE = 0x0C
BAUDS = {
    1: 4800, 2: 9600, 3: 19200, 4: 38400, 5: 57600, 6: 115200, 7: 230400, 8: 460800, 9: 921600
}  # fmt: skip
BANDWIDTHS = {0: 256.0, 1: 184.0, 2: 94.0, 3: 44.0, 4: 21.0, 5: 10.0, 6: 5.0}
GYROSCOPE_RANGES = {0: 250.0, 1: 500.0, 2: 1000.0, 3: 2000.0}
ACCELEROMETER_RANGES = {0: 2.0, 1: 4.0, 2: 8.0, 3: 16.0}
NINE_AXES, SIX_AXES = 0, 1
KEEP, FACTORY_SETTINGS, REBOOT = 0x00, 0x01, 0xFF

# As captured from a WTGAHRS2; 9600 baud do not carry these nine frames at 10 Hz.
FACTORY = {
    CONTENT: 0x07DE,
    RATE: 0x06,
    BAUD: 2,
    BANDWIDTH: 4,
    GYROSCOPE_RANGE: 3,
    ACCELEROMETER_RANGE: 3,
    ALGORITHM: NINE_AXES,
}
# What else is written is ignored.
VALUES = {
    CONTENT: range(0x0800),
    RATE: RATES,
    BAUD: BAUDS,
    BANDWIDTH: BANDWIDTHS,
    GYROSCOPE_RANGE: GYROSCOPE_RANGES,
    ACCELEROMETER_RANGE: ACCELEROMETER_RANGES,
    ALGORITHM: (NINE_AXES, SIX_AXES),
}


def frame(kind: int, payload: bytes) -> bytes:
    """Return header, type, payload and sum."""
    body = bytes([HEADER, kind]) + payload
    return body + bytes([sum(body) % 256])


def baud_code(baud: int) -> int:
    """Return the code of a serial speed; raises `KeyError` for one that no sensor has."""
    return {speed: code for code, speed in BAUDS.items()}[baud]


def rate_code(rate: float) -> int:
    """Return the code of a rate [Hz]; raises `KeyError` for one that no sensor has."""
    return {hertz: code for code, hertz in RATES.items() if hertz}[rate]
