# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the speed of a sensor, bring it to the settings wanted, and see that it has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stewart_driver.errors import ConfigurationError, DriverError
from stewart_driver.witmotion import commands
from stewart_driver.witmotion.commands import Algorithm, code_of, Register
from stewart_driver.witmotion.frames import FrameType
from stewart_driver.witmotion.link import Conversation, Link
from stewart_driver.witmotion.transport import RegisterRefused, SensorSilent
from stewart_tables.settings import param, require

# The usual ones first.
CANDIDATES = (115200, 9600, 230400, 921600, 460800, 57600, 38400, 19200, 4800)
LISTEN = 0.35
# One frame in garbage has odds of 1 : 1.4e6 per byte, two have none.
ENOUGH = 2
# A sensor that was plugged in just now is silent for some 0.4 s: at the speed that it most likely
# has it is asked so often.
TRIES_AT_FIRST = 3
# The vendor's own scripts wait as long between two commands.
PAUSE = 0.1


def order(*first: int) -> tuple[int, ...]:
    """Return all speeds, beginning with those that are likely."""
    return tuple(dict.fromkeys([*first, *CANDIDATES]))


def probe(link: Link, candidates: Sequence[int]) -> Conversation[int]:
    """Try speeds until frames come, the first for a second; raises `SensorSilent`.

    At each speed the sensor is also asked for a register, twice, which needs no unlocking and
    changes nothing: so a sensor that sends rarely, or nothing at all, is found, too. It has to be
    heard again a little later: what the last speed left in this computer may come late, but in
    one piece.

    Args:
        link: Open line; left at the speed found.
        candidates: Speeds in the order of trial.
    """
    before = link.decoder.statistics.bytes
    for number, baud in enumerate(candidates):
        link.set_baud(baud)
        if (yield from _hears(link, 1 if number else TRIES_AT_FIRST)):
            yield from link.listen(PAUSE)
            if (yield from _hears(link)):
                # An answer does not name its register: a late one must not answer what comes next.
                yield from link.listen(PAUSE)
                return baud
    count = link.decoder.statistics.bytes - before
    tried = commands.listed(candidates)
    if count:
        raise SensorSilent(
            f'{count} bytes came but no frame at any speed ({tried} baud): is this the sensor, '
            f'and is the line free of noise?'
        )
    raise SensorSilent(
        f'no bytes came at any speed ({tried} baud): is the sensor powered, its TX wired to RX?'
    )


def _hears(link: Link, tries: int = 1) -> Conversation[bool]:
    """Ask, and tell whether frames come."""
    for _ in range(tries):
        for _ in range(ENOUGH):
            link.send(commands.read(Register.CONTENT))
        if len((yield from link.listen(LISTEN, enough=ENOUGH))) >= ENOUGH:
            return True
    return False


RESTART = 1.0
ATTEMPTS = 2
CONTENT_MASK = 0x07FF


@dataclass(frozen=True)
class SensorSettings:
    """What a sensor shall send."""

    baud: int = param(115200, 'speed that the sensor shall have [baud]', min=4800, max=921600)
    rate: float = param(200.0, 'samples per second [Hz]', min=0.2, max=200.0)
    content: tuple[str, ...] = param(
        ('acceleration', 'angular_velocity', 'quaternion'),
        'frames of a sample; imu/data needs the first two, a fix position and accuracy',
        choices=tuple(kind.name.lower() for kind in commands.CONTENT_BITS),
    )
    algorithm: str = param(
        'six_axis',
        'yaw from the gyroscope alone, or with the magnetometer, which steel misleads',
        choices=tuple(algorithm.name.lower() for algorithm in Algorithm),
    )
    bandwidth: float = param(
        98.0,
        "corner of the sensor's low pass, half the rate or less [Hz]: 256, 188, 98, 42, 20, 10, 5",
    )
    gyroscope_range: float = param(2000.0, 'full scale [deg/s]: 250, 500, 1000, 2000')
    accelerometer_range: float = param(16.0, 'full scale [g]: 2, 4, 8, 16')
    save: bool = param(
        False,
        'keep changed settings in the sensor through a loss of power, and restart a sensor that '
        'obeys only then',
    )

    def __post_init__(self) -> None:
        require(self)
        code_of(Register.BAUD, self.baud)
        if not self.content:
            raise ConfigurationError('content', self.content, 'one frame at least')
        self.wanted()
        carried = commands.carried_rate(self.pattern, self.baud)
        if self.rate > carried:
            raise ConfigurationError(
                'rate',
                self.rate,
                f'at most {carried:g} Hz for {len(self.pattern)} frames a cycle at '
                f'{self.baud} baud',
            )

    @property
    def pattern(self) -> tuple[FrameType, ...]:
        """Types of a cycle in the order in which they come."""
        return tuple(sorted({FrameType[name.upper()] for name in self.content}))

    def wanted(self) -> dict[Register, int]:
        """Return the registers but that of the speed."""
        return {
            Register.CONTENT: commands.content_mask(self.pattern),
            Register.RATE: code_of(Register.RATE, self.rate),
            Register.ALGORITHM: Algorithm[self.algorithm.upper()],
            Register.BANDWIDTH: code_of(Register.BANDWIDTH, self.bandwidth),
            Register.GYROSCOPE_RANGE: code_of(Register.GYROSCOPE_RANGE, self.gyroscope_range),
            Register.ACCELEROMETER_RANGE: code_of(
                Register.ACCELEROMETER_RANGE, self.accelerometer_range
            ),
        }


