# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Finding the speed and configuring, against a scripted sensor in simulated time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scripted_sensor import BAUDS, framed, REBOOT, SAVE, ScriptedSensor, UNLOCK
from stewart_driver.errors import ConfigurationError, DriverError
from stewart_driver.witmotion.commands import Register
from stewart_driver.witmotion.link import carry_out, Conversation, Interrupted, Link
from stewart_driver.witmotion.settings import CANDIDATES, configure, order, probe, SensorSettings
from stewart_driver.witmotion.transport import RegisterRefused, SensorSilent

WANTED = SensorSettings()


def talk(conversation: Conversation[Any]) -> Any:
    """Hold a conversation; only the scripted sensor lets time pass."""

    def refused(duration: float) -> None:
        raise AssertionError(f'nobody waits {duration} s without listening')

    return carry_out(conversation, refused, refused)


def linked(sensor: ScriptedSensor, stopped: Callable[[], bool] = lambda: False) -> Link:
    return Link(sensor, lambda: sensor.time, stopped)


@pytest.mark.parametrize('code', sorted(BAUDS))
@pytest.mark.parametrize('stream', [True, False])
def test_every_speed_is_found_also_of_a_sensor_that_streams_nothing(
    code: int, *, stream: bool
) -> None:
    sensor = ScriptedSensor(code, stream=stream)
    link = linked(sensor)

    assert talk(probe(link, order(115200))) == BAUDS[code] == sensor.baud
    assert sensor.time < 4.0


class Starting(ScriptedSensor):
    """It was plugged in just now: it sends and hears nothing for a while."""

    def read(self, timeout: float) -> bytes:
        self.deaf = self.time < 0.6
        data = super().read(timeout)
        return b'' if self.deaf else data


@pytest.mark.parametrize('stream', [True, False])
def test_a_sensor_that_starts_is_waited_for_at_the_speed_that_it_had(*, stream: bool) -> None:
    """All other speeds were tried first, and it was found 5 s later."""
    sensor = Starting(6, stream=stream)
    assert talk(probe(linked(sensor), order(115200))) == 115200
    assert sensor.time < 1.5


def test_the_likely_speed_is_tried_first_and_no_speed_is_left_out() -> None:
    assert order(230400)[:3] == (230400, 115200, 9600)
    assert sorted(order(19200)) == sorted(CANDIDATES) == sorted(BAUDS.values())


def test_frames_that_the_last_speed_left_behind_are_no_sensor() -> None:
    """On a busy computer they came after the change of speed, and the wrong one was taken."""

    class Late(ScriptedSensor):
        def read(self, timeout: float) -> bytes:
            data, self.left = self.left, b''
            return data or super().read(timeout)

    sensor = Late(6)
    sensor.left = 9 * framed(0x51, bytes(8))
    link = linked(sensor)
    assert talk(probe(link, (9600, 115200))) == 115200 == sensor.baud


def test_late_answers_of_the_search_do_not_answer_what_is_asked_next() -> None:

    class Slow(ScriptedSensor):
        due: tuple[tuple[float, bytes], ...] = ()

        def write(self, data: bytes) -> None:
            super().write(data)
            self.due += ((self.time + 0.06, self._out),)
            self._out = b''

        def read(self, timeout: float) -> bytes:
            come = super().read(min(timeout, 0.005))
            ready = [out for when, out in self.due if when <= self.time]
            self.due = self.due[len(ready) :]
            return come + b''.join(ready)

    sensor = Slow()
    link = linked(sensor)
    talk(probe(link, order(115200)))

    assert talk(link.registers(Register.ALGORITHM))[0] == sensor.registers[0x24]


def test_silence_and_garbage_are_told_apart() -> None:
    sensor = ScriptedSensor(2, stream=False)
    sensor.deaf = True
    with pytest.raises(SensorSilent, match='no bytes came at any speed'):
        talk(probe(linked(sensor), CANDIDATES))
    sensor = ScriptedSensor(2)
    with pytest.raises(SensorSilent, match=r'\d+ bytes came but no frame at any speed \(115200'):
        talk(probe(linked(sensor), (115200,)))


def test_a_sensor_is_brought_to_the_settings_and_nothing_is_saved() -> None:
    sensor = ScriptedSensor()
    link = linked(sensor)
    talk(probe(link, order(115200)))
    changed = talk(configure(link, WANTED))

    assert sensor.registers == {
        2: 0x0206, 3: 0x0B, 4: 6, 0x24: 1, 0x1F: 2, 0x20: 3, 0x21: 3
    }  # fmt: skip
    assert (link.baud, sensor.code) == (115200, 6)
    # The faster line comes first: 9600 baud cannot carry 200 Hz.
    assert changed == (
        Register.BAUD,
        Register.CONTENT,
        Register.RATE,
        Register.ALGORITHM,
        Register.BANDWIDTH,
    )
    assert SAVE not in sensor.commands


