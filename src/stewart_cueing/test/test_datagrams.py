# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Datagrams byte by byte, and through a socket of this machine."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
import select
import socket
import struct
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from stewart_cueing.errors import VehicleInputError
from stewart_cueing.vehicle.datagrams import (
    AWAY,
    DatagramSocket,
    flightgear,
    x_plane_11,
    x_plane_12,
)
from stewart_cueing.vehicle.washout import GRAVITY, LEVEL

PROTOCOL = Path(__file__).parents[1] / 'config' / 'flightgear.xml'


def data(**records: list[float]) -> bytes:
    """Return a packet with records r<index>."""
    rows = [struct.pack('<i8f', int(name[1:]), *row) for name, row in records.items()]
    return b'DATA*' + b''.join(rows)


def loads(normal: float, axial: float, side: float) -> list[float]:
    return [0.3, 0.0, 100.0, 0.0, normal, axial, side, 0.0]


def rates(*values: float) -> list[float]:
    return [*values, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_level_flight_is_level_in_every_form() -> None:
    for parse in (x_plane_11, x_plane_12):
        sample = parse(data(r4=loads(1.0, 0.0, 0.0), r16=rates(0.0, 0.0, 0.0)))
        np.testing.assert_allclose(sample, LEVEL, atol=1e-6)
    feet = -32.174049
    line = f'0.0\t0.0\t{feet * 0.3048:.6f}\t0.0\t0.0\t0.0\n'.encode()
    np.testing.assert_allclose(flightgear(line), LEVEL, atol=1e-5)


def test_every_axis_has_the_sign_of_x_forward_y_left_z_up() -> None:
    # Thrust, a push to the right; then roll right, nose up, nose right.
    force = np.array([0.2, -0.1, 1.5]) * GRAVITY
    turn = np.array([0.3, -0.2, -0.1])
    eleven = data(r3=rates(0, 0, 0), r16=rates(0.2, 0.3, 0.1), r4=loads(1.5, 0.2, 0.1))
    np.testing.assert_allclose(x_plane_11(eleven), [*force, *turn], rtol=1e-6)
    degrees = np.degrees([0.3, 0.2, 0.1])
    twelve = data(r4=loads(1.5, 0.2, 0.1), r16=rates(*degrees))
    np.testing.assert_allclose(x_plane_12(twelve), [*force, *turn], rtol=1e-6)
    for separator in ('\t', ',', ', ', ';', ' '):
        line = separator.join(['1.0', '2.0', '-9.0', '0.3', '0.2', '0.1']) + '\r\n'
        np.testing.assert_allclose(flightgear(line.encode()), [1.0, -2.0, 9.0, *turn])
        # As YASim says the same: of -f in x forward, y left, z up.
        line = separator.join(['-1.0', '2.0', '-9.0', '0.3', '0.2', '0.1', 'yasim']) + '\n'
        np.testing.assert_allclose(flightgear(line.encode()), [1.0, -2.0, 9.0, *turn])


WHOLE = data(r4=loads(1.0, 0.0, 0.0), r16=rates(0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ('parse', 'datagram', 'words'),
    [
        (x_plane_11, b'', 'expected a packet DATA'),
        (x_plane_11, b'RREF' + WHOLE[4:], 'expected a packet DATA'),
        (x_plane_12, WHOLE[:-1], 'truncated'),
        (x_plane_12, b'DATA', 'truncated'),
        (x_plane_12, data(r4=loads(1.0, 0.0, 0.0)), r'check \[16\]'),
        (
            x_plane_11,
            data(r4=loads(np.nan, 0.0, 0.0), r16=rates(0, 0, 0)),
            'no vehicle has|six finite numbers',
        ),
        (x_plane_12, data(r4=loads(-999.0, 0.0, 0.0), r16=rates(0, 0, 0)), 'up to 200 m/s²'),
        # No bytes of the packet behind it, which nobody can read.
        (x_plane_12, data(r4=loads(1.0, 0.0, 0.0), r16=rates(600.0, 0, 0)), 'and 10 rad/s$'),
        # In their menus, and before an aircraft is there.
        (x_plane_12, data(r4=loads(0.0, 0.0, 0.0), r16=rates(0, 0, 0)), 'six zeros'),
        (flightgear, b'0\t0\t0\t0\t0\t0\tnull\n', 'six zeros'),
        # X-Plane 12 in a gentle turn, which X-Plane 11 could not pitch so fast; in a fast roll.
        (x_plane_11, data(r4=loads(1.0, 0.0, 0.0), r16=rates(5.0, 0.0, 1.0)), 'x_plane_12'),
        (x_plane_11, data(r4=loads(1.0, 0.0, 0.0), r16=rates(0.0, 28.0, 0.0)), 'x_plane_12'),
        (flightgear, b'1\t2\t3\n', 'got 3 cells'),
        (flightgear, b'1\t2\t3\t4\t5\t6\tjsb\t8\n', 'got 8 cells'),
        (flightgear, b'1\t\t3\t4\t5\t6\n', 'got 5 cells'),
        (flightgear, b'1,,3,4,5,6\n', 'no number'),
        (flightgear, b'1\t2\t3\t4\t5\tx\n', 'no number'),
        (flightgear, b'1\t2\t3\t4\t5\tinf\n', 'six finite numbers'),
        (flightgear, b'\xff\xfe\x00', 'six numbers'),
    ],
)
def test_what_is_no_sample_is_refused(parse, datagram: bytes, words: str) -> None:
    with pytest.raises(VehicleInputError, match=words):
        parse(datagram)


def test_any_bytes_are_a_sample_or_refused() -> None:
    rng = np.random.default_rng(3)
    for _ in range(500):
        broken = bytearray(WHOLE)
        for place in rng.integers(0, len(broken), 3):
            broken[place] = rng.integers(0, 256)
        for parse in (x_plane_11, x_plane_12, flightgear):
            with suppress(VehicleInputError):
                assert np.isfinite(parse(bytes(broken[: rng.integers(0, 90)]))).all()


def test_the_protocol_that_is_shipped_sends_what_is_parsed() -> None:
    root = ET.parse(PROTOCOL).getroot()
    chunks = root.findall('generic/output/chunk')
    nodes = [chunk.findtext('node') for chunk in chunks]
    assert [str(node)[-11:] for node in nodes[:3]] == ['cel-fps_sec'] * 3
    assert nodes[3:] == [f'/orientation/{axis}-body' for axis in 'pqr'] + ['/sim/flight-model']
    assert [chunk.findtext('factor') for chunk in chunks] == ['0.3048'] * 3 + [None] * 4
    cells = [str(chunk.findtext('format')) % 1.0 for chunk in chunks[:-1]]
    for model, surge in (('jsb', 1.0), ('yasim', -1.0)):
        line = '\t'.join([*cells, str(chunks[-1].findtext('format')) % model]) + '\n'
        assert flightgear(line.encode()).tolist() == [surge, -1.0, -1.0, 1.0, -1.0, -1.0]


def send(sender: socket.socket, datagram: bytes, heard: DatagramSocket) -> None:
    """Send a datagram; return when it has come."""
    sender.sendto(datagram, ('127.0.0.1', heard.port))
    assert select.select([heard._socket], [], [], 60.0)[0]


def test_of_datagrams_between_two_looks_the_mean_is_taken() -> None:
    heard = DatagramSocket('flightgear', 0, '127.0.0.1')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for surge in (0, 10, 20, 30, -5):
            send(sender, f'{surge} 0 -9.8 0 0 0'.encode(), heard)
    sample = heard.mean()
    assert sample is not None
    assert (sample[0], heard.received) == (pytest.approx(11.0), 5)
    assert heard.mean() is None
    heard.close()


def test_a_simulator_that_pauses_is_silent_until_it_goes_on() -> None:
    now = [0.0]
    heard = DatagramSocket('flightgear', 0, '127.0.0.1', lambda: now[0])

    def told(line: bytes) -> bool:
        now[0] += 0.05
        send(sender, line, heard)
        return heard.mean() is not None

    flying, later = b'1 0 -9.8 0.1 0 0', b'1 0 -9.8 0.2 0 0'
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            taken = [told(flying) for _ in range(40)]
            # Repeated for a second it counts, for pictures may be slower than datagrams.
            assert taken == [True] * sum(taken) + [False] * (40 - sum(taken))
            assert 20 <= sum(taken) <= 22
            assert heard.paused
            assert heard.mean() is None
            assert heard.paused
            # Closed meanwhile, it is silent.
            now[0] += 1.1
            assert heard.mean() is None
            assert not heard.paused
            assert told(later)
            assert not heard.paused
            # Every index of X-Plane's Data Output in one datagram.
            rows = {f'r{index}': rates(0.0, 0.0, 0.0) for index in range(140)}
            rows |= {'r4': loads(1.0, 0.0, 0.0)}
            x_plane = DatagramSocket('x_plane_12', 0, '127.0.0.1')
            send(sender, data(**rows), x_plane)
            sample = x_plane.mean()
            x_plane.close()
            assert sample is not None
            np.testing.assert_allclose(sample, LEVEL, atol=1e-6)
    finally:
        heard.close()


def flight(pitch: float) -> bytes:
    """Return a sample of X-Plane with a pitch rate."""
    return data(r4=loads(1.0, 0.0, 0.0), r16=rates(pitch, 0.0, 0.1))


def test_a_simulator_of_another_version_is_not_heard_while_it_is_one() -> None:
    now = [10.0]
    heard = DatagramSocket('x_plane_11', 0, '127.0.0.1', lambda: now[0])

    def taken(sender: socket.socket, pitches: np.ndarray) -> list[bool]:
        found = []
        for pitch in pitches.tolist():
            now[0] += 0.05
            send(sender, flight(pitch), heard)
            found.append(heard.mean() is not None)
        return found

    def gentle(count: int) -> np.ndarray:
        return 0.4 + 1e-3 * np.arange(count)

    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            assert taken(sender, gentle(1)) == [True]
            # Many within two seconds are of X-Plane 12, in a turn with gentle samples between.
            turn = 5.0 + 0.1 * np.arange(30)
            turn[1::2] = gentle(15)
            assert taken(sender, turn)[:5] == [False, True, False, True, False]
            assert heard.refusal.endswith('choose x_plane_12')
            assert taken(sender, 4.0 + 0.1 * np.arange(20)) == [False] * 20
            assert 'choose x_plane_12; nothing is taken before 2 s' in heard.refusal
            # X-Plane 12 is gentle for a while, and then another X-Plane 11 flies.
            assert not any(taken(sender, gentle(39)))
            assert 'choose x_plane_12' in heard.refusal
            assert taken(sender, np.array([5.0])) == [False]
            last = taken(sender, gentle(60))
            assert last == [False] * 40 + [True] * 20 or last == [False] * 41 + [True] * 19
    finally:
        heard.close()
    assert heard.received == 1 + 15 + sum(last)


@pytest.mark.parametrize('chosen', ['x_plane_11', 'x_plane_12'])
@pytest.mark.parametrize('flown', ['x_plane_11', 'x_plane_12'])
def test_a_gentle_turn_tells_the_version_where_the_attitude_is_sent(
    chosen: str, flown: str
) -> None:
    # Banked by 15 degrees, nose 3 degrees up, 2.5 degrees of heading a second, past north.
    now, yaw = [10.0], np.radians(2.5)
    roll, pitch = np.radians([15.0, 3.0])
    p = -yaw * np.sin(pitch)
    q, r = yaw * np.cos(pitch) * np.array([np.sin(roll), np.cos(roll)])
    turn = rates(q, p, r) if flown == 'x_plane_11' else rates(*np.degrees([p, q, r]))
    heard, taken = DatagramSocket(chosen, 0, '127.0.0.1', lambda: now[0]), []
    doubted = []
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for n in range(200):
                now[0] += 0.05 + 0.02 * np.sin(n)
                # Put elsewhere meanwhile, the other way round: that is no turn.
                heading = (350.0 + 2.5 * now[0] + 180.0 * (n > 20)) % 360.0
                attitude = rates(3.0, 15.0, heading)
                load = loads(1.0, 1e-6 * n, 0.0)
                send(sender, data(r4=load, r16=turn, r17=attitude), heard)
                taken.append(heard.mean() is not None)
                doubted.append(heard.doubt.startswith(f'whether this is {chosen} is not known'))
        assert taken[:40] == [True] * 40
        # It is warned of until the turn.
        assert doubted[:40] == [True] * 40
        assert doubted[-100:] == [False] * 100
        assert heard.version == flown
        assert taken[-100:] == [chosen == flown] * 100
        assert chosen == flown or f'as one of {flown}: choose it' in heard.refusal
    finally:
        heard.close()


def test_wild_samples_now_and_then_are_left_out() -> None:
    now = [10.0]
    heard = DatagramSocket('x_plane_11', 0, '127.0.0.1', lambda: now[0])
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for round_ in range(60):
                now[0] += 0.2
                send(sender, flight(4.0 + 0.1 * round_), heard)
                assert heard.mean() is None
                send(sender, flight(0.3 + 1e-3 * round_), heard)
                assert heard.mean() is not None
            # Nor is one that is repeated another version.
            for _ in range(40):
                now[0] += 0.02
                send(sender, flight(5.0), heard)
                assert heard.mean() is None
            send(sender, flight(0.1), heard)
            assert heard.mean() is not None
    finally:
        heard.close()
    assert (heard.received, heard.refused) == (61, 100)


def test_of_two_simulators_the_first_is_heard_until_it_is_silent() -> None:
    now = [10.0]
    heard = DatagramSocket('flightgear', 0, '127.0.0.1', lambda: now[0])

    def force(sender: socket.socket, datagram: bytes) -> float | None:
        send(sender, datagram, heard)
        sample = heard.mean()
        return None if sample is None else float(sample[0])

    kinds = socket.AF_INET, socket.SOCK_DGRAM
    try:
        with socket.socket(*kinds) as stranger, socket.socket(*kinds) as one:
            assert force(stranger, b'hello') is None
            with socket.socket(*kinds) as other:
                assert force(one, b'1 0 -9.8 0 0 0') == 1.0
                now[0] += 0.1
                assert force(other, b'2 0 -9.8 0 0 0') is None
                assert f':{other.getsockname()[1]}, is not heard while' in heard.other
                assert heard.refusal == heard.other
                # Polled late: it was heard all the time.
                now[0] += 10.0 * AWAY
                assert force(one, b'3 0 -9.8 0 0 0') == 3.0
                assert not heard.other
                # Nor does it give way while what it sends is refused.
                for _ in range(3):
                    now[0] += 0.9 * AWAY
                    assert force(one, b'3 0 -9999 0 0 0') is None
                    assert heard.mean() is None
                    assert force(other, b'4 0 -9.8 0 0 0') is None
                now[0] += 1.1 * AWAY
                assert force(other, b'4 0 -9.8 0 0 0') == 4.0
                assert (heard.received, heard.refused) == (3, 8)
    finally:
        heard.close()


def test_a_datagram_is_dated_when_it_came_and_not_when_somebody_looks() -> None:
    heard = DatagramSocket('x_plane_12', 0, '127.0.0.1')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        # The kernel begins a moment after it was asked to; until then it dates what is read.
        for _ in range(1000):
            before = time.time_ns()
            send(sender, WHOLE, heard)
            after = time.time_ns()
            time.sleep(1e-3)
            assert heard.mean() is not None
            assert heard.came_ns >= before
            if heard.came_ns <= after:
                break
        assert heard.came_ns <= after
    heard.close()


def test_a_socket_keeps_the_newest_sample_and_counts_what_it_refuses() -> None:
    heard = DatagramSocket('x_plane_12', 0, '127.0.0.1')
    try:
        assert heard.mean() is None
        with pytest.raises(OSError, match='in use'):
            DatagramSocket('flightgear', heard.port, '127.0.0.1')
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            send(sender, WHOLE, heard)
            assert heard.mean() is not None
            send(sender, data(r4=loads(2.0, 0.0, 0.0), r16=rates(0.0, 0.0, 0.0)), heard)
            sender.sendto(b'nonsense', ('127.0.0.1', heard.port))
            sample = heard.mean()
            while not heard.refused:
                assert heard.mean() is None
        assert sample is not None
        assert sample[2] == pytest.approx(2.0 * GRAVITY)
        assert (heard.received, heard.refused) == (2, 1)
        assert 'expected a packet DATA' in heard.refusal
    finally:
        heard.close()
