# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``ethercat`` on a segment in this process, in simulated time.

What it is asked and what it has to say is what test_ethercat_backend.py has over a socket; here
nothing waits, and instants can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
import re
from typing import Any
from unittest.mock import Mock

from ethercat_inline_user import (
    BEGIN,
    CYCLE,
    drive_states,
    let_down,
    NEITHER_OFF_NOR_FAULTY,
    powered,
    reset_while_others_hold,
    reset_with_the_drives_off,
    states_since,
    STEP,
    User,
)
import numpy as np
import pytest
from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import ConfigurationError
from stewart_driver.ethercat import home
from stewart_driver.ethercat.errors import BusTaken, NoInterface, WrongBus
from stewart_driver.rig_file import load_rig, save_rig

pytestmark = pytest.mark.installed

# Where a test is about something else than how legs fall.
BRAKES = {'brake': True, 'brake_apply_s': 0.0, 'brake_release_s': 0.0}
# Braked hard, the platform sways on its legs for a while [m].
SWAY = 1e-3


@pytest.fixture
def use() -> Iterator[Callable[..., User]]:
    users: list[User] = []

    def make(**options: Any) -> User:
        users.append(User(**options))
        return users[-1]

    yield make
    for user in users:
        user.close()


def test_home_is_proven_also_where_nobody_can_write_it(
    use: Callable[..., User], monkeypatch: pytest.MonkeyPatch
) -> None:
    user = use()
    sheet = Path(user.backend()._options.rig_file)
    rig = load_rig(sheet)
    assert rig.drives is not None
    lost_turn = replace(rig.drives, parked_counts=(2**23, 0, 0, 0, 0, 0))
    save_rig(sheet, replace(rig, drives=lost_turn))
    monkeypatch.setattr(home, 'park', Mock(side_effect=ConfigurationError('rig', 1, 'a file')))
    user.begin()
    assert not user.changes[-1].homed

    accepted, said = user.loop.request(Request.HOME)
    assert accepted, said
    user.let_pass(0.1)
    assert user.state is State.DISABLED
    user.enable()


@pytest.mark.parametrize('drive', ['omron_1s', 'omron_1s_free'])
def test_six_axes_go_to_op_and_follow_a_wave(drive: str, use: Callable[..., User]) -> None:
    cycle = 0.002
    user = use(drive=drive, cycle_time=cycle).begin()
    # Somebody has to keep the pace first.
    user.until(lambda: user.seen('al_states') == ['OP'] * 6)
    said = user.loop.request(Request.HOME)[1]
    assert re.match(r'height of the legs [+-]?0\.00[01] mm from home', said), said
    user.enable()
    user.wave()
    # The way up, and the turn.
    user.let_pass(1.2)

    followed = [item for item in user.samples if item.commanded_strokes is not None]
    errors = np.array([item.strokes - item.commanded_strokes for item in followed])
    travel = np.ptp([item.strokes for item in followed], axis=0)
    counters = user.loop.counters()
    assert user.state is State.ENABLED
    assert min(travel) > 0.015
    # Inputs are a cycle old, and a target is reached a cycle later, at 63 mm/s.
    assert np.abs(errors).max() < 0.063 * 2 * cycle + 2e-4
    assert followed[-1].forces is not None
    assert (counters.bad_working_counters, counters.lost_frames, counters.overruns) == (0, 0, 0)
    assert counters.round_trips.sum() == user.loop.cycles


