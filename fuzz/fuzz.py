# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Give every parser bad input: it may answer, or refuse with one of its typed errors.

Each parser runs in a process of its own. A case that ends in another error, takes more than its
processor time or needs more than its memory is a finding; so is a process that dies. Cases are
numbered and follow from seed and number alone. With --keep the first case of each finding goes
into the corpus, which --replay gives to the parsers again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
import hashlib
import json
import mmap
from pathlib import Path
from random import Random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from typing import Any
import warnings

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / 'fuzz' / 'corpus'
LEVELS = ('structured', 'bytes')
CASE_SECONDS = 10.0
"""Processor time of one case [s]: a hundred times what the slowest parser needs."""
HEADROOM = 1 << 30
"""What a parser may take beside what the process has when it begins [B]."""
SILENCE, LOOK = 120.0, 5.0
"""Without a next case for so long a process hangs; how often that is looked at [s]."""

RESULT = 'result: '
"""Before what a child found; a library may print, too."""


class Hang(BaseException):
    """A case takes longer than it may."""


@dataclass
class Outcome:
    """What came of one parser's cases of one level."""

    cases: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest_ms: float = 0.0
    findings: dict[str, dict[str, Any]] = field(default_factory=dict)


def every_parser() -> dict[str, Any]:
    """Return all parsers by name."""
    from bags import BAGS
    from pages import PAGES
    from parsers import FILES
    from sockets import SOCKETS
    from wires import WIRES

    return FILES | BAGS | WIRES | SOCKETS | PAGES


def case_of(name: str, level: str, number: int, seed: int, parser: Any, samples: Any) -> bytes:
    """Return a case, which follows from its number."""
    import mutations

    random = Random(f'{seed}/{name}/{level}/{number}')
    make = parser.structured if level == 'structured' else mutations.of_bytes
    return bytes(make(random, samples))


def judge(parse: Any, typed: tuple[type[BaseException], ...], data: bytes) -> str | None:
    """Return what is wrong with how a case ends, or None; '' where it was refused as it should."""
    try:
        parse(data)
    except typed:
        return ''
    except (Exception, Hang) as error:
        return f'{type(error).__name__} at {_place(error)}'
    return None


def refused_samples(parser: Any, samples: Sequence[bytes], parse: Any) -> list[str]:
    """Return what is wrong with samples: each has to be answered, or no case of it comes far."""
    found = [judge(parse, parser.typed, sample) for sample in samples]
    return [
        f'sample {number}: {what or "refused"}'
        for number, what in enumerate(found)
        if what is not None
    ]


def _place(error: BaseException) -> str:
    """Return the last line of ours through which an error came."""
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if re.search(r'/stewart_\w+/', f.filename)
    ]
    if not frames:
        return 'no line of ours'
    return f'{Path(frames[-1].filename).name}:{frames[-1].lineno}'


def work(name: str, level: str, options: argparse.Namespace, counter: mmap.mmap) -> Outcome:
    """Run the cases of one parser in this process."""
    from parsers import folder

    parser, outcome = every_parser()[name], Outcome()
    with folder() as place:
        samples, parse = parser.open(Path(place))
        for wrong in refused_samples(parser, samples, parse):
            outcome.findings[wrong] = {'count': 1, 'case': ''}
        _bound_memory()
        signal.signal(signal.SIGPROF, _hang)
        begin = time.process_time()
        count = getattr(options, level)
        for number in range(count):
            counter[:8] = number.to_bytes(8, 'little')
            data = case_of(name, level, number, options.seed, parser, samples)
            start = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, CASE_SECONDS)
            found = judge(parse, parser.typed, data)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            now = time.process_time()
            outcome.slowest_ms = max(outcome.slowest_ms, 1e3 * (now - start))
            outcome.cases += 1
            outcome.refused += found == ''
            if found:
                entry = outcome.findings.setdefault(found, {'count': 0, 'case': data.hex()})
                entry['count'] += 1
                if len(data) < len(entry['case']) // 2:
                    entry['case'] = data.hex()
            if now - begin > options.seconds:
                break
        outcome.seconds = time.process_time() - begin
    return outcome


def _hang(*_: object) -> None:
    raise Hang


def _bound_memory() -> None:
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    limit = pages * resource.getpagesize() + HEADROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _child(options: argparse.Namespace) -> int:
    """Run one parser and print what came of it."""
    warnings.simplefilter('ignore')
    with Path(options.counter).open('r+b') as file, mmap.mmap(file.fileno(), 8) as counter:
        outcome = work(options.names[0], options.level, options, counter)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print('\n' + RESULT + json.dumps({**vars(outcome), 'peak_mb': grown}))
    return 0


