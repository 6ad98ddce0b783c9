# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The mailbox of one slave, by pysoem: its objects, late answers, and a name."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import time

import pysoem
from stewart_driver.ethercat.cia402.objects import IDENTITY
from stewart_driver.ethercat.errors import SdoRefused
from stewart_driver.ethercat.sdo import optional_number
from stewart_driver.rig_file import DriveIdentity

# A drive that is busy, or a machine, may miss one question.
SDO_TRIES = 3
# What it stores takes a drive a second or more; SOEM waits 0.7 s. What comes later still is waited
# for, too, before it is asked again: SOEM would take it for the answer to the next question, and
# compares the index alone [s].
SDO_PATIENCE, LATE_PATIENCE = 2.0, 1.0
# SOEM gives up at once where an emergency comes instead of the answer, which is still to come. Who
# may have been given up so waits for twice as long as answers take, and this at most [s].
EARLY_PATIENCE = 0.1
# Of pysoem's packet errors: an answer to something else.
UNEXPECTED_ANSWER = 1
# Drives that refuse in the same instant may take each other's answer: SOEM has one list of errors,
# and pysoem takes the oldest. All ask again then, which does not meet again for long. Behind one
# emergency the list of 64 may be full: SOEM has it repeated until the answer comes.
SDO_CONFUSIONS = 200
LOOK_PERIOD = 0.01


class Drive:
    """One slave, object by object; its leg, 1 to 6, is its place on the cable.

    Args:
        place: On the cable, from 1, as pysoem counts.
        heard: Returns how many emergencies have come from a place.
    """

    def __init__(
        self, leg: int, slave: pysoem.CdefSlave, place: int, heard: Callable[[int], int]
    ) -> None:
        self.leg = leg
        self._slave, self._place, self._heard = slave, place, heard
        # What an answer has taken at most; 0 before the first [s].
        self._slowest = 0.0
        # Whether it was silent at all tries for an object: it is not waited for 70 times.
        self._mute = False

    def read(self, index: int, subindex: int) -> bytes:
        """Return the value of an object; raises `SdoRefused`."""
        return self._sdo(self._slave.sdo_read, index, subindex)

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Set the value of an object; raises `SdoRefused`."""
        self._sdo(self._slave.sdo_write, index, subindex, data)

    def identity(self) -> DriveIdentity:
        """Return vendor, product and revision of the EEPROM, and the number of 1018h, if any."""
        slave = self._slave
        serial = optional_number(self, IDENTITY, 4, '<I')
        return DriveIdentity(slave.man, slave.id, slave.rev, serial)

    @property
    def name(self) -> str:
        """Order code, as the EEPROM has it."""
        return name_of(self._slave)

    def _sdo(
        self, call: Callable[..., bytes | None], index: int, subindex: int, *data: bytes
    ) -> bytes:
        reason, missed, silent, confused = 'no answer', 0, 0, 0
        while missed < SDO_TRIES and confused < SDO_CONFUSIONS and not self._mute:
            asked, heard = time.monotonic(), self._heard(self._place)
            limit = asked + SDO_PATIENCE
            interrupted = False
            try:
                answer = call(index, subindex, *data, release_gil=True) or b''
            except pysoem.WkcError:
                interrupted = self._heard(self._place) > heard
                confused, missed = confused + interrupted, missed + (not interrupted)
                # Before its time is over, its own error may have been taken by another.
                silent += not interrupted and time.monotonic() >= limit
            except AssertionError:
                confused += 1
            except (pysoem.SdoError, pysoem.MailboxError, pysoem.PacketError) as error:
                if error.slave_pos != self._place:
                    confused += 1
                elif _unexpected(error):
                    missed, interrupted = missed + 1, True
                else:
                    reason = _reason(error)
                    break
            else:
                self._slowest = max(self._slowest, time.monotonic() - asked)
                return bytes(answer)
            if interrupted or time.monotonic() >= limit:
                self._drop_answer(LATE_PATIENCE)
            else:
                # An emergency may have come instead of the answer, and another has taken note.
                time.sleep(min(2.0 * self._slowest or EARLY_PATIENCE, EARLY_PATIENCE))
                self._drop_answer(LOOK_PERIOD)
        self._mute = self._mute or silent == SDO_TRIES
        raise SdoRefused(self.leg, index, subindex, reason) from None

    def _drop_answer(self, patience: float) -> None:
        """Take the answer that is still to come, if any, from the mailbox."""
        limit = time.monotonic() + patience
        while True:
            with suppress(pysoem.MailboxError, pysoem.PacketError, pysoem.SdoError):
                if self._slave.mbx_receive() > 0:
                    return
            if time.monotonic() > limit:
                return
            time.sleep(LOOK_PERIOD)


def name_of(slave: pysoem.CdefSlave) -> str:
    """Return the name of the EEPROM; some makers write it in Latin-1, and pysoem reads UTF-8."""
    try:
        return str(slave.name)
    except UnicodeDecodeError as error:
        return error.object.decode('latin-1')


def _unexpected(error: Exception) -> bool:
    """Tell whether a drive has answered something else than what it was asked."""
    return isinstance(error, pysoem.PacketError) and error.error_code == UNEXPECTED_ANSWER


def _reason(error: Exception) -> str:
    if isinstance(error, pysoem.SdoError):
        return f'abort 0x{error.abort_code:08X}, {error.desc}'
    if isinstance(error, pysoem.MailboxError):
        return f'mailbox error 0x{error.error_code:04X}, {error.desc}'
    return f'packet error {getattr(error, "error_code", 0)}'
