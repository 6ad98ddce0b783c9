# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a bag as numpy arrays, one class for each message type that can become some.

Nothing is sorted, filled or dropped: a series is what was recorded, with findings about what is
odd in it. The annotation of an array says which fields of the message it is made from. Units are
SI, vectors have shape (n, 3), attitudes are x, y, z, w of shape (n, 4), and the elements of a
6 × 6 covariance belong to x, y, z and the rotation about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_type_hints, TypeVar

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys.store import Typestore
from stewart_bags.cdr_layout import LayoutError
from stewart_bags.columns import Columns
from stewart_bags.errors import MissingJoints, UndecodableMessage
from stewart_bags.findings import (
    examine_quaternions,
    examine_stamps,
    examine_values,
    Finding,
    Kind,
)
from stewart_bags.overlaps import CUT
from stewart_bags.reading import Bag
from stewart_bags.topics import NS, Topic
from stewart_tables.errors import listed

LEGS = tuple(f'leg_{number}' for number in range(1, 7))
QUANTITIES = ('position', 'velocity', 'effort')
# Messages at a time: enough for numpy, and fewer than the 700 new objects at which Python's
# garbage collector looks through the latest.
BLOCK = 600

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """Where an array comes from: scalar fields that become its columns, or one field.

    Attributes:
        shape: Shape of one sample, where the one field is an array itself.
        text: Whether the field is a text; then there is a tuple in place of the array.
    """

    paths: tuple[str, ...]
    shape: tuple[int, ...] = ()
    text: bool = False

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return self.shape or ((len(self.paths),) if len(self.paths) > 1 else ())


def vector(path: str, axes: str = 'xyz') -> Source:
    """Take x, y, z of a Vector3 or Point, or the `axes` of a Quaternion."""
    return Source(tuple(f'{path}.{axis}' for axis in axes))


def matrix(path: str, size: int) -> Source:
    """Take a covariance, which is a flat array in the message."""
    return Source((path,), (size, size))


@dataclass(frozen=True)
class Series:
    """What all series have, n samples in the order of bag time.

    Attributes:
        bag_time_ns (n,): When the recorder received the message [ns since the epoch].
        stamp_ns (n,): Stamp of the header: the instant the values belong to [ns since the epoch].
        frame_id: Frame of the first message.
        findings: What is odd about it.
    """

    MSGTYPE: ClassVar[str] = ''

    topic: str
    bag_time_ns: NDArray[np.int64]
    stamp_ns: NDArray[np.int64]
    frame_id: str
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.stamp_ns)

    @property
    def overlap(self) -> str:
        """That its bag goes over the same time twice, in a sentence; else empty."""
        found = (item for item in self.findings if item.kind is Kind.OVERLAP)
        said = (f'{self.topic}: {item.kind.value}, {item.detail}; {CUT}' for item in found)
        return next(said, '')

    def seconds(self, origin_ns: int) -> Array:
        """Return the stamps as seconds after an instant, best a stamp of the same bag [ns].

        The difference is taken in integers, so nothing is lost.
        """
        return (self.stamp_ns - origin_ns) / NS


@dataclass(frozen=True)
class JointSeries(Series):
    """sensor_msgs/JointState: m joints, by default the six legs in the order leg_1 to leg_6.

    Columns (n, m) are in the order of `names`: for legs the stroke [m], its rate [m/s] and the
    force [N]; NaN where not measured.
    """

    MSGTYPE: ClassVar[str] = 'sensor_msgs/msg/JointState'

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array

    @property
    def parted(self) -> str:
        """That no message has all joints, though some have each, in a sentence; else empty."""
        known = np.isfinite(self.position)
        if not known.any(axis=0).all() or known.all(axis=1).any():
            return ''
        return (
            f'no message of {self.topic} has all of {listed(self.names)}, though each is '
            'measured: several programs publish a part each; have one publish all'
        )


@dataclass(frozen=True)
class SetpointSeries(Series):
    """stewart_interfaces/PlatformSetpoint: platform_link's origin and attitude, base_link axes."""

    MSGTYPE: ClassVar[str] = 'stewart_interfaces/msg/PlatformSetpoint'

    position: Annotated[Array, vector('pose.position')]
    quaternion_xyzw: Annotated[Array, vector('pose.orientation', 'xyzw')]
    linear_velocity: Annotated[Array, vector('twist.linear')]
    angular_velocity: Annotated[Array, vector('twist.angular')]
    linear_acceleration: Annotated[Array, vector('accel.linear')]
    angular_acceleration: Annotated[Array, vector('accel.angular')]


