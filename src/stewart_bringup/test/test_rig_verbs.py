# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The first motion of docs/safety.md, typed as commands at a rig that runs in another process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
import os
from pathlib import Path
import re
import signal
import subprocess
import sys

import pytest

pytest.importorskip('rclpy')

from rclpy.time import Time
from sensor_msgs.msg import JointState
from stewart_bringup import main as command
from stewart_bringup.nodes.jog_operator import JogOperator
from stewart_bringup.rigs import config_file
from stewart_node_support.rig_time import RigTime
from stewart_node_support.stamps import to_seconds
from stewart_tables.progress import LiveLine

pytestmark = pytest.mark.ros

COMMAND = [sys.executable, '-c', 'from stewart_bringup.main import main; raise SystemExit(main())']
# The same, with a clock that wakes the whole rig for itself only as often as the driver does.
RIG = """
from stewart_bringup import composition
from stewart_bringup.main import main

make = composition.make_node

def seldom(name, *args, overrides=None, **kwargs):
    if name == composition.CLOCK:
        overrides = {**overrides, 'step': 0.02}
    return make(name, *args, overrides=overrides, **kwargs)

composition.make_node = seldom
raise SystemExit(main())
"""
# Ends what hangs [s].
PATIENCE = 90.0
# Tries to jog, on a machine that is busy.
JOGS = 5
UP = ['move', '--to', '0', '0', '0.01', '0', '0', '0', '--relative-to', 'here']


