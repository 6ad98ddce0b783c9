# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Every launch file is launched: what it starts comes up in order, does its work, and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
import re
import sys
import tempfile
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest

pytest.importorskip('rclpy')
# Not `launch` itself: the folder launch/ beside our package would be found as such.
pytest.importorskip('launch_ros', reason='launch_ros is not installed: nothing is launched')

from ament_index_python.packages import get_packages_with_prefixes
from launched import FOLDER, Launched
from launched_rig import LIMIT, NAMESPACE, patient, Person, TRAVEL
from node_harness import Harness
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from stewart_bags.reading import Bag
from stewart_bringup.rigs import nodes_of, RECORDER
from stewart_description.paths import rviz_path
from stewart_description.urdf import render_urdf
from stewart_interfaces.msg import DriverState
from stewart_kinematics.model.platform import Platform
from stewart_node_support.qos import COMMAND_QOS, STATE_QOS
from stewart_simulation.errors import RigError
from stewart_simulation.rig.directory import ends_in, READY, wiring
from stewart_simulation.rig.launcher import RigProcess
from stewart_simulation.rig.settings import RigSettings
from stewart_viewer.nodes.platform_question import ASKED
import yaml

pytestmark = [pytest.mark.ros, pytest.mark.realtime, pytest.mark.timeout(400)]

FORBIDDEN = 'What permits it'
MODEL = 'robot_state_publisher'
MANAGER = ('ros2_control_node', 'spawner')
# RViz needs a screen, and controllers need ros2_control; the other one is used where it is there.
STAND_INS = (
    'rviz2',
    *(f'controller_manager/{executable}' for executable in MANAGER),
    *({MODEL} - set(get_packages_with_prefixes())),
)
WITHOUT_ETHERCAT = pytest.mark.skipif(
    not (find_spec('pysoem') and find_spec('pyroute2')), reason='pysoem or pyroute2 is missing'
)
RIGS = [
    pytest.param('rig_ethercat', 'vigo_ethercat', marks=WITHOUT_ETHERCAT),
    pytest.param('rig_daq', 'ex800_daq'),
]
Start = Callable[..., Launched]
IN_LOCK_STEP = {'time': 'simulated', 'speed': 'max'}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return what launches a file."""
    launched: list[Launched] = []

    def launch(name: str, **arguments: Any) -> Launched:
        words = {key: str(value) for key, value in arguments.items()}
        folder = tmp_path / f'launch {len(launched)}'
        folder.mkdir()
        launched.append(Launched(name, folder, *STAND_INS, namespace=NAMESPACE, **words))
        return launched[-1]

    yield launch
    for one in launched:
        one.kill()
        # Shown if the test has failed.
        print(one.text)


@pytest.fixture
def wires() -> Iterator[Path]:
    """Return a folder whose name is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix='rig') as folder:
        yield Path(folder, 'wires')


def ended(launched: Launched) -> set[str]:
    """Press Ctrl-C; return what has ended well, which is everything of ours."""
    launched.press_ctrl_c()
    codes = launched.end()
    assert 'Traceback' not in launched.text
    # That one is not ours; some versions end with the signal's number.
    codes.pop(MODEL, None)
    assert set(codes.values()) == {0}, codes
    assert codes.keys() == {*launched.started} - {MODEL}
    return set(codes)


def test_demo_plays_its_wave_and_ends_by_itself(start: Start, tmp_path: Path) -> None:
    file, bag = tmp_path / 'rig.yaml', tmp_path / 'bag'
    file.write_text(yaml.safe_dump(patient('vigo')))
    words = {'rig': file, 'wave': 'random', 'duration': 3, 'record': 'true', 'bag': bag}
    demo = start('demo', rviz='false', **words)

    codes = demo.end(2 * LIMIT)

    ours = {*nodes_of([file]), RECORDER, 'wave_operator'}
    assert set(codes) == {*ours, MODEL}
    assert {name: codes[name] for name in ours} == dict.fromkeys(ours, 0)
    with Bag(bag) as recorded:
        assert recorded.topics[f'/{NAMESPACE}/setpoint'].count > 600
        assert recorded.topics[f'/{NAMESPACE}/actuator_states'].count > 300


