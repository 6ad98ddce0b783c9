# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The set-up refuses early, and repeats only what has changed."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig

import kernels
import machine
import pins
import places
import pytest
import ros_environment
import steps
import virtual_environment
import workspace

ROOT = Path(__file__).parents[1]
HASHES = ROOT / 'requirements' / 'hashes.txt'
LOCKS = sorted({*(ROOT / 'requirements').glob('*.txt')} - {HASHES})


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return the folder of a package."""
    folder = tmp_path / 'src' / 'stewart_demo'
    (folder / 'stewart_demo').mkdir(parents=True)
    (folder / 'msg').mkdir()
    (folder / 'package.xml').write_text('<package/>')
    (folder / 'msg' / 'Leg.msg').write_text('float64 length\n')
    return folder


# --- Refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('name', 'said'),
    [
        ('my rig', 'without spaces'),
        ('rig:2', 'without ":"'),
        ('$rig', r'without "\$"'),
        ("my'rig", 'without "\'"'),
        ('josé', 'without "é"'),
        ('rig(2)', r'without "\("'),
    ],
)
def test_path_that_cannot_be_quoted_is_refused(name: str, said: str) -> None:
    machine.check_clone_path(Path('/home/jose/stewart-1.0_b'))
    with pytest.raises(steps.SetupError, match=said):
        machine.check_clone_path(Path('/home/ada', name))


@pytest.mark.parametrize(('system', 'processor'), [('Linux', 'aarch64'), ('Darwin', 'x86_64')])
def test_machine_without_wheels_is_refused(system: str, processor: str) -> None:
    with pytest.raises(steps.SetupError, match=f'{system} on {processor}'):
        machine.check_platform(system, processor)


def test_missing_tools_are_named(tmp_path: Path) -> None:
    make = tmp_path / 'make'
    make.touch(mode=0o755)
    with pytest.raises(steps.SetupError, match=r'first: cmake, gcc, g\+\+\.'):
        machine.check_tools(path=str(tmp_path))


@pytest.mark.parametrize(
    ('version', 'refused'), [('3.16.3', True), ('3.9', True), ('3.20.0', False), ('4.0.2', False)]
)
def test_old_cmake_is_refused_with_its_version(
    tmp_path: Path, version: str, refused: bool
) -> None:
    for tool in ('cmake', 'make', 'cc', 'c++'):
        (tmp_path / tool).write_text(f'#!/bin/sh\necho "{tool} version {version}"\n')
        (tmp_path / tool).chmod(0o755)
    said = f'CMake 3.20 or newer is needed, and .*cmake is {version}'
    with pytest.raises(steps.SetupError, match=said) if refused else nullcontext():
        machine.check_tools(path=str(tmp_path))


def test_full_disk_is_refused_with_its_number() -> None:
    with pytest.raises(steps.SetupError, match=r'0\.7 GB are free'):
        machine.check_disk(700_000_000)


def test_python_without_headers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, 'get_path', lambda _name: str(tmp_path))
    with pytest.raises(steps.SetupError, match=r'no Python\.h: install python3\.\d+-dev'):
        machine.check_python_parts()


@pytest.mark.parametrize(
    ('python', 'said'), [('no-such-python', 'missing'), ('true', 'not Python')]
)
def test_unsuitable_python_is_one_sentence(python: str, said: str) -> None:
    run = subprocess.run(
        [ROOT / 'scripts' / 'setup'],
        env={'PATH': '/usr/bin:/bin', 'PYTHON': python},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stderr.startswith(f'Python 3.10 to 3.13 is needed and {python} is {said}')
    assert run.stderr.count('\n') == 1


@pytest.mark.parametrize(
    ('set_up_with', 'named', 'taken'),
    [('one', '', 'one'), ('one', 'two', 'two'), ('removed', '', 'python3'), (None, '', 'python3')],
)
def test_python_of_the_last_set_up_is_taken_unless_one_is_named(
    tmp_path: Path, set_up_with: str | None, named: str, taken: str
) -> None:
    (tmp_path / 'scripts').mkdir()
    shutil.copy(ROOT / 'scripts/setup', tmp_path / 'scripts')
    for name in ('one', 'two', 'python3'):
        said = f'case $1 in -c) echo 3.12 ;; *) echo "{name} runs $*" ;; esac'
        (tmp_path / name).write_text(f'#!/bin/sh\n{said}\n')
        (tmp_path / name).chmod(0o755)
    if set_up_with:
        (tmp_path / '.venv/bin').mkdir(parents=True)
        (tmp_path / '.venv/bin/python').symlink_to(tmp_path / set_up_with)
    run = subprocess.run(
        [tmp_path / 'scripts/setup'],
        env={'PATH': f'{tmp_path}:/usr/bin:/bin', 'PYTHON': named and str(tmp_path / named)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr) == (f'{taken} runs -B scripts/bootstrap\n', '')


@pytest.mark.skipif(not shutil.which('make'), reason='make is not installed')
@pytest.mark.parametrize('command', ['demo', 'test'])
def test_missing_prerequisite_is_exit_code_1_of_make_itself(command: str) -> None:
    run = subprocess.run(
        ['make', command],
        cwd=ROOT,
        env={'PATH': '/usr/bin:/bin', 'PYTHON': 'no-such-python'},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stdout == ''
    assert run.stderr.startswith('Python 3.10 to 3.13 is needed and no-such-python is missing')
    assert run.stderr.count('\n') == 1


# --- Steps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('output', 'said'),
    [
        ('OSError: [Errno 28] No space left on device', 'The disk is full.'),
        ('[Errno -3] Temporary failure in name resolution', 'The package registry cannot be'),
        ('error: unknown', '  | error: unknown\nThe set-up failed.'),
    ],
)
def test_failure_is_a_sentence_with_the_log(empty_clone: Path, output: str, said: str) -> None:
    command = [sys.executable, '-c', f'raise SystemExit({output!r})']
    with pytest.raises(steps.SetupError) as caught:
        steps.run(command, {})
    assert said in str(caught.value)
    assert str(caught.value).endswith(' The whole log is in log/bootstrap.log.')


@pytest.mark.parametrize(
    ('error', 'said'),
    [
        (PermissionError(13, 'Permission denied', '/clone/.venv'), '/clone/.venv: Permission'),
        (OSError(28, 'No space left on device'), 'bootstrap.log: No space left on device.'),
    ],
)
def test_file_that_cannot_be_written_is_a_sentence(
    empty_clone: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: OSError,
    said: str,
) -> None:
    def fail() -> None:
        raise error

    main = runpy.run_path(str(ROOT / 'scripts/bootstrap/__main__.py'))['main']
    monkeypatch.setitem(main.__globals__, 'make_venv', fail)
    assert main() == 1
    answer = capsys.readouterr().err
    assert said in answer
    assert answer.count('\n') == 1


def test_exports_are_pointed_at_this_interpreter(empty_clone: Path) -> None:
    built_on = '/opt/python/cp311-cp311'
    export = places.VENV / 'share/x/cmake/export_x__rosidl_generator_pyExport.cmake'
    export.parent.mkdir(parents=True)
    numpy = 'lib/python3.11/site-packages/numpy/_core/include'
    export.write_text(f'"{built_on}/include/python3.11;{built_on}/{numpy};/keep"')
    pins.relocate_cmake_exports()
    include = sysconfig.get_path('include')
    site = places.site_packages()
    assert export.read_text() == f'"{include};{site}/numpy/_core/include;/keep"'


def test_build_depends_on_messages_and_file_names_not_on_python(
    empty_clone: Path, package: Path
) -> None:
    def changes() -> bool:
        before, keys[0] = keys[0], workspace.package_key(package)
        return keys[0] != before

    keys = [workspace.package_key(package)]
    (package / 'stewart_demo' / 'inverse.py').write_text('LEGS = 6\n')
    assert not changes()
    (package / 'msg' / 'Leg.msg').write_text('float64 stroke\n')
    assert changes()
    (package / 'config').mkdir()
    (package / 'config' / 'inverse.yaml').write_text('rate: 100\n')
    assert changes()
    (package / 'config' / 'inverse.yaml').write_text('rate: 200\n')
    assert not changes()


def test_environment_depends_on_the_pins_and_on_its_place(
    empty_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pins.venv_key()
    assert pins.venv_key() == first
    (empty_clone / 'requirements' / 'core.txt').write_text('numpy==9.9\n')
    second = pins.venv_key()
    assert second != first
    monkeypatch.setattr(places, 'ROOT', shutil.copytree(empty_clone, empty_clone / 'moved'))
    third = pins.venv_key()
    assert third != second
    # A security update of Python changes its build date; extensions built for it still load.
    monkeypatch.setattr(sys, 'version', '3.12.3 (main, Jan  1 2031, 00:00:00) [GCC 14.0.0]')
    assert pins.venv_key() == third
    monkeypatch.setattr(sysconfig, 'get_config_var', lambda _name: 'cpython-399-x86_64-linux-gnu')
    assert pins.venv_key() != third


def test_another_ros_in_the_shell_is_left_out(
    empty_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ('AMENT_PREFIX_PATH', 'PYTHONPATH', 'ROS_DISTRO'):
        monkeypatch.setenv(name, '/opt/ros/humble')
    monkeypatch.setenv('HTTPS_PROXY', 'kept')
    environment = ros_environment.outside_environment()
    assert '/opt/ros/humble' not in environment.values()
    assert environment['HTTPS_PROXY'] == 'kept'


def test_settings_of_the_installers_do_not_lead_them_elsewhere(
    empty_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [
        'PIP_INDEX_URL',
        'PIP_FIND_LINKS',
        'PIP_CERT',
        'PIP_TRUSTED_HOST',
        'PIP_CONFIG_FILE',
        'PIP_RETRIES',
        'UV_DEFAULT_INDEX',
        'UV_INDEX_MINE_PASSWORD',
        'UV_OFFLINE',
        'UV_HTTP_TIMEOUT',
        'UV_NATIVE_TLS',
    ]
    dropped = [
        'PIP_USER',
        'PIP_TARGET',
        'PIP_PREFIX',
        'PIP_CONSTRAINT',
        'PIP_PYTHON',
        'PIP_REQUIRE_HASHES',
        'UV_SYSTEM_PYTHON',
        'UV_PYTHON',
        'UV_CONSTRAINT',
        'UV_TARGET',
    ]
    for name in (*kept, *dropped):
        monkeypatch.setenv(name, 'set')
    commands = []
    monkeypatch.setattr(pins, 'run', lambda command, *_: commands.append(command))
    environment = ros_environment.underlay()
    pins.install(pins.requirement_files())

    assert [name for name in kept if name not in environment] == []
    assert [name for name in dropped if name in environment] == []
    pip, uv = commands
    assert '--no-user' in pip
    assert f'--python={places.VENV}/bin/python' in uv


# --- Pins ------------------------------------------------------------------------------------


def pinned(lock: Path) -> list[str]:
    """Return the lines of a lock without its comments."""
    return [line for line in lock.read_text().splitlines() if line and not line.startswith('#')]


@pytest.mark.parametrize('lock', LOCKS, ids=lambda path: path.stem)
def test_every_requirement_is_pinned_and_names_no_registry(lock: Path) -> None:
    exact = re.compile(r"[a-z0-9][a-z0-9.-]*==[0-9][\w.]*( ; [\w '.<>=!*]+)?")
    assert [line for line in pinned(lock) if not exact.fullmatch(line)] == []


def test_locks_that_are_installed_together_agree() -> None:
    apart = {'compat-noble', 'supply'}
    lines = {line for lock in LOCKS if lock.stem not in apart for line in pinned(lock)}
    unmarked = [line.split('==')[0] for line in lines if ';' not in line]
    assert len(unmarked) == len(set(unmarked))


def test_the_hashes_are_those_of_all_that_is_installed() -> None:
    text = HASHES.read_text(encoding='utf-8').replace(' \\\n    --hash=', ' --hash=')
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    assert all(re.search(' --hash=sha256:[0-9a-f]{64}', line) for line in lines)
    files = [ROOT / 'requirements' / f'{name}.txt' for name in pins.REQUIREMENTS]
    installed = {line.split()[0] for file in files for line in pinned(file)}
    assert {line.split()[0] for line in lines} == installed


# --- What is built ---------------------------------------------------------------------------


def test_set_up_removes_only_what_it_built(
    empty_clone: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = [
        empty_clone / 'build/demo/report.html',
        empty_clone / 'build/demo/vigo_jonswap/metadata.yaml',
        empty_clone / 'install/of_mine/notes.txt',
    ]
    built = [
        empty_clone / 'build/stewart_gone/setup.log',
        empty_clone / 'install/stewart_gone/.stamp',
        empty_clone / 'build/stewart_demo/setup.log',
        empty_clone / 'install/stewart_demo/.stamp',
    ]
    for path in (*precious, *built):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('of another day')

    def colcon_build(names: list[str]) -> None:
        assert names == ['stewart_demo']
        assert not built[2].exists()
        built[3].parent.mkdir(parents=True)

    monkeypatch.setattr(workspace, 'colcon_build', colcon_build)
    monkeypatch.setattr(workspace, 'check_tools', lambda: None)
    workspace.build_workspace()

    assert [path.read_text() for path in precious] == ['of another day'] * 3
    assert [path.exists() for path in built] == [False, False, False, True]


def test_new_environment_leaves_results_in_build(
    empty_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = empty_clone / 'build/demo/report.html'
    stamp = empty_clone / 'install/stewart_x/.stamp'
    for path in (report, stamp):
        path.parent.mkdir(parents=True)
        path.touch()
    places.VENV.mkdir()
    monkeypatch.setattr(virtual_environment, 'run', lambda *_, **__: None)
    monkeypatch.setattr(virtual_environment, 'install', lambda _: places.VENV.mkdir(exist_ok=True))
    virtual_environment.make_venv()

    assert report.exists()
    assert not stamp.exists()


def test_kernels_are_compiled_once_for_the_present_sources(
    empty_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = 'src/stewart_kinematics/stewart_kinematics/kernels/kernel_cache.py'
    package = (empty_clone / cache).parent
    package.mkdir(parents=True)
    (package.parents[1] / 'package.xml').touch()
    for folder in (package.parent, package):
        (folder / '__init__.py').touch()
    shutil.copy(ROOT / cache, package)
    source = package / 'waves.py'
    source.write_text('from stewart_kinematics.kernels.compiled import kernel\n')
    commands = []

    def run(command: list[str], *_: object) -> None:
        commands.append(command[-1])
        kernels.kernel_stamp().parent.mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(kernels, 'run', run)
    for text in ('', '', 'SLOT = 2\n'):
        source.write_text(f'{source.read_text()}{text}')
        with kernels.compiled_kernels():
            pass

    assert commands == ['scripts/compile_kernels.py'] * 2
