# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine: the priority it grants, how punctual it is meanwhile, and which wires it allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
import json
import os
from pathlib import Path
import subprocess
import sys
from typing import Any

import numpy as np
from stewart_bags.errors import BagError
from stewart_bags.reading import Bag
from stewart_bringup.demo import wakeups
from stewart_bringup.demo.scenarios import Scenario, SIMULATED
from stewart_driver.control.child_process import APART

# Below every other real-time process of the machine.
PRIORITY = 1


@contextmanager
def real_time() -> Iterator[str]:
    """Give this thread, and the threads and processes it starts, a real-time priority.

    A hop of 1 ms cannot wait for its turn on a busy machine; nice values do not help, for Linux
    weighs sessions against each other and not processes. Root may do this, and users with an
    ``rtprio`` limit; for everybody else nothing changes. Yields what the scheduler does.
    """
    policy, before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except PermissionError:
        yield 'ordinary: a real-time priority is not allowed to this user'
        return
    try:
        yield f'real-time, SCHED_RR {PRIORITY}'
    finally:
        os.sched_setscheduler(0, policy, before)


LATE_P99 = 1e-3
"""A hop shall take 1 ms: with more for one wake-up in a hundred, five hops leave a period."""
LATE_LONGEST = 5e-3
"""A period of the graph: whoever wakes up later has missed one."""
ADVICE = (
    'a real-time priority (rtprio in limits.conf), a core that nothing else uses, or a lower rate'
)
# Words of the driver that stops because frames, commands or cycles came late, of drives that have
# lost SYNC0 or whose watchdog has waited for a frame, and of whoever gave up waiting for a start.
LATENESS = (
    'no command in time',
    'no command for',
    'cycles of the last second were missed',
    'no cycle has run for',
    'no frame has come back',
    'synchronisation with SYNC0',
    'error 0x001A',
    'error 0x001B',
    'from its setpoint',
    'did not start within',
    'no answer within',
)
DIAGNOSTICS, CYCLE = '/diagnostics', 'driver: cycle'


@dataclass(frozen=True)
class Machine:
    """Lateness of wake-ups at the priority of the rig, and of the control loop.

    Attributes:
        p99, longest: Of a process that only wakes up every millisecond [s].
        cycles, overruns: Of the cyclic process, as the driver has last said.
        cycle_longest: Latest wake-up of the cyclic process [s]; 0 where the driver has not said.
    """

    p99: float
    longest: float
    cycles: int = 0
    overruns: int = 0
    cycle_longest: float = 0.0

    @property
    def late(self) -> bool:
        """Whether the machine may be blamed for what came late."""
        return self.p99 > LATE_P99 or max(self.longest, self.cycle_longest) > LATE_LONGEST

    def __str__(self) -> str:
        return (
            f'wake-ups were {1e3 * self.p99:.1f} ms late (p99), {1e3 * self.longest:.1f} ms at '
            f'most, those of the control loop {1e3 * self.cycle_longest:.1f} ms, and '
            f'{self.overruns} of its {self.cycles} cycles overran (a machine counts as late from '
            f'{1e3 * LATE_P99:g} ms on at p99, or {1e3 * LATE_LONGEST:g} ms once)'
        )


def because_late(reason: str) -> bool:
    """Tell whether frames, commands, cycles or a start came late."""
    return any(words in reason for words in LATENESS)


class Meter:
    """Measure the machine while the context is open, with the priority that the rig gets."""

    def __init__(self) -> None:
        self._said = ''

    def __enter__(self) -> Meter:
        # What it inherits it keeps.
        with real_time():
            self.process = subprocess.Popen(
                [sys.executable, '-I', wakeups.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                # As the rig's processes are, which it is to tell of; Ctrl-C is for the demo.
                **APART,
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._said = self.process.communicate()[0]

    def read(self, bag: Path) -> Machine:
        """Return what was measured while the context was open, with the cycles of the bag."""
        counts = {int(steps): count for steps, count in json.loads(self._said or '{}').items()}
        steps = np.repeat(sorted(counts), [counts[key] for key in sorted(counts)])
        # Upper edges, so that nothing is called more punctual than it was.
        late = wakeups.STEP * (steps + 1) if len(steps) else np.zeros(1)
        said = _last_words(bag)
        return Machine(
            float(np.percentile(late, 99)),
            float(late.max()),
            int(said.get('cycles', 0)),
            int(said.get('overruns', 0)),
            1e-6 * float(said.get('wake-up late max since start [us]', 0)),
        )


def _last_words(path: Path) -> Mapping[str, str]:
    """Return what the driver last said of its cycle; empty where the bag does not tell."""
    found: Mapping[str, str] = {}
    try:
        with Bag(path) as bag:
            for item in bag.messages([DIAGNOSTICS]):
                message: Any = item.message
                for status in message.status:
                    values = {pair.key: pair.value for pair in status.values}
                    # A loop that has ended says 0.
                    if status.name == CYCLE and int(values.get('cycles', 0)):
                        found = values
    except (BagError, OSError):
        pass
    return found


ETHERCAT = 'ethercat'
# In a process of its own, for whoever enters a namespace does not come back.
PROBE = """
import sys
from stewart_simulation.ethercat import namespace
from stewart_simulation.ethercat.namespace import NamespaceError
try:
    namespace.enter()
except NamespaceError as error:
    sys.exit(None if namespace.may_use_raw_sockets() else ' '.join(str(error).split()))
"""


def why_no_frames() -> str:
    """Return why EtherCAT frames cannot be sent on this machine; empty if they can."""
    probe = subprocess.run(
        [sys.executable, '-c', PROBE], check=False, capture_output=True, text=True
    )
    return '' if probe.returncode == 0 else probe.stderr.strip()


def playable(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Replace scenarios over EtherCAT by simulated drives where no frame can be sent.

    Terminal and report name each replacement.
    """
    framed = [item.backend == ETHERCAT and not item.simulated for item in scenarios]
    if not any(framed):
        return list(scenarios)
    reason = why_no_frames()
    if not reason:
        return list(scenarios)
    instead = f'EtherCAT frames cannot be sent on this machine: {reason}'
    return [
        replace(scenario, backend=SIMULATED, fallback=instead) if over_frames else scenario
        for scenario, over_frames in zip(scenarios, framed, strict=True)
    ]
