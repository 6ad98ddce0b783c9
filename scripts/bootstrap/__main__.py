#!/usr/bin/env python3
# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Set up the ROS-less environment of this clone: `.venv`, and the workspace built in it.

Every step is repeated only when something it depends on has changed, an interrupted step
starts over, and nothing is written outside the clone. Only the standard library is used:
this script runs before anything else is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
import fcntl
import hashlib
import importlib.util
import os
from pathlib import Path
import platform
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / '.venv'
CACHE = ROOT / '.cache'
# The environment that is replaced, until the new one is complete.
BEFORE = CACHE / 'venv.before'
TEMPORARY = CACHE / 'tmp'
LOG = ROOT / 'log' / 'bootstrap.log'
KERNEL_LOG = ROOT / 'log' / 'kernels.log'
# Not sys.executable: inside the environment that may be the very .venv that is made anew.
INTERPRETER = os.path.realpath(sys.executable)

DISK_SPACE_GB = 3.0
CMAKE = (3, 20)
SIGINT_GRACE = 10.0
REQUIREMENTS = ('build', 'core', 'ros-jazzy', 'dev')
NO_WHEEL = ('empy',)
# What CMake and setuptools read.
BUILT_FROM = re.compile(r'(package\.xml|setup\.(py|cfg)|CMakeLists\.txt|.*\.(msg|srv|action))$')
# Where Python may write no bytecode, every process would compile all that it imports.
FOREIGN = ('PYTHONPATH', 'PYTHONHOME', 'PYTHONDONTWRITEBYTECODE')
# Settings of pip and uv say where packages come from; what to install, and where, is said here.
INSTALLERS = (
    r'(PIP|UV)_(?!.*(INDEX|FIND_LINKS|OFFLINE|PROXY|CERT|TLS|HOST|KEYRING|CONFIG|TIMEOUT|RETRIES))'
)
# The graph stays on this machine unless one of these says otherwise, as with `on_this_machine` of
# stewart_node_support.
DISCOVERY = ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_STATIC_PEERS', 'ROS_LOCALHOST_ONLY')


class SetupError(Exception):
    """What is missing, in one sentence for the person who called make."""


# --- What must be there before anything is written ------------------------------------------


def check_clone_path(root: Path) -> None:
    """Refuse what the scripts of colcon, ament, rosidl and CMake do not quote."""
    found = re.search(r'[^A-Za-z0-9_@%+=,./-]', str(root))
    if found:
        what = 'spaces' if found[0].isspace() else f'"{found[0]}"'
        raise SetupError(f'Move the clone to a path without {what}: "{root}" has one.')


def check_platform(system: str, machine: str) -> None:
    """Refuse what the ROS 2 wheels are not built for."""
    if (system, machine) != ('Linux', 'x86_64'):
        raise SetupError(f'The ROS 2 wheels need Linux on x86_64; this is {system} on {machine}.')


def check_python_parts() -> None:
    """Refuse a Python without venv, or without the headers that our messages compile against."""
    package = f'python{sys.version_info.major}.{sys.version_info.minor}'
    try:
        import ensurepip  # noqa: F401  Debian ships it apart from Python
        import venv  # noqa: F401
    except ImportError:
        raise SetupError(f'{INTERPRETER} has no venv module: install {package}-venv.') from None
    if not (Path(sysconfig.get_path('include')) / 'Python.h').exists():
        raise SetupError(f'{INTERPRETER} has no Python.h: install {package}-dev.')


def check_tools(path: str | None = None) -> None:
    """Refuse to start without the compilers and the build tools, or with an old CMake."""
    wanted = {'cmake': 'cmake', 'make': 'make', 'cc': 'gcc', 'c++': 'g++'}
    missing = [package for tool, package in wanted.items() if not shutil.which(tool, path=path)]
    if missing:
        raise SetupError(f'Install what is missing first: {", ".join(missing)}.')
    cmake = str(shutil.which('cmake', path=path))
    answer = subprocess.run([cmake, '--version'], capture_output=True, text=True, check=False)
    version = re.search(r'version ((\d+)\.(\d+)\S*)', answer.stdout)
    if version and (int(version[2]), int(version[3])) < CMAKE:
        raise SetupError(
            f'CMake {CMAKE[0]}.{CMAKE[1]} or newer is needed, and {cmake} is {version[1]}: '
            'install a newer one, with `pip install cmake` for example.'
        )


