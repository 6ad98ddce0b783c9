# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every fault of the list goes through the service of node virtual_rig and acts on its wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('pysoem')
pytest.importorskip('pyroute2')

from nav_msgs.msg import Odometry
from node_harness import Harness
from stewart_driver.daq.options import SensorOptions
from stewart_driver.daq.sensors import DaqReader
from stewart_driver.errors import CardError
from stewart_driver.witmotion.samples import Decoder
from stewart_driver.witmotion.transport import SerialTransport
from stewart_interfaces.srv import InjectFault
from stewart_node_support.qos import SENSOR_QOS
from stewart_node_support.stamps import to_seconds
from stewart_simulation.errors import RigError
from stewart_simulation.nodes.virtual_rig import VirtualRig
from stewart_simulation.rig.faults import listing

pytestmark = pytest.mark.ros

# The list of the requirements, by our names.
WANTED = {
    *('ethercat.lose_next', 'ethercat.lose_some', 'ethercat.delay', 'ethercat.cut'),
    *('ethercat.power_cycle', 'ethercat.identity', 'ethercat.al_error', 'ethercat.drive_fault'),
    *('ethercat.watchdog', 'ethercat.drift', 'ethercat.read_only_maps'),
    *('imu.garbage', 'imu.lose', 'imu.checksum', 'imu.baud', 'imu.unplug', 'imu.rate'),
    *('card.saturate', 'card.stick', 'card.remove'),
    *('plant.encoder_jump', 'plant.encoder_stuck', 'plant.torque_limit'),
}
# Acting in motion: test_rig_process.py.
IN_MOTION = {'ethercat.drive_fault', 'plant.encoder_stuck', 'plant.torque_limit'}
HEADER = 'ffffffffffff010101010101' + '88a4'


def datagrams(*items: tuple[int, int, int, str]) -> str:
    """Return a frame of datagrams in hex: command, position or address, register, data."""
    body = b''
    for number, (command, address, register, text) in enumerate(items):
        data = bytes.fromhex(text)
        length = len(data) | (0x8000 if number + 1 < len(items) else 0)
        body += bytes([command, number]) + (address & 0xFFFF).to_bytes(2, 'little')
        body += register.to_bytes(2, 'little') + length.to_bytes(2, 'little') + bytes(2)
        body += data + bytes(2)
    return HEADER + (len(body) | 0x1000).to_bytes(2, 'little').hex() + body.hex()


BRD, APRD, APWR = 7, 1, 2
# Of a frame that comes back, however busy the rig is, and of one that does not [s].
COMES, LOST = 60.0, 0.3


