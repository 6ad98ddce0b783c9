# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Series hold what was recorded, in our order, with findings about what is odd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
import shutil
from typing import Any

import numpy as np
import pytest
from rosbags.typesys.store import Typestore
from stewart_bags import series as series_module
from stewart_bags.errors import MissingJoints, UndecodableMessage, WrongType
from stewart_bags.findings import Kind
from stewart_bags.reading import Bag
from stewart_bags.series import (
    DriverStateSeries,
    ImuSeries,
    LEGS,
    OdometrySeries,
    PoseSeries,
    read_joints,
    read_series,
    Series,
    SetpointSeries,
)
from stewart_bags.writing import BagWriter, Storage

START_NS = 1_700_000_000_000_000_000
PERIOD_NS = 5_000_000


def kinds(series: Series) -> dict[Kind, tuple[int, int]]:
    return {item.kind: (item.count, item.first) for item in series.findings}


@pytest.fixture
def legs_bag(tmp_path: Path, joint_state: Callable[..., Any]) -> Callable[..., Any]:
    """Write a bag from stamps, and read its legs."""

    def make(stamps_ns: list[int], edit: Callable[[int, Any], None] = lambda *_: None) -> Any:
        with BagWriter(tmp_path / 'bag') as writer:
            for number, stamp_ns in enumerate(stamps_ns):
                message = joint_state(number, stamp_ns)
                edit(number, message)
                writer.write('/actuator_states', START_NS + number * PERIOD_NS, message)
        with Bag(tmp_path / 'bag') as bag:
            return read_joints(bag, 'actuator_states')

    return make


def regular(count: int) -> list[int]:
    return [START_NS + number * PERIOD_NS for number in range(count)]


def test_legs_come_in_order_with_their_stamps(legs_bag: Callable[..., Any]) -> None:
    legs = legs_bag(regular(100))
    assert legs.names == LEGS == ('leg_1', 'leg_2', 'leg_3', 'leg_4', 'leg_5', 'leg_6')
    expected = np.arange(100)[:, None] + np.arange(6) / 10
    np.testing.assert_array_equal(legs.position, expected)
    np.testing.assert_array_equal(legs.velocity, -expected)
    assert np.isnan(legs.effort).all()
    np.testing.assert_allclose(legs.seconds(START_NS), np.arange(100) * 0.005, rtol=0, atol=1e-12)
    assert legs.frame_id == 'base_link'
    # Force that nobody measures is not odd.
    assert legs.findings == ()
    with pytest.raises(ValueError, match='read-only'):
        legs.position[0] = 0.0


@pytest.mark.parametrize('often', [100, 10_000])
@pytest.mark.parametrize('storage', list(Storage))
@pytest.mark.parametrize(('by', 'said'), [(2.0, '1.995 s: a clock was set back'), (0.3, '')])
def test_a_clock_that_was_set_back_is_found(
    tmp_path: Path,
    joint_state: Callable[..., Any],
    storage: Storage,
    by: float,
    said: str,
    often: int,
) -> None:
    with BagWriter(tmp_path / 'bag', storage=storage) as writer:
        for number in range(2000):
            time_ns = START_NS + number * PERIOD_NS - (number >= 1000) * round(by * 1e9)
            writer.write('/actuator_states', time_ns, joint_state(number, time_ns))
            if number % often == often - 1:
                writer.flush()
    with Bag(tmp_path / 'bag') as bag:
        found = read_joints(bag, 'actuator_states').findings
    twice = [item for item in found if item.kind is Kind.OVERLAP]
    assert [item.count for item in twice] == [2000] * bool(said)
    assert all(item.detail.startswith(said) for item in twice)


@pytest.mark.parametrize(('other', 'overlaps'), [('bag', True), ('imu', False), ('later', False)])
def test_a_file_that_is_there_twice_is_found(
    tmp_path: Path, joint_state: Callable[..., Any], other: str, overlaps: bool
) -> None:
    legs = '/actuator_states'
    for name, topic, begin in (('bag', legs, 0), ('imu', '/other_states', 0), ('later', legs, 2)):
        with BagWriter(tmp_path / name) as writer:
            for number in range(400):
                time_ns = START_NS + begin * 10**9 + number * PERIOD_NS
                writer.write(topic, time_ns, joint_state(number, time_ns))
    shutil.copy(tmp_path / other / f'{other}.mcap', tmp_path / 'bag' / 'copy.mcap')
    with Bag(tmp_path / 'bag') as bag:
        assert bag.overlap == pytest.approx(1.995 * overlaps)


