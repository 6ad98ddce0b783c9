# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The rig process: claim the folder, make the wires, serve, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
import datetime
import gc
from math import inf
import os
from pathlib import Path
import signal
import time

from stewart_driver.rig_file import save_rig
from stewart_simulation.control import ControlServer, Script
from stewart_simulation.daq_card.wire import CardServer
from stewart_simulation.ethercat import namespace
from stewart_simulation.ethercat.port import Port
from stewart_simulation.loop import Loop
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.faults import RigFaults
from stewart_simulation.rig.launcher import LONGEST
from stewart_simulation.rig.parts import Clocks, Parts, REAL_TIME
from stewart_simulation.rig.settings import ETHERCAT, RigSettings
from stewart_simulation.rig.truth import sample, TruthWriter
from stewart_simulation.serial_imu.plugged_sensor import PluggedSensor
from stewart_simulation.serial_imu.pty_port import PtyPort

TICK, IDLE = 5e-3, 20e-3
CLOCK_PERIOD = 1.0


class Wires(Parts):
    """The plant behind segment, card and sensor, on wires that other processes reach.

    Nothing answers before `register`.

    Args:
        interface: Network interface of the segment; empty without one.
    """

    def __init__(
        self,
        settings: RigSettings,
        directory: Path,
        interface: str = '',
        clocks: Clocks = REAL_TIME,
    ) -> None:
        super().__init__(settings, clocks)
        self._directory = directory
        self._clock_due = 0.0
        self._truth = TruthWriter(directory / places.TRUTH)
        self._on_step()
        self.card: CardServer | None = None
        self._port: Port | None = None
        self._listened = -1
        if settings.ethercat:
            line = self._make_segment(clocks.steady_ns)
            self._port = Port(interface, line) if interface else None
        if settings.card:
            self.card = CardServer(directory / places.CARD, self._make_card(), self._catch_up)
        if self.has_sensor:
            self._make_sensor(PtyPort(directory / places.IMU))
        self.faults = RigFaults(self.tables)
        self._script = Script(Path(settings.script), self.faults) if settings.script else None
        self._control = ControlServer(directory / places.CONTROL, self.faults)

    def _on_step(self) -> None:
        """Tell the truth."""
        self._truth.write(sample(self.mechanics, self._bridge.offset))

    def ends(self) -> dict[str, str]:
        """Return where the wires end, by name, but for the network."""
        found = {'control': places.CONTROL, 'truth': places.TRUTH, 'rig_file': places.RIG_FILE}
        if self.card is not None:
            found['card'] = places.CARD
        if self.sensor is not None:
            found['imu'] = places.IMU
        return {name: str(self._directory / place) for name, place in found.items()}

    def register(self, loop: Loop) -> None:
        """Answer from now on."""
        if self._port is not None:
            loop.watch(self._port.fileno(), self._port.answer)
        if self.card is not None:
            loop.serve(self.card)
        loop.serve(self._control)
        self._loop = loop
        if self.sensor is not None:
            self.sensor.begin()

    def in_use(self, now: float) -> bool:
        """Tell whether a program holds the card, or a master drives.

        A master drives if it has spoken not longer than a tick ago, or if its drives have power:
        a master that is only delayed is silent, too. The drives' own watchdogs tell it from one
        that is gone.
        """
        if self.card is not None and self.card.clients:
            return True
        if self._port is None:
            return False
        powered = self._settings.moved_by == ETHERCAT and self.mechanics.drives.powered.any()
        return bool(powered) or now - self._port.heard < IDLE

    def turn(self, now: float) -> float:
        """Do what is due; return when the next thing is [s]."""
        due = self._tick(now)
        if self._script is not None:
            self._script.play(now)
        if self.sensor is not None:
            due = min(due, self._attend(self.sensor, now))
        if now >= self._clock_due:
            self._bridge.refresh()
            self._clock_due = now + CLOCK_PERIOD
        return due

    def _attend(self, sensor: PluggedSensor, now: float) -> float:
        """Let the sensor measure and send, and hear on the port that it has now."""
        if sensor.due <= now:
            self.mechanics.advance(now)
            sensor.turn(now)
        descriptor = sensor.port.fileno()
        if descriptor != self._listened:
            self._loop.forget(self._listened)
            if descriptor >= 0:
                self._loop.watch(descriptor, lambda: sensor.turn(self._clocks.now()))
            self._listened = descriptor
        return sensor.due

    def _catch_up(self) -> None:
        """Bring drives and plant to the present."""
        now = self._clocks.now()
        self._tick(now)
        self.mechanics.advance(now)

    def _tick(self, now: float) -> float:
        """Let drives and plant go on if no wire has done it."""
        if self._port is not None:
            return self._port.turn(now)
        if self.segment is not None:
            if now >= self.segment.due:
                self.segment.tick(round(1e9 * now))
            return self.segment.due
        patience = TICK if self.mechanics.drives.powered.any() else IDLE
        if now - self.mechanics.time >= patience:
            self.mechanics.advance(now)
        return self.mechanics.time + patience

    def close(self) -> None:
        """Let go of every wire."""
        self._control.close()
        if self.card is not None:
            self.card.close()
        if self._port is not None:
            self._port.close()
        if self.sensor is not None:
            self.sensor.port.unplug()


