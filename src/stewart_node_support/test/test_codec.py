# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The codec against rclpy: the same bytes, the same numbers, the same refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import AccelWithCovarianceStamped, Pose, PoseStamped, TransformStamped
from nav_msgs.msg import Odometry
from node_harness import Harness
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState
from stewart_interfaces.msg import EstimatorStatus, PlatformSetpoint, TrackingError
from stewart_node_support.codec import finite, Layout, Reader, stamp_of, Writer
from stewart_node_support.conversions import vector_from_msg
from stewart_node_support.errors import MessageError
from stewart_node_support.legs import LEG_NAMES
from stewart_node_support.stamps import to_nanoseconds
from visualization_msgs.msg import MarkerArray

Rng = np.random.Generator
TYPES = [
    AccelWithCovarianceStamped,
    EstimatorStatus,
    Imu,
    JointState,
    Odometry,
    PlatformSetpoint,
    PoseStamped,
    TrackingError,
]
TEXTS = ('', 'a', 'base_link', 'platform_link', 'ocean_trajectory', 'Brücke')
LENGTHS = np.array([0, 1, 2, 6, 255, 2**31, 2**32 - 1], '<u4')
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308)


def numbers(rng: Rng, count: int) -> np.ndarray:
    """Return floats of any bits, some of them special."""
    values = rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    chosen = rng.random(count) < 0.2
    values[chosen] = rng.choice(SPECIAL, np.count_nonzero(chosen))
    return values


def fill(message: Any, rng: Rng) -> Any:
    """Give every field of a message a random value."""
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if kind == 'string':
            setattr(message, name, str(rng.choice(TEXTS)))
        elif kind == 'double':
            setattr(message, name, float(numbers(rng, 1)[0]))
        elif kind == 'int32':
            setattr(message, name, int(rng.integers(-(2**31), 2**31)))
        elif kind == 'uint32':
            setattr(message, name, int(rng.integers(0, 2**32)))
        elif kind.startswith('double['):
            setattr(message, name, numbers(rng, len(value)))
        elif kind.startswith('uint32['):
            setattr(message, name, rng.integers(0, 2**32, len(value), dtype=np.uint32))
        elif kind == 'sequence<string>':
            names = list(LEG_NAMES[: rng.integers(0, 7)])
            setattr(message, name, [*names, *rng.choice(TEXTS, rng.integers(0, 3)).tolist()])
        elif kind == 'sequence<double>':
            setattr(message, name, numbers(rng, int(rng.choice([0, 6, 6, 7]))).tolist())
        else:
            fill(value, rng)
    return message


def all_numbers(message: Any) -> list[Any]:
    """Return every number of a message as bytes, and every string: NaN equals itself."""
    found: list[Any] = []
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if hasattr(value, 'get_fields_and_field_types'):
            found += all_numbers(value)
        elif 'string' in kind:
            found += [value]
        else:
            found += [kind, np.asarray(value).tobytes()]
    return found


def meaning(layout: Layout) -> np.ndarray:
    """Return which bytes of a layout are not padding, by writing 0 and 255 over all numbers."""
    written = [bytearray(layout.data), bytearray(layout.data)]
    for data, byte in zip(written, (0, 255), strict=True):
        for name in layout.fields:
            offset, dtype, count = layout.place(name)
            data[offset : offset + count * dtype.itemsize] = bytes([byte]) * count * dtype.itemsize
    kept = np.frombuffer(bytes(written[0]), 'u1') != np.frombuffer(bytes(written[1]), 'u1')
    fixed = np.frombuffer(layout.mask, 'u1') == 255
    assert not np.any(kept & fixed)
    return kept | fixed


@pytest.mark.parametrize('kind', TYPES)
def test_bytes_are_those_of_rclpy_and_back(kind: Any) -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        message = fill(kind(), rng)
        layout = Layout(message)
        usual = serialize_message(message)
        # Padding is whatever was in memory, and rclpy may estimate too long a size.
        shared = meaning(layout)
        ours, theirs = (np.frombuffer(item, 'u1') for item in (layout.data, usual))

        assert len(usual) >= len(layout.data)
        np.testing.assert_array_equal(ours[shared], theirs[: len(ours)][shared])
        assert layout.matches(usual[: len(ours)])
        assert all_numbers(deserialize_message(layout.data, kind)) == all_numbers(message)


@pytest.mark.parametrize('kind', TYPES)
def test_on_the_wire_rclpy_sends_as_many_bytes(kind: Any) -> None:
    rng = np.random.default_rng(5)
    with Harness() as graph:
        heard: list[bytes] = []
        graph.probe.create_subscription(kind, 'hot', heard.append, 10, raw=True)
        fields: list[Any] = graph.listen(kind, 'hot')
        publisher = graph.talk(kind, 'hot')
        graph.until(lambda: publisher.get_subscription_count() == 2)
        for _ in range(5):
            message = fill(kind(), rng)
            layout = Layout(message)
            heard.clear()
            fields.clear()
            publisher.publish(message)
            publisher.publish(layout.data)
            graph.until(lambda: len(heard) == len(fields) == 2)

            assert layout.matches(heard[0])
            assert heard[1] == layout.data
            assert all_numbers(fields[1]) == all_numbers(fields[0]) == all_numbers(message)


@pytest.mark.parametrize('kind', TYPES)
def test_writer_writes_what_the_message_says(kind: Any) -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        message = fill(kind(), rng)
        writer, layout = Writer(message), Layout(message)
        other = fill(kind(), rng)
        for name in layout.fields:
            if name.startswith('header.stamp'):
                continue
            part: Any = other
            for step in name.split('.'):
                part = getattr(part, step)
            view = writer.view(name)
            if view.size != np.size(part):
                part = numbers(rng, view.size)
            view[:] = np.atleast_1d(part)
            setattr_path(message, name, part)
        message.header.stamp.nanosec = int(rng.integers(0, 10**9))
        stamp = to_nanoseconds(message.header.stamp)
        data = writer.stamped(stamp)

        assert data == Layout(message).data
        assert stamp_of(data) == stamp


