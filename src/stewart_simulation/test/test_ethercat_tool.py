# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Scan and single objects, over a socket, on a segment in a private network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip('pysoem')
pytest.importorskip('pyroute2')

from ethercat_rig import SegmentRig
from stewart_driver.errors import ConfigurationError, TransportError
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.sdo_tool import parse_address, read_object, scan, write_object


@pytest.fixture(scope='module')
def rig() -> Iterator[Any]:
    segment = SegmentRig()
    yield segment
    segment.close()


@pytest.fixture
def options(rig: Any) -> EthercatOptions:
    return EthercatOptions(namespace=rig.namespace, interface=rig.interface)


@pytest.fixture(scope='module')
def found(rig: Any) -> tuple[Any, ...]:
    """Return what a scan of the whole cable finds."""
    return scan(EthercatOptions(namespace=rig.namespace, interface=rig.interface))


def test_a_scan_tells_who_is_there_and_in_which_state(
    found: tuple[Any, ...], options: EthercatOptions, rig: Any
) -> None:
    assert [item.place for item in found] == [1, 2, 3, 4, 5, 6]
    third = found[2]
    assert third.name == 'R88D-1SN04H-ECT'
    assert (third.vendor, third.product, third.state) == (0x83, 0xB0, 'SWITCH_ON_DISABLED')
    assert third.modes is not None
    assert third.modes >> 7 & 1
    assert third.error_code == 0
    rig.faults.call('cut', after=4)
    assert len(scan(options)) == 4
    rig.faults.call('mend')


def test_a_name_in_latin_1_is_a_name(options: EthercatOptions, rig: Any) -> None:
    """It ended the scan, and the start of the driver with too few drives."""
    rig.faults.call('variant', slave=1, name='Servo 50 \xb5H')

    assert scan(options)[0].name == 'Servo 50 \xb5H'
    rig.faults.call('variant', slave=1, name='R88D-1SN04H-ECT')


def test_a_late_answer_is_not_taken_for_the_next_one(
    found: tuple[Any, ...], options: EthercatOptions, rig: Any
) -> None:
    """SOEM asked again after 0.7 s; the answer to that came while it waited for another."""
    rig.faults.call('answer_late', slave=2, seconds=[0.9, 0.4])

    assert scan(options) == found


def test_an_object_is_read_and_written_by_its_type(options: EthercatOptions) -> None:
    assert read_object(options, 2, 0x608F, 1, 'u32') == 2**23
    assert read_object(options, 6, 0x1008, 0, 'text') == 'R88D-1SN04H-ECT'

    assert write_object(options, 5, *parse_address('607D:1'), 'i32', '-12345') == -12345
    assert read_object(options, 5, *parse_address('0x607Dh:1'), 'i32') == -12345
    assert read_object(options, 5, *parse_address('607D:1'), 'octets') == 'c7 cf ff ff'
    assert read_object(options, 4, *parse_address('607D:1'), 'i32') != -12345


def test_what_cannot_be_had_is_told_in_one_sentence(options: EthercatOptions) -> None:
    with pytest.raises(TransportError, match=r'place 1 .* object 5FFF.*:0: abort 0x06020000'):
        read_object(options, 1, 0x5FFF, 0, 'u8')
    with pytest.raises(TransportError, match=r'place 1 .* refuses object 6041.*abort 0x0601'):
        write_object(options, 1, 0x6041, 0, 'u16', 7)
    with pytest.raises(ConfigurationError, match='an integer of 32 bits, as the object has it'):
        read_object(options, 1, 0x608F, 1, 'i16')
    with pytest.raises(ConfigurationError, match='expected an integer from 0 to 255, got 256'):
        write_object(options, 1, 0x6060, 0, 'u8', 256)
    with pytest.raises(TransportError, match='place: expected 1 to 6, which are there, got 7'):
        read_object(options, 7, 0x6041, 0, 'u16')
    with pytest.raises(ConfigurationError, match='index and subindex, such as 607D:2'):
        parse_address('60x:7')


def test_an_empty_cable_is_told(options: EthercatOptions, rig: Any) -> None:
    rig.faults.call('cut', after=0)
    with pytest.raises(TransportError, match='nothing answers on the cable'):
        read_object(options, 1, 0x6041, 0, 'u16')