def configure(
    link: Link, settings: SensorSettings, *, obeys: bool = True
) -> Conversation[tuple[Register, ...]]:
    """Write what differs, and read it back; raises `DriverError`.

    Args:
        link: Line at the sensor's speed; left at `settings.baud`.
        obeys: False if its stream is not what its registers may say.

    Returns:
        What was changed; empty if the sensor had it all.
    """
    wanted = settings.wanted()
    found = yield from registers(link)
    changes = [register for register, value in wanted.items() if found[register] != value]
    baud = code_of(Register.BAUD, settings.baud)
    if link.baud != settings.baud or found[Register.BAUD] != baud:
        # A faster line must be there before the rate that needs it, a slower one after.
        faster = settings.baud > link.baud
        changes.insert(0 if faster else len(changes), Register.BAUD)
    for register in changes:
        if register is Register.BAUD:
            yield from change_baud(link, settings)
        else:
            yield from write(link, register, wanted[register])
    if not (changes or obeys):
        if not settings.save:
            raise DriverError(
                'its registers are as wanted, its stream is not: such a sensor obeys after a '
                'restart, for which `save` has to be true'
            )
        yield from restart(link, (settings.baud,))
    elif changes and settings.save:
        yield from send(link, commands.SAVE)
    return tuple(changes)


def restart(link: Link, speeds: Sequence[int]) -> Conversation[int]:
    """Save and start anew, which some models need to obey; return the speed found."""
    yield from send(link, commands.SAVE)
    yield from send(link, commands.write(Register.SAVE, commands.Save.REBOOT))
    yield from link.listen(RESTART)
    return (yield from probe(link, speeds))


def registers(link: Link) -> Conversation[dict[Register, int]]:
    """Read the registers that `configure` may write; SensorSilent if no answer comes."""
    content, rate, baud, _ = yield from _answer(link, Register.CONTENT)
    algorithm = yield from _answer(link, Register.ALGORITHM)
    ranges = yield from _answer(link, Register.BANDWIDTH)
    return {
        Register.CONTENT: content & CONTENT_MASK,
        Register.RATE: rate,
        Register.BAUD: baud,
        Register.ALGORITHM: algorithm[0],
        Register.BANDWIDTH: ranges[0],
        Register.GYROSCOPE_RANGE: ranges[1],
        Register.ACCELEROMETER_RANGE: ranges[2],
    }


def _answer(link: Link, first: Register) -> Conversation[tuple[int, int, int, int]]:
    """Return four registers; SensorSilent if no answer comes."""
    answer = yield from link.registers(first)
    if answer is None:
        raise SensorSilent(
            f'the sensor does not answer at {link.baud} baud: is its RX wired to TX?'
        )
    return answer


def send(link: Link, command: bytes) -> Conversation[None]:
    """Send a command that needs an unlocked sensor."""
    link.send(commands.UNLOCK)
    yield from link.listen(PAUSE)
    link.send(command)
    yield from link.listen(PAUSE)


def write(link: Link, register: Register, value: int) -> Conversation[None]:
    """Write a register and read it back; RegisterRefused if it keeps another value."""
    held = value
    for _ in range(ATTEMPTS):
        yield from send(link, commands.write(register, value))
        held = (yield from registers(link))[register]
        if held == value:
            return
    raise RegisterRefused(register.name, value, held)


def change_baud(link: Link, settings: SensorSettings) -> Conversation[None]:
    """Change the speed of the sensor and follow it.

    Some firmware changes at once, some only after saving and a restart, which is done only if
    saving is asked for.
    """
    before, code = link.baud, code_of(Register.BAUD, settings.baud)
    # The command has left when `send` returns, before the speed changes under it.
    yield from send(link, commands.write(Register.BAUD, code))
    found = yield from probe(link, (settings.baud, before))
    if found != settings.baud and settings.save:
        found = yield from restart(link, (settings.baud, before))
    if found != settings.baud:
        raise RegisterRefused(Register.BAUD.name, code, code_of(Register.BAUD, found))
