# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""No machine code of other sources is ever run, and no folder that somebody uses is removed."""

from __future__ import annotations

import ast
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile

import pytest
import stewart_description
import stewart_kinematics
from stewart_kinematics.kernels import kernel_cache

CONSTANTS = 'SLOT = {}\n'
KERNEL = """
from stewart_kinematics.kernels.compiled import kernel, SCALAR
from stewart_numbered.constants import SLOT

@kernel(SCALAR, SCALAR)
def shifted(value):
    return value + SLOT
"""
PROBE = """
from stewart_numbered.kernels import shifted
print(shifted(10.0), sum(shifted.stats.cache_hits.values()))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with copies of the packages, and one more with a kernel and a constant."""
    folder = tmp_path / 'site'
    for package in (stewart_kinematics, stewart_description):
        source = Path(package.__file__).parent
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns('__pycache__'))
    numbered = folder / 'stewart_numbered'
    numbered.mkdir()
    (numbered / '__init__.py').touch()
    (numbered / 'constants.py').write_text(CONSTANTS.format(1))
    (numbered / 'kernels.py').write_text(KERNEL)
    return folder


ROOT = Path(stewart_kinematics.__file__).parents[3]
DECLARED = 'from stewart_kinematics.kernels.compiled import kernel'


def run(site: Path, cache: Path, probe: str = PROBE) -> list[str]:
    """Run the probe in a process that finds the packages in a folder only."""
    done = subprocess.run(
        [sys.executable, '-B', '-c', probe],
        env={
            **os.environ,
            'PYTHONPATH': str(site),
            'NUMBA_CACHE_DIR': str(cache),
            'XDG_CACHE_HOME': str(cache),
        },
        cwd=site,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_renumbered_constant_means_new_machine_code(copy: Path, tmp_path: Path) -> None:
    cache, constants = tmp_path / 'cache', copy / 'stewart_numbered/constants.py'
    assert run(copy, cache) == ['11.0', '0']

    # Of the same size and date, as a packaging tool or a checkout may leave it.
    stamp = constants.stat()
    constants.write_text(CONSTANTS.format(2))
    os.utime(constants, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert run(copy, cache) == ['12.0', '0']

    # Kept code is taken, and the first folder is still there.
    constants.write_text(CONSTANTS.format(1))
    assert run(copy, cache) == ['11.0', '1']


@pytest.mark.slow
def test_linked_sources_share_their_kernels(copy: Path, tmp_path: Path) -> None:
    """As `colcon build --symlink-install` links them."""
    run(copy, tmp_path / 'cache')
    linked = tmp_path / 'linked'
    linked.mkdir()
    for package in copy.glob('stewart_*'):
        (linked / package.name).symlink_to(package)
    assert run(linked, tmp_path / 'cache') == ['11.0', '1']


def test_digest_sees_what_kernels_import_and_nothing_else(copy: Path) -> None:
    def digest() -> str:
        return kernel_cache.source_digest([str(copy)])

    before = digest()
    (copy / 'stewart_numbered/constants.py').write_text(CONSTANTS.format(3))
    changed = digest()
    assert changed != before
    for unrelated in ('stewart_numbered/page.py', 'stewart_kinematics/nodes/trajectory_node.py'):
        (copy / unrelated).write_text('PAGE = 1\n')
    assert digest() == changed
    assert 'stewart_numbered.constants' in kernel_cache.kernel_sources([str(copy)])


@pytest.mark.parametrize(
    'line',
    [
        'from stewart_other.deep import NUMBER',
        'from stewart_other import (\n    deep,\n    wide,\n)',
        'import stewart_other.deep',
        'def late():\n    from stewart_other.deep import NUMBER',
    ],
)
def test_every_way_to_import_is_followed(tmp_path: Path, line: str) -> None:
    for name, text in {
        'stewart_one/__init__.py': '',
        'stewart_one/kernels.py': f'{DECLARED}\n{line}\n',
        'stewart_other/__init__.py': '',
        'stewart_other/deep.py': 'NUMBER = 1\n',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert set(kernel_cache.kernel_sources([str(tmp_path)])) >= {
        'stewart_one.kernels',
        'stewart_other.deep',
    }


def test_old_folders_go_unless_somebody_holds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []
    for number in range(4):
        lock = tmp_path / f'kernels-{number}' / '.lock'
        held.append(kernel_cache._hold(lock.parent))
        os.utime(lock, (number, number))
    (tmp_path / 'somebody' / 'else').mkdir(parents=True)
    for descriptor in held[1:]:
        os.close(descriptor)

    kernel_cache.remove_old(tmp_path, kept=2)

    os.close(held[0])
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ['kernels-0', 'kernels-2', 'kernels-3', 'somebody']


def test_cache_that_cannot_be_written_is_replaced_for_the_time_being(copy: Path) -> None:
    # A file in the way stops root, too, whom permissions do not.
    blocked = copy / 'file'
    blocked.touch()
    assert run(copy, blocked / 'cache') == ['11.0', '0']


@pytest.mark.parametrize('home_is_blocked', [False, True])
def test_a_cache_of_another_account_is_replaced_by_the_users_own(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    home_is_blocked: bool,
) -> None:
    blocked, held = tmp_path / 'file', list[object]()
    blocked.touch()
    home = blocked if home_is_blocked else tmp_path / 'home'
    monkeypatch.setenv('NUMBA_CACHE_DIR', str(blocked / 'cache'))
    monkeypatch.setenv('XDG_CACHE_HOME', str(home))
    monkeypatch.setattr(kernel_cache, 'source_digest', lambda: '0123')
    monkeypatch.setattr(kernel_cache, '_held', held)

    folders = [kernel_cache.kernel_folder() for _ in range(2)]

    said = capsys.readouterr().err.splitlines()
    assert f'{blocked}/cache: ' in said[0]
    if home_is_blocked:
        assert all(folder.name.startswith('stewart-kernels-') for folder in folders)
    else:
        assert folders == [home / 'stewart/kernels/kernels-0123'] * 2
        assert len(said) == 1
    for item in held:
        if isinstance(item, int):
            os.close(item)
        elif isinstance(item, tempfile.TemporaryDirectory):
            item.cleanup()


def test_every_kernel_is_declared_where_the_cache_is_known() -> None:
    """What imports numba's decorators itself keeps its kernels elsewhere."""
    offenders = [
        str(path.relative_to(ROOT))
        for path in ROOT.glob('src/*/stewart_*/**/*.py')
        if 'njit' in path.read_text() and path.name != 'compiled.py'
    ]
    assert offenders == []


def without_signature(tree: ast.Module) -> set[str]:
    """Return the functions that numba compiles for the types that they are called with."""
    return {
        item.name
        for item in tree.body
        if isinstance(item, ast.FunctionDef)
        and {'part', 'inferred'} & {getattr(each, 'id', '') for each in item.decorator_list}
    }


def used(tree: ast.Module) -> set[str]:
    """Return what a module imports by name, and the attributes of modules that it imports so."""
    imported = {
        alias.asname or alias.name: f'{node.module}.{alias.name}'
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return {*imported.values()} | {
        f'{imported[node.value.id]}.{node.attr}'
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in imported
    }


def test_only_kernels_call_what_has_no_signature() -> None:
    """Anybody else would have it compiled while a platform moves, and in every fresh clone."""
    texts = {
        path: path.read_text()
        for top in ('src', 'papers', 'benchmarks')
        for path in ROOT.glob(f'{top}/**/*.py')
    }
    kernels = {
        path: '.'.join(path.relative_to(ROOT).with_suffix('').parts[2:]) or path.stem
        for path, text in texts.items()
        if 'compiled import' in text
    }
    inlined = {
        f'{module}.{name}'
        for path, module in kernels.items()
        if '@part' in texts[path] or '@inferred' in texts[path]
        for name in without_signature(ast.parse(texts[path]))
    }
    assert 'stewart_kinematics.kernels.vectors.cross' in inlined
    # Whoever imports one names its module, or imports that from its folder.
    places = {f'{name.rsplit(".", n)[0]} import' for name in inlined for n in (1, 2)}
    offenders = {
        str(path.relative_to(ROOT)): found
        for path, text in texts.items()
        if path not in kernels and any(place in text for place in places)
        if (found := used(ast.parse(text)) & inlined)
    }
    assert offenders == {}