# A wire without a frame for this long is free [s]: a busy machine can delay a driver by 0.2 s.
QUIET = 0.5


class Lingering:
    """The end of a rig, once it is asked for.

    A Ctrl-C reaches rig and driver at the same instant. Metal is still there while the driver
    brings the legs to rest and makes its outputs safe, and so is this rig.
    """

    def __init__(self) -> None:
        self._asked, self._used = inf, -inf

    def over(self, now: float, *, asked: bool, in_use: bool) -> bool:
        """Tell whether it is time to end.

        Args:
            now: Steady clock [s].
            in_use: Whether anybody drives or reads over a wire.

        Returns:
            True when nobody has used the wires for `QUIET`, or `LONGEST` after it was asked for.
        """
        if in_use:
            self._used = now
        if not asked:
            return False
        self._asked = min(self._asked, now)
        return now - self._used >= QUIET or now - self._asked >= LONGEST


def serve(
    settings: RigSettings, directory: Path, announce: Callable[[dict[str, str]], None]
) -> None:
    """Run a rig until SIGINT or SIGTERM comes, or the parent is gone, and its driver has let go.

    Args:
        directory: Where the ends of the wires shall be.
        announce: Told where they are as soon as everything answers.

    Raises:
        RigError: If a rig runs there already, or somebody else's files are in the way.
        NamespaceError: If this machine does not allow the network that the segment needs.
    """
    parent, ended, lingering = os.getppid(), [], Lingering()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.append(number))
    namespace.die_with_parent(signal.SIGTERM)
    directory = directory.absolute()
    places.claim(directory)
    with ExitStack() as stack:
        stack.callback(places.sweep, directory, os.getpid())
        ends = {'directory': str(directory)}
        port = ''
        if settings.ethercat:
            ends['interface'], port, own = namespace.prepare()
            ends['namespace'] = '' if own else str(directory / places.NETNS)
            if own:
                stack.callback(namespace.disconnect, port)
            else:
                (directory / places.NETNS).symlink_to(f'/proc/{os.getpid()}/ns/net')
        wires = Wires(settings, directory, port)
        stack.callback(wires.close)
        ends |= wires.ends()
        save_rig(ends['rig_file'], wires.sheet(datetime.date.today()))
        loop = Loop()
        wires.register(loop)
        announce(ends)
        gc.collect()
        gc.freeze()

        def over() -> bool:
            asked = bool(ended) or os.getppid() != parent
            now = time.monotonic()
            return lingering.over(now, asked=asked, in_use=wires.in_use(now))

        loop.run(wires.turn, over, IDLE)
