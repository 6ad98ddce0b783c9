# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How far the simulated Vigo falls when drives lose what nothing can give back, and how hard.

``python benchmarks/falls.py``: the voltage of all drives goes (mains, safe torque off), or that of
some while the others hold, or let go a little later (decision 0070); at rest and in the middle of
a stroke at 250 mm/s upwards, without and with brakes. Printed is what the platform has lost of its
height after a time, how far it tilts, when it is at rest, and the largest force along a leg, that
of the mechanical ends included. The friction of legs without a current is an assumption
(`PlantOptions`).
"""

from __future__ import annotations

import harness  # isort: skip  (before numpy)

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_simulation.rigid_drives import RigidDrives
from stewart_simulation.simulated_backend import SimulatedBackend, SimulatedOptions

CYCLE = 0.0025
RISE = 0.25
ALL, ONE = range(6), range(1)
LONGEST = 6.0
# Legs that are dead first, from 1, and when the others let go [s].
FIRST = ((1,), (1, 2), (2, 3), (1, 4), (4, 5, 6), (2, 3, 4, 5, 6))
LATER = (np.inf, 0.15, 0.02)


@dataclass(frozen=True)
class Fall:
    """What happened after the voltage went."""

    case: str
    lost_mm_after_100_ms: float
    lost_mm_after_300_ms: float
    lost_mm: float
    tilt_deg: float
    still_after_s: float
    largest_force_n: float


def fall(
    case: str, legs: Iterable[int], rate: float, *, brake: bool = False, later: float = np.inf
) -> Fall:
    """Let legs 0 to 5 lose their voltage, the platform rising [m/s], and all others later [s]."""
    backend = SimulatedBackend(SimulatedOptions(brake=brake, supported=False))
    backend.open(0.0)
    drives = backend.mechanics.drives
    assert isinstance(drives, RigidDrives)
    drives.on = True
    held, rates, none = drives.strokes.copy(), np.zeros(6), np.zeros(6)
    for cycle in range(400):
        # At rest first, then with the rate reached within 0.2 s.
        rates[:] = rate * min(1.0, max(0.0, cycle - 320) / 80.0)
        held += CYCLE * rates
        drives.command(held, rates, none)
        drives.advance(CYCLE)
    start = drives.state[2]
    drives.sto[list(legs)] = True
    held = drives.strokes.copy()
    heights, tilts, forces, moving = [], [], [], 0
    for cycle in range(round(LONGEST / CYCLE)):
        drives.sto[:] |= cycle * CYCLE >= later
        # Drives that have their voltage hold where they are.
        drives.command(held, none, none)
        drives.advance(CYCLE)
        heights.append(drives.state[2])
        rotation = Rotation.from_quat(drives.state[3:7])
        tilts.append(np.degrees(np.arccos(min(1.0, rotation.as_matrix()[2, 2]))))
        forces.append(np.abs(drives.acting).max())
        if np.abs(drives.rates).max() > 1e-3:
            moving = cycle + 1
    lost = 1e3 * (start - np.array(heights))
    return Fall(
        case,
        *(float(lost[round(after / CYCLE) - 1]) for after in (0.1, 0.3)),
        float(lost[-1]),
        float(max(tilts)),
        moving * CYCLE,
        float(max(forces)),
    )


def main() -> None:
    """Let it fall, and print."""
    machine = harness.machine(('numpy', 'numba'))
    falls = [
        fall(f'{what}, {state}{", brakes" if brake else ""}', legs, rate, brake=brake)
        for brake in (False, True)
        for what, legs in (('all drives', ALL), ('drive 1', ONE))
        for state, rate in (('at rest', 0.0), ('rising', RISE))
    ]
    for legs in FIRST:
        for later in LATER:
            names = ','.join(map(str, legs))
            case = f'legs {names}, others {f"after {later:g} s" if later < LONGEST else "hold"}'
            falls.append(fall(case, [leg - 1 for leg in legs], 0.0, later=later))
    print(machine)
    for each in falls:
        print(
            f'{each.case:<34} {each.lost_mm_after_100_ms:7.1f} {each.lost_mm_after_300_ms:7.1f} '
            f'{each.lost_mm:7.1f} mm {each.tilt_deg:6.1f} deg, still after '
            f'{each.still_after_s:5.2f} s, at most {each.largest_force_n:7.0f} N'
        )
    harness.save('falls', {'machine': machine, 'falls': [asdict(each) for each in falls]})


if __name__ == '__main__':
    main()