def setattr_path(message: Any, path: str, value: Any) -> None:
    *steps, last = path.split('.')
    for step in steps:
        message = getattr(message, step)
    setattr(message, last, value.tolist() if isinstance(value, np.ndarray) else value)


def reader_of(kind: Any) -> Reader[bytes]:
    """Return a reader that gives back the bytes it decodes, numbers untouched."""
    return Reader(kind, lambda _: bytes)


def compare(reader: Reader[bytes], kind: Any, data: bytes) -> None:
    """Require of some bytes what rclpy makes of them, or a typed error where it refuses."""
    try:
        expected = deserialize_message(data, kind)
    except (RuntimeError, ValueError, MemoryError):
        with pytest.raises(MessageError, match=f'{len(data)} bytes are no {kind.__name__}'):
            reader.read(data)
        return
    read = deserialize_message(reader.read(data), kind)
    assert all_numbers(read) == all_numbers(expected)


def mutated(data: bytes, rng: Rng) -> bytes:
    """Return bytes with some bits, bytes or lengths changed, cut off or appended."""
    work = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        way, at = rng.integers(0, 6), int(rng.integers(0, max(len(work), 1)))
        if way == 0 and work:
            work[at] ^= 1 << rng.integers(0, 8)
        elif way == 1 and work:
            work[at] = rng.integers(0, 256)
        elif way == 2:
            del work[at:]
        elif way == 3:
            work += rng.bytes(int(rng.integers(1, 9)))
        elif way == 4:
            work[at : at + 4] = rng.choice(LENGTHS).tobytes()
        else:
            # The first bytes decide: encapsulation, stamp, length of the frame.
            work[:16] = rng.permuted(np.frombuffer(work[:16], 'u1')).tobytes()
    return bytes(work)


def fuzz(kind: Any, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    reader = reader_of(kind)
    for number in range(count):
        if number % 50 == 0:
            data = Layout(fill(kind(), rng)).data
            reader.read(data)
        compare(reader, kind, mutated(data, rng))


@pytest.mark.parametrize('kind', TYPES)
def test_mutated_bytes_are_refused_or_read_as_rclpy_reads_them(kind: Any) -> None:
    fuzz(kind, 500, 1)


@pytest.mark.slow
@pytest.mark.parametrize('kind', TYPES)
def test_a_million_mutated_buffers(kind: Any) -> None:
    fuzz(kind, 125_000, 2)


def big_endian(layout: Layout) -> bytes:
    """Swap all numbers and lengths of a PoseStamped."""
    data = bytearray(layout.data)
    data[1] = 0
    size = 1 + len(layout.texts['header.frame_id'])
    for offset, width in [(4, 4), (8, 4), (12, 4)] + [
        (layout.place('pose')[0] + 8 * number, 8) for number in range(7)
    ]:
        data[offset : offset + width] = data[offset : offset + width][::-1]
    assert size < 100
    return bytes(data)


def test_big_endian_is_read_too() -> None:
    layout = Layout(fill(PoseStamped(), np.random.default_rng(3)))
    data = big_endian(layout)

    assert data != layout.data
    assert reader_of(PoseStamped).read(data) == layout.data


def test_layouts_are_learned_again_when_strings_change() -> None:
    prepared: list[str | tuple[str, ...]] = []

    def prepare(layout: Layout) -> Callable[[bytes], int]:
        prepared.append(layout.texts['source'])
        return stamp_of

    reader = Reader(PlatformSetpoint, prepare)
    for source in ('ocean', 'ocean', 'waves', 'waves', 'cycloidal_trajectory', 'waves', 'ocean'):
        reader.read(Layout(PlatformSetpoint(source=source)).data)

    # One layout is kept for each length.
    assert prepared == ['ocean', 'waves', 'cycloidal_trajectory', 'ocean']
    for length in range(100):
        reader.read(Layout(PlatformSetpoint(source='x' * length)).data)
    assert len(reader._known) <= 8


def test_what_has_no_header_or_a_sequence_of_messages_is_refused() -> None:
    with pytest.raises(TypeError, match='Pose does not begin with a header'):
        Writer(Pose())
    with pytest.raises(TypeError, match='markers is of type sequence<visualization_msgs/'):
        Layout(MarkerArray())
    with pytest.raises(KeyError, match=r'transform\.position'):
        Layout(TransformStamped()).place('transform.position')
    with pytest.raises(TypeError, match='not one block'):
        Layout(JointState(position=[1.0], velocity=[1.0])).place('position', 'velocity')


def test_field_of_another_shape_is_refused() -> None:
    writer = Writer(PoseStamped(), 'pose.position')
    for values in (1.0, [1.0], [1.0, 2.0], [[1.0, 2.0, 3.0]]):
        with pytest.raises(MessageError, match=r'a field has shape \(3,\), got'):
            writer.write(0, values)
    data = writer.write(0, np.float32([0.5, 1.5, 2.5]))
    assert vector_from_msg(deserialize_message(data, PoseStamped).pose.position).tolist() == [
        *(0.5, 1.5, 2.5)
    ]


@pytest.mark.parametrize(
    ('values', 'expected'),
    [
        ([1.0, -2.0], True),
        ([1e308, 1e308], True),
        ([np.inf, -np.inf], False),
        ([0.0, np.nan], False),
        ([], True),
    ],
)
def test_finite_tells_an_overflow_from_infinity(values: list[float], expected: bool) -> None:
    assert finite(values) is expected
