# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Mailbox, SDO transfers of every kind, aborts and emergencies (ETG.1000.6, CiA 301)."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest
from stewart_simulation.ethercat.frames import Command, Datagram
from stewart_simulation.ethercat.mailbox import SdoServer
from stewart_simulation.ethercat.object_dictionary import Access, Entry, ObjectDictionary, OCTETS
from stewart_simulation.ethercat.omron_1s import dictionary_of, DriveType
from stewart_simulation.ethercat.registers import AlState

Build = Callable[..., Any]

# Abort codes as they go over the wire, little endian.
TOGGLE, COMMAND = '00000305', '01000405'
READ_ONLY, COUNT_NOT_ZERO, NO_COMPLETE = '02000106', '03000106', '04000106'
NO_OBJECT, NOT_MAPPABLE, TOO_LONG = '00000206', '41000406', '12000706'
TOO_SHORT, NO_SUBINDEX, VALUE = '13000706', '11000906', '30000906'
TOO_SMALL, WRONG_STATE, LENGTH = '32000906', '22000008', '10000706'


def test_expedited_uploads_of_one_two_and_four_octets(build: Build) -> None:
    bench = build(1).preop()

    assert bench.sdo(1, bytes.fromhex('40 1810 01 00000000')).hex() == '4318100183000000'
    assert bench.sdo(1, bytes.fromhex('40 5a60 00 00000000')).hex() == '4b5a600002000000'
    assert bench.sdo(1, bytes.fromhex('40 6160 00 00000000')).hex() == '4f61600000000000'


def test_the_identity_is_that_of_the_esi_file(build: Build) -> None:
    bench = build(1).preop()

    numbers = [bench.sdo_read(1, 0x1018, sub) for sub in (1, 2, 3)]
    assert [struct.unpack('<I', x)[0] for x in numbers] == [0x83, 0xB0, 0x00010004]


def test_a_normal_upload_tells_its_length(build: Build) -> None:
    answer = build(1).preop().sdo(1, bytes.fromhex('40 0810 00 00000000'))

    assert answer.hex() == '410810000f000000' + b'R88D-1SN04H-ECT'.hex()


def test_complete_access_reads_an_object_with_subindex_0_in_16_bits(build: Build) -> None:
    bench = build(1).preop()

    assert bench.sdo(1, bytes.fromhex('50 121c 00 00000000')).hex() == '53121c0001000117'
    assert bench.sdo(1, bytes.fromhex('50 121c 01 00000000')).hex() == '5b121c0101170000'
    whole = bench.sdo(1, bytes.fromhex('50 0117 00 00000000'))
    assert whole.hex() == '5101170012000000' + '0400' + '1000406020007a601000b8602001fe60'


def test_a_long_object_is_uploaded_in_segments(build: Build) -> None:
    """A mailbox of 34 octets carries 18 octets first, then 25 per segment."""
    bench = build(1, mailbox=34).preop()

    first = bench.sdo(1, bytes.fromhex('50 011b 00 00000000'))
    assert first[:8].hex() == '51011b0026000000'
    assert len(first) == 8 + 18
    second = bench.sdo(1, bytes.fromhex('60 00000000000000'))
    assert second[0] == 0x01
    data = first[8:] + second[1:]
    assert data.hex() == (
        '090010003f601000416020006460100077602000f4601000b9602000ba602000bc602000fd60'
    )


def test_segments_toggle_and_a_wrong_toggle_aborts(build: Build) -> None:
    bench = build(1, mailbox=34).preop()
    bench.segment.slaves[0].dictionary.variable(0x2000, Entry(OCTETS, bytes(range(70))))

    def upload(*commands: int) -> list[bytes]:
        first = bench.sdo(1, bytes.fromhex('40 0020 00 00000000'))
        return [first, *(bench.sdo(1, bytes([x]) + bytes(7)) for x in commands)]

    pieces = upload(0x60, 0x70, 0x60)
    assert [piece[0] for piece in pieces] == [0x41, 0x00, 0x10, 0x0B]
    assert pieces[0][8:] + pieces[1][1:] + pieces[2][1:] + pieces[3][1:3] == bytes(range(70))
    assert upload(0x70)[1].hex() == '80002000' + TOGGLE
    assert upload(0x60, 0x60)[2].hex() == '80002000' + TOGGLE
    assert bench.sdo(1, bytes([0x60]) + bytes(7)).hex() == '80000000' + COMMAND


