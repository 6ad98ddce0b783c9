# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every parser of files and messages: samples, and the errors that it may raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from io import BytesIO
from pathlib import Path
import tempfile
from typing import Any

import mutations
import numpy as np
from rclpy.serialization import serialize_message
from scipy.io import savemat
from stewart_bringup.rigs import config_folder, require_known_nodes
from stewart_bringup.simulation.rig_parameters import RigParameters
from stewart_cueing.vehicle.inputs import read_ride
from stewart_description import platform_path
from stewart_description.urdf import render_urdf
from stewart_driver.ethercat.drive_type import drive_path, DriveType
from stewart_driver.rig_file import (
    Channel,
    DaqCalibration,
    DriveCalibration,
    DriveIdentity,
    EthercatSection,
    load_rig,
    Rig,
    save_rig,
)
from stewart_identification.importing.frame_log import frames_of, read_frame_log
from stewart_identification.importing.leg_log import leg_log
from stewart_identification.importing.mat_log import mat_table
from stewart_identification.importing.text_log import text_table
from stewart_identification.parameters_file import renewed
from stewart_kinematics.exchange.importing import import_platform
from stewart_kinematics.limits.waypoints import append_waypoint, WaypointList
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion_csv import lengths_of, motion_in_base, read_motion
from stewart_kinematics.trajectories import multi_sine
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import pose_reader, setpoint_reader, tracking_error_reader
from stewart_node_support.legs import leg_reader
from stewart_node_support.parameters import parameters_of
from stewart_simulation.rig.settings import RigSettings, VirtualRigParameters
from stewart_tables.columns import ACCELERATION, LENGTH, POSE, STROKE, TIME, TWIST
from stewart_tables.csv_tables import read_table
from stewart_tables.errors import ConfigurationError, StewartError

Parse = Callable[[bytes], object]
SHARED_MEMORY = Path('/dev/shm')


@dataclass(frozen=True)
class Parser:
    """Something that takes bytes of others.

    Attributes:
        open: Returns the samples, and what parses one case; what takes long is done once.
        typed: The errors that bad input may end in.
        structured: Makes bad input of the samples by their structure.
    """

    open: Callable[[Path], tuple[Sequence[bytes], Parse]]
    typed: tuple[type[BaseException], ...]
    structured: mutations.Mutation = mutations.of_bytes


def folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder in memory, where there is one."""
    return tempfile.TemporaryDirectory(
        prefix='fuzz_', dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    )


def of_file(
    samples: Sequence[bytes], path: Path, read: Callable[[Path], object]
) -> tuple[Sequence[bytes], Parse]:
    """Let a function that reads a file read a case."""

    def parse(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return samples, parse


def platforms(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Descriptions of platforms of three leg families."""
    names = ('vigo', 'sg90_rotary', 'hexaglide_3d_mec')
    samples = [platform_path(name).read_bytes() for name in names]

    def read(path: Path) -> None:
        Platform.from_yaml(path)
        renewed(path, 'calibrated', ())

    return of_file(samples, place / 'case.yaml', read)


