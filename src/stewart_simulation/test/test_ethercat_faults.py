# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults by name, by script and over the control socket; and a machine that allows no network."""

from __future__ import annotations

from collections.abc import Callable
import errno
import json
import os
from pathlib import Path
import re
import struct
import subprocess
import sys
import threading
from typing import Any

import pytest
from stewart_simulation.control import ControlClient, ControlServer, FaultTable, Script
from stewart_simulation.errors import ControlError, FaultError
from stewart_simulation.ethercat import namespace
from stewart_simulation.ethercat.faults import Faults
from stewart_simulation.ethercat.frames import Command, Datagram, encode
from stewart_simulation.ethercat.namespace import NamespaceError
from stewart_simulation.ethercat.segment import Line

Build = Callable[..., Any]
FORBIDDEN = Path(__file__).with_name('forbidden.py')
FRAME = encode([Datagram(Command.BRD, 0, 0x0000, bytes(2))])


@pytest.fixture
def bench(build: Build) -> Any:
    return build(3)


@pytest.fixture
def line(bench: Any) -> Line:
    return Line(bench.segment, seed=1)


@pytest.fixture
def faults(bench: Any, line: Line) -> Faults:
    return Faults(bench.segment, line)


def test_every_fault_of_the_table_in_the_readme_exists(faults: Faults) -> None:
    readme = Path(namespace.__file__).with_name('README.md').read_text(encoding='utf-8')
    rows = [row.split('|')[1] for row in readme.splitlines() if row.startswith('| `')]
    named = {part.split('`')[1] for row in rows for part in row.split(',')}

    assert named == set(faults.names)


def test_frames_are_lost_before_or_after_the_slaves_have_seen_them(
    bench: Any, line: Line, faults: Faults
) -> None:
    write = encode([Datagram(Command.BWR, 0, 0x0310, b'\x07')])
    memory = bench.segment.slaves[0].memory.octets

    faults.apply('lose_next', count=2)
    assert [bool(line.send(write)) for _ in range(2)] == [False, False]
    assert memory[0x0310] == 0
    faults.apply('lose_next', way='back')
    assert not line.send(write)
    assert memory[0x0310] == 7
    faults.apply('lose_next', count=1, skip=2)
    assert [bool(line.send(FRAME)) for _ in range(4)] == [True, True, False, True]
    assert (line.sent, line.lost) == (7, 4)


def test_random_losses_have_their_probability_and_repeat_with_the_seed(bench: Any) -> None:
    def losses(seed: int) -> list[bool]:
        line = Line(bench.segment, seed)
        line.probability = 0.2
        return [not line.send(FRAME) for _ in range(2000)]

    assert losses(1) == losses(1)
    assert losses(1) != losses(2)
    # 2000 frames at 0.5 · 0.2 each way: 1 − 0.9² = 0.19; six standard deviations are 105.
    assert abs(sum(losses(1)) - 380) < 105


def test_faults_of_a_slave_show_on_the_bus(bench: Any, faults: Faults) -> None:
    bench.op()
    faults.apply('al_error', slave=1, code=0x1A)
    faults.apply('watchdog', slave=2)
    faults.apply('drive_fault', slave=3, code=0x3210)
    bench.wait(0.005)

    assert [bench.al(n) for n in (1, 2, 3)] == [(0x14, 0x1A), (0x14, 0x1B), (0x08, 0)]
    assert bench.fetch(3) == (3, bytes.fromhex('0010 1032 01 0000000000'))
    faults.apply('al_error', slave=1, code=0x11, state='INIT')
    assert bench.al(1) == (0x11, 0x11)


