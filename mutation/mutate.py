# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Change modules that safety rests on, one small mistake at a time, and see whether a test fails.

``python mutation/mutate.py [MODULE ...] [--most N] [--again]``: of the modules of TARGETS whose
names contain one of the words, or all; N of their mutants, drawn at random; with --again only the
survivors of the last run, where the module is as it was then; of others nothing older is kept.

Every mutant runs in a process forked from one that has pytest and numpy loaded, with kernels as
plain Python, so it costs what its tests cost: first those that take under a second, and the others
where it survives. Tests that fail with plain kernels before anything is changed, or take above 15
seconds, are left out. A mutant that uses three times the processor time of the original, and three
seconds more, is killed. Results are kept module by module in build/benchmarks/mutation.json.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Generator, Sequence
import hashlib
import importlib
import importlib.abc
import importlib.util
import json
import math
import multiprocessing
import os
from pathlib import Path
import random
import resource
import signal
import sys
import tempfile
import time
from types import CodeType, ModuleType
from typing import Any

os.environ['NUMBA_DISABLE_JIT'] = '1'
sys.path.insert(0, str(Path(__file__).parents[1] / 'benchmarks'))
import harness
import numpy  # noqa: F401 - for the forks
import pytest
import scipy.optimize  # noqa: F401
import scipy.spatial.transform  # noqa: F401
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, mutants

ROOT = Path(__file__).parents[1]
REASONS = Path(__file__).with_name('reasons.yaml')
RESULT = harness.OUTPUT / 'mutation.json'
CONFIGURED = ('--rootdir', str(ROOT), '-c', str(ROOT / 'pyproject.toml'))
CHOSEN = 'not slow and not ros and not realtime and not installed'
QUICK, LONGEST = 1.0, 15.0
KINEMATICS, DRIVER, CUEING = 'stewart_kinematics', 'stewart_driver', 'stewart_cueing'
PATH_TESTS = ('interpolation', 'interpolation_stops', 'path', 'path_gaps', 'speed_scaling')
PATH_TESTS += ('jog', 'two_sources')
GUARD_TESTS = ('motion_guard', 'motion_guard_stream', 'guard_margins', 'crank_gap')
CYCLE_TESTS = ('cycle', 'cycle_faults', 'cycle_grid', 'inline_cycle', 'speed_scaling', 'jog')
TARGETS: dict[str, tuple[str, ...]] = {
    f'{CUEING}.kernels.governor': ('governor',),
    f'{KINEMATICS}.control.admission': ('arbitration', 'steering'),
    f'{KINEMATICS}.kernels.attitudes': ('attitude', 'fading', 'waves', 'steering'),
    f'{KINEMATICS}.kernels.guard': ('motion_guard',),
    f'{KINEMATICS}.kernels.legs': ('inverse', 'jacobian', 'joint_states'),
    f'{KINEMATICS}.kernels.linear_systems': ('linear_systems',),
    f'{KINEMATICS}.kernels.newton': ('newton', 'forward'),
    f'{KINEMATICS}.kernels.rods': ('rods', 'joint_states'),
    f'{KINEMATICS}.kernels.rotations': ('rotations', 'attitude', 'inverse', 'newton', 'rods'),
    f'{KINEMATICS}.kernels.steering': ('steering',),
    f'{KINEMATICS}.kernels.tracking': ('tracking',),
    f'{KINEMATICS}.kernels.vectors': ('rotations', 'inverse', 'newton', 'rods'),
    f'{KINEMATICS}.limits.continuity': ('motion_guard_stream', 'crank_gap'),
    f'{KINEMATICS}.limits.guard': GUARD_TESTS,
    f'{KINEMATICS}.limits.guarded': GUARD_TESTS,
    f'{DRIVER}.control.cycle': CYCLE_TESTS,
    f'{DRIVER}.control.operation': CYCLE_TESTS,
    f'{DRIVER}.control.state_machine': ('state_machine',),
    f'{DRIVER}.control.supervision': ('supervision', 'standstill', 'daq_core'),
    f'{DRIVER}.daq.amplifiers': ('daq_core',),
    f'{DRIVER}.ethercat.ending': ('ethercat_core', 'ethercat_end'),
    f'{DRIVER}.path.common_stop': ('common_stop', 'interpolation_stops'),
    f'{DRIVER}.path.interpolation': PATH_TESTS,
    f'{DRIVER}.path.jog': ('jog',),
    f'{DRIVER}.path.leg_kernels': ('segment', 'interpolation', 'common_stop', 'supervision'),
    f'{DRIVER}.path.path': PATH_TESTS,
    f'{DRIVER}.path.path_clock': ('path', 'path_gaps', 'speed_scaling'),
    f'{DRIVER}.path.segment': ('segment', 'interpolation'),
}