def check_disk(free_bytes: int) -> None:
    """Refuse a disk that the environment does not fit on."""
    free_gb = free_bytes / 1e9
    if free_gb < DISK_SPACE_GB:
        raise SetupError(f'{DISK_SPACE_GB} GB of disk are needed and {free_gb:.1f} GB are free.')


def check_loopback() -> None:
    """Refuse a machine whose nodes would start and never hear each other."""
    try:
        with (
            socket.create_server(('127.0.0.1', 0)) as server,
            socket.create_connection(server.getsockname(), timeout=2),
        ):
            pass
    except OSError:
        raise SetupError(
            'The loopback interface is down; bring it up with `ip link set lo up`.'
        ) from None


# --- Running a step --------------------------------------------------------------------------


def show(text: str, *, end: str = '\n') -> None:
    """Tell the person; on a terminal the line may be overwritten by the next."""
    print(f'\r\033[K{text}' if sys.stderr.isatty() else text, end=end, file=sys.stderr, flush=True)


def run(
    command: list[str],
    environment: Mapping[str, str],
    progress: Callable[[str], str | None] = lambda _line: None,
    path: Path | None = None,
) -> None:
    """Run a command into a log, and show what `progress` makes of its lines."""
    start = time.monotonic()
    path = path or LOG
    with path.open('w', buffering=1) as log:
        log.write(f'$ {shlex.join(command)}\n')
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env=dict(environment),
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    log.write(line)
                    text = progress(line)
                    if text and sys.stderr.isatty():
                        show(f'  {text}, {time.monotonic() - start:.0f} s', end='')
            except BaseException:
                interrupt(process)
                raise
    if process.returncode != 0:
        raise SetupError(explain_failure(path.read_text(errors='replace'), path))


def interrupt(process: subprocess.Popen[str]) -> None:
    """End a command and its children, so that nothing writes into folders that are moved next."""
    # Ctrl-C reaches all of them by itself, `kill -INT` does not.
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=SIGINT_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()


def explain_failure(log: str, path: Path) -> str:
    """Say in one sentence what went wrong; where that is not known, show the end of the log."""
    offline = 'name resolution|NewConnectionError|ConnectTimeout|Network is unreachable'
    if re.search('No space left on device', log):
        reason = 'The disk is full.'
    elif re.search(offline, log):
        reason = 'The package registry cannot be reached: is the network up?'
    else:
        tail = (f'  | {line[:150]}\n' for line in log.splitlines()[-20:])
        reason = f'{"".join(tail)}The set-up failed.'
    return f'{reason} The whole log is in {path.relative_to(ROOT)}.'


@contextmanager
def step(name: str) -> Iterator[None]:
    """Show that a step begins, and how long it took."""
    start = time.monotonic()
    show(f'{name} …')
    yield
    show(f'{name}: done in {time.monotonic() - start:.0f} s')


def is_stamped(stamp: Path, key: str) -> bool:
    """Return whether a step was completed, for what it depends on as it is now."""
    return stamp.exists() and stamp.read_text() == key


