# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The stewart command finds verbs lazily and fails with one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import os
from pathlib import Path
import re
import subprocess
import sys
import textwrap

import pytest
from stewart_bringup import main as command
from stewart_bringup.main import find_verbs, VerbError

Install = Callable[..., None]

GOOD = """
import json
HELP = 'say a number, 100 % of it'
def add_arguments(parser):
    parser.add_argument('number', type=int)
def main(arguments):
    print(arguments.number)
    return 0
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install packages with verbs into a folder on sys.path; nothing else is installed."""
    monkeypatch.setattr(sys, 'path', [str(tmp_path), *sys.path])

    def make(package: str, name: str, source: str = GOOD) -> None:
        folder = tmp_path / package / 'verbs'
        folder.mkdir(parents=True)
        (folder.parent / '__init__.py').write_text('')
        (folder / '__init__.py').write_text('')
        (folder / f'{name}.py').write_text(textwrap.dedent(source))
        info = tmp_path / f'{package}.egg-info'
        info.mkdir()
        (info / 'PKG-INFO').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1\n')
        entry = f'[stewart.verbs]\n{name} = {package}.verbs.{name}\n'
        (info / 'entry_points.txt').write_text(entry)

    yield make
    for module in [name for name in sys.modules if name.startswith('stewart_fake')]:
        del sys.modules[module]


def run(*arguments: str) -> int:
    """Call the command in this process."""
    return command.main(arguments)