@pytest.mark.parametrize(
    'narrow',
    [{2, 5}, *(pytest.param(some, marks=pytest.mark.slow) for some in ({1, 2, 3, 4, 5, 6}, {1}))],
    ids=str,
)
def test_clocks_of_32_bits_and_drives_without_complete_access(
    narrow: set[int], use: Callable[..., User]
) -> None:
    """Their times begin anew at 4.3 s, those of the others go on."""
    # Of this cycle their time to the beginning is no multiple.
    cycle = 0.002
    user = use(rig=BRAKES, cycle_time=cycle)
    for leg in range(1, 7):
        changes = {'clock_bits': 32 if leg in narrow else 64, 'complete_access': False}
        user.rig.faults.apply('ethercat.variant', slave=leg, **changes)
    # Nobody speaks to them for the first seconds.
    user.now = 3_600_000_000
    user.begin()
    user.until(lambda: user.seen('al_states') == ['OP'] * 6)
    user.enable()
    user.wave()
    assert user.now < 2**32 - 300_000_000
    user.until(lambda: user.now > 2**32 + 600_000_000)

    followed = [item for item in user.samples if item.commanded_strokes is not None]
    errors = np.array([item.strokes - item.commanded_strokes for item in followed])
    assert user.state is State.ENABLED, user.reason
    assert np.ptp([item.strokes for item in followed], axis=0).min() > 0.015
    assert np.abs(errors).max() < 0.063 * 2 * cycle + 2e-4
    assert user.seen('sync_errors') == [0] * 6


def test_a_reference_clock_of_32_bits_that_begins_anew_pulls_no_frame(
    use: Callable[..., User],
) -> None:
    """Its span is no multiple of a cycle: the phase lock was led astray by a quarter of one."""
    user = use()
    user.rig.faults.apply('ethercat.variant', slave=1, clock_bits=32)
    user.now = 4_100_000_000
    user.begin()
    user.until(lambda: user.seen('al_states') == ['OP'] * 6)
    assert user.now < 2**32
    before = user.loop._backend.shift
    user.until(lambda: user.now > 2**32 + 20_000_000)
    assert user.loop._backend.shift == pytest.approx(before, abs=1e-9)


def test_offsets_that_another_master_has_left_move_no_leg(use: Callable[..., User]) -> None:
    """A tenth of a millimetre in 60B0h carried the leg by 6 mm in a second, all of it ENABLED."""
    user = use()
    assert user.rig.segment is not None
    for slave in user.rig.segment.slaves:
        for index, left in ((0x60B0, 83886), (0x60B1, 83886), (0x60B2, 500)):
            slave.dictionary.objects[index][0].value = left
    user.begin()
    before = user.strokes
    user.enable()
    user.let_pass(0.3)
    assert np.abs(user.strokes - before).max() < SWAY


def test_no_drive_pulls_a_leg_that_has_fallen_out_of_its_limits(
    use: Callable[..., User],
) -> None:
    """607Dh is narrower than the cylinder: `driver/override` let the drives pull by 190 mm."""
    user = use()
    user.begin(user.backend().limits.within(0.2, 0.4))
    user.enable()
    user.let_pass(0.2)
    assert user.loop.request(Request.DISABLE)[0]
    user.until(lambda: user.strokes.max() < 0.01)
    # Until they sway no more.
    user.let_pass(0.8)
    fallen = user.strokes
    assert fallen.max() < 0.01

    assert user.loop.request(Request.OVERRIDE, 1.0)[0]
    accepted, said = user.loop.request(Request.ENABLE)
    assert not accepted
    assert re.match(r'leg 1 stands at -\d\.\d mm, outside of the 190\.0 to 410\.0 mm', said), said
    user.let_pass(0.3)
    assert np.abs(user.strokes - fallen).max() < 1e-4

    # The way out: the drives are told anew, with the legs where they are.
    assert user.loop.request(Request.RESET_FAULT)[0]
    accepted, said = user.loop.request(Request.HOME)
    assert accepted, said
    user.until(lambda: user.seen('al_states') == ['OP'] * 6)
    user.enable()
    user.let_pass(0.3)
    assert np.abs(user.strokes - fallen).max() < SWAY


def test_off_is_not_said_of_drives_that_cannot_hear_it(use: Callable[..., User]) -> None:
    user = use(rig=BRAKES).begin()
    user.enable()
    user.rig.faults.apply('ethercat.cut', after=0)
    user.until(lambda: user.state is State.FAULT)
    accepted, said = user.loop.request(Request.DISABLE)
    assert not accepted
    assert said.startswith('no drive answers: legs may still be under power')