@contextmanager
def alone() -> Iterator[None]:
    """Wait for another set-up of this clone, or for what a killed one has left running."""
    with (CACHE / 'bootstrap.lock').open('w') as lock:
        # The children hold the lock, too: pip and colcon may outlive this process.
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            show('Waiting for another set-up of this clone …')
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def digest(*parts: str | bytes) -> str:
    """Return a short name for everything that a step depends on."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode() if isinstance(part, str) else part)
        whole.update(b'\0')
    return whole.hexdigest()[:16]


# --- The virtual environment -----------------------------------------------------------------


def requirement_files() -> list[Path]:
    """Return the pinned files, in the order in which they are installed."""
    return [ROOT / 'requirements' / f'{name}.txt' for name in REQUIREMENTS]


def venv_key() -> str:
    """Return what the virtual environment depends on: interpreter, place and pins."""
    pins = (path.read_bytes() for path in requirement_files())
    # Not sys.version, whose build date changes with every security update of Python.
    abi = sysconfig.get_config_var('SOABI')
    return digest(INTERPRETER, abi, str(ROOT), *pins)


def is_complete(venv: Path) -> bool:
    """Return whether a set-up came to the end of an environment, whatever its pins were."""
    stamp = venv / '.stamp'
    return stamp.exists() and stamp.read_text() != ''


def keep_one_environment() -> None:
    """Remove the environment of before if its successor is complete, else put it back."""
    if not is_complete(VENV):
        shutil.rmtree(VENV, ignore_errors=True)
        if BEFORE.exists():
            BEFORE.rename(VENV)
            show('What was set up before is back in .venv.')
    shutil.rmtree(BEFORE, ignore_errors=True)


@contextmanager
def replaced_environment() -> Iterator[None]:
    """Put the environment aside while a new one is made, and back if that fails."""
    try:
        if VENV.exists():
            try:
                VENV.rename(BEFORE)
            except OSError:  # .cache may be on another disk.
                shutil.rmtree(VENV, ignore_errors=True)
        yield
    finally:
        keep_one_environment()


def size_of(*folders: Path) -> int:
    """Return the bytes that removing some folders frees; uv links its cache into .venv."""
    inodes = {}
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                status = os.lstat(os.path.join(place, name))
                inodes[status.st_dev, status.st_ino] = 512 * status.st_blocks
    return sum(inodes.values())


def make_room() -> None:
    """Refuse a full disk, and remove the old environment if there is no room beside it."""
    free = shutil.disk_usage(ROOT).free
    if free >= 1e9 * DISK_SPACE_GB:
        return
    ours = (VENV, CACHE / 'uv')
    check_disk(free + size_of(*ours))
    if VENV.exists():
        show('There is no room for two environments: removing the old one first.')
    for folder in ours:
        shutil.rmtree(folder, ignore_errors=True)


def make_venv() -> None:
    """Make the virtual environment anew, unless it is as it should be."""
    keep_one_environment()  # A killed set-up has left two.
    stamp = VENV / '.stamp'
    key = venv_key()
    if is_stamped(stamp, key):
        return
    check_python_parts()
    check_tools()
    make_room()
    name = 'Installing ROS 2 Jazzy and the pinned packages into .venv'
    with step(name), replaced_environment():
        run([INTERPRETER, '-m', 'venv', str(VENV)], outside_environment())
        install(requirement_files())
        relocate_cmake_exports()
        stamp.write_text(key)
        remove_builds({*built_packages(), *package_folders()})


def install(files: list[Path]) -> None:
    """Install exactly the pinned packages; the lists are complete, so nothing is resolved."""
    build, *others = files
    pip = [str(VENV / 'bin/python'), '-m', 'pip', 'install', '--no-input']
    pip += ['--disable-pip-version-check', '--progress-bar=off', '--no-user']
    # uv takes a third of pip's time; Python compiles what it imports.
    uv = [str(VENV / 'bin/uv'), 'pip', 'install', '--system-certs']
    uv += [f'--python={VENV}/bin/python']
    run([*pip, *chosen([build])], underlay())
    try:
        run([*uv, *chosen(others)], underlay() | offline(), uv_progress)
    except SetupError:
        # It does not read pip's configuration, which may name a mirror.
        run([*pip, *chosen(others)], underlay(), lambda _line: 'pip, for uv could not')


def offline() -> dict[str, str]:
    """Return what tells uv to install from a folder, where pip was told so."""
    if not os.environ.get('PIP_NO_INDEX'):
        return {}
    return {
        'UV_OFFLINE': '1',
        'UV_NO_INDEX': '1',
        'UV_FIND_LINKS': os.environ.get('PIP_FIND_LINKS', ''),
    }


def chosen(files: list[Path]) -> list[str]:
    """Return what pip and uv have to be told to install these files as they are."""
    options = ['--no-deps', '--no-build-isolation', '--only-binary=:all:']
    options += [f'--no-binary={name}' for name in NO_WHEEL]
    return options + [f'--requirement={file}' for file in files]


def uv_progress(line: str) -> str | None:
    """Return what uv does next; it says what it has done."""
    return {'Resolved': 'downloading', 'Prepared': 'installing'}.get(line.partition(' ')[0])


def relocate_cmake_exports() -> None:
    """Point the wheels' CMake exports at this interpreter.

    They name the headers of Python and numpy by the paths of the machine that built them.
    """
    built_on = r'/opt/python/cp\d+-cp\d+'
    paths = {
        rf'{built_on}/include/python3\.\d+': sysconfig.get_path('include'),
        rf'{built_on}/lib/python3\.\d+/site-packages': str(site_packages()),
    }
    for file in VENV.glob('share/*/cmake/*Export*.cmake'):
        before = after = file.read_text()
        for pattern, path in paths.items():
            after = re.sub(pattern, path, after)
        if after != before:
            file.write_text(after)


def site_packages() -> Path:
    """Return where the virtual environment keeps its packages."""
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    return VENV / 'lib' / version / 'site-packages'


# --- The environment of ROS ------------------------------------------------------------------


def outside_environment() -> dict[str, str]:
    """Return the caller's environment without what another ROS or Python left in it."""
    names = rf'({"|".join(FOREIGN)}|RMW_IMPLEMENTATION)$'
    foreign = re.compile(rf'(ROS|AMENT|COLCON|CMAKE)_|{INSTALLERS}|{names}')
    kept = {name: value for name, value in os.environ.items() if not foreign.match(name)}
    return kept | own_folders() | {'TMPDIR': str(TEMPORARY)}


