# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart calibrate-drives`` before it touches the wire: strokes that no leg can have."""

from __future__ import annotations

from pathlib import Path

import pytest
from stewart_driver.errors import ConfigurationError
from stewart_driver.verbs import calibrate_drives
from typed_words import typed


@pytest.mark.parametrize(
    ('platform', 'words', 'message'),
    [
        ('vigo', '--strokes 0 0 300 0 0 0', r'--strokes: expected 0 to 0.6 m, .* leg 3 .*got 300'),
        ('vigo', '--strokes 0 0 0 0 0 1e101', r'--strokes: .* leg 6 reaches, got 1e\+101$'),
        ('vigo', '--strokes 0 nan 0 0 0 0', r'--strokes: .* leg 2 reaches, got nan$'),
        ('vigo', '--strokes 0 -0.1 0 0 0 0', r'--strokes: .* leg 2 reaches, got -0\.1$'),
        (
            'ps6tl_1500',
            '--pose neutral',
            r'stroke of --pose neutral: .* leg 1 reaches, got 0\.755',
        ),
    ],
)
def test_strokes_that_no_leg_can_have_are_refused_before_a_drive_is_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    words: str,
    message: str,
) -> None:
    def read(*_: object) -> None:
        raise AssertionError('a drive was read')

    monkeypatch.setattr(calibrate_drives, '_read', read)
    place = ['--rig-file', tmp_path / 'rig.yaml', '--platform', platform]

    with pytest.raises(ConfigurationError, match=message):
        typed(calibrate_drives, *place, '--interface', 'absent', '--yes', *words.split())

    assert not (tmp_path / 'rig.yaml').exists()