def test_an_abort_of_the_master_ends_a_transfer_without_an_answer(build: Build) -> None:
    bench = build(1, mailbox=34).preop()
    bench.sdo(1, bytes.fromhex('50 011b 00 00000000'))
    bench.post(1, bytes.fromhex('0020 80 011b 00 00000000'))

    assert bench.fetch(1) is None
    assert bench.sdo(1, bytes([0x60]) + bytes(7)).hex() == '80000000' + COMMAND


def test_expedited_downloads_with_and_without_a_length(build: Build) -> None:
    bench = build(1).preop()

    assert bench.sdo(1, bytes.fromhex('2b 5a60 00 06000000')).hex() == '605a600000000000'
    assert bench.sdo_read(1, 0x605A) == b'\x06\x00'
    assert bench.sdo(1, bytes.fromhex('22 6560 00 01020304')).hex() == '6065600000000000'
    assert bench.sdo_read(1, 0x6065) == bytes.fromhex('01020304')


def test_a_normal_download_carries_its_data_at_once(build: Build) -> None:
    bench = build(1).preop()

    answer = bench.sdo(1, bytes.fromhex('21 7d60 01 04000000 18fcffff'))
    assert answer.hex() == '607d600100000000'
    assert bench.sdo_read(1, 0x607D, 1) == struct.pack('<i', -1000)


def test_a_download_in_segments(build: Build) -> None:
    bench = build(1, mailbox=34).preop()
    entry = bench.segment.slaves[0].dictionary.variable(0x2000, Entry(OCTETS, b'', Access.ALWAYS))
    data = bytes(range(100, 147))

    head = bytes.fromhex('21 0020 00') + struct.pack('<I', 47)
    assert bench.sdo(1, head + data[:18]).hex() == '6000200000000000'
    assert bench.sdo(1, b'\x00' + data[18:43])[0] == 0x20
    last = b'\x11'[0] | (7 - 4) << 1
    assert bench.sdo(1, bytes([last]) + data[43:] + bytes(3))[0] == 0x30
    assert entry.value == data


def test_a_drive_without_complete_access_says_so(build: Build) -> None:
    bench = build(1, complete_access=False).preop()
    for request in ('50 1810 01 00000000', '31 c260 00 04000000 000001fd'):
        answer = bench.sdo(1, bytes.fromhex(request))
        assert answer[0] == 0x80
        assert answer[4:8].hex() == NO_COMPLETE


def test_complete_access_writes_a_map_at_once(build: Build) -> None:
    bench = build(1).preop()

    data = bytes.fromhex('02001000406020007a60')
    head = bytes.fromhex('31 0016 00') + struct.pack('<I', len(data))
    assert bench.sdo(1, head + data).hex() == '7000160000000000'
    assert bench.sdo_read(1, 0x1600) == b'\x02'
    assert bench.sdo_read(1, 0x1600, 2) == bytes.fromhex('20007a60')


REFUSED = {
    'no object': ('40 0030 00 00000000', NO_OBJECT),
    'no subindex': ('40 1810 05 00000000', NO_SUBINDEX),
    'no subindex of a variable': ('40 4160 01 00000000', NO_SUBINDEX),
    'read only': ('2b 4160 00 00000000', READ_ONLY),
    'read-only identity': ('23 1810 01 01000000', READ_ONLY),
    'too long': ('23 4060 00 00000000', TOO_LONG),
    'too short': ('2f 7a60 00 00000000', TOO_SHORT),
    'too small': ('23 8560 00 00000000', TOO_SMALL),
    'mode that is not simulated': ('2f 6060 00 01000000', VALUE),
    'complete access to a variable': ('50 4160 00 00000000', NO_COMPLETE),
    'complete access to a text': ('50 0810 00 00000000', NO_COMPLETE),
    'complete download too long': ('31 c260 01 03000000 01fd00', TOO_LONG),
    'map entry while counted': ('23 0016 01 10004060', COUNT_NOT_ZERO),
    'fixed map': ('2f 0117 00 00000000', READ_ONLY),
    'assignment while counted': ('2b 121c 01 00160000', COUNT_NOT_ZERO),
    'unknown command': ('a0 1810 01 00000000', COMMAND),
    'more data than announced': ('21 6560 00 02000000 01020304', LENGTH),
    'segment of nothing': ('00 00000000000000', COMMAND),
}