def own_folders() -> dict[str, str]:
    """Return the variables that keep caches and logs of our tools inside the clone."""
    return {
        'COLCON_HOME': str(CACHE / 'colcon'),
        'MPLCONFIGDIR': str(CACHE / 'matplotlib'),
        'NUMBA_CACHE_DIR': str(CACHE / 'numba'),
        'PIP_CACHE_DIR': str(CACHE / 'pip'),
        'PRE_COMMIT_HOME': str(CACHE / 'pre-commit'),
        'ROS_LOG_DIR': str(ROOT / 'log' / 'ros'),
        'UV_CACHE_DIR': str(CACHE / 'uv'),
    }


def ros_variables() -> dict[str, str]:
    """Return what makes the virtual environment a ROS 2 installation."""
    return {
        'AMENT_PREFIX_PATH': str(VENV),
        'CMAKE_PREFIX_PATH': str(VENV),
        'ROS_DISTRO': 'jazzy',
        'ROS_PYTHON_VERSION': '3',
        'ROS_VERSION': '2',
        'RMW_IMPLEMENTATION': 'rmw_fastrtps_cpp',
        'VIRTUAL_ENV': str(VENV),
        # Else a .pth file of the wheels starts the interpreter twice, pip's included.
        '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1',
    }


def search_paths() -> dict[str, str]:
    """Return what goes to the front of the caller's search paths."""
    libraries = [VENV / 'lib', *sorted(site_packages().glob('ros_*.libs'))]
    return {
        'LD_LIBRARY_PATH': ':'.join(map(str, libraries)),
        'PATH': str(VENV / 'bin'),
    }


def underlay() -> dict[str, str]:
    """Return the environment in which pip and colcon run."""
    environment = outside_environment() | ros_variables()
    for name, value in search_paths().items():
        environment[name] = ':'.join(filter(None, (value, environment.get(name))))
    return environment


def write_environment() -> None:
    """Write the same environment as shell, for env.sh to read."""
    # env.sh looks for the place as it is, not as a shell would have it quoted.
    lines = [f'# {ROOT}', f'unset {" ".join(FOREIGN)} COLCON_PREFIX_PATH']
    for name, value in (own_folders() | ros_variables()).items():
        lines.append(f'export {name}={shlex.quote(value)}')
    for name, value in search_paths().items():
        lines.append(f'export {name}={shlex.quote(value)}${{{name}:+:${name}}}')
    chosen = ''.join(f'${{{name}-}}' for name in DISCOVERY)
    lines.append(f'[ -n "{chosen}" ] || export {DISCOVERY[0]}=LOCALHOST')
    file, text = VENV / 'environment.sh', os.fsencode('\n'.join(lines) + '\n')
    if not file.exists() or file.read_bytes() != text:
        file.write_bytes(text)


# --- The workspace ---------------------------------------------------------------------------


def package_folders() -> dict[str, Path]:
    """Return the folder of every package of the workspace by its name."""
    return {file.parent.name: file.parent for file in sorted(ROOT.glob('src/*/package.xml'))}


def files_of(package: Path) -> Iterator[Path]:
    """Return the files of a package but its tests, in a fixed order."""
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(f for f in folders if f not in {'__pycache__', 'test'})
        yield from (Path(folder, name) for name in sorted(names))


def package_key(package: Path) -> str:
    """Return what the build of a package depends on.

    The folder of the Python modules is linked, so they do not count. Other files are linked one
    by one, launch files among them, and count by name. What CMake and setuptools read counts
    in full.
    """
    parts: list[str | bytes] = [venv_key()]
    for path in files_of(package):
        if BUILT_FROM.match(path.name):
            parts.append(path.read_bytes())
        if path.suffix != '.py' or 'launch' in path.parent.name:
            parts.append(str(path.relative_to(package)))
    return digest(*parts)


