# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Bags become experiments: the motion is the true one, and what is wrong with a bag is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
import re
from typing import Any

import numpy as np
import pytest
from recordings_made import recorded, Run, Scribe, write_bag
from stewart_bags.errors import MissingTopic, UndecodableMessage, WrongType
from stewart_bags.writing import BagWriter, Compression, Storage
from stewart_identification.errors import UnusableRecording
from stewart_identification.recording.from_bag import (
    experiment_from,
    Extracted,
    Extraction,
    SIGMAS,
)
from stewart_identification.recording.legs import leg_record
from stewart_identification.recording.low_pass import LowPass
from stewart_identification.recording.recordings import read_recording
from stewart_kinematics.model.platform import Platform
from stewart_tables.columns import POSE, TIME
from stewart_tables.csv_tables import write_table

Change = Callable[[int, dict[str, Any]], list[dict[str, Any]]]

# The noise of the forces that are drawn across; filtered, the lack of one changes less [N].
ONE_SAMPLE = 0.5


def rewritten(path: Path, run: Run, change: Change, *, commands: bool = False) -> Path:
    """Write a bag of a run, with every actuator state as `change` has it."""
    with Scribe(path) as scribe:
        for row, time in enumerate(run.time):
            if commands:
                scribe.joints('/joint_commands', time, run.commands[row], None)
            state = {'time': time, 'strokes': run.strokes[row], 'forces': run.forces[row]}
            for message in change(row, state):
                scribe.joints('/actuator_states', **message)
    return path


def extracted(path: Path, platform: Platform, **options: Any) -> Extracted:
    return experiment_from(read_recording(path), platform, **options)


def said(found: Extracted) -> str:
    return '\n'.join(map(str, found.remarks))


def test_motion_of_the_experiment_is_the_true_one(
    payload_extracted: Extracted, payload_run: Run
) -> None:
    experiment = payload_extracted.experiment
    rows = np.rint(experiment.stamps * 200.0).astype(int)
    state, motion = payload_run.state[rows], experiment.inputs

    assert np.abs(motion.position - state[:, :3]).max() < 2e-5
    # Where dry friction turns round, the true velocity has more than the pass band.
    assert np.std(motion.linear_velocity - state[:, 7:10]) < 5e-4
    assert np.std(motion.angular_velocity - state[:, 10:]) < 5e-3
    # Forces pass the same filter as the motion, without lag.
    smoother = LowPass(payload_extracted.record.period, 5.0, 15.0)
    first = smoother.half_width
    assert np.allclose(experiment.forces, smoother.apply(payload_run.forces)[0][rows - first])
    assert experiment.shapes is not None
    assert np.abs(experiment.shapes[..., 0]).max() < 1.2
    assert '0 lag' in payload_extracted.method
    assert payload_extracted.duration > 9.2


def test_a_recording_made_without_a_bag_is_what_its_bag_has(
    payload_bag: Path, payload_run: Run
) -> None:
    """Tests of what is made of recordings rely on it."""
    read, made = read_recording(payload_bag), recorded(payload_run)
    assert (made.begin_ns, made.topics, made.remarks) == (read.begin_ns, read.topics, read.remarks)
    for name in ('actuators', 'commands'):
        one, other = getattr(read, name), getattr(made, name)
        for item in fields(one):
            np.testing.assert_array_equal(getattr(other, item.name), getattr(one, item.name))


@pytest.mark.parametrize(
    ('storage', 'compression'),
    [
        (Storage.MCAP, Compression.CHUNK),
        (Storage.SQLITE3, Compression.NONE),
        (Storage.SQLITE3, Compression.MESSAGE),
        (Storage.MCAP, Compression.FILE),
    ],
)
def test_storage_and_compression_do_not_matter(
    storage: Storage,
    compression: Compression,
    payload_run: Run,
    payload_extracted: Extracted,
    ex800: Platform,
    tmp_path: Path,
) -> None:
    bag = write_bag(tmp_path / 'bag', payload_run, storage=storage, compression=compression)

    found = extracted(bag, ex800)

    assert np.array_equal(found.experiment.forces, payload_extracted.experiment.forces)
    assert np.array_equal(found.experiment.inputs.twist, payload_extracted.experiment.inputs.twist)