@pytest.fixture(
    scope='module',
    autouse=True,
    params=['simulated', pytest.param('real', marks=[pytest.mark.slow, pytest.mark.realtime])],
)
def rig(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    environment: dict[str, str],
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a whole rig; in simulated time it bears with a machine that stands still for seconds."""
    patient = tmp_path_factory.mktemp('rig') / 'patient.yaml'
    text = config_file('rig', 'vigo').read_text()
    for line, more in (
        ('autostart: true', 'autostart: true\n    pose_age: 5.0\n    rate: 50.0'),
        # Where a test has the drives off, the platform shall stay where it is. Nothing is about
        # rates: fewer messages leave the cores to others.
        ('start: neutral', 'start: neutral\n      brake: true\n      cycle_time: 0.02'),
        ('publish_rate: 200.0', 'publish_rate: 50.0'),
        # Commands are this much ahead of a process that gets no core meanwhile.
        ('playout_delay: 0.05', 'playout_delay: 0.4'),
        (
            'extrapolation_time: 0.05',
            'extrapolation_time: 2.0\n    command_timeout: 4.0\n    overrun_share: 1.0',
        ),
    ):
        assert line in text
        text = text.replace(line, more)
    patient.write_text(text)
    words = [sys.executable, '-c', RIG, 'run', str(patient), '--time', request.param]
    process = subprocess.Popen(words, env=environment)
    try:
        # It may have to compile first.
        while command.main(['drive', 'state']):
            assert process.poll() is None
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for a busy machine than a person waits."""
    monkeypatch.setattr('stewart_bringup.verbs.graph.PATIENCE', PATIENCE)
    monkeypatch.setattr('stewart_bringup.nodes.operator.ANSWER_LIMIT', PATIENCE)


@pytest.fixture(autouse=True)
def enabled(rig: subprocess.Popen[bytes], capfd: pytest.CaptureFixture[str]) -> None:
    """Begin with the drives on, whatever the test before has left."""
    refused = command.main(['drive', 'enable'])
    out, error = printed(capfd)
    if refused:
        assert 'enable is not possible while the driver is ENABLED' in error
    else:
        assert out.startswith('ENABLED, homed, back end simulated, SIMULATED')


def printed(capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Return what a command has printed, without what Fast DDS says of one that stands still."""
    said = capfd.readouterr()
    out, error = (re.sub(r'.*RTPS_TRANSPORT.*\n', '', text) for text in (said.out, said.err))
    return out, error


def ask(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Type a command in this process; return what it prints, or why it failed."""
    capfd.readouterr()
    found = command.main(words)
    out, error = printed(capfd)
    assert found == code, error
    return error if code else out


def on_the_way(act: Callable[[], object]) -> Callable[[LiveLine, str], object]:
    """Return what acts where a motion's progress would be shown, not the wait for an answer."""
    return lambda _, line: act() if line and 'waiting' not in line else None


class Stopper:
    """Whoever types ``stewart drive quick-stop`` in another terminal, once."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._typed: subprocess.Popen[str] | None = None

    def press(self) -> None:
        """Start the command, if it was not started before."""
        if self._typed is None:
            command = [*COMMAND, 'drive', 'quick-stop']
            self._typed = subprocess.Popen(
                command, env=self._environment, stdout=subprocess.PIPE, text=True
            )

    def told(self) -> str:
        """Return what it has printed at its end."""
        assert self._typed is not None
        return self._typed.communicate(timeout=PATIENCE)[0]


def interrupt() -> None:
    """Press Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def height(said: str) -> float:
    """Return the height in the words of a move [mm]."""
    (found,) = re.findall(r'z (-?[\d.]+) mm', said)
    return float(found)


def test_a_program_reads_the_state(capfd: pytest.CaptureFixture[str]) -> None:
    state = json.loads(ask(capfd, 'drive', 'state', '--json'))
    assert state.pop('reason')
    assert [len(state.pop(key)) for key in ('live', 'braked', 'sto')] == [6] * 3
    assert state == {
        'state': 'ENABLED',
        'homed': True,
        'backend': 'simulated',
        'simulated': True,
        'holding': False,
        'override': False,
        'speed_scaling': 1.0,
    }


def test_every_node_tells_how_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    found = json.loads(ask(capfd, 'diagnostics', '--json'))
    told = {item['name']: item for item in found}
    assert told['driver: backend']['level'] == 'OK'
    assert 'simulated' in told['driver: backend']['message']
    assert {'inverse_kinematics', 'cycloidal_trajectory', 'ocean_trajectory'} <= {
        name.partition(':')[0] for name in told
    }
    assert len(told) == len(found)


def test_ten_millimetres_up_and_down_again(capfd: pytest.CaptureFixture[str]) -> None:
    up = height(ask(capfd, *UP))
    down = height(ask(capfd, *UP[:4], '-0.01', *UP[5:]))
    assert up - down == pytest.approx(10.0, abs=0.3)
    home = ask(capfd, 'move', '--to', *'000001', '--relative-to', 'neutral', '--speed', '0.5')
    assert home.endswith('z 1674.0 mm, roll 0.0, pitch 0.0, yaw 1.0 deg\n')


def test_what_is_not_allowed_is_one_sentence_with_its_reason(
    capfd: pytest.CaptureFixture[str],
) -> None:
    high = ask(capfd, 'move', '--to', *'003000', code=1)
    assert re.fullmatch(r'stewart move: move_platform: stroke of leg \d .* 0 to 0\.6 m\n', high)
    fast = ask(capfd, *UP, '--duration', '0.01', code=1)
    assert fast.startswith('stewart move: move_platform: ')
    healthy = ask(capfd, 'drive', 'reset-fault', code=1)
    assert 'reset_fault is not possible while the driver is ENABLED' in healthy
    ask(capfd, 'drive', 'disable')
    off = ask(capfd, *UP, code=1)
    assert 'the driver is DISABLED, not ENABLED' in off
    assert off.count('\n') == 1


def test_a_second_rig_is_refused(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    already = 'another rig runs in the namespace / already'
    assert already in ask(capfd, 'run', code=1)
    # What a demo asks of its rig would reach this one, too, and it may be of metal.
    assert already in ask(capfd, 'demo', '--output', str(tmp_path), code=1)
    assert ask(capfd, 'drive', 'state').startswith('ENABLED')


def test_who_disables_twice_is_told_the_state(capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert ask(capfd, 'drive', 'disable').startswith('DISABLED')


def test_interruption_brings_the_platform_to_rest_on_its_way(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = height(ask(capfd, 'move', '--to', *'000000', '--relative-to', 'neutral'))
    monkeypatch.setattr(LiveLine, 'show', on_the_way(interrupt))

    said = ask(capfd, *UP[:4], '0.1', *UP[5:], '--duration', '60', code=1)

    assert said.startswith('stewart move: came to rest on the way, as asked, at ')
    assert start - 1.0 < height(said) < start + 50.0
    assert ask(capfd, 'drive', 'state').startswith('ENABLED')


@pytest.mark.slow
def test_waypoints_are_taught_played_and_stopped(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'taught.yaml'
    ask(capfd, 'move', '--to', *'000000', '--relative-to', 'neutral')
    taught = ask(capfd, 'sequence', '--teach', str(path), '--name', 'home')
    assert taught.startswith(f'waypoint 1 of {path}: x 0.0, y 0.0, z 1674.0 mm')
    up = '  - {position_m: [0, 0, 0.02], rpy_deg: [0, 0, 0], dwell_s: 0.3}\n'
    path.write_text(path.read_text() + up)
    played = ask(capfd, 'sequence', str(path), '--repeat', '2')
    assert played.startswith('4 waypoints visited, at x ')
    assert height(played) == pytest.approx(1694.0, abs=0.2)

    # However late the interruption comes, the sequence is still being played.
    path.write_text(path.read_text().replace('dwell_s: 0.3', 'dwell_s: 60'))
    monkeypatch.setattr(LiveLine, 'show', on_the_way(interrupt))
    said = ask(capfd, 'sequence', str(path), code=1)
    assert said.startswith('stewart sequence: came to rest on the way, as asked, at ')
    assert ask(capfd, 'drive', 'state').startswith('ENABLED')


def test_quick_stop_ends_a_move(
    capfd: pytest.CaptureFixture[str],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop = Stopper(environment)
    monkeypatch.setattr(LiveLine, 'show', on_the_way(stop.press))

    said = ask(capfd, *UP[:4], '0.1', *UP[5:], '--duration', '60', code=1)

    assert re.fullmatch(r'stewart move: move_platform: the driver went to \w+: .*\n', said)
    assert stop.told().startswith('DISABLED')


@pytest.fixture
def in_rig_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the seconds of a jog by the stamps of the legs: a rig that stands still adds none."""
    stamps, take = [0.0], JogOperator._on_legs

    def take_with_stamp(self: JogOperator, message: JointState) -> None:
        stamps.append(to_seconds(message.header.stamp))
        take(self, message)

    monkeypatch.setattr(JogOperator, '_on_legs', take_with_stamp)
    monkeypatch.setattr(JogOperator, 'now', lambda _: stamps[-1])


def moved(capfd: pytest.CaptureFixture[str], *words: str) -> list[float]:
    """Jog for a second; return how far the legs went [mm].

    A request that a busy machine delivers late ends the jog, and another one begins.
    """
    for _ in range(JOGS):
        capfd.readouterr()
        command.main(['jog', *words, '--for', '1'])
        out, error = printed(capfd)
        if not re.search(r'a jog request is [\d.]+ s old', error):
            break
    assert out.startswith('legs moved [mm]: '), error
    return [float(value) for value in out.partition(': ')[2].split(',')]


@pytest.mark.slow
@pytest.mark.usefixtures('in_rig_time')
def test_one_leg_is_jogged_as_far_as_asked_at_most(capfd: pytest.CaptureFixture[str]) -> None:
    for rate in (5.0, -5.0):
        legs = moved(capfd, 'leg', '3', '--rate', f'{rate:g}')
        # Requests that a busy machine delivers late do not count: one moves it for a tenth of a
        # second. After the last one the dead man's key and the stop take their time.
        assert 0.01 < legs.pop(2) / rate < 1.2
        assert max(map(abs, legs)) < 0.2


@pytest.mark.usefixtures('in_rig_time')
def test_the_platform_is_jogged_along_an_axis(capfd: pytest.CaptureFixture[str]) -> None:
    up = moved(capfd, 'z', '--rate', '5')
    assert 0.05 < min(up) < max(up) + 1e-6 < 6.0
    # At the neutral pose all legs are alike.
    assert max(up) - min(up) < 0.1
    down = moved(capfd, 'z', '--rate', '-5')
    assert max(down) < -0.05


@pytest.mark.usefixtures('in_rig_time')
def test_a_jog_that_is_refused_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    fast = ask(capfd, 'jog', 'leg', '3', '--rate', '100', code=1)
    # Too fast, or, on a busy machine, too late besides.
    assert re.search(r'stewart jog: driver/jog: .*a jog (needs|request)', fast)
    assert 'name a leg as in' in ask(capfd, 'jog', 'leg', '--rate', '5', code=1)
    ask(capfd, 'drive', 'disable')
    assert 'not ENABLED' in ask(capfd, 'jog', 'leg', '3', '--rate', '5', code=1)


@pytest.mark.slow
def test_a_quick_stop_ends_a_jog(
    capfd: pytest.CaptureFixture[str],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever switches the drives on again gets no motion that was asked for before."""
    stop, stamp = Stopper(environment), RigTime.now

    def stamped(self: RigTime) -> Time:
        stop.press()
        return stamp(self)

    monkeypatch.setattr(RigTime, 'now', stamped)

    said = ask(capfd, 'jog', 'leg', '3', '--rate', '1', '--for', '60', code=1)

    assert 'driver/jog: the drives are not ENABLED: quick stop asked for' in said
    assert stop.told().startswith('DISABLED')


def test_keys_of_a_terminal_move_the_platform(environment: dict[str, str]) -> None:
    keyboard, program = os.openpty()
    typing = [*COMMAND, 'teleop', '--rate', '30']
    process = subprocess.Popen(typing, env=environment, stdin=program, stdout=program)
    # Reading fails, and does not wait, once the process has ended.
    os.close(program)
    try:
        shown = ''
        # The line is shown fifty times a second, which paces the typing.
        while 'as fast as asked' not in shown:
            shown = (shown + os.read(keyboard, 4096).decode())[-4096:]
            assert 'slower' not in shown
            os.write(keyboard, b'f')
        assert 'a key moves at 30 mm/s, 2 deg/s' in shown
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        os.close(keyboard)


def test_no_key_moves_anything_while_the_drives_are_off(
    environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    ask(capfd, 'drive', 'disable')
    keyboard, program = os.openpty()
    try:
        ended = subprocess.run(
            [*COMMAND, 'teleop'], env=environment, stdin=program, capture_output=True, check=False
        )
    finally:
        os.close(keyboard)
        os.close(program)
    assert ended.returncode == 1
    assert b'the drives are not ENABLED' in ended.stderr


@pytest.mark.slow
def test_paths_are_played_at_half_their_speed(capfd: pytest.CaptureFixture[str]) -> None:
    assert ', speed 50 %: ' in ask(capfd, 'drive', 'speed', '50')
    assert 'speed' not in ask(capfd, 'drive', 'speed', '100').partition(':')[0]
    assert 'expected 1 to 100 [%], got 500' in ask(capfd, 'drive', 'speed', '500', code=1)
    assert 'expected 1 to 100 [%], got nothing' in ask(capfd, 'drive', 'speed', code=1)


def test_override_is_refused_where_all_legs_are_inside(capfd: pytest.CaptureFixture[str]) -> None:
    assert 'outside' in ask(capfd, 'drive', 'override', 'on', code=1)
    assert 'expected on or off, got 1' in ask(capfd, 'drive', 'override', '1', code=1)


def test_wave_is_started_and_stopped(capfd: pytest.CaptureFixture[str]) -> None:
    assert 'approaching for' in ask(capfd, 'wave', 'start')
    assert 'another motion is being played' in ask(capfd, 'wave', 'start', code=1)
    # At the neutral pose.
    assert re.search(r'\nat rest at .* z 1674\.\d mm', ask(capfd, 'wave', 'stop'))
    ask(capfd, 'wave', 'start')
    assert re.search('then returning|way home', ask(capfd, 'wave', 'stop', '--no-wait'))
    assert ask(capfd, 'drive', 'quick-stop').startswith('DISABLED')


def test_rig_that_is_not_there_is_said(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('stewart_bringup.verbs.graph.PATIENCE', 0.5)

    said = ask(capfd, 'drive', 'enable', '--namespace', 'elsewhere', code=1)

    assert said.startswith('stewart drive: driver/')
    assert 'no rig runs in the namespace /elsewhere' in said