def test_replaced_drives_start_anew_in_their_place(bench: Any, faults: Faults) -> None:
    bench.preop()
    faults.apply('identity', slave=1, product=0xB7)
    faults.apply('read_only_maps', slave=2)
    faults.apply('sii_checksum', slave=3)
    bench.counts.clear()
    bench.address()
    for slave in (1, 2):
        bench.program_mailbox(slave)
        assert bench.request(slave, 0x02) == (0x02, 0)

    assert bench.sdo_read(1, 0x1018, 2) == b'\xb7\0\0\0'
    assert bench.sdo_write(2, 0x1600, 0, b'\0').hex() == '02000106'
    bench.program_mailbox(3)
    assert bench.request(3, 0x02) == (0x01, 0)
    assert bench.read(3, 0x0110, 2) & 1 == 0
    assert bench.segment.reached == 3


def test_the_plant_is_seen_without_the_bus(bench: Any, faults: Faults) -> None:
    bench.op()
    faults.apply('power_off', slave=2)
    seen = faults.observe()

    assert seen['positions'] == [0.0, 0.0, 0.0]
    assert seen['powered'] == [True, False, True]
    assert seen['al_states'] == ['OP', 'OP', 'OP']
    assert seen['reached'] == 1
    assert json.loads(json.dumps(seen)) == seen


@pytest.mark.parametrize(
    ('fault', 'arguments', 'text'),
    [
        ('explode', {}, 'does not exist; there are al_error, answer_late, cut'),
        ('observe', {}, 'does not exist'),
        ('cut', {}, 'missing a required argument'),
        ('cut', {'after': 4}, 'slave must be 1 to 3, not 4'),
        ('power_off', {'slave': 0}, 'slave must be 1 to 3, not 0'),
        ('power_off', {'slave': '1'}, "not '1'"),
        ('power_off', {'slave': 1, 'colour': 2}, 'unexpected keyword'),
        ('lose_some', {'probability': 1.5}, 'must be 0 to 1'),
        ('lose_next', {'way': 'sideways'}, 'sideways'),
        ('delay', {'seconds': -1.0}, 'must be 0 to 10'),
        ('drift', {'slave': 1, 'ppm': 900.0}, 'ppm must be -500 to 500'),
        ('drive_fault', {'slave': 1, 'code': 0}, 'code must be 1 to 65535'),
        ('al_error', {'slave': 1, 'code': 1, 'state': 'BOOT'}, 'no state'),
        ('al_error', {'slave': 1, 'code': 70_000}, 'code must be 0 to 65535, not 70000'),
        ('identity', {'slave': 1, 'vendor': '0x83'}, "must be 0 to 4.29497e+09, not '0x83'"),
        ('identity', {'slave': 1, 'vendor': -1}, 'vendor must be 0 to 4.29497e+09, not -1'),
        ('variant', {'slave': 1, 'mailbox': 100_000}, 'mailbox must be 32 to 1024, not 100000'),
        ('variant', {'slave': 1, 'clock_bits': 48}, 'clock_bits must be 32 or 64, not 48'),
        ('variant', {'slave': 1, 'enable_delay': 'x'}, "enable_delay must be 0 to 10, not 'x'"),
        ('variant', {'slave': 1, 'homing': {'lower': 0}}, 'homing must be of type HomingSwitches'),
        ('variant', {'slave': 1, 'identity': [1]}, 'identity must be of type Identity, not [1]'),
        ('variant', {'slave': 1, 'free_maps': 'no'}, "free_maps must be of type bool, not 'no'"),
        ('variant', {'slave': 1, 'absent': ['60C2']}, 'an object of absent must be 0 to 65535'),
        ('variant', {'slave': 1, 'absent': 24770}, 'absent must be a list of objects'),
        ('variant', {'slave': 1, 'colour': 1}, 'a drive type has no colour; there are absent, '),
        ('variant', {'slave': 1, 'name': 5}, 'name must be of type str, not 5'),
        ('variant', {'slave': 1, 'name': '\u03bc'}, "codec can't encode character"),
    ],
)
def test_a_fault_that_does_not_fit_is_refused(
    faults: Faults, fault: str, arguments: dict[str, Any], text: str
) -> None:
    with pytest.raises(FaultError, match=fault) as caught:
        faults.apply(fault, **arguments)
    assert text in str(caught.value)


