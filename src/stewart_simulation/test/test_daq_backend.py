# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``daq`` on the simulated card and an EX800 of rigid bodies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import re

from card_bench import Bench
import numpy as np
import pytest
from stewart_driver.backend import Measurement
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.card_type import CardAccess
from stewart_driver.daq.options import SensorOptions
from stewart_driver.daq.sensors import DaqReader
from stewart_driver.errors import CardError, HomingError
from stewart_driver.legs import Array
from stewart_driver.path.motion import LegMotion
from stewart_simulation.daq_card.analog_rig import Mode

pytestmark = pytest.mark.installed

ZERO = np.zeros(6)
# A raised cosine in rate: from rest to rest, at most 60 mm/s and 94 mm/s².
DISTANCE, DURATION = 0.06, 2.0


@pytest.fixture(scope='module', autouse=True)
def _compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    Bench(tmp_path_factory.mktemp('compile')).drives.warm_up()


def cycloid(time: float) -> tuple[float, float]:
    """Return how far and how fast a leg shall be [m], [m/s]."""
    phase = 2.0 * np.pi * min(max(time / DURATION, 0.0), 1.0)
    distance = DISTANCE * (phase - np.sin(phase)) / (2.0 * np.pi)
    return distance, DISTANCE / DURATION * (1.0 - np.cos(phase))