@dataclass(frozen=True)
class PoseSeries(Series):
    """geometry_msgs/PoseStamped, in the frame `frame_id`."""

    MSGTYPE: ClassVar[str] = 'geometry_msgs/msg/PoseStamped'

    position: Annotated[Array, vector('pose.position')]
    quaternion_xyzw: Annotated[Array, vector('pose.orientation', 'xyzw')]


@dataclass(frozen=True)
class PoseWithCovarianceSeries(Series):
    """geometry_msgs/PoseWithCovarianceStamped; the covariance is all zero where it is unknown."""

    MSGTYPE: ClassVar[str] = 'geometry_msgs/msg/PoseWithCovarianceStamped'

    position: Annotated[Array, vector('pose.pose.position')]
    quaternion_xyzw: Annotated[Array, vector('pose.pose.orientation', 'xyzw')]
    covariance: Annotated[Array, matrix('pose.covariance', 6)]


@dataclass(frozen=True)
class OdometrySeries(Series):
    """nav_msgs/Odometry: the pose in `frame_id`, the twist in the axes of the child frame."""

    MSGTYPE: ClassVar[str] = 'nav_msgs/msg/Odometry'

    position: Annotated[Array, vector('pose.pose.position')]
    quaternion_xyzw: Annotated[Array, vector('pose.pose.orientation', 'xyzw')]
    pose_covariance: Annotated[Array, matrix('pose.covariance', 6)]
    linear_velocity: Annotated[Array, vector('twist.twist.linear')]
    angular_velocity: Annotated[Array, vector('twist.twist.angular')]
    twist_covariance: Annotated[Array, matrix('twist.covariance', 6)]


@dataclass(frozen=True)
class ImuSeries(Series):
    """sensor_msgs/Imu in sensor axes (REP-145); the specific force is +g upwards at rest.

    A covariance (n, 3, 3) that is all zero is unknown; a first element of -1 says not measured.
    """

    MSGTYPE: ClassVar[str] = 'sensor_msgs/msg/Imu'

    quaternion_xyzw: Annotated[Array, vector('orientation', 'xyzw')]
    orientation_covariance: Annotated[Array, matrix('orientation_covariance', 3)]
    angular_velocity: Annotated[Array, vector('angular_velocity')]
    angular_velocity_covariance: Annotated[Array, matrix('angular_velocity_covariance', 3)]
    specific_force: Annotated[Array, vector('linear_acceleration')]
    specific_force_covariance: Annotated[Array, matrix('linear_acceleration_covariance', 3)]


@dataclass(frozen=True)
class AccelerationSeries(Series):
    """geometry_msgs/AccelWithCovarianceStamped."""

    MSGTYPE: ClassVar[str] = 'geometry_msgs/msg/AccelWithCovarianceStamped'

    linear: Annotated[Array, vector('accel.accel.linear')]
    angular: Annotated[Array, vector('accel.accel.angular')]
    covariance: Annotated[Array, matrix('accel.covariance', 6)]


@dataclass(frozen=True)
class TrackingErrorSeries(Series):
    """stewart_interfaces/TrackingError: commanded minus achieved, in base_link axes.

    The rotation is a vector from achieved to commanded [rad]; strokes (n, 6) of legs 1 to 6.
    """

    MSGTYPE: ClassVar[str] = 'stewart_interfaces/msg/TrackingError'

    position: Annotated[Array, vector('position')]
    rotation: Annotated[Array, vector('rotation')]
    strokes: Annotated[Array, Source(('strokes',), (6,))]