def test_legs_in_another_order_are_sorted_by_name(legs_bag: Callable[..., Any]) -> None:
    def reverse(number: int, message: Any) -> None:
        if number % 2:
            message.name = message.name[::-1]
            message.position = message.position[::-1].copy()

    legs = legs_bag(regular(10), reverse)
    np.testing.assert_array_equal(legs.position, np.arange(10)[:, None] + np.arange(6) / 10)


def test_missing_leg_is_a_finding(legs_bag: Callable[..., Any]) -> None:
    def rename(number: int, message: Any) -> None:
        if number in {3, 4}:
            message.name = [*message.name[:5], 'spare']

    legs = legs_bag(regular(10), rename)
    assert kinds(legs)[Kind.MISSING_NAMES] == (2, 3)
    assert np.isnan(legs.position[3:5, 5]).all()
    assert 'leg_6' in str(legs.findings[-1])


def test_joints_of_other_names_are_named(legs_bag: Callable[..., Any]) -> None:
    def rename(_: int, message: Any) -> None:
        message.name = [f'joint{k}' for k in range(6)]

    with pytest.raises(
        MissingJoints, match=r'no joints leg_1 \.\.\. leg_6, they are joint0, joint1'
    ):
        legs_bag(regular(10), rename)


def test_stamps_out_of_order_and_twice_are_found_and_kept(legs_bag: Callable[..., Any]) -> None:
    stamps = regular(50)
    stamps[10], stamps[11] = stamps[11], stamps[10]
    stamps[20] = stamps[19]
    legs = legs_bag(stamps)
    assert legs.stamp_ns.tolist() == stamps
    assert kinds(legs) == {Kind.BACKWARDS: (1, 11), Kind.DUPLICATE: (1, 20)}


def test_gap_is_found_with_its_length(legs_bag: Callable[..., Any]) -> None:
    stamps = regular(50)
    stamps[30:] = [stamp + 95_000_000 for stamp in stamps[30:]]
    (finding,) = legs_bag(stamps).findings
    assert (finding.kind, finding.first) == (Kind.GAP, 30)
    assert 'up to 0.1 s, the median is 0.005 s' in str(finding)


def test_jitter_is_no_gap(legs_bag: Callable[..., Any]) -> None:
    rng = np.random.default_rng(3)
    stamps = np.array(regular(500)) + rng.integers(-2_000_000, 2_000_000, 500)
    assert legs_bag(stamps.tolist()).findings == ()


def test_not_a_number_is_found_and_kept(legs_bag: Callable[..., Any]) -> None:
    def spoil(number: int, message: Any) -> None:
        if number >= 7:
            message.position[2] = np.nan if number % 2 else np.inf

    legs = legs_bag(regular(10), spoil)
    assert kinds(legs) == {Kind.NOT_FINITE: (3, 7)}
    assert 'position' in str(legs.findings[0])
    assert not np.isfinite(legs.position[7:, 2]).any()


def test_stamp_never_set_is_found(legs_bag: Callable[..., Any]) -> None:
    stamps = regular(10)
    stamps[0] = 0
    assert kinds(legs_bag(stamps))[Kind.UNSET] == (1, 0)


def test_blocks_make_one_series(
    legs_bag: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series_module, 'BLOCK', 7)
    legs = legs_bag(regular(50))
    np.testing.assert_array_equal(legs.position[:, 0], np.arange(50.0))


