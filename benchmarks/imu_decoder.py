# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Time the decoding of WitMotion frames, and what a stream of 200 Hz costs.

Decoding has to keep up with 20 lines of 921600 baud. The peer is the state machine that the
vendor's samples have, one byte after the other, with the same values at its end. The stream comes
from the emulated sensor, in a process of its own, over a pseudo terminal at 115200 baud; its peer
is a loop that only waits and reads, which decodes nothing. The whole node is a process of its own
that somebody listens to; its peer is a node that reads nothing, and publishes the same message as
often from a timer of rclpy's executor. Without ROS both are left out, and that is said.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
import multiprocessing
from multiprocessing.synchronize import Event
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

from harness import machine, measure, processor_time, report, Task
import numpy as np
from stewart_driver.witmotion.frames import Frame, FRAME_LENGTH, FrameType, PARSERS
from stewart_driver.witmotion.reader import ImuReader, ReaderSettings, thread_meter
from stewart_driver.witmotion.samples import CycleGrouper, Decoder
from stewart_driver.witmotion.transport import SerialTransport
from stewart_simulation.serial_imu.device import Sensor
from stewart_simulation.serial_imu.emulator import SerialImu
from stewart_simulation.serial_imu.inertial import InertialState

CYCLES = 4000
IMU = (FrameType.ACCELERATION, FrameType.ANGULAR_VELOCITY, FrameType.QUATERNION)
PEER = 'peer: byte by byte'
# Processor time over the peer's [-].
READER_LIMIT, NODE_LIMIT = 4.0, 1.5
START, TAKE = 30.0, 0.05


def stream() -> bytes:
    """Return the bytes of many cycles with noise."""
    sensor = Sensor(rng=np.random.default_rng(1))
    sensor.registers[2] = 0x0206
    return b''.join(sensor.cycle(InertialState(), 0.005 * n) for n in range(CYCLES))


def byte_by_byte(data: bytes) -> list[Frame]:
    """Decode as the vendor's samples do."""
    found: list[Frame] = []
    collected: list[int] = []
    for byte in data:
        if not collected and byte != 0x55:
            continue
        collected.append(byte)
        if len(collected) == FRAME_LENGTH:
            if collected[1] in PARSERS and sum(collected[:10]) & 0xFF == collected[10]:
                found.append(PARSERS[collected[1]](bytes(collected[2:10])))
            collected = []
    return found


def in_pieces(data: bytes, size: int, handle: Callable[[Decoder, bytes], object]) -> None:
    """Hand the stream over as a port would."""
    decoder = Decoder()
    for begin in range(0, len(data), size):
        handle(decoder, data[begin : begin + size])


def tasks() -> list[Task]:
    """Return ours and the peer."""
    data = stream()
    frames = len(data) // FRAME_LENGTH
    noise = np.random.default_rng(2).bytes(len(data))
    ours = Decoder().feed(data)
    if [item.frame for item in ours] != byte_by_byte(data) or len(ours) != frames:
        raise RuntimeError('the two decoders disagree')
    grouper = CycleGrouper()

    def grouped(decoder: Decoder, piece: bytes) -> None:
        grouper.feed(decoder.feed(piece))

    return [
        Task(
            'decode, 4096 bytes at a time',
            lambda: in_pieces(data, 4096, Decoder.feed),
            frames,
            PEER,
            1.5,
        ),
        Task(
            'decode, 33 bytes at a time',
            lambda: in_pieces(data, 33, Decoder.feed),
            frames,
            PEER,
            1.5,
        ),
        Task('decode and group', lambda: in_pieces(data, 33, grouped), frames),
        Task(
            'random bytes, as many',
            lambda: in_pieces(noise, 4096, Decoder.feed),
            frames,
            PEER,
            0.1,
        ),
        Task(PEER, lambda: byte_by_byte(data), frames),
    ]


def emulate(paths: Any, end: Event) -> None:
    """Run the sensor until told to end."""
    with SerialImu(now=time.monotonic) as imu:
        paths.put(imu.path)
        end.wait()