def test_truncated_mcap_is_used_up_to_its_last_message(
    payload_bag: Path, ex800: Platform, tmp_path: Path
) -> None:
    whole = next(payload_bag.glob('*.mcap')).read_bytes()
    (tmp_path / 'cut.mcap').write_bytes(whole[: int(0.6 * len(whole))])

    found = extracted(tmp_path / 'cut.mcap', ex800)

    assert 4.0 < found.duration < 9.0
    assert 'recovered up to' in said(found)
    assert 'the rest cannot be read' in said(found)


def test_a_bag_that_nobody_stamped_says_what_to_do(payload_bag: Path, ex800: Platform) -> None:
    recording = read_recording(payload_bag)
    nobody = np.zeros_like(recording.actuators.stamp_ns)
    unset = replace(recording, actuators=replace(recording.actuators, stamp_ns=nobody))
    with pytest.raises(UnusableRecording, match=r'all stamps .* zero, .*have its program stamp'):
        experiment_from(unset, ex800)


def test_samples_lost_one_by_one_leave_the_whole_recording(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    """Of 30 % that are lost many are neighbours, and no stretch between them would be left."""
    lost = np.random.default_rng(8).random(len(payload_run.time)) < 0.3
    bag = rewritten(tmp_path / 'bag', payload_run, lambda row, state: [] if lost[row] else [state])

    found = extracted(bag, ex800)

    assert found.duration > 7.5
    assert re.search(
        r'5\d\d samples, from \S+ s on: missing for up to \d\d ms, inter', said(found)
    )
    rows = np.rint(found.experiment.stamps * 200.0).astype(int)
    off = found.experiment.inputs.position - payload_run.state[rows, :3]
    assert np.sqrt(np.mean(off**2)) < 1e-5


def test_efforts_that_stand_at_an_end_are_named_and_not_used(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    """Forces that were cut off drew a centre of mass away by four sigmas."""
    forces = payload_run.forces.copy()
    most = float(np.percentile(forces[:, 1], 90.0))
    forces[:, 1] = np.minimum(forces[:, 1], most)
    forces[600:1000, 4] = 0.0

    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**state, 'forces': forces[row]}]

    found = extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)

    assert re.search(rf'\d+ samples: leg 2: effort stands at {most:.4g} N, as of', said(found))
    assert '400 samples: leg 5: effort stands at 0 N, as of a sensor that is over' in said(found)
    assert 'leg 1: effort' not in said(found)
    gone = ~np.isfinite(found.experiment.forces)
    assert gone[:, 4].any()
    assert not gone[:, [0, 2, 3, 5]].any()


def test_bad_stamps_gaps_and_nan_are_named_with_time_and_count(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        bad = np.full(6, np.nan)
        if row in {300, 301}:
            return [{**state, 'strokes': bad}]
        if row == 500:
            return [state, {**state, 'bag_time': state['time'] + 1e-4}]
        if row == 700:
            return [{**state, 'bag_time': state['time'] + 0.012}]
        if row == 900:
            return [{**state, 'time': state['time'] - 3e5, 'bag_time': state['time']}]
        if 1200 <= row < 1240:
            return []
        return [state]

    found = extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)

    text = said(found)
    assert '/actuator_states: 2 samples, from 1.500 s on: strokes not finite, left out' in text
    assert '/actuator_states: 1 sample, from 2.500 s on: stamps that were there before' in text
    assert 'back, put in order' in text
    assert '1 sample, from 4.500 s on: stamps of another clock than the rest, left out' in text
    assert '40 samples, from 5.995 s on: missing in 1 gap of up to 0.205 s' in text
    # The edges of the gap cannot be differentiated, all else is used.
    assert 8.3 < found.duration < 9.0


def test_a_clock_that_was_set_back_is_refused(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**state, 'time': state['time'] - 0.5 * (row > 800), 'bag_time': state['time']}]

    with pytest.raises(
        UnusableRecording, match=r'up to 0\.495 s before .* the clock was set back'
    ):
        extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)