def motions(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Sums of sines."""
    samples = [path.read_bytes() for path in multi_sine.shipped().values()]
    centre = Platform.from_yaml('ex800').geometry.neutral_pose
    return of_file(samples, place / 'case.yaml', partial(multi_sine.from_yaml, centre=centre))


WAYPOINTS = b"""relative_to: neutral
dwell_s: 1.0
poses:
  load: {position_m: [0.0, 0.0, -0.02], rpy_deg: [0, 0, 0]}
waypoints:
  - {pose: load, dwell_s: 5}
  - {name: tilt, position_m: [0.0, 0.0, 0.01], rpy_deg: [0, 5, 0], speed: 0.1}
"""


def waypoints(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Waypoints, to which one is appended as by teaching."""
    platform = Platform.from_yaml('ex800')
    pose = platform.geometry.neutral_pose

    def read(path: Path) -> None:
        WaypointList.from_yaml(path, platform)
        with suppress(ConfigurationError):  # in another form, as our generator writes lists
            append_waypoint(path, pose, platform, 'fuzz')

    return of_file([WAYPOINTS], place / 'case.yaml', read)


RIDE = b"""time_s,fx_mps2,fy_mps2,fz_mps2,p_radps,q_radps,r_radps
0.00,0.1,0.0,9.8,0.0,0.01,0.0
0.01,0.2,0.0,9.8,0.0,0.02,0.0
0.02,0.2,0.1,9.7,0.0,0.02,0.1
"""


def rides(place: Path) -> tuple[Sequence[bytes], Parse]:
    """What a vehicle felt."""
    return of_file([RIDE], place / 'case.csv', read_ride)


def rigs(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Files of one machine, with drives and with a card."""
    channel, day = Channel(0.016, 0.245, 2e-5), date(2026, 11, 21)
    drives = DriveCalibration(
        (-5, 0, 7, 2**31 - 1, -(2**31), 12),
        day,
        'zero',
        (0.01,) * 6,
        tuple(DriveIdentity(0x83, 0xB0, 0x10004, number) for number in range(6)),
    )
    card = DaqCalibration((channel,) * 6, (channel,) * 6, day)
    path = place / 'rig.yaml'
    samples = []
    for rig in (
        Rig('vigo', '0123456789abcdef', drives, None, EthercatSection('eth1')),
        Rig('ex800', daq=card),
    ):
        save_rig(path, rig)
        samples.append(path.read_bytes())
    return of_file(samples, path, load_rig)


def drive_types(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Descriptions of drives."""
    samples = [drive_path(name).read_bytes() for name in ('omron_1s', 'omron_1s_free')]
    return of_file(samples, place / 'case.yaml', lambda path: DriveType.from_yaml(str(path)))


def rig_parameters(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Parameter files as a simulation without ROS reads them."""

    def read(path: Path) -> None:
        require_known_nodes([path])
        parameters = RigParameters([path])
        parameters.of('virtual_rig', RigSettings, VirtualRigParameters)

    files = sorted(config_folder().glob('*_*.yaml'))
    samples = [path.read_bytes() for path in files if path.stem != 'ros2_controllers']
    return of_file(samples, place / 'case.yaml', read)


def node_parameters(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Parameter files as a node looks through them."""
    samples = [path.read_bytes() for path in sorted(config_folder().glob('rig_*.yaml'))]
    return of_file(samples, place / 'case.yaml', lambda path: parameters_of(path, 'driver'))


def tables(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Motions and lengths of legs."""
    geometry = Platform.from_yaml('ex800').geometry
    samples = []
    for columns in ((TIME, *POSE, *TWIST, *ACCELERATION), (TIME, *POSE), (TIME, *LENGTH)):
        rows = np.random.default_rng(1).normal(size=(5, len(columns)))
        rows[:, 0] = np.arange(5) * 0.01
        if columns[1:] == LENGTH:
            rows[:, 1:] = 1.0
        else:
            rows[:, 4:8] = 0.5
        text = [','.join(columns), *(','.join(f'{cell:.6g}' for cell in row) for row in rows)]
        samples.append('\n'.join(text).encode() + b'\n')

    def read(path: Path) -> None:
        table = read_table(path, (TIME, *POSE, *TWIST, *ACCELERATION, *LENGTH, *STROKE))
        if table.has(LENGTH) or table.has(STROKE):
            lengths_of(table, geometry)
            return
        motion_in_base(table, geometry.neutral_pose)
        read_motion(path)

    return of_file(samples, place / 'case.csv', read)


TEXT_LOGS = (
    'StartTime: 2026-01-14 09:30:00.000\n'
    'address Time(s) ax(g) ay(g) az(g) wx(deg/s) wy(deg/s) wz(deg/s) AngleX(deg) AngleY(deg) '
    'AngleZ(deg)\n'
    '0x50 23:59:59.990 0 0.5 1 180 0 -90 0 0 90\n'
    '0x50 00:00:00.000 0 0 1 0 0 0 0 0 0\n',
    'time\tDeviceName\tChipTime()\tAccX(g)\tAccY(g)\tAccZ(g)\tAsX(°/s)\tAsY(°/s)\tAsZ(°/s)\t'
    'AngleX(°)\tAngleY(°)\tAngleZ(°)\tQ0()\tQ1()\tQ2()\tQ3()\n'
    '2026-01-14T09:30:00.830\tA\tnull\t0\t1\t0\t1\t2\t3\t0\t0\t0\t0.70711\t0.70711\t0\t0\n'
    '2026-01-14T09:30:00.840\tA\tnull\t0\t1\t0\t1\t2\t3\t0\t0\t0\t0.70711\t0.70711\t0\t0\n',
)


def text_logs(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Logs of the vendor's programs."""
    samples = [text.encode() for text in TEXT_LOGS]
    return of_file(samples, place / 'case.txt', lambda path: text_table(path).imu())


def mat_logs(place: Path) -> tuple[Sequence[bytes], Parse]:
    """MATLAB files, plain, compressed and with a struct."""
    rows = np.linspace(0.0, 1.0, 18).reshape(6, 3)
    whole = {'t': np.arange(6) * 0.01, 'Acc': rows, 'Gyro': rows, 'Angle': rows}
    samples = []
    for packed, content in ((False, whole), (True, whole), (False, {'log': whole})):
        stream = BytesIO()
        savemat(stream, content, do_compression=packed)
        samples.append(stream.getvalue())
    return of_file(samples, place / 'case.mat', lambda path: mat_table(path).imu())


def frame_logs(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Frames as an SD card and as Bluetooth has them, and as hex digits."""
    del place
    standard = [
        bytes([0x55, kind, *data]) + bytes([(0x55 + kind + sum(data)) & 0xFF])
        for kind, data in (
            (0x50, (26, 1, 14, 9, 30, 0, 44, 1)),
            (0x51, (0, 0, 0, 0, 0, 8, 0, 0)),
            (0x52, (9, 0, 8, 0, 7, 0, 0, 0)),
            (0x59, (0, 127, 0, 0, 0, 0, 0, 0)),
        )
    ]
    samples = [
        b''.join(4 * standard),
        4 * (b'\x55\x61' + bytes(18)),
        4 * (b'\x55\x61' + bytes(18) + bytes((26, 1, 14, 9, 30, 0, 44, 1))),
    ]
    samples.append(samples[0].hex(' ').encode())

    def parse(data: bytes) -> None:
        frames = frames_of(data)
        if frames is not None:
            read_frame_log(frames, Path('case.txt'), rate=None if len(data) % 2 else 100.0)

    return samples, parse


LEG_LOGS = (
    't;L1[mm];L2[mm];L3[mm];L4[mm];L5[mm];L6[mm];F1;F2;F3;F4;F5;F6\n'
    '0,10;325,4;325,4;325,4;325,4;325,4;325,4;11,2;11,2;11,2;11,2;11,2;11,2\n'
    '0,11;325,4;325,4;325,4;325,4;325,4;325,4;11,2;11,2;11,2;11,2;11,2;11,2\n',
    'time_ms\tstroke 0\tstroke 1\tstroke 2\tstroke 3\tstroke 4\tstroke 5\n'
    'ms\tmm\tmm\tmm\tmm\tmm\tmm\n'
    '0\t80.25\t80.25\t80.25\t80.25\t80.25\t80.25\n'
    '5\t80.25\t80.25\t80.25\t80.25\t80.25\t80.25\n',
)


def leg_logs(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Strokes, lengths and forces as other programs log them."""
    platform = Platform.from_yaml('ex800')
    samples = [text.encode() for text in LEG_LOGS]
    return of_file(samples, place / 'case.csv', lambda path: leg_log(text_table(path), platform))


def _messages(name: str, make_reader: Callable[[], Any]) -> Parser:
    """Messages of one kind that travel as bytes."""

    def opened(place: Path) -> tuple[Sequence[bytes], Parse]:
        del place

        def parse(data: bytes) -> None:
            reader = make_reader()  # a fresh one, for it learns
            reader.read(data)
            reader.read(data)

        return [bytes(serialize_message(_message(name)))], parse

    return Parser(opened, (MessageError,))


def _message(name: str) -> Any:
    from geometry_msgs.msg import PoseStamped
    from sensor_msgs.msg import JointState
    from stewart_interfaces.msg import PlatformSetpoint, TrackingError

    names = [f'leg_{n}' for n in range(1, 7)]
    message = {
        'legs': JointState(name=names, position=[0.1] * 6, velocity=[0.0] * 6),
        'pose': PoseStamped(),
        'setpoint': PlatformSetpoint(source='teleop'),
        'tracking error': TrackingError(),
    }[name]
    message.header.frame_id = 'base_link'
    return message


def urdfs(place: Path) -> tuple[Sequence[bytes], Parse]:
    """A hexapod as URDF."""
    samples = [render_urdf('ex800').encode()]

    def read(path: Path) -> None:
        import_platform(path)

    return of_file(samples, place / 'case.urdf', read)


SUITE = (StewartError,)
FILES: dict[str, Parser] = {
    'platform YAML': Parser(platforms, SUITE, mutations.of_yaml),
    'motion YAML': Parser(motions, SUITE, mutations.of_yaml),
    'waypoints YAML': Parser(waypoints, SUITE, mutations.of_yaml),
    'rig file YAML': Parser(rigs, SUITE, mutations.of_yaml),
    'drive type YAML': Parser(drive_types, SUITE, mutations.of_yaml),
    'rig parameters YAML': Parser(rig_parameters, SUITE, mutations.of_yaml),
    'node parameters YAML': Parser(node_parameters, SUITE, mutations.of_yaml),
    'motion and length CSV': Parser(tables, SUITE, mutations.of_lines),
    'vehicle CSV': Parser(rides, SUITE, mutations.of_lines),
    'IMU text log': Parser(text_logs, SUITE, mutations.of_lines),
    'IMU MAT log': Parser(mat_logs, SUITE),
    'IMU frame log': Parser(frame_logs, SUITE),
    'leg text log': Parser(leg_logs, SUITE, mutations.of_lines),
    'URDF': Parser(urdfs, SUITE),
    **{
        f'CDR codec, {name}': _messages(name, make_reader)
        for name, make_reader in (
            ('legs', leg_reader),
            ('pose', pose_reader),
            ('setpoint', setpoint_reader),
            ('tracking error', tracking_error_reader),
        )
    },
}