def write_sums() -> None:
    """Write the checksums of what the build was made from, for env.sh to tell a change."""
    paths = requirement_files()
    for package in package_folders().values():
        paths += [path for path in files_of(package) if BUILT_FROM.match(path.name)]
    sums = (
        f'{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT)}\n'
        for path in paths
    )
    (VENV / 'built.sha256').write_text(''.join(sums))


def built_packages() -> set[str]:
    """Return the names of the packages that a set-up has built; nothing else is ours to remove."""
    return {stamp.parent.name for stamp in ROOT.glob('install/*/.stamp')}


def remove_builds(names: Iterable[str]) -> None:
    """Remove what was built of some packages; other folders in build/ are somebody's results."""
    for name in names:
        shutil.rmtree(ROOT / 'build' / name, ignore_errors=True)
        shutil.rmtree(ROOT / 'install' / name, ignore_errors=True)


def build_workspace() -> None:
    """Build what has changed, with links to the sources, and remove packages that have gone."""
    packages = package_folders()
    remove_builds(built_packages() - set(packages))
    keys = {name: package_key(folder) for name, folder in packages.items()}
    stamps = {name: ROOT / 'install' / name / '.stamp' for name in packages}
    due = [name for name in packages if not is_stamped(stamps[name], keys[name])]
    if not due:
        return
    with step(f'Building {len(due)} of {len(packages)} packages of the workspace'):
        check_tools()
        remove_builds(due)
        colcon_build(due)
        for name in due:
            stamps[name].write_text(keys[name])


def colcon_build(packages: list[str]) -> None:
    """Build some packages."""
    done = 0

    def progress(line: str) -> str | None:
        nonlocal done
        done += line.startswith('Finished <<<')
        return f'{done} of {len(packages)} packages'

    command = ['colcon', '--log-base', 'log/colcon', '--log-level', 'error', 'build']
    command += ['--base-paths', 'src', '--symlink-install', '--parallel-workers', '2']
    command += ['--packages-select', *packages, '--cmake-args', '-DBUILD_TESTING=OFF', '-Wno-dev']
    run(command, underlay(), progress)


# --- The kernels -----------------------------------------------------------------------------


def kernel_stamp() -> Path:
    """Return the file that says that all kernels of the present sources are compiled."""
    path = ROOT / 'src/stewart_kinematics/stewart_kinematics/kernels/kernel_cache.py'
    spec = importlib.util.spec_from_file_location('kernel_cache', path)
    assert spec is not None
    assert spec.loader is not None
    kernel_cache = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernel_cache)
    digest = kernel_cache.source_digest([str(folder) for folder in package_folders().values()])
    return CACHE / 'numba' / f'{kernel_cache.PREFIX}{digest}' / '.complete'


@contextmanager
def compiled_kernels() -> Iterator[None]:
    """Compile all kernels of the workspace while something else is done, unless they are."""
    stamp, key = kernel_stamp(), venv_key()
    if is_stamped(stamp, key):
        yield
        return
    alone_now = False

    def progress(line: str) -> str | None:
        return line.strip() if alone_now else None

    command = [str(VENV / 'bin/python'), 'scripts/compile_kernels.py']
    sources = ':'.join(map(str, package_folders().values()))
    environment = underlay() | {'PYTHONPATH': sources, 'OMP_NUM_THREADS': '1'}
    with ThreadPoolExecutor(1) as pool:
        compilation = pool.submit(run, command, environment, progress, KERNEL_LOG)
        yield
        alone_now = True
        with step('Compiling the numerical kernels'):
            compilation.result()
            stamp.write_text(key)


# --- All of it -------------------------------------------------------------------------------


def main() -> int:
    """Bring the environment up to date."""
    try:
        check_clone_path(ROOT)
        check_platform(platform.system(), platform.machine())
        check_loopback()
        for folder in (TEMPORARY, LOG.parent):
            folder.mkdir(parents=True, exist_ok=True)
        with alone():
            make_venv()
            write_environment()
            with compiled_kernels():
                build_workspace()
            write_sums()
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        # Where no file is named, it is one that was being written.
        print(f'{error.filename or LOG}: {error.strerror or error}.', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\nInterrupted; the next call takes it up again.', file=sys.stderr)
        return 130
    return 0


if __name__ == '__main__':
    sys.exit(main())
