# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Write fault_matrix.md: break the virtual rigs, and say what came of it.

``python docs/fault_matrix.py`` runs every case of ``src/stewart_bringup/test/fault_cases.py`` as a
test (a quarter of an hour) and writes the table from the results; with JUnit files as arguments it
takes those of earlier runs. A test holds the table against the cases.
"""

from __future__ import annotations

from pathlib import Path
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / 'src' / 'stewart_bringup' / 'test'
PAGE = Path(__file__).with_name('fault_matrix.md')
sys.path.insert(0, str(TESTS))

from fault_case import Case, EX800, STATE, VIGO  # noqa: E402
from fault_cases import CASES  # noqa: E402

HEADS = ('fault', 'noticed within', 'final state', 'what the operator sees', 'platform moves')
INTRODUCTION = """\
# Fault matrix

Written by `python docs/fault_matrix.py`, which breaks the shipped configurations `vigo_ethercat`
and `ex800_daq` on virtual rigs, case by case; the cases are
`src/stewart_bringup/test/fault_cases.py`, bounds included. In brackets stands what was measured
once, on two shared cores with `chrt -r 1`: the next run will differ a little. They belong to
`make test-slow`.

- While the fault happens all legs move at 63 mm/s; for the sensor, the platform is held.
- Noticed: from just before the fault is asked for until the stamp of the message that says it.
  `/diagnostics` come once a second. Cycles are those of the configuration, 2.5 ms and 5 ms.
- The operator's sentence comes from `driver/state` where nothing else is said.
- Moves: the way of the platform joint that moves furthest, by `simulation/truth`, from the
  fault until rest, with what was still commanded. Where the motion goes on: how far any leg gets
  off its path; cycles that come late make the path later, not different.
- After the fault was mended, `driver/reset_fault` (or a new start of the node) brought the drives
  back in every case. Nothing was switched on again by itself.
- With one frame in fifty lost drives tripped (0x8700) on a busy machine, and not on a quiet one.
- `command_timeout` is 0.5 s here instead of 0.1 s, so that a busy machine is no fault.
- There are no brakes (nor in Vigo's order code): a leg without voltage holds no load, and the
  driver lets the others go with it (`docs/decisions/0070-one-dead-leg-lets-all-go.md`). Then the
  platform sinks onto the mechanical ends, 2 mm beyond the stroke: level where all lose their
  voltage within some 40 ms, which is the rule; where a leg has fallen behind before, it may land
  tilted, one leg extended and the joints turned to their ends. Where no voltage is lost, all hold:
  also when the bus is lost (`docs/decisions/0102-drives-hold-without-the-bus.md`).
- The clock of the machine set by ±1 s or ±1 h: the motion is aborted and the legs come to rest, as
  where setpoints stop, unless the path goes on within all limits after a second that was left out.
  Driver, recorder and diagnostics go on, nothing is a fault, and the next motion may start
  (`pytest -m slow src/stewart_bringup/test/test_clock_steps.py`). Timers follow within 50 ms.
- A full or read-only disk: a verb says so in one sentence and leaves no part of a file
  (`test_disk_ends.py` there); a recorder ends its bag and counts what it loses, and what was
  flushed is rescued. Where the disk is slow, 50 000 messages wait, and what comes beyond counts as
  lost; the rig goes on (`test_recording.py` of the bags). Where no log file of ROS can be
  written, verbs and nodes say so and run without one (`test_middleware.py` of the node support).
- Out of memory: the kernel ends a process by signal 9; the rows *kill -9* say what comes of it. A
  recorder that is refused memory ends its bag, and counts what it loses.
- A leap second is a clock set back by 1 s. Samples of the legs and of the IMU that leap ahead by
  more than 10 s are dropped, and after ten in a row the state estimation begins anew.
- What is fallen is the way of the joint that moves furthest, from the final state on.
"""


def results(path: Path) -> dict[str, dict[str, str]]:
    """Return what the tests have recorded, by case."""
    found = {}
    for item in ElementTree.parse(path).iter('testcase'):
        values = {entry.attrib['name']: entry.attrib['value'] for entry in item.iter('property')}
        if 'case' in values and item.find('failure') is None:
            found[values['case']] = values
    return found


def measure() -> dict[str, dict[str, str]]:
    """Run all cases."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'results.xml'
        options = ['-q', '-m', 'slow or not slow', '-o', 'junit_family=xunit1']
        command = [sys.executable, '-m', 'pytest', str(TESTS / 'test_fault_matrix.py'), *options]
        subprocess.run([*command, '--junitxml', str(file)], cwd=ROOT, check=False)
        return results(file)


def bounds(case: Case) -> tuple[str, str]:
    """Return the two bounds as they stand in the table."""
    moves = f'≤ {1e3 * case.moves:g} mm'
    if case.sinks or case.askew:
        where = 'sinks level' if not case.askew else 'sinks, perhaps tilted'
        where = where if case.sinks else 'tilts'
        moves += f', then {where}, ≤ {1e3 * case.falls:g} mm'
    if not case.says:
        return 'not noticed', moves
    return f'{1e3 * case.within:g} ms, {case.cycles} cycles', moves


def row(case: Case, result: dict[str, str]) -> str:
    """Return a line of the table."""
    within, moves = bounds(case)
    if case.says:
        within += f' ({1e3 * float(result["detected"]):.0f} ms)'
    moves += f' ({1e3 * float(result["moved"]):.1f} mm'
    if case.sinks or case.askew:
        moves += f', {1e3 * float(result["fallen"]):.0f} mm'
    moves += ')'
    sentence = f'nothing: {case.why}'
    if case.says:
        sentence = re.sub(r'/\S+/(\w[\w.]*)', r'…/\1', result['sentence'])
        sentence = sentence if case.source == STATE else f'`{case.source}`: {sentence}'
    if case.before_repair:
        sentence += '; a reset is refused until it is mended'
    cells = (case.name, within, result['state'], sentence, moves)
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def page(found: dict[str, dict[str, str]]) -> str:
    """Return the page; KeyError for a case that has failed."""
    lines = [INTRODUCTION]
    for rig, title in ((VIGO, 'Vigo over EtherCAT'), (EX800, 'EX800 on an analogue card')):
        lines += [f'## {title}', '', '| ' + ' | '.join(HEADS) + ' |', '|' + '---|' * len(HEADS)]
        lines += [row(case, found[case.name]) for case in CASES if case.rig == rig]
        lines.append('')
    return '\n'.join(lines)


def main() -> None:
    """Measure, or take files of results; write the page."""
    found = {} if len(sys.argv) > 1 else measure()
    for name in sys.argv[1:]:
        found |= results(Path(name))
    missing = [case.name for case in CASES if case.name not in found]
    if missing:
        sys.exit(f'not written, for these cases failed: {"; ".join(missing)}')
    PAGE.write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    main()