def test_messages_a_file_does_not_count_are_read(
    tmp_path: Path, joint_state: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series_module, 'BLOCK', 7)
    with BagWriter(tmp_path / 'bag') as writer:
        for number in range(50):
            writer.write('/actuator_states', number, joint_state(number))
    with Bag(tmp_path / 'bag') as bag:
        whole = read_joints(bag, 'actuator_states')
        # As rosbags counts where the statistics of an mcap file leave the channels out, or err.
        for count in (0, 20, 2**56, 2**64 - 1):
            bag.topics['/actuator_states'] = replace(bag.topics['/actuator_states'], count=count)
            found = read_joints(bag, 'actuator_states')
            np.testing.assert_array_equal(found.bag_time_ns, np.arange(50))
            np.testing.assert_array_equal(found.position, whole.position)


def driver_state(kind: Any, header: Any, state: int, reason: str) -> Any:
    """Return a simulated driver's state, with all legs under voltage."""
    live, none = np.ones(6, dtype=bool), np.zeros(6, dtype=bool)
    return kind(
        header=header,
        state=state,
        homed=True,
        backend='simulated',
        simulated=True,
        live=live,
        braked=none,
        sto=none,
        holding=False,
        override=False,
        speed_scaling=1.0,
        playout_delay=0.03,
        reason=reason,
    )


def test_samples_come_in_the_order_of_bag_time(tmp_path: Path, store: Typestore) -> None:
    types = store.types
    state = types['stewart_interfaces/msg/DriverState']
    with BagWriter(tmp_path / 'bag') as writer:
        for number, time_ns in enumerate([30, 10, 20, 10]):
            stamp = types['builtin_interfaces/msg/Time'](0, number)
            header = types['std_msgs/msg/Header'](stamp, '')
            message = driver_state(state, header, number, f'state {number}')
            writer.write('/driver/state', time_ns, message)
    with Bag(tmp_path / 'bag') as bag:
        found = read_series(bag, 'driver/state', DriverStateSeries)
    assert found.bag_time_ns.tolist() == [10, 10, 20, 30]
    assert found.stamp_ns.tolist() == [1, 3, 2, 0]
    assert found.state.tolist() == [1, 3, 2, 0]
    assert found.reason == ('state 1', 'state 3', 'state 2', 'state 0')
    assert kinds(found)[Kind.BACKWARDS] == (2, 2)


def test_setpoints_are_taken_field_by_field(tmp_path: Path, store: Typestore) -> None:
    types = store.types
    vector, point = types['geometry_msgs/msg/Vector3'], types['geometry_msgs/msg/Point']
    setpoint = types['stewart_interfaces/msg/PlatformSetpoint'](
        types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](7, 8), 'base_link'),
        'cycloidal_trajectory',
        types['geometry_msgs/msg/Pose'](
            point(1.0, 2.0, 3.0), types['geometry_msgs/msg/Quaternion'](0.0, 0.6, 0.0, 0.8)
        ),
        types['geometry_msgs/msg/Twist'](vector(4.0, 5.0, 6.0), vector(7.0, 8.0, 9.0)),
        types['geometry_msgs/msg/Accel'](vector(10.0, 11.0, 12.0), vector(13.0, 14.0, 15.0)),
    )
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write('/setpoint', 1, setpoint)
    with Bag(tmp_path / 'bag') as bag:
        found = read_series(bag, 'setpoint', SetpointSeries)
    assert found.stamp_ns.tolist() == [7_000_000_008]
    np.testing.assert_array_equal(found.position, [[1, 2, 3]])
    np.testing.assert_array_equal(found.quaternion_xyzw, [[0, 0.6, 0, 0.8]])
    np.testing.assert_array_equal(found.linear_velocity, [[4, 5, 6]])
    np.testing.assert_array_equal(found.angular_velocity, [[7, 8, 9]])
    np.testing.assert_array_equal(found.linear_acceleration, [[10, 11, 12]])
    np.testing.assert_array_equal(found.angular_acceleration, [[13, 14, 15]])


def test_attitude_that_is_none_is_found(tmp_path: Path, store: Typestore) -> None:
    types = store.types
    header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](7, 8), 'base_link')
    with BagWriter(tmp_path / 'bag') as writer:
        for number, w in enumerate([1.0, 0.0]):
            pose = types['geometry_msgs/msg/Pose'](
                types['geometry_msgs/msg/Point'](0.0, 0.0, 0.0),
                types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, w),
            )
            stamped = types['geometry_msgs/msg/PoseStamped'](header, pose)
            writer.write('/platform/pose', number, stamped)
    with Bag(tmp_path / 'bag') as bag:
        found = read_series(bag, 'platform/pose', PoseSeries)
    assert kinds(found)[Kind.NOT_A_ROTATION] == (1, 1)