def replay(names: Sequence[str]) -> int:
    """Give every parser its samples and what the corpus keeps for it; return 1 for a finding."""
    from parsers import folder

    cases, found = 0, False
    for name in names:
        parser, kept = every_parser()[name], sorted(place_of(name).glob('*.bin'))
        with folder() as place:
            samples, parse = parser.open(Path(place))
            wrong = refused_samples(parser, samples, parse)
            for path in kept:
                if what := judge(parse, parser.typed, path.read_bytes()):
                    wrong.append(f'{path.relative_to(ROOT)}: {what}')
            cases += len(samples) + len(kept)
            found |= bool(wrong)
            for what in wrong:
                print(f'{name}, {what}')
    print(f'{cases} cases of {len(names)} parsers')
    return int(found)


def run(name: str, level: str, options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Run the cases of one parser in a process of its own."""
    counter = scratch / 'counter'
    counter.write_bytes(bytes(8))
    command = [sys.executable, __file__, name, '--child', level, '--counter', str(counter)]
    for key in ('seed', 'seconds', *LEVELS):
        command += [f'--{key}', str(getattr(options, key))]
    errors = scratch / 'errors'  # a library may write a line there for every case
    with (
        errors.open('w') as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as child,
    ):
        stdout = _watched(child, counter)
    if child.returncode == 0:
        return dict(json.loads(stdout.rpartition(RESULT)[2].partition('\n')[0]))
    end = f'ended with {child.returncode}: {errors.read_text(errors="replace")[-300:]}'
    if child.returncode == -signal.SIGKILL:
        end = 'hung where no signal reaches it, or was killed'
    number = int.from_bytes(counter.read_bytes(), 'little')
    return {**vars(Outcome(cases=number)), 'peak_mb': 0.0,
            'findings': {end: {'count': 1, 'case': '', 'number': number}}}  # fmt: skip


def _watched(child: subprocess.Popen[str], counter: Path) -> str:
    """Return what a process printed; kill it where it begins no further case for too long."""
    before, since = b'', time.monotonic()
    while True:
        try:
            return child.communicate(timeout=LOOK)[0]
        except subprocess.TimeoutExpired:
            if (now := counter.read_bytes()) != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > SILENCE:
                child.kill()


def place_of(name: str) -> Path:
    """Return where the corpus keeps cases of a parser."""
    return CORPUS / name.replace(' ', '_').replace(',', '')


def keep(name: str, case: str) -> Path:
    """Put a case into the corpus."""
    data, target = bytes.fromhex(case), place_of(name)
    target.mkdir(parents=True, exist_ok=True)
    path = target / f'{hashlib.sha256(data).hexdigest()[:12]}.bin'
    path.write_bytes(data)
    return path


def main() -> int:
    """Run, print a line for each parser, write the JSON file; return 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='parsers (default: all)')
    parser.add_argument('--structured', type=int, default=10_000, metavar='CASES')
    parser.add_argument('--bytes', type=int, default=100_000, metavar='CASES')
    parser.add_argument('--seconds', type=float, default=60.0, help='processor time for each')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--keep', action='store_true', help='put findings into the corpus')
    parser.add_argument('--minutes', type=float, help='processor time of all together instead')
    parser.add_argument('--replay', action='store_true', help='samples and corpus, and no more')
    parser.add_argument('--child', dest='level', help=argparse.SUPPRESS)
    parser.add_argument('--counter', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.level:
        return _child(options)
    names = options.names or list(every_parser())
    if options.replay:
        return replay(names)
    if options.minutes is not None:
        options.structured = options.bytes = sys.maxsize
        options.seconds = 60.0 * options.minutes / (len(names) * len(LEVELS))
    sys.path.append(str(ROOT / 'benchmarks'))
    from harness import machine, OUTPUT, save
    from parsers import folder

    about, rows = machine(['numpy', 'pyyaml', 'rosbags', 'scipy']), []
    with folder() as scratch:
        for name in names:
            for level in LEVELS:
                row = run(name, level, options, Path(scratch))
                rows.append({'parser': name, 'level': level, 'date': about['date'], **row})
                print(f'{name}, {level}: {row["cases"]} cases, {row["refused"]} refused, '
                      f'slowest {row["slowest_ms"]:.0f} ms', flush=True)  # fmt: skip
                for what, entry in row['findings'].items():
                    print(f'  {what}, {entry["count"]} times')
                    if options.keep and entry['case']:
                        print(f'  kept as {keep(name, entry["case"])}')
    path = OUTPUT / 'fuzz.json'
    before = json.loads(path.read_text(encoding='utf-8'))['fuzz'] if path.exists() else []
    # Of other parsers those of the last run stay, as long as there are such parsers.
    others = every_parser().keys() - set(names)
    rows += [row for row in before if row['parser'] in others]
    save(path.stem, {'machine': about, 'fuzz': rows})
    return int(any(row['findings'] for row in rows if row['parser'] in names))


if __name__ == '__main__':
    sys.exit(main())