@dataclass(frozen=True)
class EstimatorStatusSeries(Series):
    """stewart_interfaces/EstimatorStatus: how the legs fitted what the estimator predicted.

    Attributes:
        innovations, sigmas (n, 6): Measured minus predicted lengths and their predicted standard
            deviations [m].
        nis (n,): Normalised innovation squared.
        accelerometer_bias, gyroscope_bias: In imu_link axes.
        imu_delay (n,): [s]; NaN where it is not estimated.
        accepted, rejected (n, 6): Samples of each leg up to here.
    """

    MSGTYPE: ClassVar[str] = 'stewart_interfaces/msg/EstimatorStatus'

    innovations: Annotated[Array, Source(('innovations',), (6,))]
    sigmas: Annotated[Array, Source(('innovation_sigmas',), (6,))]
    nis: Annotated[Array, Source(('nis',))]
    accelerometer_bias: Annotated[Array, vector('accelerometer_bias')]
    gyroscope_bias: Annotated[Array, vector('gyroscope_bias')]
    imu_delay: Annotated[Array, Source(('imu_delay',))]
    accepted: Annotated[Array, Source(('accepted',), (6,))]
    rejected: Annotated[Array, Source(('rejected',), (6,))]


@dataclass(frozen=True)
class DriverStateSeries(Series):
    """stewart_interfaces/DriverState: one sample per change; states as numbered there."""

    MSGTYPE: ClassVar[str] = 'stewart_interfaces/msg/DriverState'
    STATES: ClassVar = ('DISABLED', 'ENABLING', 'ENABLED', 'STOPPING', 'FAULT')

    state: Annotated[Array, Source(('state',))]
    homed: Annotated[Array, Source(('homed',))]
    simulated: Annotated[Array, Source(('simulated',))]
    reason: Annotated[tuple[str, ...], Source(('reason',), text=True)]

    @property
    def names(self) -> list[str]:
        """Names of the states; the number where it has none."""
        numbers = map(int, self.state)
        return [self.STATES[n] if n < len(self.STATES) else str(n) for n in numbers]


S = TypeVar('S', bound=Series)
Part = dict[str, Any]


def read_series(bag: Bag, topic: str, kind: type[S]) -> S:
    """Read a topic into arrays; empty ones if it has no messages.

    Args:
        topic: Name as ``Bag.topic`` takes it.
        kind: Class of this module; it fixes the message type.

    Raises:
        MissingTopic, WrongType: If there is no such topic, or if it carries another type.
        DamagedBag, UndecodableMessage: If the bag cannot be read to its end.
    """
    found, sources = bag.topic(topic, kind.MSGTYPE), _sources(kind)

    def fields(columns: Columns) -> Part:
        return {key: _column(columns, source) for key, source in sources.items()}

    arrays = _joined(_parts(bag, found, fields), found.count)
    for key, source in sources.items():
        arrays.setdefault(key, () if source.text else np.empty((0, *source.sample_shape)))
    return kind(topic=found.name, **_examined(arrays, bag))


def read_joints(bag: Bag, topic: str, names: Sequence[str] = LEGS) -> JointSeries:
    """Read the joints `names` from a JointState topic; arguments and errors as of `read_series`.

    Where a message lacks a joint there is NaN, which is also a finding.

    Raises:
        MissingJoints: If no message has any of them.
    """
    found = bag.topic(topic, JointSeries.MSGTYPE)
    lacked: set[str] = set()

    def fields(columns: Columns) -> Part:
        lacking, missing = columns.lacking('name', names)
        lacked.update(missing)
        picked = {key: columns.picked('name', key, names) for key in QUANTITIES}
        return {**picked, 'lacking': lacking}

    arrays = _joined(_parts(bag, found, fields), found.count)
    rows = np.flatnonzero(arrays.pop('lacking', np.empty(0)))
    if found.count and lacked == set(names) and all(np.isnan(arrays[q]).all() for q in QUANTITIES):
        first = next(bag.messages([topic])).message
        if not set(names) & set(first.name):
            raise MissingJoints(bag.path, found.name, names, first.name)
    for quantity in QUANTITIES:
        arrays.setdefault(quantity, np.empty((0, len(names))))
    arrays = _examined(arrays, bag)
    if lacked:
        finding = Finding(Kind.MISSING_NAMES, len(rows), int(rows[0]), listed(sorted(lacked)))
        arrays['findings'] = (*arrays['findings'], finding)
    return JointSeries(topic=found.name, names=tuple(names), **arrays)