def test_two_runs_are_the_same_to_the_bit_and_another_seed_is_not(
    use: Callable[..., User],
) -> None:
    def digest(seed: int) -> str:
        user = use(rig={'seed': seed}).begin()
        user.rig.faults.apply('ethercat.lose_some', probability=0.01)
        user.enable()
        user.wave()
        user.let_pass(0.3)
        whole = sha256()
        for item in user.samples:
            whole.update(np.array([item.stamp, *item.strokes, *item.rates]).tobytes())
        return whole.hexdigest()

    assert digest(1) == digest(1) != digest(2)


def test_the_start_takes_simulated_time_and_the_first_cycle_comes_after_it(
    use: Callable[..., User],
) -> None:
    user = use()
    user.begin()

    assert user.now == BEGIN
    assert user.loop.cycles == 1
    user.let_pass(0.3)
    first, second = user.samples[:2]
    # SYNC0 begins a tenth of a second after it was asked for.
    assert 0.1 < first.stamp - BEGIN / 1e9 < 0.2
    assert second.stamp - first.stamp == pytest.approx(CYCLE)
    assert user.samples[-1].stamp == pytest.approx(user.now / 1e9)
    assert user.loop.counters().overruns == 0
    assert user.changes[0].reason.startswith('started; height of the legs')


def test_a_lost_frame_costs_its_timeout_and_nothing_else(use: Callable[..., User]) -> None:
    user = use().begin()
    user.move()
    before = user.loop.counters()
    for way in ('out', 'back'):
        user.rig.faults.apply('ethercat.lose_next', count=1, way=way)
        user.let_pass(0.1)

    after = user.loop.counters()
    assert user.state is State.ENABLED
    assert after.lost_frames - before.lost_frames == 2
    # Nobody waits longer than to the next cycle, for each SYNC0 without a frame is counted.
    assert after.overruns == before.overruns
    stamps = np.array([item.stamp for item in user.samples])
    assert np.all(np.diff(stamps) >= 0.0)
    assert user.samples[-1].stamp == pytest.approx(user.now / 1e9, abs=CYCLE)


def test_a_late_frame_is_measured_and_one_that_is_too_late_is_lost(
    use: Callable[..., User],
) -> None:
    user = use().begin()
    user.enable()
    user.rig.faults.apply('ethercat.delay', seconds=1e-3)
    user.let_pass(0.1)

    assert user.loop.counters().lost_frames == 0
    assert user.loop.counters().longest_round_trip == pytest.approx(1e-3, abs=1e-4)
    user.rig.faults.apply('ethercat.delay', seconds=5e-3)
    user.until(lambda: user.state is State.FAULT)
    assert re.search(r'no frame has come back on inline:\d+ for 6', user.reason)