def test_demo_in_simulated_time_plays_its_wave_and_ends_by_itself(
    start: Start, tmp_path: Path
) -> None:
    bag = tmp_path / 'bag'
    words = {**IN_LOCK_STEP, 'wave': 'random', 'duration': 3, 'record': 'true', 'bag': bag}
    demo = start('demo', rviz='false', **words)

    codes = demo.end(2 * LIMIT)

    assert set(codes) == {'stewart', 'wave_operator', MODEL}
    assert codes['stewart'] == codes['wave_operator'] == 0
    with Bag(bag) as recorded:
        assert recorded.topics[f'/{NAMESPACE}/setpoint'].count > 600


@pytest.mark.parametrize(('name', 'rig'), [('simulation', 'vigo'), ('rig_daq', 'ex800_daq')])
def test_rig_in_simulated_time_plays_a_wave_and_stands_still_when_told_to(
    name: str, rig: str, start: Start
) -> None:
    launched = start(name, rig=rig, wave='random', **IN_LOCK_STEP)
    with Person() as person:
        clock = person.listen(Clock, '/clock', COMMAND_QOS)
        person.play()
        assert clock[-1].clock.sec < 1_000_000
        pause = SetBool.Request(data=True)
        assert person.call(SetBool, f'{NAMESPACE}/simulation/pause', pause).success
        assert person.call(Trigger, f'{NAMESPACE}/simulation/step').success
        assert ended(launched) == {'stewart'}


@pytest.mark.parametrize('words', [{}, IN_LOCK_STEP], ids=['real', 'simulated'])
def test_a_second_rig_is_refused_and_the_first_one_left_alone(
    words: dict[str, str], start: Start, tmp_path: Path
) -> None:
    file = tmp_path / 'rig.yaml'
    file.write_text(yaml.safe_dump(patient('vigo')))
    first = start('simulation', rig=file, wave='random')
    with Person() as person:
        person.until(lambda: person.states and first.says('inverse_kinematics'), LIMIT)
        demo = start('demo', rviz='false', wave='random', **words)
        codes = demo.end(LIMIT, code=1)
        person.spin(1.0)
        assert {item.state for item in person.states} == {DriverState.DISABLED}
    assert f'another rig runs in the namespace /{NAMESPACE} already' in demo.text
    assert 1 in codes.values()
    assert 'wave_operator' not in demo.started
    assert ended(first) == {*nodes_of([file])}


def test_ctrl_c_ends_an_operator_whose_clock_has_ended(start: Start) -> None:
    demo = start('demo', rviz='false', wave='random', time='simulated', duration=60)
    with Person() as person:
        person.until(lambda: person.travel() > TRAVEL, LIMIT)
        assert ended(demo) == {'stewart', 'wave_operator'}


@pytest.mark.parametrize(('name', 'rig'), [('simulation', 'vigo'), *RIGS])
def test_rig_comes_up_in_order_plays_a_wave_and_ends(
    name: str, rig: str, start: Start, tmp_path: Path, wires: Path
) -> None:
    file = tmp_path / 'rig.yaml'
    file.write_text(yaml.safe_dump(patient(rig, wires)))
    launched = start(name, rig=file, wave='random', record='true', bag=tmp_path / 'bag')
    with Person() as person:
        try:
            person.until(lambda: launched.says('inverse_kinematics'), LIMIT)
        except AssertionError:
            if FORBIDDEN in launched.text:
                pytest.skip(launched.text)
            raise
        person.play()
        names = nodes_of([file])
        assert ended(launched) == {RECORDER, *names}

    driver = names.index('driver') + 1
    assert launched.started == [RECORDER, *names[:driver], MODEL, *names[driver:]]
    started = launched.text.index('[driver-')
    assert 'virtual_rig' not in names or launched.text.index(READY) < started
    assert launched.text.index('DISABLED: started') < launched.text.index('[inverse_kinematics-')
    with Bag(tmp_path / 'bag') as recorded:
        assert recorded.topics[f'/{NAMESPACE}/actuator_states'].count > 200


