# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What cannot be written is refused while the command line is read."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest
from stewart_tables.errors import ConfigurationError
from stewart_tables.outputs import (
    output_file,
    output_folder,
    output_page,
    output_stream,
    spare_file,
)


@pytest.mark.parametrize('name', ['new.csv', 'old.csv', 'link.csv'])
def test_file_that_can_be_written_is_taken_as_typed(tmp_path: Path, name: str) -> None:
    (tmp_path / 'old.csv').touch()
    (tmp_path / 'link.csv').symlink_to('old.csv')
    assert output_file(str(tmp_path / name)) == str(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ['link.csv', 'old.csv']


def test_device_and_standard_output_are_no_file_to_replace() -> None:
    assert output_file(os.devnull) == os.devnull
    assert output_stream('-') == '-'


@pytest.mark.parametrize(
    ('name', 'reason'),
    [
        ('.', 'is a folder'),
        ('no/table.csv', 'there is no folder .*/no'),
        ('file/table.csv', 'there is no folder .*/file'),
    ],
)
def test_file_that_cannot_be_written_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / 'file').touch()
    with pytest.raises(argparse.ArgumentTypeError, match=f'file that can be written, .*{reason}'):
        output_stream(str(tmp_path / name))


@pytest.mark.parametrize(
    ('section', 'name'), [('drives', 'calibration.yaml'), ('daq', 'of_this_machine')]
)
def test_a_calibration_is_not_replaced(tmp_path: Path, section: str, name: str) -> None:
    file = tmp_path / name
    file.write_text(f'platform: vigo\n{section}: {{calibrated: 2026-01-01}}\n')
    with pytest.raises(argparse.ArgumentTypeError, match=f"calibration of a machine .'{section}'"):
        output_file(str(file))
    for replaceable in ('platform: vigo\n', f'a: [{section}', f'- {section}: 1\n'):
        file.write_text(replaceable)
        assert output_file(str(file)) == str(file)


def test_a_file_that_people_edit_is_replaced_only_by_force(tmp_path: Path) -> None:
    file, link = tmp_path / 'mine.yaml', tmp_path / 'link.yaml'
    for name in (str(file), '-', os.devnull):
        spare_file(name, force=False)
    file.touch()
    link.symlink_to(file)
    for name in (str(file), str(link)):
        with pytest.raises(ConfigurationError, match=f'not there yet .--force .*, got .{name}'):
            spare_file(name, force=False)
        spare_file(name, force=True)


def test_folder_may_have_to_be_made(tmp_path: Path) -> None:
    (tmp_path / 'file').touch()
    assert output_folder(str(tmp_path / 'a' / 'b')) == tmp_path / 'a' / 'b'
    assert os.listdir(tmp_path) == ['file']
    with pytest.raises(argparse.ArgumentTypeError, match=r'folder that .*file is a file'):
        output_folder(str(tmp_path / 'file' / 'b'))


@pytest.mark.parametrize('kind', [output_file, output_folder])
def test_foreign_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    # Nothing is forbidden to root, as which tests may run.
    monkeypatch.setattr(os, 'access', lambda path, mode: False)
    with pytest.raises(argparse.ArgumentTypeError, match='permission denied'):
        kind(str(tmp_path / 'new'))


def test_a_page_has_the_suffix_of_one(tmp_path: Path) -> None:
    assert output_page(str(tmp_path / 'a.html')) == str(tmp_path / 'a.html')
    with pytest.raises(argparse.ArgumentTypeError, match=r"ending in \.html, .*got 'page\.pdf'"):
        output_page('page.pdf')