def test_states_keep_their_reasons(tmp_path: Path, store: Typestore) -> None:
    types = store.types
    header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](7, 8), '')
    kind = types['stewart_interfaces/msg/DriverState']
    with BagWriter(tmp_path / 'bag') as writer:
        for number, reason in enumerate(['enabled by hand', 'silence', 'quick stop']):
            state = driver_state(kind, header, number, reason)
            writer.write('/driver/state', number, state)
    with Bag(tmp_path / 'bag') as bag:
        found = read_series(bag, 'driver/state', DriverStateSeries)
    assert found.state.tolist() == [0, 1, 2]
    assert found.homed.all()
    assert found.reason == ('enabled by hand', 'silence', 'quick stop')


@pytest.mark.parametrize('kind', [ImuSeries, OdometrySeries, DriverStateSeries])
def test_topic_without_messages_is_an_empty_series(tmp_path: Path, kind: type[Series]) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/topic', kind.MSGTYPE)
        writer.add_topic('/joints', 'sensor_msgs/msg/JointState')
    with Bag(tmp_path / 'bag') as bag:
        assert len(read_series(bag, 'topic', kind)) == 0
        legs = read_joints(bag, 'joints')
    assert legs.position.shape == (0, 6)
    assert legs.findings == ()


def test_wrong_type_is_refused(make_bag: Callable[..., Path]) -> None:
    with Bag(make_bag(5)) as bag, pytest.raises(WrongType, match='expected sensor_msgs/msg/Imu'):
        read_series(bag, 'note', ImuSeries)


def test_message_that_does_not_fit_is_named(tmp_path: Path) -> None:
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/imu/data', 'sensor_msgs/msg/Imu')
        writer.write_raw('/imu/data', 5, b'\0\1\0\0short')
    with Bag(tmp_path / 'bag') as bag, pytest.raises(UndecodableMessage, match='at 5 ns'):
        read_series(bag, 'imu/data', ImuSeries)


def test_message_that_does_not_fit_is_counted_from_the_first(
    tmp_path: Path,
    joint_state: Callable[..., Any],
    store: Typestore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(series_module, 'BLOCK', 3)
    with BagWriter(tmp_path / 'bag') as writer:
        for number in range(5):
            data = bytes(store.serialize_cdr(joint_state(number), 'sensor_msgs/msg/JointState'))
            writer.add_topic('/actuator_states', 'sensor_msgs/msg/JointState')
            writer.write_raw('/actuator_states', number, data[:40] if number == 4 else data)
    with (
        Bag(tmp_path / 'bag') as bag,
        pytest.raises(UndecodableMessage, match=r'message 5 of /actuator_states at 4 ns'),
    ):
        read_joints(bag, 'actuator_states')


def test_real_recording_equals_the_decoder_of_rosbags(others_bags: Path) -> None:
    with Bag(others_bags / 'husky_imu_odom_90s_jazzy_mcap') as bag:
        imu = read_series(bag, 'imu/data', ImuSeries)
        odometry = read_series(bag, 'odom', OdometrySeries)
        messages = list(bag.messages([imu.topic, odometry.topic]))
    force = [
        [getattr(item.message.linear_acceleration, axis) for axis in 'xyz']
        for item in messages
        if item.topic == imu.topic
    ]
    np.testing.assert_array_equal(imu.specific_force, force)
    # Gravity is on the sensor's y axis.
    np.testing.assert_allclose(imu.specific_force.mean(axis=0), [-0.06, 9.79, 0.05], atol=0.01)
    covariances = [
        item.message.pose.covariance
        for item in messages
        if item.topic == '/'.join(['', 'husky_velocity_controller', 'odom'])
    ]
    np.testing.assert_array_equal(odometry.pose_covariance.reshape(-1, 36), covariances)
    stamps = [item.stamp_ns for item in messages if item.topic == imu.topic]
    assert imu.stamp_ns.tolist() == stamps