@pytest.mark.parametrize(('name', 'rig'), RIGS)
def test_ctrl_c_leaves_a_machine_at_rest_and_without_power(
    name: str, rig: str, start: Start, tmp_path: Path, wires: Path
) -> None:
    content = patient(rig, wires)
    for node, told in wiring(ends_in(wires)).items():
        if f'/**/{node}' in content:
            content[f'/**/{node}']['ros__parameters'] |= told
    settings = content.pop('/**/virtual_rig')['ros__parameters']
    settings |= {'platform': content['/**']['ros__parameters']['platform']}
    del settings['directory']
    file = tmp_path / 'metal.yaml'
    file.write_text(yaml.safe_dump(content))
    try:
        machine = RigProcess(RigSettings.from_plain(settings), wires)
    except RigError as error:
        if FORBIDDEN in str(error):
            pytest.skip(str(error))
        raise
    with machine, Person() as person:
        truth = machine.truth()
        before = truth.read()
        launched = start(name, rig=file, wave='random')
        person.play()
        assert truth.read().powered.all()
        assert np.abs(truth.read().strokes - before.strokes).max() > 1e-4
        ended(launched)
        # Its own watchdogs have waited for longer: it was switched off.
        assert not truth.read().powered.any()
        assert np.abs(truth.read().rates).max() < 1e-6
        assert machine.alive


def test_view_shows_model_and_page(start: Start) -> None:
    pytest.importorskip('viser')
    with Harness(real=True) as harness:
        models = harness.listen(String, f'{NAMESPACE}/robot_description', STATE_QOS)
        view = start('view', web='true', port=0)
        harness.until(lambda: view.says(f'no /{NAMESPACE}/{ASKED} here yet'), LIMIT)
        # The rig comes up.
        declared = {'automatically_declare_parameters_from_overrides': True}
        harness.add(partial(Node, ASKED, namespace=NAMESPACE, **declared), platform='ex800')
        harness.until(lambda: view.says('http://127.0.0.1:'), LIMIT)
        harness.until(lambda: view.says(str(rviz_path())) and models, LIMIT)
    assert models[0].data == render_urdf('ex800')
    (page, *_) = re.findall(r'http://127\.0\.0\.1:\d+', view.text)
    with urlopen(page, timeout=LIMIT) as answer:
        assert b'<html' in answer.read(4096).lower()
    assert ended(view) == {'rviz2', 'force_arrows', 'web_viewer'}


def test_controllers_are_given_the_legs_of_the_platform(start: Start) -> None:
    with Harness(real=True) as harness:
        models = harness.listen(String, f'{NAMESPACE}/ros2_control_description', STATE_QOS)
        launched = start('ros2_control', platform='srs')
        urdf = render_urdf('srs', ros2_control=True)
        heard = f'heard a description of {len(urdf)} characters'
        harness.until(lambda: launched.says(heard) and models, LIMIT)
        harness.until(lambda: launched.says("['joint_state_broadcaster', "), LIMIT)
    assert models[0].data == urdf
    assert "['joint_state_broadcaster', 'leg_trajectory_controller', " in launched.text
    assert ended(launched) == set(MANAGER)


def test_recording_is_replayed_and_identified(start: Start, tmp_path: Path) -> None:
    sys.path.insert(0, str(FOLDER.parents[1] / 'stewart_identification' / 'test'))
    made = import_module('recordings_made')
    ex800 = Platform.from_yaml('ex800')
    run = made.run_rig(ex800, made.excitation(ex800), made.PAYLOAD, force_noise=0.5)
    bag = made.write_bag(tmp_path / 'bag', run)
    found = tmp_path / 'identified' / 'parameters.yaml'
    with Harness(real=True) as harness:
        # All of it, however long this process is busy with something else.
        whole = QoSProfile(depth=10_000)
        clock = harness.listen(Clock, 'clock', whole)
        legs = harness.listen(JointState, '/replay/actuator_states', whole)
        replay = start('replay_identification', bag=bag, output=found.parent, friction='common')
        harness.until(lambda: len(clock) > 500 and len(legs) > 1000, LIMIT)
        harness.until(lambda: replay.says('all ten parameters') and found.is_file(), LIMIT)
    assert ended(replay) == {'identification', 'player'}
    assert clock[-1].clock.sec >= 1_700_000_000


def test_every_launch_file_is_launched_here() -> None:
    text = Path(__file__).read_text()
    names = [path.name.partition('.')[0] for path in FOLDER.glob('*.launch.py')]
    assert [name for name in names if f"'{name}'" not in text] == []