def reader_share(path: str, seconds: float) -> tuple[float, float]:
    """Return processor share of the reader's thread [%] and samples per second."""
    reader = ImuReader(
        lambda baud: SerialTransport(path, baud),
        ReaderSettings(port=path),
        now=time.monotonic,
        sleep=time.sleep,
    )
    reader.start()
    while reader.status.grouping.samples < 100:
        time.sleep(0.05)
    before, begin = reader.status, time.monotonic()
    while time.monotonic() - begin < seconds:
        # As in the node, somebody takes the samples: a full queue is not what runs every day.
        time.sleep(TAKE)
        reader.take()
    after, duration = reader.status, time.monotonic() - begin
    reader.stop()
    samples = after.grouping.samples - before.grouping.samples
    return 100.0 * (after.cpu - before.cpu) / duration, samples / duration


def bare_share(path: str, seconds: float) -> float:
    """Return the processor share of waiting and reading alone [%]."""
    transport = SerialTransport(path, ReaderSettings().baud)
    used = thread_meter()
    before, begin = used(), time.monotonic()
    while (duration := time.monotonic() - begin) < seconds:
        transport.read(0.1)
    share = 100.0 * (used() - before) / duration
    transport.close()
    return share


def publish(period: float) -> None:
    """Publish a constant message as rclpy's examples do, until terminated."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    from sensor_msgs.msg import Imu
    from stewart_node_support.qos import SENSOR_QOS

    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('peer')
    publisher = node.create_publisher(Imu, 'imu/data', SENSOR_QOS)
    message = Imu()

    def tick() -> None:
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)

    node.create_timer(period, tick)
    rclpy.spin(node)


def heard_share(command: list[str], seconds: float) -> float:
    """Return the processor share of a process whose ``imu/data`` this one hears [%]."""
    sys.path.append(str(Path(__file__).parents[1] / 'src' / 'stewart_node_support' / 'test'))
    from node_harness import Harness
    from sensor_msgs.msg import Imu
    from stewart_node_support.qos import SENSOR_QOS

    with Harness(real=True) as harness, subprocess.Popen(command) as process:
        try:
            heard = harness.listen(Imu, 'imu/data', SENSOR_QOS)
            harness.until(lambda: len(heard) > 100, START)
            before, begin = processor_time(process.pid), time.monotonic()
            harness.spin(seconds)
            return 100.0 * (processor_time(process.pid) - before) / (time.monotonic() - begin)
        finally:
            process.terminate()


def node_shares(path: str, rate: float, seconds: float) -> tuple[float, float]:
    """Return the processor shares of the node and of its peer [%]."""
    from ament_index_python.packages import get_package_prefix

    node = f'{get_package_prefix("stewart_driver")}/lib/stewart_driver/imu'
    parameters = ['--ros-args', '-p', f'port:={path}', '-p', 'autostart:=true']
    peer = [sys.executable, __file__, '--publish', f'{1.0 / rate:.6f}']
    return heard_share([node, *parameters], seconds), heard_share(peer, seconds)


def main() -> int:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=10.0, help='of each stream')
    parser.add_argument('--publish', type=float, metavar='PERIOD', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.publish is not None:
        publish(arguments.publish)
        return 0
    seconds: float = arguments.seconds
    about = machine(['numpy', 'pyserial'])
    timings = measure(tasks())
    context = multiprocessing.get_context('spawn')
    paths, end = context.Queue(), context.Event()
    process = context.Process(target=emulate, args=(paths, end), daemon=True)
    process.start()
    path = paths.get(timeout=30.0)
    share, rate = reader_share(path, seconds)
    bare = bare_share(path, seconds)
    node = plain = None
    if find_spec('rclpy') is not None:
        node, plain = node_shares(path, rate, seconds)
    end.set()
    process.join()
    speed = FRAME_LENGTH / timings[0].median_us
    print(f'decoding: {speed:.2f} MB/s, {10e6 * speed / 921600:.0f} x 921600 baud')
    print(f'reader and decoder at {rate:.1f} Hz: {share:.2f} % of a core')
    print(f'waiting and reading alone: {bare:.2f} %')
    if node is None:
        print('node: not measured, no ROS here')
    else:
        print(f'node: {node:.2f} % of a core; publishing alone: {plain:.2f} %')
    code = report(
        'imu_decoder',
        timings,
        about,
        sample='frame',
        megabytes_per_second=speed,
        samples_per_second=rate,
        reader_percent=share,
        wait_and_read_percent=bare,
        reader_limit=READER_LIMIT,
        node_percent=node,
        publish_percent=plain,
        node_limit=NODE_LIMIT,
    )
    kept = share <= READER_LIMIT * bare and (node is None or node <= NODE_LIMIT * plain)
    return code or int(not kept)


if __name__ == '__main__':
    raise SystemExit(main())