def test_verb_of_any_installed_package_runs(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    """An entry point is all that a package has to do."""
    install('stewart_fake_one', 'number')

    assert run('number', '7') == 0
    assert capsys.readouterr().out == '7\n'


@pytest.mark.parametrize(('given', 'told'), [((), True), (('--platform', 'vigo'), False)])
def test_a_platform_that_nobody_named_is_told(
    given: tuple[str, ...], told: bool, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    source = GOOD.replace("'number', type=int", "'--platform', default='vigo'")
    install('stewart_fake_platform', 'shape', source.replace('.number', '.platform'))

    assert run('shape', *given) == 0
    said = capsys.readouterr()
    assert said.out == 'vigo\n'
    assert ('no --platform given, assuming vigo' in said.err) == told


def test_the_platform_of_a_kind_of_motion_that_nobody_named_is_told(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = (
        "parser.add_subparsers().add_parser('circle').add_argument('--platform', default='srs')"
    )
    source = GOOD.replace("parser.add_argument('number', type=int)", kinds)
    install('stewart_fake_kinds', 'motion', source.replace('.number', '.platform'))

    assert run('motion', 'circle') == 0
    assert 'no --platform given, assuming srs' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('words', 'code', 'told'),
    [
        (['--list-faults'], 0, False),
        (['--inject', 'imu.unplug', '--directory', 'no_rig'], 1, False),
        # The platform names the folder of its rig.
        (['--inject', 'imu.unplug'], 1, True),
    ],
)
def test_no_platform_is_assumed_where_none_counts(
    words: list[str], code: int, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    pytest.importorskip('rclpy')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('XDG_RUNTIME_DIR', str(tmp_path))

    assert run('virtual-rig', *words) == code
    assert ('assuming' in capsys.readouterr().err) == told


@pytest.mark.parametrize(
    ('words', 'code'),
    [
        (['log.csv', '--poses', 'log.csv'], 2),
        (['log.csv', '-o', './log.csv'], 2),
        (['log.csv', '-o', 'new.csv', '--poses', './new.csv'], 2),
        (['new.csv', '-o', 'new.csv'], 0),
        (['log.csv', '-o', 'other.csv', '--poses', 'new.csv'], 0),
        (['log.csv'], 0),
    ],
)
def test_what_is_read_is_not_written_over(
    words: list[str],
    code: int,
    install: Install,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ''.join(f'; parser.add_argument({name}, type=O)' for name in ("'-o'", "'--poses'"))
    source = GOOD.replace("'number', type=int)", f"'number', nargs='+'){options}")
    source = f'from stewart_tables.outputs import output_file as O\n{source}'
    install('stewart_fake_output', 'turn', source)
    monkeypatch.chdir(tmp_path)
    for name in ('log.csv', 'other.csv'):
        (tmp_path / name).write_text('1')

    assert run('turn', *words) == code
    assert (': name another file' in capsys.readouterr().err) == (code == 2)


def test_help_lists_verbs_without_importing_them(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one-line help comes from the source text."""
    install('stewart_fake_two', 'burst', "raise RuntimeError\nHELP = 'bursts at import'\n")

    assert run('--help') == 0
    assert re.search(r'^  burst +bursts at import$', capsys.readouterr().out, re.MULTILINE)
    assert 'stewart_fake_two' not in sys.modules


def test_help_may_contain_a_percent_sign(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    """Argparse formats descriptions with the percent operator."""
    install('stewart_fake_three', 'number')

    assert run('--help') == 0
    assert '100 % of it' in capsys.readouterr().out
    assert run('number', '--help') == 0
    assert '100 % of it' in capsys.readouterr().out


def test_no_verb_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """The help goes to standard error, where it cannot be mistaken for a result."""
    assert run() == 2
    assert 'verbs:' in capsys.readouterr().err


def test_misspelt_verb_is_a_usage_error_with_a_hint(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    """The nearest name is offered."""
    install('stewart_fake_four', 'frobnicate')

    assert run('frobincate') == 2
    assert 'did you mean frobnicate?' in capsys.readouterr().err


def test_wrong_argument_is_a_usage_error(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    """Argparse speaks with the verb's name."""
    install('stewart_fake_five', 'number')

    assert run('number', 'seven') == 2
    assert 'stewart number: error:' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['number', 'seven'], "argument number: expected a whole number, got 'seven'"),
        (['number', '1_0'], "argument number: expected a whole number, got '1_0'"),
        (['number', '7', '--size', 'abc'], "argument --size: expected a number, got 'abc'"),
        (['number', '7', '--size', 'nan'], "argument --size: expected a number, got 'nan'"),
    ],
)
def test_number_that_is_none_is_refused_with_what_was_expected(
    install: Install, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """Whatever verb asks for it."""
    install(
        'stewart_fake_twelve',
        'number',
        GOOD.replace('type=int)', "type=int); parser.add_argument('--size', type=float)"),
    )

    assert run(*words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize('size', ['-1e-3', '-.5e2', '-7', '-0.5'])
def test_negative_number_is_no_option(
    install: Install, capsys: pytest.CaptureFixture[str], size: str
) -> None:
    """However it is written."""
    source = GOOD.replace("'number', type=int", "'--size', type=float")
    install(
        'stewart_fake_thirteen', 'number', source.replace('arguments.number', 'arguments.size')
    )

    assert run('number', '--size', size) == 0
    assert float(capsys.readouterr().out) == float(size)


@pytest.mark.parametrize(
    ('words', 'code', 'said'),
    [
        (['--duration', 'abc'], 2, "--duration: expected a number above 0, up to 3600, got 'abc'"),
        (['--seed', '-1'], 2, "--seed: expected a whole number of at least 0, got '-1'"),
        (['--output', __file__], 2, '--output: expected a folder that can be written, got '),
        (['--platform', 'vigor'], 1, 'vigo_at_sea, vigo_ethercat (did you mean vigo?)'),
        (['--backend', 'magic'], 1, 'magic'),
        (['--at-sea', '--wave', 'eq18'], 1, 'a sea of its own: leave out --wave'),
        (['--time', 'real', '--speed', '2'], 1, '--speed is for simulated time'),
        (['--speed', '0'], 2, '0 is neither max nor a number in (0, 1000]'),
    ],
)
def test_demo_refuses_what_it_cannot_play_before_it_begins(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    """Nothing is compiled, started or written."""
    pytest.importorskip('rclpy')

    assert run('demo', '--output', str(tmp_path / 'new'), *words) == code
    error = capsys.readouterr().err
    assert said in error
    assert 'starting' not in error
    assert not (tmp_path / 'new').exists()


@pytest.mark.parametrize(
    ('content', 'said'),
    [
        (b'a: [', 'rig.yaml: expected valid YAML'),
        (b'\xff\xfe', 'rig.yaml: expected valid YAML'),
        (b'', 'rig.yaml: expected a YAML file with keys and values, got nothing'),
        (b'- 1', 'rig.yaml: expected a YAML file with keys and values, got [1]'),
        (
            b'driver: 3',
            "rig.yaml: driver: expected a mapping with text keys, as a rig's file has, got 3",
        ),
        (b'driver: {ros__parameters: }', 'driver.ros__parameters: expected a mapping'),
        (b'driver: {}', 'driver.ros__parameters: expected a mapping, but the key is missing'),
    ],
)
def test_file_that_is_no_rig_is_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, said: str
) -> None:
    """Before a node is made."""
    pytest.importorskip('rclpy')
    (tmp_path / 'rig.yaml').write_bytes(content)

    assert run('run', str(tmp_path / 'rig.yaml')) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count('\n') == 1


@pytest.mark.installed
@pytest.mark.parametrize('verb', [['run'], ['drive', 'state'], ['wave', 'start']])
@pytest.mark.parametrize('name', ['two words', '1st', 'rig/', 'a//b'])
def test_namespace_that_ros_would_refuse_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], verb: list[str], name: str
) -> None:
    """Before a graph is joined."""
    assert run(*verb, '--namespace', name) == 2
    assert f'with / between them, got {name!r}' in capsys.readouterr().err


def test_two_packages_cannot_offer_one_verb(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which of them runs must not depend on the order of a path."""
    install('stewart_fake_six', 'number')
    install('stewart_fake_seven', 'number')

    with pytest.raises(VerbError, match='stewart_fake'):
        find_verbs()
    assert run('number', '7') == 1
    assert 'two modules offer the verb number' in capsys.readouterr().err


FAILING = """
HELP = 'fail'
class FakeError({base}):
    pass
def add_arguments(parser):
    pass
def main(arguments):
    raise {what}
"""


@pytest.mark.parametrize(
    ('base', 'what', 'sentence'),
    [
        ('Exception', "FakeError('stroke is 7 m,\\n allowed 0 to 1 m')", 'stroke is 7 m, allowed'),
        ('ValueError', 'FakeError()', 'FakeError'),
        ('Exception', "FileNotFoundError(2, 'No such file', 'a.csv')", 'a.csv: No such file'),
        ('Exception', 'KeyboardInterrupt', 'interrupted'),
        # As sys.exit does, which a node's main function calls when it cannot start.
        ('Exception', "SystemExit('the port is taken')", 'the port is taken'),
        (
            'Exception',
            "ModuleNotFoundError(name='rclpy')",
            'the Python module rclpy was not found',
        ),
        ('Exception', "ModuleNotFoundError(name='viser.extras')", 'pip install viser`'),
    ],
)
def test_expected_failure_is_one_sentence(
    install: Install, capsys: pytest.CaptureFixture[str], base: str, what: str, sentence: str
) -> None:
    """No traceback, exit code 1."""
    install('stewart_fake_eight', 'fail', FAILING.format(base=base, what=what))

    assert run('fail') == 1
    error = capsys.readouterr().err
    assert error.startswith('stewart fail: ')
    assert sentence in error
    assert error.count('\n') == 1


def test_the_operator_of_a_wave_without_ros_is_one_sentence() -> None:
    script = """
import sys
sys.modules['rclpy'] = None
from stewart_bringup.operate import main
sys.exit(main())
"""
    done = subprocess.run(
        [sys.executable, '-c', script],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120.0,
        check=False,
    )
    assert done.returncode == 1
    assert re.fullmatch(r'wave_operator: the Python module \w+ was not found: .*\n', done.stderr)


def test_bug_keeps_its_traceback(install: Install) -> None:
    """What nobody raised on purpose must not look like a wrong input."""
    install('stewart_fake_nine', 'fail', FAILING.format(base='Exception', what="KeyError('x')"))

    with pytest.raises(KeyError):
        run('fail')


def test_debug_shows_the_traceback_of_an_expected_error(
    install: Install, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By option or by environment."""
    install('stewart_fake_ten', 'fail', FAILING.format(base='Exception', what='FakeError()'))

    assert run('--debug', 'fail') == 1
    assert 'Traceback' in capsys.readouterr().err
    monkeypatch.setenv('STEWART_DEBUG', '1')
    assert run('fail') == 1
    assert 'Traceback' in capsys.readouterr().err


def test_reader_that_goes_away_is_no_traceback(install: Install, tmp_path: Path) -> None:
    """As in ``stewart trajectory ... | head``."""
    source = """
    HELP = 'much'
    def add_arguments(parser):
        pass
    def main(arguments):
        for number in range(1_000_000):
            print(number)
        return 0
    """
    install('stewart_fake_eleven', 'much', source)
    code = f'import sys; sys.path[:0] = {sys.path!r}; from stewart_bringup.main import main;'
    process = subprocess.Popen(
        [sys.executable, '-c', f'{code} sys.exit(main(["much"]))'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()

    assert process.wait(90) == 1
    assert process.stderr.read() == b''
    process.stderr.close()


@pytest.mark.parametrize(
    ('closed', 'code', 'out', 'error'),
    [
        ('<&-', 0, '7\n', 'spoken\n'),
        ('>&-', 1, '', 'stewart: standard output is closed\n'),
        ('2>&-', 0, '7\n', ''),
    ],
)
def test_closed_stream_is_no_traceback(
    install: Install, closed: str, code: int, out: str, error: str
) -> None:
    """As a service manager or ``>&-`` leaves them."""
    source = GOOD.replace(
        'print(arguments.number)',
        "sys.stdin.read(); print('spoken', file=sys.stderr); print(arguments.number)",
    ).replace('import json', 'import sys')
    install('stewart_fake_fourteen', 'number', source)
    program = f'import sys; sys.path[:0] = {sys.path!r}; from stewart_bringup.main import main;'
    shell = f'exec "$0" -c "$1" {closed}'
    done = subprocess.run(
        ['/bin/sh', '-c', shell, sys.executable, f'{program} sys.exit(main(["number", "7"]))'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (code, out, error)


@pytest.mark.parametrize(
    'module',
    ['stewart_bringup.main', 'stewart_node_support.executable', 'stewart_simulation.rig.__main__'],
)
def test_numpy_comes_after_it_was_said_how_many_threads_it_shall_have(module: str) -> None:
    code = f'import sys, {module}; raise SystemExit("numpy" in sys.modules)'
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, '-c', code], env=environment, check=True)


@pytest.mark.realtime
def test_help_is_quick() -> None:
    """Half a second is where waiting begins; the processor's time counts, the least of three."""
    code = f'import sys; sys.path[:0] = {sys.path!r}; from stewart_bringup.main import main;'
    times = []
    for _ in range(3):
        before = os.times()
        subprocess.run(
            [sys.executable, '-c', f'{code} sys.exit(main(["--help"]))'],
            check=True,
            capture_output=True,
        )
        after = os.times()
        times.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )

    assert min(times) < 0.5


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (('--speed', '2'), '--speed is for --time simulated, real time has its own'),
        (('--play', '9'), '--play is for --time simulated: in real time a person enables'),
    ],
)
def test_what_is_for_simulated_time_is_refused_in_real_time(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('rclpy')

    assert run('run', 'vigo', *words) == 1
    assert said in capsys.readouterr().err
