# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the driver tells on /diagnostics."""

from __future__ import annotations

from typing import Any

from stewart_driver.advice import advice
from stewart_driver.backend import Backend
from stewart_driver.control.clock_bridge import ClockBridge
from stewart_driver.control.cycle_link import CycleLink
from stewart_driver.control.cycle_statistics import Counts, CycleCounters, percentile
from stewart_driver.control.effort_join import EffortJoin
from stewart_driver.control.state_machine import State
from stewart_driver.path.motion import Verdict
from stewart_node_support.diagnostics import Level, Report
from stewart_tables.errors import counted

MICROSECONDS = 1e6
PERCENTILES = {'p50': 0.5, 'p99': 0.99}


class CycleReport:
    """Punctuality of the cycle since the report before."""

    def __init__(self, client: CycleLink, clock: ClockBridge) -> None:
        self._client, self._clock = client, clock
        self._before = CycleCounters()
        self._notes: list[str] = []

    def __call__(self) -> Report:
        """Report the last second, and totals."""
        before, now = self._before, self._client.counters()
        self._before = now
        values: dict[str, Any] = {'cycles': now.cycles, 'overruns': now.overruns}
        values |= _durations('wake-up late', now.lateness - before.lateness, now.latest)
        values |= _durations('work', now.busy - before.busy, now.busiest)
        bad = 0
        if now.round_trips.any():
            frames = now.round_trips - before.round_trips
            values |= _durations('round trip', frames, now.longest_round_trip)
            values['bad working counters'] = now.bad_working_counters
            values['lost frames'] = now.lost_frames
            values['bus restarts'] = now.bus_restarts
            values['emergencies'] = now.emergencies
            bad = now.bad_working_counters - before.bad_working_counters
            bad += now.lost_frames - before.lost_frames
        values['path behind schedule [ms]'] = f'{1e3 * now.slipped:.2f}'
        worst = 1e3 * now.largest_following_error
        values['following error max since start [mm]'] = f'{worst:.3f}'
        values['samples lost'] = now.lost_samples
        values['clock uncertainty [us]'] = f'{MICROSECONDS * self._clock.uncertainty:.1f}'
        values['clock steps'] = self._clock.steps
        self._notes += self._client.notes()
        if self._notes:
            values['not permitted'] = '; '.join(self._notes)
        if not self._client.alive:
            return Report(Level.ERROR, self._client.exit_reason(), values)
        if now.cycles == before.cycles:
            return Report(Level.ERROR, 'no cycle has run in the last second', values)
        if bad:
            return Report(Level.WARN, f'{bad} frames bad or lost in the last second', values)
        if overruns := now.overruns - before.overruns:
            return Report(Level.WARN, f'{overruns} cycles overrun in the last second', values)
        return Report(Level.OK, 'the cycle is punctual', values)


def _durations(name: str, counts: Counts, longest: float) -> dict[str, str]:
    """Return median, 99th percentile and maximum as they stand in a report."""
    shown = {
        f'{name} {label} [us]': f'{MICROSECONDS * percentile(counts, share):.0f}'
        for label, share in PERCENTILES.items()
    }
    return {**shown, f'{name} max since start [us]': f'{MICROSECONDS * longest:.0f}'}


class CommandReport:
    """What became of the commands.

    Attributes:
        malformed: Messages that were no leg states.
        last_malformed: What was wrong with the last of them since the report before; empty if
            there was none.
    """

    def __init__(self, client: CycleLink, efforts: EffortJoin) -> None:
        self._client, self._efforts = client, efforts
        self.malformed = 0
        self.last_malformed = ''
        self._refused = 0

    def __call__(self) -> Report:
        """Report totals; warn where something was refused since the report before."""
        now = self._client.counters()
        values: dict[str, Any] = {
            verdict.name.lower().replace('_', ' '): count
            for verdict, count in now.verdicts.items()
        }
        values['malformed messages'] = self.malformed
        values['lost before the cycle'] = now.lost_setpoints
        values['with feed-forward force'] = self._efforts.joined
        values['without, though expected'] = self._efforts.missing
        total = sum(now.verdicts.values()) - now.verdicts[Verdict.ACCEPTED] + self.malformed
        refused, self._refused = total - self._refused, total
        why = self.last_malformed or self._client.last_refusal
        self.last_malformed = self._client.last_refusal = ''
        if refused or why:
            what = f'{counted(refused, "command")} refused' if refused else 'refused'
            return Report(Level.WARN, f'{what} in the last second: {why}', values)
        return Report(Level.OK, 'no command refused', values)


def backend_report(backend: Backend, state: State, reason: str) -> Report:
    """Report what moves the legs and in which state it is: ERROR in FAULT, with what to do."""
    name, simulated = backend.name, backend.simulated
    fault = state is State.FAULT
    what = f'SIMULATED, no metal moves (back end {name})' if simulated else f'back end {name}'
    values = {
        'backend': name,
        **backend.details,
        'simulated': simulated,
        'state': state.name,
        'reason': reason,
        **({'do': advice(reason)} if fault else {}),
    }
    level = Level.ERROR if fault else Level.OK
    return Report(level, f'{what}: {state.name}, {reason}', values)