class Exchanged(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from given code."""

    def __init__(self, module: str, code: CodeType) -> None:
        self._module, self._code = module, code

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Find that module only."""
        origin = self._code.co_filename
        if name != self._module:
            return None
        return importlib.util.spec_from_file_location(name, origin, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the given code."""
        exec(self._code, module.__dict__)


def source_of(module: str) -> Path:
    """Return the file of a module."""
    package = module.partition('.')[0]
    return ROOT / 'src' / package / f'{module.replace(".", "/")}.py'


def fingerprint(module: str) -> str:
    """Return the SHA-256 of a module's source: what was found of another source counts no more."""
    return hashlib.sha256(source_of(module).read_bytes()).hexdigest()


def tests_of(module: str) -> list[str]:
    """Return the test files of a module."""
    folder = ROOT / 'src' / module.partition('.')[0] / 'test'
    return [str(folder / f'test_{name}.py') for name in TARGETS[module]]


def preload(module: str) -> None:
    """Import all modules behind the tests that do not need the mutated one themselves."""
    needs: dict[str, set[str]] = {}

    def look(path: Path) -> set[str]:
        """Return the modules of ours that a file imports, by itself or through others."""
        found = set()
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith('stewart_'):
                names = [str(node.module), *(f'{node.module}.{name.name}' for name in node.names)]
                found |= {name for name in names if source_of(name).exists()}
        for name in found - needs.keys():
            needs[name] = set()
            needs[name] = look(source_of(name))
        return found.union(*(needs[name] for name in found))

    sys.path += map(str, ROOT.glob('src/stewart_*'))
    for path in tests_of(module):
        look(Path(path))
    for name in sorted(needs):
        if name != module and module not in needs[name] and 'nodes' not in name:
            importlib.import_module(name)


class Ledger:
    """A plugin of pytest that notes each test's processor time [s], infinite where it failed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._failed = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note a test."""
        self._failed, begin = False, time.process_time()
        done = yield
        self.seconds[item.nodeid] = math.inf if self._failed else time.process_time() - begin
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        self._failed |= report.failed


def attempt(
    module: str, code: CodeType, tests: Sequence[str], seconds: float, ledger: Path | None = None
) -> tuple[int, float]:
    """Run tests with other code of a module; return the exit status and processor time [s].

    With a ledger, all of them are run, and it is written.
    """
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        sys.meta_path.insert(0, Exchanged(module, code))
        noted = Ledger()
        options = ['-q', '-m', CHOSEN, *CONFIGURED, *([] if ledger else ['-x'])]
        status = pytest.main([*options, *tests], plugins=[noted])
        if ledger:
            ledger.write_text(json.dumps(noted.seconds), encoding='utf-8')
        os._exit(int(status))
    deadline = time.monotonic() + 60.0 + 20.0 * seconds
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)


def quickest_first(module: str, source: str) -> tuple[list[str], list[str], float]:
    """Return quick and long tests that pass with kernels in Python, and the processor time [s]."""
    code = compile(source, str(source_of(module)), 'exec', dont_inherit=True)
    with tempfile.TemporaryDirectory(prefix='mutate-') as folder:
        ledger = Path(folder) / 'seconds.json'
        _, used = attempt(module, code, tests_of(module), 600.0, ledger)
        seconds = json.loads(ledger.read_text(encoding='utf-8'))
    passing = sorted((took, name) for name, took in seconds.items() if took < LONGEST)
    quick = [name for took, name in passing if took < QUICK]
    long = [name for took, name in passing if took >= QUICK]
    if not quick:
        raise RuntimeError(f'no test of {module} passes before anything is changed')
    return quick, long, used


def examine(work: tuple[str, int, Sequence[dict[str, Any]] | None]) -> dict[str, Any]:
    """Try so many mutants of a module, drawn at random, or those that are given."""
    module, most, again = work
    preload(module)
    path = source_of(module)
    source = path.read_text(encoding='utf-8')
    lines = source.splitlines()
    quick, long, used = quickest_first(module, source)
    spent, survivors = used, []
    everything = list(mutants(source, str(path)))
    # The same ones in every run.
    drawn = random.Random(module).sample(everything, min(most, len(everything)))
    wanted = None if again is None else {(item['line'], item['change']) for item in again}
    for mutant in sorted(drawn, key=lambda item: item.line):
        if wanted is not None and (mutant.line, mutant.text) not in wanted:
            continue
        status, took = attempt(module, mutant.code, quick, 3.0 * used + 3.0)
        spent += took
        if status == 0 and long:
            status, took = attempt(module, mutant.code, long, 3.0 * used + 3.0)
            spent += took
        if status == 0:
            survivors.append(entry(mutant, lines))
            print(f'{module}:{mutant.line}: {mutant.text}', flush=True)
    return {
        'module': module,
        'sha256': fingerprint(module),
        'tests': len(quick) + len(long),
        'mutants': len(everything),
        'tried': len(drawn),
        'killed': len(drawn) - len(survivors),
        'survivors': survivors,
        'processor_s': spent,
    }


def entry(mutant: Mutant, lines: Sequence[str]) -> dict[str, Any]:
    """Return a survivor as it is kept."""
    return {'line': mutant.line, 'change': mutant.text, 'source': lines[mutant.line - 1].strip()}


def explained(module: str, survivor: dict[str, Any]) -> dict[str, Any]:
    """Add why a survivor is none that a test could find, where that is known."""
    for known in yaml.safe_load(REASONS.read_text(encoding='utf-8')):
        same = module.endswith(known['module']) and survivor['source'] == known['source']
        if same and survivor['change'] in known.get('changes', [survivor['change']]):
            return {**survivor, 'reason': known['reason']}
    return {**survivor, 'reason': ''}


def main() -> int:
    """Examine, print and keep; 1 if of a module fewer than 85 % of the mutants were killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('words', nargs='*', metavar='MODULE')
    parser.add_argument('--most', type=int, default=10_000, help='of each module, at random')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument(
        '--again',
        action='store_true',
        help='only survivors of the last run, where the module is as it was',
    )
    chosen = parser.parse_args()
    before = json.loads(RESULT.read_text(encoding='utf-8')) if RESULT.exists() else {}
    kept = {
        item['module']: item
        for item in before.get('mutation', ())
        if item['module'] in TARGETS and item['sha256'] == fingerprint(item['module'])
    }
    modules = [
        name for name in TARGETS if not chosen.words or any(word in name for word in chosen.words)
    ]
    # Loads what pytest brings along.
    pytest.main(['--collect-only', '-qq', *CONFIGURED, str(Path(__file__).parent)])
    # A failing example is enough, it need not be a small one.
    from hypothesis import Phase, settings

    phases = Phase.explicit, Phase.generate
    usual = settings.get_profile('stewart')
    settings.register_profile('stewart', usual, phases=phases, database=None)
    settings.load_profile('stewart')
    os.chdir(ROOT)
    last = kept if chosen.again else {}
    work = [
        (name, last[name]['tried'], last[name]['survivors'])
        if name in last
        else (name, chosen.most, None)
        for name in modules
    ]
    # A process for each, as each has other modules loaded.
    pool = multiprocessing.get_context('fork').Pool(chosen.jobs, maxtasksperchild=1)
    for item in pool.imap_unordered(examine, work, chunksize=1):
        kept[item['module']] = item
        print(
            f'{item["module"]}: {item["killed"]} of {item["tried"]} killed, '
            f'{item["processor_s"]:.0f} s of processor time',
            flush=True,
        )
        harness.OUTPUT.mkdir(parents=True, exist_ok=True)
        for name, row in kept.items():
            row['survivors'] = [explained(name, survivor) for survivor in row['survivors']]
        ordered = [kept[name] for name in TARGETS if name in kept]
        about = harness.machine(('numpy', 'pytest'))
        content = {'machine': about, 'mutation': ordered}
        RESULT.write_text(json.dumps(content, indent=1) + '\n', encoding='utf-8')
    return int(any(kept[name]['killed'] < 0.85 * kept[name]['tried'] for name in modules))


if __name__ == '__main__':
    sys.exit(main())