def test_a_clock_that_was_set_back_with_the_recorders_is_refused(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    """Read by bag time the two motions would alternate, and no stamp would go back."""

    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**state, 'time': state['time'] - 2.0 * (row > 800)}]

    with pytest.raises(
        UnusableRecording,
        match=r'/actuator_states: time that was recorded twice, 1\.995 s: a clock',
    ):
        extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)


def test_one_leg_without_stroke_takes_its_command(
    payload_run: Run, payload_extracted: Extracted, ex800: Platform, tmp_path: Path
) -> None:
    names = [f'leg_{number}' for number in (1, 2, 4, 5, 6)]

    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        del row
        kept = [0, 1, 3, 4, 5]
        strokes, forces = (np.asarray(state[key])[kept] for key in ('strokes', 'forces'))
        return [{**state, 'strokes': strokes, 'forces': forces, 'names': names}]

    bag = rewritten(tmp_path / 'bag', payload_run, change, commands=True)
    found = extracted(bag, ex800)

    assert 'leg 3: no stroke, the commanded one stands in' in said(found)
    assert 'leg 3: no effort, their forces are not used' in said(found)
    assert np.isnan(found.experiment.forces[:, 2]).all()
    assert np.isfinite(found.experiment.forces[:, [0, 1, 3, 4, 5]]).all()
    stamps = payload_extracted.experiment.stamps
    twist = np.interp(
        found.experiment.stamps, stamps, payload_extracted.experiment.inputs.twist[:, 2]
    )
    assert np.abs(found.experiment.inputs.twist[:, 2] - twist).max() < 0.02

    alone = rewritten(tmp_path / 'alone', payload_run, change)
    with pytest.raises(UnusableRecording, match='lacks the strokes of leg 3 in all 2000 messages'):
        extracted(alone, ex800)


def test_commands_from_before_the_strokes_are_as_late_beside_a_message_without_stamp(
    payload_run: Run,
) -> None:
    made = recorded(payload_run)
    legs, said = made.actuators, []
    for unstamped in ([], [3]):
        names = 'bag_time_ns', 'stamp_ns', 'position', 'velocity', 'effort'
        later = {name: getattr(legs, name)[1000:].copy() for name in names}
        later['stamp_ns'][unstamped] = 0
        recording = replace(made, actuators=replace(legs, **later))
        record = leg_record(recording, forces=True, shortest=1.0, instruments=True)
        said.append([text for text in map(str, record.remarks) if 'instruments' in text])
    assert said[0] == said[1]


def test_commands_become_instruments_that_know_nothing_of_the_encoders_noise(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)

    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        del row
        return [{**state, 'strokes': state['strokes'] + rng.normal(0.0, 1e-4, 6)}]

    bag = rewritten(tmp_path / 'bag', payload_run, change, commands=True)
    found = extracted(bag, ex800, extraction=Extraction(instruments=True))

    assert '/joint_commands: 2000 samples: instruments, ' in said(found)
    measured, asked = found.experiment, found.experiment.instruments
    assert asked is not None
    # Drives follow within 2 % of the rates; the noise of accelerations is in the measured alone.
    off = measured.inputs.twist - asked.inputs.twist
    assert np.sqrt(np.mean(off**2) / np.mean(asked.inputs.twist**2)) < 0.1
    rough = [np.std(np.diff(e.inputs.acceleration, n=2, axis=0)) for e in (measured, asked)]
    assert rough[0] > 5.0 * rough[1]

    alone = rewritten(tmp_path / 'alone', payload_run, change)
    with pytest.raises(UnusableRecording, match='no joint_commands; without the commanded'):
        extracted(alone, ex800, extraction=Extraction(instruments=True))


