# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The rig file: what is written is read, and what cannot be used is named."""

from __future__ import annotations

from collections.abc import Callable
import datetime
from pathlib import Path
from typing import Any

import pytest
from stewart_driver.errors import ConfigurationError
from stewart_driver.rig_file import (
    Channel,
    DaqCalibration,
    DriveCalibration,
    DriveIdentity,
    EthercatSection,
    load_rig,
    Rig,
    save_rig,
)
import yaml

DAY = datetime.date(2026, 11, 21)
CHANNEL = Channel(0.016, 0.245, 2e-5)
RIG = Rig(
    platform='vigo',
    drives=DriveCalibration(
        (-5, 0, 7, 2**31 - 1, -(2**31), 12),
        DAY,
        'zero',
        (0.01,) * 6,
        tuple(DriveIdentity(0x83, 0xB0, 0x10004, number) for number in range(6)),
        counts_per_metre=-838860800.0,
    ),
    daq=DaqCalibration((CHANNEL,) * 6, (CHANNEL,) * 6, DAY),
    ethercat=EthercatSection('eth1'),
    geometry='0123456789abcdef',
)


READS_ONLY = DaqCalibration((CHANNEL,) * 6, (), DAY, 'velocity')


@pytest.mark.parametrize(
    'rig', [RIG, Rig('vigo'), Rig('ex800', daq=RIG.daq), Rig('vigo', daq=READS_ONLY)]
)
def test_what_is_saved_is_loaded_and_nothing_is_left_beside_it(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / 'rig.yaml'

    for _ in range(2):
        save_rig(path, rig)

    assert load_rig(path) == rig
    assert [item.name for item in tmp_path.iterdir()] == ['rig.yaml']


def test_a_link_stays_one(tmp_path: Path) -> None:
    path, link = tmp_path / 'rig.yaml', tmp_path / 'link.yaml'
    save_rig(path, Rig('ex800'))
    link.symlink_to(path)

    save_rig(link, RIG)

    assert link.is_symlink()
    assert load_rig(path) == RIG


def edit(key: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of one value; None removes the key."""

    def change(content: dict[str, Any]) -> None:
        *path, last = key.split('.') if isinstance(key, str) else [key]
        for step in path:
            content = content[step] if not step.isdigit() else content[int(step)]  # type: ignore[call-overload]
        content[last] = value
        if value is None:
            del content[last]

    return change


@pytest.mark.parametrize(
    ('key', 'value', 'message'),
    [
        ('platform', None, r"platform: expected a text \(its keys are daq, .*\), got 'nothing'"),
        ('drives.zero_offsets_counts', [1, 2], 'drives.zero_offsets_counts: expected a list of 6'),
        ('drives.zero_offsets_counts', [0, 0, 0, 0, 0, 2**31], 'integer from -2147483648 to'),
        ('drives.zero_offsets_counts', [0, 0, 0, 0, 0, 1.5], r'zero_offsets_counts\[6\]'),
        ('drives.calibrated', 'yesterday', 'a date such as 2026-11-21'),
        ('drives.strokes_m', [0, 0, 0, 0, 0, float('nan')], r'strokes_m\[6\].*finite'),
        ('drives.strokes_m', [0, 0, 0, 0, 0, 10**400], r'strokes_m\[6\].*finite'),
        ('drives.identities', [], 'a list of 6 mappings'),
        ('daq.inputs.2.gain_m_per_v', 0.0, r'daq.inputs\[3\].gain_m_per_v.*other than 0'),
        ('daq.outputs.0.residual_m', -1e-3, r'daq.outputs\[1\].residual_m.*>= 0'),
        ('daq.mode', 'torque', 'daq.mode: expected position or velocity'),
        ('geometry', 7, 'geometry: expected a text'),
        ('ethercat.interfaces', 'eth1', r'ethercat.interfaces: .*did you mean interface\?'),
        ('drive', {}, r'drive: .*did you mean drives\?'),
        (1, 2, r'1: expected a key that exists \('),
        ('platform', [['x']], r"platform: expected a text, got \[\['x'\]\]"),
        ('daq.inputs.0.offset_m', [1.0], r'daq.inputs\[1\].offset_m: expected a finite number'),
        ('drives.identities', [5] * 6, r'drives.identities\[1\]: expected a mapping'),
    ],
)
def test_what_cannot_be_used_is_named(key: str, value: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / 'rig.yaml'
    save_rig(path, RIG)
    content = yaml.safe_load(path.read_text())
    edit(key, value)(content)
    path.write_text(yaml.safe_dump(content))

    with pytest.raises(ConfigurationError, match=message):
        load_rig(path)


def test_a_file_of_parameters_is_no_rig_file(tmp_path: Path) -> None:
    path = tmp_path / 'rig_vigo.yaml'
    path.write_text('/**:\n  ros__parameters: {platform: vigo}\n')
    said = r"rig_vigo\.yaml: platform: expected a text \(its keys are /\*\*\), got 'nothing'"
    with pytest.raises(ConfigurationError, match=said):
        load_rig(path)
    path.write_text('')
    with pytest.raises(ConfigurationError, match=r'rig_vigo\.yaml: expected a mapping'):
        load_rig(path)


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    broken, folder = tmp_path / 'broken.yaml', tmp_path / 'folder'
    for text in (
        *('platform: [', 'platform: 2026-02-30', '[' * 5000, "platform: !!int ''"),
        *("platform: !!bool 'x'", "platform: !!timestamp 'x'"),
    ):
        broken.write_text(text)
        with pytest.raises(ConfigurationError, match='a YAML file'):
            load_rig(broken)
    with pytest.raises(ConfigurationError, match='No such file'):
        load_rig(tmp_path / 'absent.yaml')
    with pytest.raises(ConfigurationError, match='can be written'):
        save_rig(folder / 'rig.yaml', RIG)


@pytest.mark.parametrize(
    'text',
    [
        *('&a [*a]', '&a {platform: *a}', 'platform: &a [*a, *a]'),
        pytest.param('platform: 0x' + 'f' * 5000, id='number'),
    ],
)
def test_an_endless_file_is_refused_in_one_sentence(text: str, tmp_path: Path) -> None:
    (path := tmp_path / 'rig.yaml').write_text(text)

    with pytest.raises(ConfigurationError) as raised:
        load_rig(path)

    assert len(str(raised.value).removeprefix(str(path))) < 120


def test_a_failed_save_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / 'rig.yaml'
    save_rig(path, RIG)

    def fail(*_: Any) -> None:
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr('os.fsync', fail)
    with pytest.raises(ConfigurationError, match='No space left'):
        save_rig(path, Rig('ex800'))

    assert load_rig(path) == RIG
    assert [item.name for item in tmp_path.iterdir()] == ['rig.yaml']


def test_a_file_that_is_missing_is_named_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=f"a readable file .* '{tmp_path}/absent.yaml'"):
        load_rig('absent.yaml')