@pytest.mark.parametrize('name', REFUSED)
def test_a_request_that_does_not_fit_aborts(build: Build, name: str) -> None:
    request, code = REFUSED[name]
    answer = build(1).preop().sdo(1, bytes.fromhex(request))

    assert answer[0] == 0x80
    assert answer[4:].hex() == code


def test_every_object_of_a_drive_fits_its_type() -> None:
    dictionary, _ = dictionary_of(DriveType())

    for entries in dictionary.objects.values():
        for entry in entries.values():
            assert len(entry.pack()) == entry.size


def test_settings_of_preop_are_locked_in_safeop(build: Build) -> None:
    bench = build(1).safeop()

    assert bench.sdo_write(1, 0x1C12, 0, b'\0').hex() == WRONG_STATE
    assert bench.sdo_write(1, 0x60C2, 1, b'\x02').hex() == WRONG_STATE
    assert bench.sdo_write(1, 0x605A, 0, b'\x06\x00') == b''


def test_a_full_mailbox_takes_no_second_message_and_an_empty_one_gives_none(build: Build) -> None:
    bench = build(1).preop()
    message = bytes.fromhex('0a0000000013 0020 40 0810 00 00000000').ljust(128, b'\0')

    def refused(command: Command, place: int, data: bytes) -> bool:
        (answer,) = bench.send(Datagram(command, 0x1001, place, data))
        return answer.working_counter == 0

    assert refused(Command.FPRD, 0x1400, bytes(128))
    assert refused(Command.FPRD, 0x1000, bytes(128))
    assert refused(Command.FPWR, 0x1400, bytes(128))
    assert refused(Command.FPWR, 0x1002, bytes(126))
    assert not refused(Command.FPWR, 0x1000, message)
    assert refused(Command.FPRD, 0x1402, bytes(126))
    assert not refused(Command.FPRD, 0x1400, bytes(128))
    assert refused(Command.FPRD, 0x1400, bytes(128))


def test_only_the_last_octet_empties_or_fills_a_mailbox(build: Build) -> None:
    bench = build(1).preop()
    message = bytes.fromhex('0a0000000013 0020 40 0810 00 00000000').ljust(128, b'\0')

    assert bench.write(1, 0x1000, message[:127]) == 1
    assert bench.fetch(1) is None
    assert bench.write(1, 0x1000, message) == 1
    (part,) = bench.send(Datagram(Command.FPRD, 0x1001, 0x1400, bytes(127)))
    assert part.working_counter == 1
    assert bench.read(1, 0x080D, 1) == 0x08
    assert bench.fetch(1) is not None


def test_a_lost_answer_is_repeated_on_request(build: Build) -> None:
    """The master read it, but the frame never came back: it toggles bit 1 of 080Eh."""
    bench = build(1).preop()
    bench.post(1, bytes.fromhex('0020 40 1810 01 00000000'))
    lost = bench.fetch(1)
    assert bench.fetch(1) is None

    bench.write(1, 0x080D, b'\x00\x03')

    assert bench.read(1, 0x080F, 1) & 0x02
    assert bench.fetch(1) == lost
    assert bench.fetch(1) is None
    bench.write(1, 0x080D, b'\x00\x01')
    assert not bench.read(1, 0x080F, 1) & 0x02
    assert bench.fetch(1) == lost


def test_a_repetition_does_not_swallow_the_message_behind_it(build: Build) -> None:
    bench = build(1).preop()
    bench.post(1, bytes.fromhex('0020 40 1810 01 00000000'))
    lost = bench.fetch(1)
    bench.segment.slaves[0].drive.fault(0x2310)

    bench.write(1, 0x080D, b'\x00\x03')

    assert bench.fetch(1) == lost
    assert bench.fetch(1) == (3, bytes.fromhex('0010 1023 01 0000000000'))
    assert bench.fetch(1) is None