class Driven:
    """A bench that is open and enabled, and plays a cycloid about where it stands."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.backend = bench, bench.backend
        self.backend.open(bench.now)
        self.start = self.step(None).strokes
        self.backend.enable()
        while not self.step(None).enabled:
            assert bench.now < 101.0
        # The amplifiers take the weight from the supports.
        for _ in range(80):
            self.step(self.start)

    def step(self, strokes: Array | None, rates: Array = ZERO) -> Measurement:
        self.bench.wait(self.backend.cycle_time)
        targets = self.bench.drives.strokes.copy() if strokes is None else strokes
        return self.backend.exchange(LegMotion(0.0, targets, rates, ZERO), self.bench.now)

    def play(
        self, duration: float = DURATION, upto: Callable[[Measurement], bool] = lambda _: False
    ) -> list[tuple[Measurement, Array, Array]]:
        """Return measurements, targets and true strokes."""
        begin, played = self.bench.now, []
        while (time := self.bench.now - begin) < duration:
            distance, rate = cycloid(time + self.backend.cycle_time)
            targets = self.start + distance
            measured = self.step(targets, np.full(6, rate))
            played.append((measured, targets, self.bench.drives.strokes.copy()))
            if upto(measured):
                break
        return played


@pytest.fixture(params=list(Mode), ids=lambda mode: mode.value)
def mode(request: pytest.FixtureRequest) -> Mode:
    return Mode(request.param)


def on_the_plant(folder: Path, mode: Mode, *, brakes: bool = False) -> Bench:
    return Bench(folder, mode, brakes=brakes, lead=1.0 / 30.0 if mode is Mode.POSITION else 0.0)


@pytest.fixture
def bench(mode: Mode, tmp_path: Path) -> Bench:
    return on_the_plant(tmp_path, mode)


def worst(pairs: list[tuple[Array, Array]]) -> float:
    return 1e3 * max(float(np.abs(a - b).max()) for a, b in pairs)


def test_legs_track_a_cycloid_on_the_plant(bench: Bench) -> None:
    driven = Driven(bench)

    played = driven.play()

    errors = worst([(true, targets) for _, targets, true in played])
    measured = worst([(measurement.strokes, true) for measurement, _, true in played])
    print(f'\n{bench.settings.mode.value}: {errors:.3f} mm of {1e3 * DISTANCE:g} mm, '
          f'sensors within {measured:.4f} mm')  # fmt: skip
    assert errors < 0.4
    assert measured < 0.03
    assert all(item.fault is None and item.enabled for item, _, _ in played)


def test_position_loop_is_stable_and_removes_what_disturbs_it(tmp_path: Path) -> None:
    driven = Driven(Bench(tmp_path, Mode.VELOCITY))
    target = driven.start + 0.01

    errors = []
    for _ in range(500):
        driven.step(target)
        errors.append(float(np.abs(driven.bench.drives.strokes - target).max()))

    # A step of 10 mm: 1/e per 83 ms, and the integral leaves a small, slow rest.
    assert errors[100] < 2e-3
    assert max(errors[400:]) < 1e-4
    assert np.all(driven.bench.drives.strokes < target + 2e-3)


def test_outputs_are_safe_before_and_after(bench: Bench) -> None:
    backend, card = bench.backend, bench.card
    backend.open(bench.now)

    if bench.settings.mode is Mode.POSITION:
        assert bench.amplified() == pytest.approx(bench.drives.strokes, abs=3e-5)
    else:
        assert bench.amplified() == pytest.approx(ZERO, abs=3e-4)
    assert not any(card.digital_outputs)
    backend.close()

    driven = Driven(bench)
    driven.play(0.8)
    assert card.digital_outputs == (True, False, False, False)
    backend.disable()

    assert_safe(bench)
    backend.close()
    backend.close()


def card_is_on(bench: Bench) -> bool:
    return bool(bench.card.digital_outputs[0])


def assert_safe(bench: Bench) -> None:
    """Outputs hold the present strokes, or rate zero; the amplifiers are off."""
    if bench.settings.mode is Mode.POSITION:
        assert bench.amplified() == pytest.approx(bench.drives.strokes, abs=5e-4)
    else:
        assert bench.amplified() == pytest.approx(ZERO, abs=3e-4)
    assert bench.card.digital_outputs == (False,) * 4


def test_leg_beyond_an_end_is_held_there(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Mode.POSITION, stroke_lower=0.084, lead=0.02)
    driven = Driven(bench)
    gains, offsets = bench.settings.command_gains, bench.settings.command_offsets
    beyond = driven.start

    assert (beyond < 0.0839).all()
    for targets, rates, commanded in (
        (beyond, ZERO, beyond),
        (beyond, np.full(6, -0.05), beyond),
        (beyond, np.full(6, 0.05), beyond + 0.001),
        (beyond - 0.003, ZERO, np.full(6, 0.079)),
    ):
        driven.step(targets, rates)
        assert gains * bench.card.outputs + offsets == pytest.approx(commanded, abs=3e-5)


def test_outputs_are_safe_after_closing_alone(bench: Bench) -> None:
    driven = Driven(bench)
    driven.play(0.8)

    driven.backend.close()

    assert_safe(bench)


def test_amplifiers_are_switched_off_although_the_outputs_refuse(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = Driven(bench)

    def refuse(*_: object) -> None:
        raise CardError('bench', 'setting six outputs failed: Input/output error')

    with monkeypatch.context() as broken:
        broken.setattr(AnalogCard, 'write', refuse)
        with pytest.raises(CardError, match='may not be safe: setting six outputs failed: Inp'):
            driven.backend.disable()

    assert bench.card.digital_outputs == (False,) * 4


def test_outputs_are_safe_after_an_exception(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = Driven(bench)
    driven.play(0.8)
    monkeypatch.setattr(driven.backend._amplifiers, 'follow', lambda *_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        driven.step(driven.start)

    assert_safe(bench)


def test_call_that_takes_too_long_fails_and_leaves_safe_outputs(
    mode: Mode, tmp_path: Path
) -> None:
    # The call that switches off is as slow, and without brakes the legs sink meanwhile.
    bench = on_the_plant(tmp_path, mode, brakes=True)
    driven = Driven(bench)
    driven.play(0.8)
    bench.faults.apply('slow', seconds=0.2)

    with pytest.raises(CardError, match=r'reading six inputs took 200.0 ms, allowed are 20 ms'):
        driven.step(driven.start)

    bench.advance()
    assert_safe(bench)


def test_card_that_does_not_answer_at_all_is_a_timeout(bench: Bench) -> None:
    driven = Driven(bench)
    bench.faults.apply('slow', seconds=5.0)

    with pytest.raises(CardError, match='timed out'):
        driven.step(driven.start)


def test_card_gone_in_the_middle_of_a_cycle_and_back(bench: Bench) -> None:
    driven = Driven(bench)
    driven.play(0.8)
    before = bench.card.outputs
    bench.faults.apply('remove')

    with pytest.raises(CardError) as failed:
        driven.step(driven.start)
    with pytest.raises(CardError) as left:
        driven.backend.disable()
    assert str(failed.value) == (
        'analogue card bench: reading six inputs failed: No such device; '
        'the outputs may not be safe'
    )
    assert str(left.value) == (
        'analogue card bench: the outputs may not be safe: setting six outputs failed: '
        'No such device; switching the amplifiers failed: No such device'
    )
    with pytest.raises(CardError):
        driven.backend.reset_fault()
    # The card has no watchdog: nobody reaches its outputs any more.
    assert np.array_equal(bench.card.outputs, before)
    bench.faults.apply('mend')
    driven.backend.reset_fault()

    assert_safe(bench)
    assert driven.step(None).fault is None


@pytest.mark.parametrize('end', ['low', 'high'])
def test_saturation_is_a_fault_that_names_leg_volts_and_range(bench: Bench, end: str) -> None:
    driven = Driven(bench)
    driven.play(0.5)
    bench.faults.apply('saturate', leg=4, end=end)

    measured = driven.step(driven.start)

    volts = {'low': r'-10\.0000', 'high': r'\+10\.0000'}[end]
    assert measured.fault is not None
    assert re.fullmatch(
        rf'position sensor of leg 4: {volts} V is at the end of the range -10 to 10 V',
        str(measured.fault),
    )


def test_stuck_sensor_is_found_while_the_command_moves_and_not_before(bench: Bench) -> None:
    driven = Driven(bench)
    bench.faults.apply('stick', leg=2)
    assert all(driven.step(driven.start).fault is None for _ in range(200))

    played = driven.play(upto=lambda measured: measured.fault is not None)

    fault, targets = played[-1][0].fault, played[-1][1]
    assert fault is not None
    assert 'position sensor of leg 2' in str(fault)
    assert 'for 25 cycles while the command moves by more than 5 mm' in str(fault)
    moved = targets - driven.start
    print(f'\n{bench.settings.mode.value}: found after {1e3 * moved[1]:.1f} mm of command')
    assert moved[1] < 0.006


def test_leg_with_a_stuck_sensor_does_not_run_away(tmp_path: Path) -> None:
    driven = Driven(Bench(tmp_path, Mode.VELOCITY))
    bench = driven.bench
    bench.faults.apply('stick', leg=2)
    driven.play(upto=lambda measured: measured.fault is not None)
    target = driven.start + 0.005
    at_fault = bench.drives.strokes[1]

    for _ in range(100):
        driven.step(target)

    # Until it is found, the loop pushes the leg ahead of the others; afterwards it coasts.
    ahead = 1e3 * (at_fault - driven.start[1] - 0.005)
    coasted = 1e3 * abs(bench.drives.strokes[1] - at_fault)
    print(f'\na stuck sensor: leg ahead by {ahead:.1f} mm when found, coasted {coasted:.2f} mm')
    assert ahead < 12.0
    assert coasted < 2.0


def test_noise_is_neither_stuck_nor_saturated(bench: Bench) -> None:
    driven = Driven(bench)
    bench.faults.apply('disturb', leg=3, volts=0.005)

    played = driven.play()

    assert all(item.fault is None for item, _, _ in played)


def test_homing_verifies_standstill_range_and_sensors(bench: Bench) -> None:
    driven = Driven(bench)
    assert 'calibrated 2026-11-21, points within 0.0' in driven.backend.home()

    driven.play(1.0)
    with pytest.raises(HomingError, match=r'leg \d moves at 0\.0\d+ m/s while homing'):
        driven.backend.home()

    bench.faults.apply('saturate', leg=5)
    driven.step(driven.start)
    with pytest.raises(HomingError, match='position sensor of leg 5'):
        driven.backend.home()


def test_reader_reads_beside_the_driver_and_touches_no_output(bench: Bench) -> None:
    driven = Driven(bench)
    reader = DaqReader(
        SensorOptions(card='simulated', device='bench', rig_file=bench.options.rig_file),
        CardAccess(bench.library, lambda: bench.now),
    )
    assert reader.open() == 'apci3120 (addi_apci_3120)'
    outputs = bench.card.outputs

    scan = reader.read()

    assert scan.fault is None
    assert scan.strokes == pytest.approx(bench.drives.strokes, abs=3e-5)
    assert np.array_equal(bench.card.outputs, outputs)
    reader.close()
    reader.close()
    assert driven.step(driven.start).enabled


def test_cycle_stops_all_legs_together_when_a_sensor_saturates(bench: Bench) -> None:
    """The whole cycle: states and what the operator reads, without a process."""
    bench.backend.open(bench.now)
    descriptor = SharedBlock.allocate()
    block = SharedBlock(descriptor)
    cycle = ControlLoop(bench.backend, CycleConfiguration(bench.limits), block)
    begin, saturated = bench.now + 1.5, False

    def step() -> None:
        bench.wait(bench.backend.cycle_time)
        cycle.step(bench.now)

    step()
    block.requests.push(code=Request.ENABLE)
    while bench.now < begin:
        step()
    assert cycle.state is State.ENABLED
    start = bench.drives.strokes.copy()
    strokes = []
    while cycle.state is not State.FAULT:
        distance, rate = cycloid(bench.now - begin)
        if distance > 0.5 * DISTANCE and not saturated:
            bench.faults.apply('saturate', leg=6)
            saturated = True
        block.setpoints.push(
            stamp=bench.now, strokes=start + distance, rates=np.full(6, rate), forces=ZERO
        )
        step()
        strokes.append(bench.drives.strokes - start)
        assert bench.now < begin + 5.0

    (*_, last) = block.events.pop_all()
    assert 'position sensor of leg 6: +10.0000 V is at the end' in last['reason']
    spread = np.ptp(np.array(strokes)[-1])
    print(f'\n{bench.settings.mode.value}: legs apart by {1e3 * spread:.2f} mm after the stop')
    assert spread < 1.5e-3
    # The others hold under power until somebody takes it.
    assert card_is_on(bench)
    block.requests.push(code=Request.DISABLE)
    step()
    assert cycle.state is State.FAULT
    assert_safe(bench)