def test_what_the_sensor_has_is_not_written_again() -> None:
    sensor = ScriptedSensor(6)
    sensor.registers.update({2: 0x0206, 3: 11, 4: 6, 0x1F: 2, 0x24: 1})
    link = linked(sensor)

    assert talk(configure(link, WANTED)) == ()
    assert all(command[2] == 0x27 for command in sensor.commands)


def test_saving_is_done_when_asked_for_and_only_after_a_change() -> None:
    wanted = SensorSettings(save=True)
    sensor = ScriptedSensor(6)
    link = linked(sensor)
    talk(configure(link, wanted))
    assert sensor.commands.count(SAVE) == 1
    talk(configure(link, wanted))
    assert sensor.commands.count(SAVE) == 1


def test_a_slower_line_comes_last() -> None:
    sensor = ScriptedSensor(6)
    changed = talk(configure(linked(sensor), SensorSettings(rate=20.0, baud=9600)))
    assert changed[-1] is Register.BAUD
    assert sensor.code == 2


def test_every_write_is_unlocked_and_read_back() -> None:
    sensor = ScriptedSensor(6)
    talk(configure(linked(sensor), WANTED))
    for index, command in enumerate(sensor.commands):
        if command[2] in {2, 3, 0x1F, 0x24}:
            assert sensor.commands[index - 1] == UNLOCK
            assert sensor.commands[index + 1][2] == 0x27


def test_a_register_that_does_not_take_its_value_is_named() -> None:
    sensor = ScriptedSensor(6)
    sensor.stubborn = {3}
    with pytest.raises(RegisterRefused, match='keeps 0x0006 in RATE, 0x000B was written'):
        talk(configure(linked(sensor), WANTED))


def test_a_sensor_whose_rx_is_not_wired_says_so() -> None:
    sensor = ScriptedSensor(6)
    sensor.deaf = True
    with pytest.raises(SensorSilent, match='does not answer at 115200 baud: is its RX wired'):
        talk(configure(linked(sensor), WANTED))
    # The other questions would have taken as long again, each.
    assert sensor.time < 1.5


def test_firmware_that_changes_speed_after_a_restart_is_restarted_if_saving_is_allowed() -> None:
    sensor = ScriptedSensor(2)
    sensor.switches = False
    link = linked(sensor)
    talk(probe(link, order(9600)))
    with pytest.raises(RegisterRefused, match='BAUD'):
        talk(configure(link, WANTED))
    assert link.baud == 9600
    assert REBOOT not in sensor.commands

    talk(configure(link, SensorSettings(save=True)))
    assert link.baud == 115200
    assert sensor.commands.count(REBOOT) == 1


def test_a_rate_that_the_line_cannot_carry_is_refused_with_the_one_it_can() -> None:
    with pytest.raises(ConfigurationError, match='at most 20 Hz for 3 frames a cycle at 9600'):
        SensorSettings(rate=50.0, baud=9600)


@pytest.mark.parametrize('content', [(), ('register',)])
def test_content_has_to_be_what_a_sensor_streams(content: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError, match='content'):
        SensorSettings(content=content)


def test_every_wait_ends_when_the_thread_is_to_stop() -> None:
    sensor = ScriptedSensor(1)
    with pytest.raises(Interrupted):
        talk(probe(linked(sensor, lambda: sensor.time > 0.5), CANDIDATES))
    assert sensor.time < 0.7


def test_bandwidth_and_ranges_are_those_asked_for() -> None:
    sensor = ScriptedSensor(6)
    settings = SensorSettings(bandwidth=42.0, gyroscope_range=500.0, accelerometer_range=4.0)
    talk(configure(linked(sensor), settings))
    assert [sensor.registers[number] for number in (0x1F, 0x20, 0x21)] == [3, 1, 1]
    with pytest.raises(ConfigurationError, match='bandwidth: expected one of 256, 188, 98, 42'):
        SensorSettings(bandwidth=50.0)
    with pytest.raises(ConfigurationError, match='accelerometer_range: expected one of 2, 4, 8'):
        SensorSettings(accelerometer_range=3.0)


def test_a_sensor_that_does_not_obey_its_registers_is_saved_and_restarted_where_allowed() -> None:
    sensor = ScriptedSensor(6)
    link = linked(sensor)
    talk(configure(link, WANTED))
    with pytest.raises(DriverError, match='obeys after a restart, for which `save` has to be'):
        talk(configure(link, WANTED, obeys=False))
    assert REBOOT not in sensor.commands

    assert talk(configure(link, SensorSettings(save=True), obeys=False)) == ()
    assert [command for command in sensor.commands if command in {SAVE, REBOOT}] == [SAVE, REBOOT]
