# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A file is there as a whole or not at all."""

import errno
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading

import pytest
from stewart_tables.whole_files import (
    rename_folder,
    sync,
    terminated_as_interrupted,
    whole_file,
)


def test_text_and_bytes_are_written(tmp_path):
    with whole_file(tmp_path / 'text') as stream:
        stream.write('größer\n')
    with whole_file(tmp_path / 'bytes', binary=True) as stream:
        stream.write(b'\x00\xff')
    assert (tmp_path / 'text').read_bytes() == 'größer\n'.encode()
    assert (tmp_path / 'bytes').read_bytes() == b'\x00\xff'
    assert sorted(os.listdir(tmp_path)) == ['bytes', 'text']


def test_target_is_not_there_until_it_is_complete(tmp_path):
    with whole_file(tmp_path / 'out') as stream:
        stream.write('half')
        stream.flush()
        assert not (tmp_path / 'out').exists()
    assert (tmp_path / 'out').read_text() == 'half'


@pytest.fixture
def calls(monkeypatch):
    """Return a list of what is synced, with its content, and of what is renamed."""
    made, fsync, rename = [], os.fsync, os.replace

    def traced_fsync(descriptor):
        place = Path(f'/proc/self/fd/{descriptor}').resolve()
        content = place.read_text() if place.is_file() else sorted(os.listdir(place))
        made.append(('sync', place, content))
        fsync(descriptor)

    def traced_rename(source, destination):
        made.append(('rename', Path(source), Path(destination)))
        rename(source, destination)

    monkeypatch.setattr('os.fsync', traced_fsync)
    monkeypatch.setattr('os.replace', traced_rename)
    monkeypatch.setattr('os.rename', traced_rename)
    return made


def test_file_is_synced_before_it_is_renamed_and_its_folder_afterwards(tmp_path, calls):
    target = tmp_path / 'out'
    with whole_file(target) as stream:
        stream.write('complete')
    part = calls[0][1]
    assert part != target
    assert calls == [
        ('sync', part, 'complete'),
        ('rename', part, target),
        ('sync', tmp_path, ['out']),
    ]


def test_folder_is_synced_before_it_is_renamed_and_its_parents_afterwards(tmp_path, calls):
    before, after = tmp_path / 'made' / 'run', tmp_path / 'run'
    (before / 'inner').mkdir(parents=True)
    (before / 'inner' / 'file').write_text('complete')
    rename_folder(before, after)
    place = calls.index(('rename', before, after))
    assert ('sync', before / 'inner' / 'file', 'complete') in calls[:place]
    assert ('sync', before / 'inner', ['file']) in calls[:place]
    assert ('sync', before, ['inner']) in calls[:place]
    assert ('sync', tmp_path, ['made', 'run']) in calls[place:]
    assert ('sync', tmp_path / 'made', []) in calls[place:]


@pytest.mark.parametrize(('code', 'passes'), [(errno.EINVAL, True), (errno.EIO, False)])
def test_only_a_disk_that_fails_is_an_error(tmp_path, monkeypatch, code, passes):
    def fail(_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr('os.fsync', fail)
    if passes:
        sync(tmp_path)
    else:
        with pytest.raises(OSError, match='error'):
            sync(tmp_path)


@pytest.mark.parametrize('error', [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize('before', [None, 'what was there'])
def test_interruption_leaves_the_target_as_it_was(tmp_path, error, before):
    target = tmp_path / 'out'
    if before is not None:
        target.write_text(before)

    def write_half():
        with whole_file(target) as stream:
            stream.write('half')
            raise error

    with pytest.raises(error):
        write_half()
    assert os.listdir(tmp_path) == ([] if before is None else ['out'])
    assert before is None or target.read_text() == before


def test_permissions_and_links_stay(tmp_path):
    target, link = tmp_path / 'out', tmp_path / 'link'
    target.write_text('old')
    target.chmod(0o640)
    link.symlink_to(target)
    with whole_file(link) as stream:
        stream.write('new')
    assert link.is_symlink()
    assert target.read_text() == 'new'
    assert target.stat().st_mode & 0o777 == 0o640


def test_pipe_is_written_to_directly(tmp_path):
    pipe, heard = tmp_path / 'pipe', []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    with whole_file(pipe) as stream:
        stream.write('through')
    reader.join()
    assert heard == ['through']


def test_error_carries_the_name_of_the_target(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, whole_file(tmp_path / 'no' / 'out'):
        pass
    assert caught.value.filename == str(tmp_path / 'no' / 'out')
    with pytest.raises(OSError, match='No space left') as full, whole_file('/dev/full') as stream:
        stream.write('x')
    assert full.value.filename == '/dev/full'


def test_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError), whole_file(tmp_path):
        pass


@pytest.mark.parametrize('name', ['SIGTERM', 'SIGHUP', 'SIGINT'])
@pytest.mark.parametrize('moment', ['os.fsync', 'pathlib.Path.replace'])
def test_termination_leaves_nothing_but_the_old_file(tmp_path, name, moment):
    target = tmp_path / 'table.csv'
    target.write_text('old')
    code = (
        'import os, pathlib, signal, sys\n'
        'from stewart_tables.whole_files import whole_file\n'
        # What a shell starts in its background ignores Ctrl-C, and under nohup SIGHUP; so do the
        # children.
        'signal.signal(signal.SIGINT, signal.default_int_handler)\n'
        'signal.signal(signal.SIGHUP, signal.SIG_DFL)\n'
        f'{moment} = lambda *_: signal.raise_signal(signal.{name})\n'
        'with whole_file(sys.argv[1]) as stream:\n'
        "    stream.write('new')\n"
        '    os.fsync(stream.fileno())\n'
    )
    run = run_python(code, target)
    assert 'KeyboardInterrupt' in run.stderr
    assert target.read_text() == 'old'
    assert list(tmp_path.iterdir()) == [target]


def test_a_terminal_that_hangs_up_twice_does_not_interrupt_the_cleaning(tmp_path):
    code = (
        'import pathlib, signal, sys\n'
        'from stewart_tables.whole_files import whole_file\n'
        'unlink = pathlib.Path.unlink\n'
        'def hang_up(*words, **more):\n'
        '    signal.raise_signal(signal.SIGHUP)\n'
        '    unlink(*words, **more)\n'
        'pathlib.Path.unlink = hang_up\n'
        'signal.signal(signal.SIGHUP, signal.SIG_DFL)\n'
        'with whole_file(sys.argv[1]) as stream:\n'
        '    signal.raise_signal(signal.SIGHUP)\n'
    )
    run = run_python(code, tmp_path / 'table.csv')
    assert 'KeyboardInterrupt' in run.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('handler', [signal.SIG_IGN, signal.default_int_handler])
def test_a_signal_that_ends_no_process_stays_as_it_is(handler):
    # As under nohup, and in a node that stops by itself.
    before = signal.signal(signal.SIGHUP, handler)
    try:
        with terminated_as_interrupted():
            assert signal.getsignal(signal.SIGHUP) is handler
        assert signal.getsignal(signal.SIGHUP) is handler
    finally:
        signal.signal(signal.SIGHUP, before)


def run_python(code, target):
    return subprocess.run(
        [sys.executable, '-c', code, target],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