class Bench(Harness):
    """The node, a client for faults, and hands on every wire."""

    def __init__(self, directory: Path) -> None:
        super().__init__(real=True)
        self.rig: Any = self.add(
            VirtualRig, platform='vigo', directory=str(directory), truth_rate=200.0
        )
        ends = self.rig._rig.ends
        self.ends: dict[str, str] = ends
        self._wire = subprocess.Popen(
            [
                *(sys.executable, str(Path(__file__).with_name('rig_wire.py'))),
                *(ends['namespace'] or '/proc/self/ns/net', ends['interface']),
            ],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask_wire()

    def end(self) -> None:
        self._wire.communicate(timeout=60)

    def _ask_wire(self, **request: Any) -> dict[str, Any]:
        assert self._wire.stdin is not None
        assert self._wire.stdout is not None
        if request:
            self._wire.stdin.write(json.dumps(request) + '\n')
            self._wire.stdin.flush()
        answer: dict[str, Any] = json.loads(self._wire.stdout.readline())
        return answer

    def frame(
        self, *items: tuple[int, int, int, str], patience: float = COMES
    ) -> list[tuple[int, bytes]]:
        """Return working counter and data of every datagram; nothing if no frame came back."""
        answer = bytes.fromhex(self._ask_wire(frame=[datagrams(*items), patience])['answer'])
        found, at = [], 16
        for item in items if answer else ():
            length = len(item[3]) // 2
            data = answer[at + 10 : at + 10 + length]
            counter = int.from_bytes(answer[at + 10 + length : at + 12 + length], 'little')
            found.append((counter, data))
            at += 12 + length
        return found

    def took(self) -> float:
        answer = self._ask_wire(frame=[datagrams((BRD, 0, 0, '0000')), COMES])
        assert answer['answer']
        return float(answer['took'])

    def sdo(self, *words: Any) -> dict[str, Any]:
        return self._ask_wire(sdo=list(words))

    def reset_master(self) -> None:
        self._ask_wire(reset=None)

    def reached(self, patience: float = COMES) -> int:
        """Return how many slaves a broadcast reaches; -1 if it does not come back."""
        found = self.frame((BRD, 0, 0, '0000'), patience=patience)
        return found[0][0] if found else -1

    def register(self, slave: int, address: int, length: int) -> int:
        ((counter, data),) = self.frame((APRD, 1 - slave, address, '00' * length))
        assert counter == 1
        return int.from_bytes(data, 'little')

    def ask(self, fault: str, text: str) -> Any:
        request = InjectFault.Request(fault=fault, arguments_json=text)
        return self.call(InjectFault, 'simulation/inject_fault', request)

    def inject(self, fault: str, **arguments: Any) -> None:
        text = json.dumps(arguments) if arguments else ''
        answer = self.ask(fault, text)
        assert answer.success, answer.message

    def refused(self, fault: str, text: str) -> str:
        answer = self.ask(fault, text)
        assert not answer.success
        return str(answer.message)


@pytest.fixture(scope='module')
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    try:
        made = Bench(tmp_path_factory.mktemp('b') / 'd')
    except RigError as error:
        if 'What permits it' in str(error):
            pytest.skip(str(error))
        raise
    with made:
        yield made
        made.end()


def lose_next(bench: Bench) -> None:
    bench.inject('ethercat.lose_next', count=1)
    assert [bench.reached(LOST), bench.reached()] == [-1, 6]


def lose_some(bench: Bench) -> None:
    bench.inject('ethercat.lose_some', probability=1.0)
    assert -1 in [bench.reached(LOST) for _ in range(3)]
    bench.inject('ethercat.lose_some', probability=0.0)
    assert bench.reached() == 6


def delay(bench: Bench) -> None:
    bench.inject('ethercat.delay', seconds=0.08)
    took: list[float] = []

    def timely() -> bool:
        took.append(bench.took())
        return took[-1] < 0.29

    # A busy rig answers later, but never sooner.
    bench.until(timely)
    assert min(took) >= 0.08
    bench.inject('ethercat.delay', seconds=0.0)


def cut(bench: Bench) -> None:
    bench.inject('ethercat.cut', after=3)
    assert bench.reached() == 3
    bench.inject('ethercat.mend')
    assert bench.reached() == 6


def power_cycle(bench: Bench) -> None:
    assert bench.frame((APWR, -1, 0x0010, '3412'))[0][0] == 1
    assert bench.register(2, 0x0010, 2) == 0x1234
    bench.inject('ethercat.power_cycle', slave=2)
    assert bench.register(2, 0x0010, 2) == 0


def identity(bench: Bench) -> None:
    def product() -> int:
        bench.frame((APWR, -2, 0x0502, '00010a000000'))
        return bench.register(3, 0x0508, 4)

    assert product() == 0xB0
    bench.inject('ethercat.identity', slave=3)
    assert product() == 0xAB
    bench.inject('ethercat.identity', slave=3, product=0xB0)


def al_error(bench: Bench) -> None:
    bench.inject('ethercat.al_error', slave=4, code=0x1A)
    # In INIT already: it stays there, with the error bit.
    assert bench.register(4, 0x0130, 2) == 0x11
    assert bench.register(4, 0x0134, 2) == 0x1A
    bench.inject('ethercat.power_cycle', slave=4)


def watchdog(bench: Bench) -> None:
    bench.inject('ethercat.watchdog', slave=5)
    assert bench.register(5, 0x0134, 2) == 0x1B
    bench.inject('ethercat.power_cycle', slave=5)


def drift(bench: Bench) -> None:
    def clocks() -> tuple[int, int]:
        """Return the clocks of slaves 1 and 2, in one frame [ns]."""
        found = bench.frame((APRD, 0, 0x0910, '00' * 8), (APRD, -1, 0x0910, '00' * 8))
        first, second = (int.from_bytes(data, 'little') for _, data in found)
        return first, second

    bench.inject('ethercat.drift', slave=2, ppm=500.0)
    first, second = clocks()
    time.sleep(0.2)
    later = clocks()
    elapsed, drifted = later[0] - first, later[1] - second
    assert elapsed > 190_000_000
    assert drifted - elapsed == pytest.approx(500e-6 * elapsed, rel=0.2)
    bench.inject('ethercat.drift', slave=2, ppm=0.0)


def read_only_maps(bench: Bench) -> None:
    assert bench.sdo(6, 0x1600, 0, '00') == {'data': ''}
    bench.inject('ethercat.read_only_maps', slave=6)
    # A new drive: the bus is scanned again.
    bench.reset_master()
    assert bench.sdo(6, 0x1600, 0, '00') == {'abort': 0x06010002}


def encoder_jump(bench: Bench) -> None:
    def position() -> int:
        data = bytes.fromhex(bench.sdo(1, 0x6064, 0, '')['data'])
        return int.from_bytes(data, 'little', signed=True)

    before = position()
    bench.inject('plant.encoder_jump', leg=1, metres=0.001)
    jump = 0.001 * 2**23 / 0.01
    bench.until(lambda: position() - before > 0.5 * jump)
    assert position() - before == pytest.approx(jump, abs=8000)
    bench.inject('plant.mend')


SEGMENT = (
    *(lose_next, lose_some, delay, cut, power_cycle, identity, al_error, watchdog, drift),
    *(encoder_jump, read_only_maps),
)


@pytest.mark.parametrize('act', SEGMENT, ids=lambda act: act.__name__)
def test_a_fault_of_the_segment_shows_in_its_frames(
    bench: Bench, act: Callable[[Bench], None]
) -> None:
    act(bench)


def test_faults_of_the_card_show_in_its_codes(bench: Bench) -> None:
    sensors = DaqReader(
        SensorOptions(
            card='simulated',
            device=bench.ends['card'],
            rig_file=bench.ends['rig_file'],
            longest_call=60.0,
        )
    )
    sensors.open()
    assert sensors.read().fault is None
    bench.inject('card.saturate', leg=2)
    fault = sensors.read().fault
    assert fault is not None
    assert 'leg 2' in str(fault)
    bench.inject('card.mend')
    bench.inject('card.stick', leg=3)
    strokes = np.array([sensors.read().strokes for _ in range(20)])
    assert (np.ptp(strokes, axis=0) == 0.0).tolist() == [False, False, True, False, False, False]
    bench.inject('card.remove')
    with pytest.raises(CardError):
        sensors.read()
    bench.inject('card.mend')
    sensors.close()


def test_faults_of_the_sensor_show_in_its_bytes(bench: Bench) -> None:
    transport = SerialTransport(bench.ends['imu'], 9600)
    decoder = Decoder()

    def listen(seconds: float) -> tuple[int, float]:
        """Return how many frames come, and in what time [s]; nothing is left on the line."""
        before, begin = decoder.statistics.frames, time.monotonic()
        while (elapsed := time.monotonic() - begin) < seconds:
            decoder.feed(transport.read(0.02))
        decoder.feed(transport.read(0.0))
        return decoder.statistics.frames - before, elapsed

    def hear(reached: Callable[[], bool]) -> None:
        """Listen until something has come, however late."""
        limit = time.monotonic() + 60.0
        while not reached():
            assert time.monotonic() < limit, decoder.statistics
            listen(0.02)

    def hear_frames(more: int) -> None:
        hear(lambda enough=decoder.statistics.frames + more: decoder.statistics.frames > enough)

    hear_frames(20)
    bench.inject('imu.checksum', count=2)
    hear(lambda: decoder.statistics.checksum_errors >= 2)
    for fault in ('imu.garbage', 'imu.lose'):
        before = decoder.statistics.resyncs
        bench.inject(fault, count=15)
        hear(lambda last=before: decoder.statistics.resyncs > last)
    bench.inject('imu.rate', hertz=1.0)

    def slow() -> bool:
        frames, elapsed = listen(1.0)
        return frames <= 18 * elapsed

    hear(slow)
    bench.inject('imu.rate', hertz=0.0)
    bench.inject('imu.baud', baud=115200)
    hear(lambda: listen(0.5)[0] <= 1)
    bench.inject('imu.baud', baud=9600)
    hear_frames(20)
    bench.inject('imu.unplug')
    assert not Path(bench.ends['imu']).exists()
    bench.inject('imu.plug')
    assert Path(bench.ends['imu']).exists()
    transport.close()


def test_every_fault_that_was_asked_for_is_listed_and_tried(bench: Bench) -> None:
    names = {name for name, _, _ in listing()}
    tried = {f'ethercat.{act.__name__}' for act in SEGMENT} | IN_MOTION
    text = Path(__file__).read_text(encoding='utf-8')

    assert names >= WANTED
    assert {
        name for name in WANTED - tried if f"'{name}'" not in text.split('BRD, APRD')[1]
    } == set()
    with bench.rig._rig.control() as control:
        assert set(control.call('observe')) == {'ethercat', 'card', 'imu', 'plant'}


@pytest.mark.parametrize(
    ('fault', 'text', 'said'),
    [
        ('ethercat.explode', '', 'does not exist; there are '),
        ('ethercat.cut', '{"after": 9}', 'slave must be 1 to 6, not 9'),
        ('ethercat.cut', '', "missing a required argument: 'after'"),
        ('plant.torque_limit', '{"leg": 1, "share": "much"}', 'torque_limit'),
        ('imu.lose', '[3]', 'must be an object'),
        ('imu.lose', '{', 'no JSON'),
        ('imu.lose', '[' * 60_000, 'no JSON'),
    ],
)
def test_what_cannot_be_injected_is_refused_in_one_sentence(
    bench: Bench, fault: str, text: str, said: str
) -> None:
    assert said in bench.refused(fault, text)


def test_the_truth_is_published_in_the_axes_of_its_frames(bench: Bench) -> None:
    heard = bench.listen(Odometry, 'simulation/truth', SENSOR_QOS)
    begin = time.time()
    bench.until(lambda: len(heard) > 10 and to_seconds(heard[-1].header.stamp) > begin)
    stamps = [to_seconds(item.header.stamp) for item in heard]

    assert heard[0].header.frame_id == 'base_link'
    assert heard[0].child_frame_id == 'platform_link'
    assert abs(heard[-1].pose.pose.position.z - 1.674) < 1e-3
    assert np.all(np.diff(stamps) > 0.0)
    assert stamps[-1] < time.time() + 1e-3