@pytest.mark.parametrize(
    ('fault', 'arguments', 'reason', 'lost'),
    [
        (
            'drive_fault',
            {'slave': 4, 'code': 0x2310},
            'leg 4 reports fault 0x2310: continuous ov',
            {4},
        ),
        ('al_error', {'slave': 5, 'code': 0x1A}, 'leg 5 reports fault 0x8700', {5}),
        (
            'cut',
            {'after': 3},
            'leg 4: its drive is lost, EtherCAT: does not answer; legs 4, 5, 6',
            {4, 5, 6},
        ),
        ('power_cycle', {'slave': 2}, 'leg 2: its drive is lost', {2}),
        ('cut', {'after': 0}, r'no frame has come back on inline:\d+', {1, 2, 3, 4, 5, 6}),
    ],
)
def test_a_fault_in_motion_stops_all_six_until_it_is_reset(
    fault: str,
    arguments: dict[str, int],
    reason: str,
    lost: set[int],
    use: Callable[..., User],
    braked_drive: str,
) -> None:
    # A leg that is lost falls; here its brake has it.
    user = use(rig=BRAKES, drive=braked_drive).begin()
    user.move()
    before = len(user.changes)

    user.rig.faults.apply(f'ethercat.{fault}', **arguments)
    user.until(lambda: powered(user, lost) and user.state is State.FAULT)
    assert re.search(reason, user.reason)
    if len(lost) < 6:
        assert states_since(user, before) == [State.STOPPING, State.FAULT]
    user.until(lambda: not NEITHER_OFF_NOR_FAULTY & set(drive_states(user, lost)))
    user.let_pass(0.2)
    rest = user.strokes
    user.rig.faults.apply('ethercat.mend')
    end = user.now + 100 * STEP
    user.until(lambda: powered(user, lost) and user.now >= end)
    np.testing.assert_allclose(user.strokes, rest, atol=SWAY)
    assert user.state is State.FAULT
    assert 'OPERATION_ENABLED' not in drive_states(user, lost)

    user.silence()
    if fault == 'power_cycle':
        let_down(user, lost)
    restarts = fault == 'power_cycle'
    if restarts or len(lost) == 6:
        reset_with_the_drives_off(user)
    else:
        reset_while_others_hold(user, lost)
    np.testing.assert_allclose(user.strokes, rest, atol=SWAY)
    assert user.seen('drive_states') == ['OPERATION_ENABLED'] * 6
    assert user.changes[-1].homed
    assert user.loop.counters().bus_restarts == restarts


@pytest.mark.parametrize(
    ('fault', 'arguments'),
    [
        ('ethercat.lose_turns', {'slave': 3}),
        pytest.param('plant.encoder_jump', {'leg': 5, 'metres': -0.03}, marks=pytest.mark.slow),
    ],
)
def test_without_brakes_all_legs_are_let_go_together_if_an_encoder_lies(
    fault: str, arguments: dict[str, Any], use: Callable[..., User]
) -> None:
    """Decision 0070: where each drive ramps down for itself the platform lands askew."""
    user = use(cycle_time=0.0025).begin()
    user.enable()
    user.wave(np.full(6, 0.02))
    user.let_pass(0.55)
    power = user.record_power()

    user.rig.faults.apply(fault, **arguments)
    user.until(lambda: user.state is State.FAULT)
    user.let_pass(2.0)

    assert re.match(
        rf'the measured stroke of leg {next(iter(arguments.values()))} jumped', user.reason
    )
    assert {int(row.sum()) for row in power} == {0, 6}
    # Fallen, and no leg is drawn out: askew, one is by more than 0.2 m.
    assert user.strokes.min() < 0.0
    assert user.strokes.max() < 0.1


def test_emergency_and_al_status_are_in_the_reason(
    use: Callable[..., User], braked_drive: str
) -> None:
    user = use(rig={'emergencies': True}, drive=braked_drive).begin()
    user.enable()

    user.rig.faults.apply('ethercat.al_error', slave=5, code=0x1A)
    user.until(lambda: user.state is State.FAULT)

    assert 'synchronisation with SYNC0; emergency (register 0x11)' in user.reason
    assert 'SAFEOP with error 0x001A (Synchronization error)' in user.reason


def test_drives_that_nobody_drives_any_more_stop_and_hold(use: Callable[..., User]) -> None:
    user = use().begin()
    user.move()

    user.loop.kill()
    user.let_pass(0.5)

    assert user.seen('drive_states') == ['QUICK_STOP_ACTIVE'] * 6
    assert set(user.seen('error_codes')) == {0}
    rest = user.strokes
    user.let_pass(0.5)
    np.testing.assert_allclose(user.strokes, rest, atol=SWAY)