def test_a_drive_that_could_not_be_replaced_is_as_before(bench: Any, faults: Faults) -> None:
    slave = bench.segment.slaves[0]
    before = slave.drive_type, bytes(slave.content)
    with pytest.raises(FaultError):
        faults.apply('variant', slave=1, name='\u03bc')
    with pytest.raises(FaultError):
        faults.apply('variant', slave=1, name=5)

    assert (slave.drive_type, bytes(slave.content)) == before
    faults.apply('power_cycle', slave=1)


@pytest.mark.parametrize('error', [struct.error('too large'), AttributeError('no encode')])
def test_whatever_a_fault_makes_of_its_arguments_is_an_answer(
    error: Exception, tmp_path: Path
) -> None:
    class Broken(FaultTable):
        def burn(self) -> None:
            raise error

    server = ControlServer(tmp_path / 's', Broken())
    answer = json.loads(server.answer(b'{"fault": "burn"}'))
    server.close()

    assert answer == {'error': f"fault 'burn': {error}"}


def test_a_line_of_a_script_that_does_not_fit_is_told_and_the_rest_is_played(
    bench: Any, faults: Faults, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'script.jsonl'
    path.write_text(
        '{"at": 1, "fault": "cut", "after": 7}\n{"at": 1, "fault": "cut", "after": 1}\n'
    )
    script = Script(path, faults)
    script.play(100.0)
    script.play(101.0)

    assert capsys.readouterr().err == "fault 'cut': slave must be 1 to 3, not 7\n"
    assert bench.segment.reached == 1


def test_a_script_breaks_things_in_the_order_of_their_times(
    bench: Any, faults: Faults, tmp_path: Path
) -> None:
    path = tmp_path / 'script.jsonl'
    path.write_text('{"at": 2.0, "fault": "mend"}\n\n{"at": 1.0, "fault": "cut", "after": 1}\n')
    script = Script(path, faults)
    reached = []
    for now in (100.0, 100.9, 101.0, 101.9, 102.5):
        script.play(now)
        reached.append(bench.segment.reached)

    assert reached == [3, 3, 1, 1, 3]


@pytest.mark.parametrize(
    'line', ['nonsense', '[1]', '{"fault": "mend"}', '{"at": 1, "fault": "bang"}', '{"at": "x"}']
)
def test_a_script_is_checked_before_it_is_played(
    faults: Faults, tmp_path: Path, line: str
) -> None:
    path = tmp_path / 'script.jsonl'
    path.write_text(line + '\n')

    with pytest.raises(FaultError):
        Script(path, faults)


def test_the_control_socket_carries_faults_answers_and_refusals(
    bench: Any, faults: Faults, tmp_path: Path
) -> None:
    path = tmp_path / 's'
    server = ControlServer(path, faults)

    def serve() -> None:
        descriptor = server.accept()
        while server.serve(descriptor):
            pass

    thread = threading.Thread(target=serve)
    thread.start()
    with ControlClient(path) as client:
        assert client.call('cut', after=2) is None
        assert client.call('observe')['reached'] == 2
        with pytest.raises(ControlError, match='slave must be 1 to 3'):
            client.call('cut', after=9)
        with pytest.raises(ControlError, match='does not exist'):
            client.call('burn')
        with pytest.raises(ControlError, match='no fault has an argument fault'):
            client.call('cut', **{'fault': 1})
    thread.join()
    server.close()

    assert bench.segment.reached == 2
    with pytest.raises(ControlError, match='no virtual rig listens'):
        ControlClient(path)


@pytest.mark.parametrize(
    'line',
    [
        *(b'', b'[]', b'"cut"', b'{}', b'{"fault": []}', b'\xff', b'[' * 60_000),
        b'{"fault": "cut", "after": ' + b'9' * 400 + b'}',
    ],
)
def test_what_is_no_request_is_answered_with_an_error(
    faults: Faults, tmp_path: Path, line: bytes
) -> None:
    server = ControlServer(tmp_path / 's', faults)
    answer = json.loads(server.answer(line))
    server.close()

    assert re.search('not a request|does not exist|too large', answer['error'])


def test_a_machine_that_forbids_namespaces_names_what_permits_them() -> None:
    text = str(NamespaceError('make a namespace', 'Operation not permitted'))

    assert 'sysctl kernel.apparmor_restrict_unprivileged_userns=0' in text
    assert 'sysctl kernel.unprivileged_userns_clone=1' in text
    assert '--cap-add=NET_ADMIN --cap-add=NET_RAW' in text


APPARMOR = {'/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n'}
FILTER = {'/proc/self/status': 'Name:\tpython3\nSeccomp:\t2\nSeccomp_filters:\t1\n'}


@pytest.mark.parametrize(
    ('machine', 'number', 'lines'),
    [
        (APPARMOR, errno.EPERM, (namespace.UBUNTU,)),
        (FILTER, errno.EPERM, (namespace.CONTAINERS,)),
        # Docker on Ubuntu 24.04: the setting of the host is seen, and permits nothing in there.
        ({**APPARMOR, **FILTER}, errno.EPERM, (namespace.CONTAINERS, namespace.UBUNTU)),
        ({**APPARMOR, **FILTER}, errno.ENOSPC, (namespace.LIMITS,)),
        ({}, errno.EPERM, namespace.EVERY),
    ],
)
def test_what_forbids_namespaces_is_told_by_the_machine(
    machine: dict[str, str],
    number: int,
    lines: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(namespace, '_read', lambda place: machine.get(place, ''))

    assert namespace.what_permits(number) == lines


def test_a_process_with_threads_cannot_enter_a_namespace() -> None:
    code = (
        'import threading, time\n'
        'from stewart_simulation.ethercat import namespace\n'
        'threading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n'
        'namespace.enter()\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', f'import sys; sys.path[:0] = {sys.path!r}\n{code}'],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert 'NamespaceError' in done.stderr
    assert 'has 2 threads and may have one' in done.stderr


def under(how: str, *command: str, ci: str = '') -> subprocess.CompletedProcess[str]:
    """Run a command where the kernel refuses namespaces."""
    done = subprocess.run(
        [sys.executable, str(FORBIDDEN), how, sys.executable, *command],
        env={**os.environ, 'CI': ci, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        cwd=FORBIDDEN.parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    return done


@pytest.mark.parametrize(
    ('how', 'reason', 'line'),
    [
        ('limit', 'No space left on device', 'user.max_user_namespaces=10000'),
        ('seccomp', 'Operation not permitted', '--cap-add=NET_ADMIN --cap-add=NET_RAW'),
    ],
)
def test_where_the_kernel_says_no_the_line_that_permits_it_is_printed(
    how: str, reason: str, line: str
) -> None:
    done = under(how, '-m', 'stewart_simulation.ethercat', '--', 'true')

    assert done.returncode == 1
    told, _, permitting = done.stderr.partition('What permits it:')
    assert f'cannot make a user and network namespace: {reason}' in told
    assert line in permitting


@pytest.mark.slow
@pytest.mark.parametrize('how', ['limit', 'seccomp'])
def test_where_the_kernel_says_no_socket_tests_are_skipped_aloud_and_frames_tested(
    how: str,
) -> None:
    names = ('test_ethercat_master.py', 'test_ethercat_frames.py')
    tests = [str(FORBIDDEN.with_name(name)) for name in names]
    chosen = 'small_mailbox or frames'
    command = ('-m', 'pytest', '-q', '-rs', '-k', chosen, *tests)
    done = under(how, *command)

    assert done.returncode == 0, done.stdout
    assert 'SKIPPED [1]' in done.stdout
    assert 'What permits it' in done.stdout
    assert ' 1 skipped' in done.stdout
    assert int(re.findall(r'(\d+) passed', done.stdout)[0]) > 10
    strict = under(how, *command, ci='true')
    assert strict.returncode == 1
    assert 'CI has to permit this, no skip' in strict.stdout