def test_a_message_with_the_count_of_the_one_before_is_served_once(build: Build) -> None:
    bench = build(1).preop()
    bench.post(1, bytes.fromhex('0020 40 1810 01 00000000'))
    bench.fetch(1)
    bench.counts[1] -= 1
    bench.post(1, bytes.fromhex('0020 40 1810 01 00000000'))

    assert bench.fetch(1) is None


@pytest.mark.parametrize(
    ('kind', 'body', 'detail'),
    [(4, '0200', 2), (2, '0000', 2), (3, '0080' + '00' * 8, 4), (3, '', 8)],
    ids=['FoE', 'EoE', 'SDO information', 'nothing'],
)
def test_what_the_mailbox_does_not_speak_is_a_mailbox_error(
    build: Build, kind: int, body: str, detail: int
) -> None:
    bench = build(1).preop()
    bench.post(1, bytes.fromhex(body), kind)

    assert bench.fetch(1) == (0, struct.pack('<HH', 1, detail))


def test_a_length_beyond_the_mailbox_is_a_mailbox_error(build: Build) -> None:
    bench = build(1).preop()
    bench.write(1, 0x1000, bytes.fromhex('ff0000000013 0020').ljust(128, b'\0'))

    assert bench.fetch(1) == (0, bytes.fromhex('01000800'))


def test_mailbox_counts_run_from_one_to_seven(build: Build) -> None:
    bench = build(1).preop()
    counts = []
    for _ in range(9):
        bench.post(1, bytes.fromhex('0020 40 1810 01 00000000'))
        (answer,) = bench.send(Datagram(Command.FPRD, 0x1001, 0x1400, bytes(128)))
        counts.append(answer.data[5] >> 4)

    assert counts == [1, 2, 3, 4, 5, 6, 7, 1, 2]


def test_an_emergency_waits_in_the_mailbox(build: Build) -> None:
    bench = build(1).preop()
    bench.segment.slaves[0].drive.fault(0x8611)

    assert bench.fetch(1) == (3, bytes.fromhex('0010 1186 21 0000000000'))
    assert bench.sdo_read(1, 0x603F) == bytes.fromhex('1186')
    assert bench.sdo_read(1, 0x1001) == b'\x21'


@given(st.lists(st.binary(max_size=120), max_size=12))
def test_no_request_breaks_the_server(requests: list[bytes]) -> None:
    """Whatever comes is answered with eight octets at least, or is an abort."""
    dictionary = ObjectDictionary()
    dictionary.variable(0x2000, Entry(OCTETS, bytes(200), Access.ALWAYS))
    dictionary.record(0x2001, Entry('H', 1, Access.ALWAYS), Entry('i', 2, Access.ALWAYS))
    server = SdoServer(dictionary, 48)

    for request in requests:
        answer = server.answer(request, AlState.PREOP)
        assert answer is None or 8 <= len(answer) <= 48 - 8


@given(st.binary(min_size=5, max_size=300), st.integers(34, 256))
def test_what_was_downloaded_is_uploaded_again(data: bytes, mailbox: int) -> None:
    dictionary = ObjectDictionary()
    dictionary.variable(0x2000, Entry(OCTETS, b'', Access.ALWAYS))
    server = SdoServer(dictionary, mailbox)

    def ask(request: bytes) -> bytes:
        answer = server.answer(request, AlState.OP)
        assert answer is not None
        assert answer[0] != 0x80, answer.hex()
        return answer

    room, toggle = mailbox - 16, 0
    ask(bytes.fromhex('21002000') + struct.pack('<I', len(data)) + data[:room])
    for at in range(room, len(data), mailbox - 9):
        piece = data[at : at + mailbox - 9]
        last = at + len(piece) == len(data)
        unused = max(7 - len(piece), 0)
        ask(bytes([toggle | unused << 1 | last]) + piece.ljust(7, b'\0'))
        toggle ^= 0x10

    answer, toggle = ask(bytes.fromhex('4000200000000000')), 0
    read, answer = answer[8:], answer[:1]
    while len(read) < len(data):
        answer = ask(bytes([0x60 | toggle]) + bytes(7))
        read += answer[1 : len(answer) - (answer[0] >> 1 & 7)]
        toggle ^= 0x10
    assert read == data