def test_efforts_that_never_change_were_not_measured(
    payload_run: Run, payload_extracted: Extracted, ex800: Platform, tmp_path: Path
) -> None:
    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        del row
        return [{**state, 'forces': np.where(np.arange(6) == 4, 0.0, state['forces'])}]

    found = extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)

    assert '/actuator_states: 2000 samples: leg 5: one effort all the time' in said(found)
    forces = found.experiment.forces
    assert np.isnan(forces[:, 4]).all()
    others = [0, 1, 2, 3, 5]
    assert np.array_equal(forces[:, others], payload_extracted.experiment.forces[:, others])

    still = rewritten(
        tmp_path / 'all', payload_run, lambda _, s: [{**s, 'forces': np.full(6, 11.0)}]
    )
    with pytest.raises(
        UnusableRecording, match='no effort of /actuator_states ever changes in 2000 messages'
    ):
        extracted(still, ex800)


def test_a_leg_whose_effort_ends_leaves_those_of_the_others(
    payload_run: Run, payload_extracted: Extracted, ex800: Platform, tmp_path: Path
) -> None:
    """Its force is cut where the filter would need what is missing, theirs are what they were."""

    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        forces = np.array(state['forces'])
        if row >= 1000 or row == 400:
            forces[2] = np.nan
        return [{**state, 'forces': forces}]

    found = extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)

    text = '/actuator_states: 1001 samples, from 2.000 s on: leg 3: effort not finite'
    assert text in said(found)
    whole, forces = payload_extracted.experiment, found.experiment.forces
    others = [0, 1, 3, 4, 5]
    assert np.array_equal(forces[:, others], whole.forces[:, others])
    window = LowPass(0.005, 5.0, 15.0).half_width * 0.005
    known = np.isfinite(forces[:, 2])
    assert np.array_equal(known, whole.stamps < 4.9975 - window)
    # One sample alone is drawn across.
    assert np.abs(forces[known, 2] - whole.forces[known, 2]).max() < ONE_SAMPLE


@pytest.mark.parametrize(('what', 'jump'), [('strokes', 0.05), ('forces', 1e6)])
def test_a_sample_that_jumps_away_and_back_is_left_out(
    what: str,
    jump: float,
    payload_run: Run,
    payload_extracted: Extracted,
    ex800: Platform,
    tmp_path: Path,
) -> None:
    """One lost bit in 2000 samples made 0.05 kg of 8.84, with an interval."""

    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**state, what: state[what] + (jump if row == 500 else 0.0)}]

    found = extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)

    word = {'strokes': 'strokes', 'forces': 'efforts'}[what]
    text = f'/actuator_states: 1 sample, from 2.500 s on: {word} that jump away and back, left out'
    assert said(found) == text
    lost = extracted(
        rewritten(tmp_path / 'lost', payload_run, lambda row, s: [s] if row != 500 else []), ex800
    )
    assert np.array_equal(found.experiment.forces, lost.experiment.forces)
    assert np.array_equal(found.experiment.inputs.twist, lost.experiment.inputs.twist)
    whole = payload_extracted.experiment
    assert np.abs(found.experiment.forces - whole.forces).max() < ONE_SAMPLE
    assert np.abs(found.experiment.inputs.twist - whole.inputs.twist).max() < 1e-3


@pytest.mark.parametrize(
    ('every', 'factor', 'last', 'reason'),
    [
        (
            1,
            1e3,
            2000,
            r'outside \[0, 0\.16\] m of ex800: is this recording of another platform, or not in',
        ),
        (20, 1.0, 2000, r'/actuator_states: samples every 100 ms carry 5 Hz at most'),
        (1, 1.0, 80, r'no piece of /actuator_states .* 80 samples in 0\.395 s have 0 gaps'),
        (
            1,
            1.0,
            130,
            r'_states: 130 samples without a gap at most, derivatives take 140',
        ),
    ],
)
def test_what_cannot_be_differentiated_is_named_with_topic_and_count(
    every: int,
    factor: float,
    last: int,
    reason: str,
    payload_run: Run,
    ex800: Platform,
    tmp_path: Path,
) -> None:
    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        there = row % every == 0 and row < last
        return [{**state, 'strokes': factor * state['strokes']}] if there else []

    bag = rewritten(tmp_path / 'bag', payload_run, change)
    with pytest.raises(UnusableRecording, match=reason) as caught:
        extracted(bag, ex800)
    assert str(caught.value).startswith(f'{bag}: ')
    assert '\n' not in str(caught.value)