@pytest.mark.parametrize(
    ('fault', 'arguments', 'reason'),
    [
        pytest.param('cut', {'after': 0}, 'no frame has come back', marks=pytest.mark.slow),
        ('cut', {'after': 3}, 'legs 4, 5, 6 are lost'),
        ('al_error', {'slave': 5, 'code': 0x1A}, r'leg 5: .* SAFEOP with error 0x001A'),
    ],
)
def test_without_brakes_the_platform_stays_when_the_bus_is_lost(
    fault: str, arguments: dict[str, int], reason: str, use: Callable[..., User]
) -> None:
    """Before, it sank onto its ends, 300 mm lower."""
    user = use().begin()
    user.move()
    before = user.strokes

    user.rig.faults.apply(f'ethercat.{fault}', **arguments)
    user.until(lambda: user.state is State.FAULT)
    user.let_pass(0.3)
    rest = user.strokes
    assert re.search(reason, user.reason)
    assert np.abs(rest - before).max() < 0.03
    user.let_pass(0.5)
    np.testing.assert_allclose(user.strokes, rest, atol=SWAY)
    user.silence()
    user.rig.faults.apply('ethercat.mend')
    user.let_pass(0.5)
    accepted, said = user.loop.request(Request.RESET_FAULT)

    assert accepted, said
    user.until(lambda: user.state is State.ENABLED)
    assert user.seen('drive_states') == ['OPERATION_ENABLED'] * 6
    np.testing.assert_allclose(user.strokes, rest, atol=SWAY)


def test_the_end_takes_the_voltage_off_and_frees_the_wire(use: Callable[..., User]) -> None:
    user = use().begin()
    with pytest.raises(BusTaken):
        user.backend().open(1.0)
    user.move()

    user.loop.end()

    assert user.seen('drive_states') == ['SWITCH_ON_DISABLED'] * 6
    # They read the last request a millisecond later, and the wire is ahead of its user.
    user.now = round(1e9 * user.rig.now()) + 5 * STEP
    user.rig.advance()
    assert user.seen('al_states') == ['INIT'] * 6
    user.backend().open(user.now / 1e9)


@pytest.mark.parametrize(
    ('fault', 'arguments', 'reason'),
    [
        ('identity', {'slave': 2}, 'leg 2 has vendor 0x83, product 0xAB'),
        (
            'cut',
            {'after': 4},
            r'4 slaves answer on inline:\d+, expected are 6 \(1: R88D-1SN04H-ECT, 2:',
        ),
        ('cut', {'after': 0}, r'no slave answers on inline:\d+'),
    ],
)
def test_a_wrong_bus_is_refused_at_the_start(
    fault: str, arguments: dict[str, int], reason: str, use: Callable[..., User]
) -> None:
    user = use()
    user.rig.faults.apply(f'ethercat.{fault}', **arguments)

    with pytest.raises(WrongBus, match=reason):
        user.begin()


def test_frames_that_get_lost_on_the_way_to_op_are_sent_again(use: Callable[..., User]) -> None:
    user = use(rig={'seed': 3})
    user.rig.faults.apply('ethercat.lose_some', probability=0.05)
    user.begin()

    user.until(lambda: user.seen('al_states') == ['OP'] * 6)
    assert user.seen('lost') > 10


def test_read_only_maps_are_used_as_they_are_and_said_aloud(use: Callable[..., User]) -> None:
    user = use(drive='omron_1s_free')
    user.rig.faults.apply('ethercat.read_only_maps', slave=3)
    user.begin()

    notes = user.changes[0].reason
    assert 'drive of leg 3 refuses object 1600h:0: abort 0x06010002' in notes
    assert 'its map 1A00h is used as it is' in notes
    assert 'leg 2' not in notes
    user.enable()


def test_a_wire_that_was_taken_away_is_no_interface(use: Callable[..., User]) -> None:
    pytest.importorskip('pysoem')
    user = use()
    user.rig.end()
    backend = user.backend(rig_file='')

    assert not backend.simulated
    with pytest.raises(ConfigurationError, match=r'inline:\d+'):
        backend.require_callers_time()
    with pytest.raises(NoInterface):
        backend.open(1.0)
