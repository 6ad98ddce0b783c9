# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether this machine lets the demo lay its wires, and what is played where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import subprocess
import sys

from stewart_bringup.demo.scenarios import Scenario, SIMULATED

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