def test_without_effort_torque_is_refused_and_motion_is_not(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    bag = rewritten(tmp_path / 'bag', payload_run, lambda _, state: [{**state, 'forces': None}])

    with pytest.raises(UnusableRecording, match='none of the 2000 messages of /actuator_states'):
        extracted(bag, ex800)
    assert extracted(bag, ex800, forces=False).duration > 9.0


def test_standing_still_and_brakes_are_not_taken_for_measurements(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    def braked(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**state, 'forces': np.zeros(6)} if row < 400 else state]

    found = extracted(rewritten(tmp_path / 'braked', payload_run, braked), ex800)
    assert '400 samples, from 0.000 s on: drives without power, left out' in said(found)

    def still(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        del row
        return [{**state, 'strokes': payload_run.strokes[0]}]

    bag = rewritten(tmp_path / 'still', payload_run, still)
    with pytest.raises(
        UnusableRecording, match=r'no leg moves by more than 0 mm in .* \(2000 samples\)'
    ):
        extracted(bag, ex800)


def test_missing_topic_and_wrong_type_are_named(tmp_path: Path, payload_run: Run) -> None:
    with Scribe(tmp_path / 'other') as scribe:
        scribe.joints('/joint_commands', 0.0, payload_run.commands[0], None)
    with pytest.raises(MissingTopic, match='no topic actuator_states, there are /joint_commands'):
        read_recording(tmp_path / 'other')
    with BagWriter(tmp_path / 'wrong') as writer:
        text = writer.typestore.types['std_msgs/msg/String']
        writer.write('/actuator_states', 1, text('stroke'))
    with pytest.raises(WrongType, match='carries std_msgs/msg/String, expected sensor_msgs/msg/J'):
        read_recording(tmp_path / 'wrong')


def test_topic_that_is_not_needed_and_cannot_be_read_is_left_out(
    tmp_path: Path, payload_run: Run, payload_extracted: Extracted, ex800: Platform
) -> None:
    with Scribe(tmp_path / 'bag') as scribe:
        for row, time in enumerate(payload_run.time):
            states = payload_run.strokes[row], payload_run.forces[row]
            scribe.joints('/actuator_states', time, *states)
        scribe.writer.write('/driver/state', 1, scribe.types['std_msgs/msg/String']('on'))
        scribe.writer.add_topic('/joint_commands', 'sensor_msgs/msg/JointState')
        scribe.writer.write_raw('/joint_commands', 2, b'\0\1\0\0short')
    found = extracted(tmp_path / 'bag', ex800)

    assert np.array_equal(found.experiment.forces, payload_extracted.experiment.forces)
    assert '/driver/state: 1 sample: left out, /driver/state carries std_msgs' in said(found)
    assert '/joint_commands: 1 sample: left out, message 1 of /joint_commands' in said(found)
    with BagWriter(tmp_path / 'short') as writer:
        writer.add_topic('/actuator_states', 'sensor_msgs/msg/JointState')
        writer.write_raw('/actuator_states', 2, b'\0\1\0\0short')
    with pytest.raises(UndecodableMessage, match='message 1 of /actuator_states'):
        read_recording(tmp_path / 'short')


def test_cut_bag_that_lacks_a_topic_is_named_as_it_was_given(
    tmp_path: Path, payload_run: Run
) -> None:
    with Scribe(tmp_path / 'bag') as scribe:
        for row, time in enumerate(payload_run.time):
            scribe.joints('/joint_commands', time, payload_run.commands[row], None)
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(next((tmp_path / 'bag').glob('*.mcap')).read_bytes()[:-2000])
    with pytest.raises(MissingTopic, match=f'^{re.escape(str(cut))}: no topic actuator_states'):
        read_recording(cut)


def test_jitter_of_the_stamps_does_not_spoil_the_motion(
    ex800: Platform, payload_run: Run, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    late = rng.uniform(0.0, 1e-3, len(payload_run.time))
    lengths = [
        np.interp(payload_run.time + late, payload_run.time, column)
        for column in payload_run.strokes.T
    ]

    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        strokes = np.array([column[row] for column in lengths])
        return [{**state, 'time': state['time'] + late[row], 'strokes': strokes}]

    found = extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)

    motion, stamps = found.experiment.inputs, found.experiment.stamps + late[0]
    for axis in range(3):
        truth = np.interp(stamps, payload_run.time, payload_run.state[:, 7 + axis])
        assert np.abs(motion.linear_velocity[:, axis] - truth).max() < 3e-3


def test_experiment_may_be_slower_than_the_recording(
    payload_bag: Path, payload_extracted: Extracted, ex800: Platform
) -> None:
    found = extracted(payload_bag, ex800, extraction=Extraction(rate=50.0)).experiment

    fine = payload_extracted.experiment
    assert np.median(np.diff(found.stamps)) == pytest.approx(0.02)
    assert np.allclose(found.forces, fine.forces[::2][: len(found)])


def test_where_the_platform_stands_it_is_cut_and_where_it_turns_round_it_is_not(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    """Hold the legs for half a second; all six turning round at once is over sooner."""
    middle = payload_run.strokes[1000]

    def change(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**state, 'strokes': middle} if 1000 <= row < 1100 else state]

    found = extracted(rewritten(tmp_path / 'bag', payload_run, change), ex800)

    assert re.search(
        r'/actuator_states: \d+ samples, from (4\.9|5\.0)\d+ s on: all legs slower than 2 mm/s',
        said(found),
    )
    assert 8.0 < found.duration < 8.6


@pytest.mark.parametrize('rest', [0.0, 70.0])
def test_motion_may_come_from_an_estimate_filtered_as_forces_are_and_its_noise_counts(
    rest: float,
    payload_bag: Path,
    payload_run: Run,
    payload_extracted: Extracted,
    ex800: Platform,
    tmp_path: Path,
) -> None:
    """Its accelerations were taken raw beside filtered forces, and its noise was none."""
    state, time, path = payload_run.state, payload_run.time, tmp_path / 'estimate.csv'
    pose = state[:, :7] + np.outer(2e-5 * np.sin(2.0 * np.pi * 60.0 * time), np.eye(7)[2])
    sigma = np.tile([1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5], (len(time), 1))
    rows = np.column_stack([time - time[0], pose, sigma])
    # Somebody walks to the machine first: longer than the clocks of strangers are sought apart.
    before = np.arange(-rest, 0.0, float(time[1] - time[0]))
    standing = np.column_stack([before, np.tile(rows[0, 1:], (len(before), 1))])
    write_table(path, (TIME, *POSE, *SIGMAS), np.vstack([standing, rows]))

    found, measured = extracted(payload_bag, ex800, estimate=path), payload_extracted.experiment

    assert f'from {path}, its time 0 at' in found.method
    there, inputs = found.experiment.stamps, found.experiment.inputs
    for axis in range(3):
        wanted = np.interp(there, measured.stamps, measured.inputs.linear_acceleration[:, axis])
        assert np.std(inputs.linear_acceleration[:, axis] - wanted) < 0.05
    shaken = found.experiment.shaken
    assert shaken is not None
    off = np.std(shaken.inputs.position - inputs.position, axis=0)
    assert np.all((off > 1e-7) & (off < 1e-5))


def test_two_programs_with_three_legs_each_are_called_so(
    payload_run: Run, ex800: Platform, tmp_path: Path
) -> None:
    def half(row: int, state: dict[str, Any]) -> list[dict[str, Any]]:
        gone = slice(0, 3) if row % 2 else slice(3, 6)
        strokes = state['strokes'].copy()
        strokes[gone] = np.nan
        return [{**state, 'strokes': strokes}] if row < 400 else []

    with pytest.raises(UnusableRecording, match='several programs publish a part each'):
        extracted(rewritten(tmp_path / 'bag', payload_run, half), ex800)