def _sources(kind: type[Series]) -> dict[str, Source]:
    """Return what the annotations of a class say, by attribute."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        name: extra
        for name, hint in hints.items()
        for extra in getattr(hint, '__metadata__', ())
        if isinstance(extra, Source)
    }


def _parts(bag: Bag, topic: Topic, fields: Callable[[Columns], Part]) -> Iterator[Part]:
    """Yield what all series have and `fields` of the messages of a topic, many at a time."""
    store, before = None, 0
    for times, data in bag.blocks(topic.name, BLOCK):
        store = store or bag.store_for(topic.msgtype, data[0])
        try:
            columns = Columns(store, topic.msgtype, data)
        except LayoutError:
            _refuse_first(bag, store, topic, zip(times, data, strict=True), before)
            raise
        seconds = columns.scalars('header.stamp.sec', np.int64)
        yield {
            'bag_time_ns': np.array(times, np.int64),
            'stamp_ns': seconds * NS + columns.scalars('header.stamp.nanosec', np.int64),
            'frames': columns.distinct('header.frame_id'),
            **fields(columns),
        }
        before += len(data)


def _refuse_first(
    bag: Bag, store: Typestore, topic: Topic, messages: Iterable[tuple[int, bytes]], before: int
) -> None:
    """Name the first message that does not fit its type; so many came before these."""
    for count, (time_ns, data) in enumerate(messages, before):
        try:
            Columns(store, topic.msgtype, [data])
        except LayoutError as error:
            raise UndecodableMessage(
                bag.path, topic.name, topic.msgtype, time_ns, count, str(error)
            ) from error


def _column(columns: Columns, source: Source) -> Any:
    if source.text:
        return np.array(columns.texts(source.paths[0]), dtype=object)
    if source.shape:
        flat = columns.vectors(source.paths[0], int(np.prod(source.shape)))
        return flat.reshape(len(columns), *source.shape)
    stacked = np.stack([columns.scalars(path) for path in source.paths], axis=-1)
    return stacked if len(source.paths) > 1 else stacked[:, 0]


def _joined(parts: Iterator[Part], count: int) -> dict[str, Any]:
    """Put the blocks behind each other, and freeze the arrays."""
    frames: set[str] = set()
    arrays = {'bag_time_ns': np.empty(0, np.int64), 'stamp_ns': np.empty(0, np.int64)}
    filled = 0
    for part in parts:
        frames.update(map(str, part.pop('frames')))
        until = filled + len(part['stamp_ns'])
        if not filled:
            # All at once: to touch fresh memory twice takes longer than to decode.
            try:
                arrays = {key: _room(values, max(count, until)) for key, values in part.items()}
            except (MemoryError, ValueError):  # a damaged file counts what cannot be
                arrays = {key: _room(values, until) for key, values in part.items()}
        elif until > len(arrays['stamp_ns']):
            # An mcap file need not tell how many messages it has.
            arrays = {key: np.concatenate([old, _room(old, until)]) for key, old in arrays.items()}
        for key, values in part.items():
            arrays[key][filled:until] = values
        filled = until
    arrays = {key: array[:filled] for key, array in arrays.items()}
    for array in arrays.values():
        array.setflags(write=False)
    texts = {key: tuple(array) for key, array in arrays.items() if array.dtype == object}
    return {'frames': frames, **arrays, **texts}


def _room(like: NDArray[Any], count: int) -> NDArray[Any]:
    return np.empty((count, *like.shape[1:]), like.dtype)


def _examined(arrays: dict[str, Any], bag: Bag) -> dict[str, Any]:
    """Add the findings, and the frame in place of the frames."""
    frames = sorted(arrays.pop('frames'))
    findings = examine_stamps(arrays['stamp_ns'], arrays['bag_time_ns'])
    for name, value in arrays.items():
        if not isinstance(value, np.ndarray) or value.dtype != np.float64:
            continue
        findings += examine_values(name, value)
        if name == 'quaternion_xyzw':
            findings += examine_quaternions(name, value)
    if bag.overlap:
        said = f'{bag.overlap:.6g} s: a clock was set back, or a file is there twice'
        findings.append(Finding(Kind.OVERLAP, len(arrays['stamp_ns']), 0, said))
    if len(frames) > 1:
        findings.append(Finding(Kind.FRAMES, len(arrays['stamp_ns']), 0, listed(frames)))
    return {**arrays, 'frame_id': frames[0] if frames else '', 'findings': tuple(findings)}
