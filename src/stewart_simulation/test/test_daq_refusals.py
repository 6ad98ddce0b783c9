# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``daq`` before it is opened: which card it is, and what does not fit it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from card_bench import Bench
import numpy as np
import pytest
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.errors import CardError, ConfigurationError
from stewart_driver.rig_file import load_rig, save_rig
from stewart_simulation.daq_card.analog_rig import Mode

pytestmark = pytest.mark.installed


@pytest.mark.parametrize('mode', list(Mode))
def test_back_end_says_what_card_it_is_on_and_is_never_something_else(
    tmp_path: Path, mode: Mode
) -> None:
    bench = Bench(tmp_path, mode)
    assert bench.backend.simulated
    assert bench.backend.details['card'] == 'simulated card'
    real = DaqBackend(replace(bench.options, card='comedi', device='/dev/comedi99'))
    assert (real.simulated, real.details['card']) == (False, 'comedi')
    with pytest.raises(CardError, match=r'python3-comedilib|cannot be opened'):
        real.open(0.0)


@pytest.mark.parametrize('mode', list(Mode))
def test_leg_whose_sensor_says_nothing_is_not_driven_by_opening(
    tmp_path: Path, mode: Mode
) -> None:
    bench = Bench(tmp_path, mode)
    bench.backend.open(bench.now)
    bench.backend.enable()
    before = bench.card.outputs.copy()
    bench.faults.saturate(leg=2)
    # As after a kill: the kernel unlocks the card, and nobody has switched anything off.
    bench.wires[-1].close()
    assert bench.card.digital_outputs[0]

    if mode is Mode.POSITION:
        with pytest.raises(CardError, match=r'sensor of leg 2: .* left as they are'):
            bench.backend.rescue()
        assert np.array_equal(bench.card.outputs, before)
    else:
        assert bench.backend.rescue().endswith('at rate zero, the amplifiers are off')
        assert bench.amplified() == pytest.approx(np.zeros(6), abs=3e-4)
    assert not any(bench.card.digital_outputs)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'rig_file': ''}, 'rig_file: expected a calibration file with a calibration'),
        ({'mode': 'velocity'}, r'mode: .* outputs calibrated for position mode, got .velocity'),
        ({'worst_residual': 1e-6}, r'residual_m of leg \d in .*: expected at most 1e-06 m'),
        ({'card': 'usb'}, 'card: expected comedi or simulated'),
    ],
)
def test_what_does_not_fit_the_calibration_is_refused_before_anything_opens(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    bench = Bench(tmp_path)

    with pytest.raises(ConfigurationError, match=message):
        DaqBackend(replace(bench.options, **options))  # type: ignore[arg-type]
    assert bench.wires == []


def test_calibration_of_the_sensors_alone_does_not_drive(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rig = load_rig(bench.options.rig_file)
    assert rig.daq is not None
    save_rig(bench.options.rig_file, replace(rig, daq=replace(rig.daq, outputs=())))

    with pytest.raises(ConfigurationError, match='which has no outputs'):
        DaqBackend(bench.options)


@pytest.mark.parametrize(
    ('mode', 'options', 'message'),
    [
        (Mode.POSITION, {'stroke_upper': 0.19}, r'stroke_upper: .*leg \d.*0.19 m would take 1'),
        (
            Mode.VELOCITY,
            {'rate': 0.7, 'largest_runaway': 0.08},
            r'rate: .*leg \d reaches within -10 to 10 V',
        ),
    ],
)
def test_what_the_outputs_cannot_reach_is_refused(
    tmp_path: Path, mode: Mode, options: dict[str, float], message: str
) -> None:
    bench = Bench(tmp_path, mode, **options)

    with pytest.raises(ConfigurationError, match=message):
        bench.backend.open(bench.now)
