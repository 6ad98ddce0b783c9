# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of a benchmark's result, by what is in the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Result = Mapping[str, Any]


def timings(result: Result) -> list[str]:
    """Return the table of a benchmark that times tasks."""
    lines = ['| task | median | least | ratio | to its peer, limit |', '|---|---:|---:|---:|---|']
    for row in result['timings']:
        held = ''
        if row['limit'] is not None:
            held = f'{row["to_peer"]:.3g} of {row["peer"]}, at most {row["limit"]:g}'
        lines.append(
            f'| {row["name"]} | {row["median_us"]:.3g} | {row["least_us"]:.3g} '
            f'| {row["ratio"]:.3g} | {held} |'
        )
    return [*lines, '', 'Microseconds per sample; the ratio is to the first line.']


def runs(result: Result) -> list[str]:
    """Return the table of the forward dynamics: precision and cost."""
    lines = [
        '| method | step [ms] | cost [ms/s] | pose error [m] | energy drift [J] | gap [m] |',
        '|---|---:|---:|---:|---:|---:|',
    ]
    lines += [
        f'| {row["method"]} | {row["step_ms"]:g} | {row["cost_ms_per_s"]:.3g} '
        f'| {row["pose_error_m"]:.1e} | {row["energy_drift_j"]:.1e} | {row["gap_m"]:.0e} |'
        for row in result['runs']
    ]
    return lines


def comparisons(result: Result) -> list[str]:
    """Return the table of the bags."""
    lines = [
        '| storage | operation | messages | peer | over peer | limit |',
        '|---|---|---:|---|---:|---:|',
    ]
    lines += [
        f'| {row["storage"]} | {row["operation"]} | {row["messages"]} '
        f'| {row["peer"]} | {row["over_peer"]:.2f} | {row["limit"]:g} |'
        for row in result['results']
    ]
    return lines


def demanded(result: Result) -> list[str]:
    """Return the tables of the faulty sensors: what was demanded, and the errors of every case."""
    lines = [
        '| case | figure | found, MP1 | found, MP2 | demanded | |',
        '|---|---|---:|---:|---:|---|',
    ]
    by_name: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in result['demands']:
        by_name.setdefault((row['case'], row['figure']), []).append(row)
    for (case, figure), rows in by_name.items():
        least, most = rows[0]['least'], rows[0]['most']
        asked = f'at most {most:.3g}' if least is None else f'{least:.3g} to {most:.3g}'
        asked += ', every seed' if rows[0]['worst'] else ''
        held = 'held' if all(row['held'] for row in rows) else '**not held**'
        found = ' | '.join(f'{row["found"]:.3g}' for row in rows)
        lines.append(f'| {case} | {figure} | {found} | {asked} | {held} |')
    keys = [key for key in result['cases'][0]['figures'] if key.startswith('RMS ')]
    lines += ['', f'| motion, case | {" | ".join(keys)} |', f'|---|{"---:|" * len(keys)}']
    for row in result['cases']:
        cells = ' | '.join(f'{row["figures"][key][0]:.2e}' for key in keys)
        lines.append(f'| {row["profile"]}, {row["case"]} | {cells} |')
    return [*lines, '', 'SI units, mean over the seeds; the JSON file has the worst seed, too.']


def rates(result: Result) -> list[str]:
    """Return the table of the live node."""
    lines = [
        '| samples [Hz] | answered | latency p50 / p99 / max [ms] | of a core | each [µs] |',
        '|---:|---:|---:|---:|---:|',
    ]
    lines += [
        f'| {row["rate_hz"]:g} | {row["answered"]} of {row["sent"]} '
        f'| {row["latency_p50_ms"]:.2f} / {row["latency_p99_ms"]:.2f} / '
        f'{row["latency_max_ms"]:.2f} | {100 * row["core"]:.1f} % '
        f'| {row["core_per_estimate_us"]:.0f} |'
        for row in result['live']
    ]
    return [
        *lines,
        '',
        f'In a composed rig: {result["composed_us"]:.0f} µs per IMU sample, '
        f'{result["to_peer"]:.2f} of the {result["peer_us"]:.0f} µs of the same node with '
        f"rclpy's executor and messages converted field by field; "
        f'at most {result["most_to_peer"]:g}.',
    ]


def graphs(result: Result) -> list[str]:
    """Return the table of the graph."""
    lines = [
        '| rate [Hz] | graph | setpoints [Hz] | lost | command p50 / p99 / max [ms] '
        '| pose [ms] | executed [ms] | of a core | RSS [MB] |',
        '|---:|---|---:|---:|---:|---:|---:|---:|---:|',
    ]
    for row in result['graph']:
        times = ' | '.join(
            ' / '.join(f'{value:.2f}' for value in row[f'{name}_ms'])
            for name in ('command', 'pose', 'executed')
        )
        lines.append(
            f'| {row["rate_hz"]:g} | {row["kind"]} | {row["setpoints_hz"]:.1f} | {row["lost"]} '
            f'| {times} | {100 * row["core"]:.0f} % | {row["rss_mb"]:.0f} |'
        )
    load = f'Load at the end {result["load_at_the_end"]:.1f}.'
    return [*lines, '', f'Columns as `benchmarks/graph.py` explains them. {load}']


def starts(result: Result) -> list[str]:
    """Return the table of what is started."""
    lines = [
        '| | median [s] | least [s] | processor [s] | limit of the least [s] |',
        '|---|---:|---:|---:|---:|',
    ]
    for row in result['starts']:
        limit = '' if row['limit_s'] is None else f'{row["limit_s"]:g}'
        limit += '' if row['held'] else ', **not held**'
        lines.append(
            f'| {row["name"]} | {row["median_s"]:.2f} | {row["least_s"]:.2f} '
            f'| {row["processor_s"]:.2f} | {limit} |'
        )
    return lines


def speeds(result: Result) -> list[str]:
    """Return the table of simulated time."""
    lines = [
        '| what | simulated [s] | times real time | per second of processor |',
        '|---|---:|---:|---:|',
    ]
    return lines + [
        f'| {row["name"]} | {row["simulated_s"]:.1f} | {row["real_time_factor"]:.1f} '
        f'| {row["per_processor_second"]:.1f} |'
        for row in result['speeds']
    ]


def cycles(result: Result) -> list[str]:
    """Return the table of the EtherCAT cycle."""
    lines = [
        '| cycle [ms] | round trip p50 / p99 / max [ms] | wake-up p50 / p99 / max [ms] '
        '| lost, bad, of | overruns | following p99 / max [mm] | quick stop to rest [ms] |',
        '|---:|---:|---:|---:|---:|---:|---:|',
    ]
    for row in result['cycles']:
        times = [
            ' / '.join(
                f'{1e-3 * row[f"{name}_{label}_us"]:.2f}' for label in ('p50', 'p99', 'max')
            )
            for name in ('round_trip', 'wake_up')
        ]
        lines.append(
            f'| {1e-3 * row["cycle_us"]:g} | {times[0]} | {times[1]} '
            f'| {row["lost_frames"]}, {row["bad_working_counters"]}, {row["cycles"]} '
            f'| {row["overruns"]} | {row["following_error_p99_mm"]:.2f} / '
            f'{row["following_error_max_mm"]:.2f} | {1e-3 * row["quick_stop_to_rest_us"]:.0f} |'
        )
    priority = result['realtime_priority']
    scheduler = f'SCHED_FIFO {priority}' if priority else 'the ordinary scheduler'
    return [*lines, '', f'{result["seconds"]:g} s each, {scheduler}; {result["load"]}.']


def wave(result: Result) -> list[str]:
    """Return the figures of Vigo's random wave."""
    row = result['wave']
    return [
        f'Worst following error {row["worst_following_error_mm"]:.3f} mm, of any leg in any cycle '
        f'of {row["seconds"]:g} s and the ways there and back, at leg rates up to '
        f'{row["fastest_leg_mmps"]:.1f} mm/s. Strokes against their commands before the playout '
        f'delay: {row["off_path_p50_mm"]:.3f} / {row["off_path_p99_mm"]:.3f} / '
        f'{row["off_path_max_mm"]:.3f} mm (p50 / p99 / max). {row["lost_frames"]} frames lost, '
        f'{row["bad_working_counters"]} bad, {row["overruns"]} cycles overrun; scheduling '
        f'{row["scheduling"]}. `driver/quick_stop` under load: answered after '
        f'{row["quick_stop_answer_ms"]:.1f} ms, at rest after {row["quick_stop_rest_ms"]:.1f} ms.'
    ]


def two_plants(result: Result) -> list[str]:
    """Return the tables of identification on our plant and on a foreign one."""
    lines: list[str] = []
    for item in result['two_plants']:
        low, high = (100 * value for value in item['band'])
        terms = ', '.join(f'{name} {count}' for name, count in item['terms'].items())
        lines += [
            f'**{item["plant"].capitalize()}**, {item["runs"]} machines, misfit said of '
            f'{item["misfits"]}, residual {item["whole"]:.2f} times what noise explains '
            f'(median); 99 % band of true 95 % intervals {low:.1f} to {high:.1f} %; terms found: '
            f'{terms or "none"}.',
            '',
            '| parameter | RMSE | σ | bias / σ | intervals that hold | held, or misfit said |',
            '|---|---:|---:|---:|---:|---:|',
        ]
        lines += [
            f'| {row["name"]} | {row["rmse"]:.2g} {row["unit"]} | {row["sigma"]:.2g} '
            f'| {row["bias"]:.2f} | {100 * row["coverage"]:.0f} % '
            f'| {100 * row["held_or_said"]:.0f} % |'
            for row in item['rows']
        ]
        lines.append('')
        missed = [row for row in item['rows'] if 100 * row['held_or_said'] < low]
        if missed:
            names = ', '.join(f'{row["name"]} (bias {row["bias"]:.2f} σ)' for row in missed)
            lines += [
                f'Held too rarely: {names}. What noisy encoders draw estimates by is taken '
                'off to first order only; instruments leave no such bias.',
                '',
            ]
    return lines


def sensor(result: Result) -> list[str]:
    """Return the table of the IMU's bytes, and what its line takes of a core."""
    node = 'the whole node was not measured'
    if result['node_percent'] is not None:
        node = (
            f'the whole node {result["node_percent"]:.2f} % (at most {result["node_limit"]:g} × '
            f'what publishing alone takes rclpy, {result["publish_percent"]:.2f} %)'
        )
    return [
        *timings(result),
        '',
        f'Decoding: {result["megabytes_per_second"]:.2f} MB/s, '
        f'{10e6 * result["megabytes_per_second"] / 921600:.0f} × 921600 baud. Of a core, over a '
        f'pseudo-terminal at {result["samples_per_second"]:.1f} Hz: reader and decoder '
        f'{result["reader_percent"]:.2f} % (at most {result["reader_limit"]:g} × waiting and '
        f'reading alone, {result["wait_and_read_percent"]:.2f} %), {node}.',
    ]


def seas(result: Result) -> list[str]:
    """Return the table of the sea states: of the ship's RMS, what is left and must be."""
    lines = [
        '| Hs [m] | peak period [s] | ship | left on the platform | left [%] | predictor [%] '
        '| bound [%] | share of heave | steps limited |',
        '|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ]
    for row in result['seas']:
        ship = row['ship_rms'].values()
        cells = [' / '.join(f'{1e3 * value:.1f}' for value in ship)]
        cells.append(' / '.join(f'{1e3 * value:.2f}' for value in row['residual_rms'].values()))
        for key in ('residual_rms', 'predictor_rms', 'bound_rms'):
            parts = zip(row[key].values(), ship, strict=True)
            cells.append(' / '.join(f'{100 * value / whole:.1f}' for value, whole in parts))
        lines.append(
            f'| {row["significant_height_m"]:g} | {row["peak_period_s"]:g} | {" | ".join(cells)} '
            f'| {row["mean_heave_share"]:.2f} | {100 * row["limited"]:.1f} % |'
        )
    said = (
        'Roll [mrad] / pitch [mrad] / heave [mm], RMS, heave at model scale; then % of the ship.'
    )
    seeds = ', '.join(map(str, result['seeds']))
    seconds = f'{result["seconds"]:g} s of each sea at model scale, seeds {seeds}.'
    return [*lines, '', f'{said} Hs and peak period are at full scale. {seconds}']


def attacked(result: Result) -> list[str]:
    """Return the tables of guard and forward kinematics under random and searched samples."""
    rows = [row for family in result['attacked'] for row in family['platforms']]
    lines: list[str] = []
    for part in ('guard, random', 'guard, search', 'forward, random', 'forward, search'):
        keys = [key for key in rows[0][part] if key != 'reached']
        lines += [f'| {part} | {" | ".join(keys)} |', f'|---|{"---:|" * len(keys)}']
        for row in rows:
            values = (row[part][key] for key in keys)
            cells = (
                f'{value:.1e}' if isinstance(value, float) else str(value) for value in values
            )
            lines.append(f'| {row["platform"]} | {" | ".join(cells)} |')
        lines.append('')
    return [
        *lines,
        'Counts; errors in length scales + rad. Beyond a limit: 0 at it, negative within. A *twin*'
        ' is the pose in the assured region with the joint positions of one beyond the limits.',
    ]


def soaked(result: Result) -> list[str]:
    """Return what hours of a rig with faults left."""
    row = result['soak']
    faults, wrong = sum(row['faults'].values()), len(row['wrong_ends'])
    begin, end = row['looks'][0], row['looks'][-1]
    verdict = '; '.join(row['failures']) or 'as it should be'
    return [
        f'{row["hours"]:.2f} h of {result["machine"]["time"]} time in {row["wall_s"] / 60:.0f} '
        f'min, {faults} faults of {len(row["faults"])} kinds, of which {wrong} ended otherwise '
        f'than declared; {row["messages"]} messages, {row["lost"]} lost, {len(row["gaps"])} gaps '
        f'in the leg states outside of the faults. Memory {begin[1]:.0f} MB at the first look and '
        f'{end[1]:.0f} MB at the last, {100 * row["memory_growth"]:+.2f} % after the warm-up; '
        f'threads {begin[2]} and {end[2]}, file descriptors {begin[3]} and {end[3]}. In all: '
        f'{verdict}.'
    ]


def killed(result: Result) -> list[str]:
    """Return what came of processes that were killed."""
    lines = [
        '| process | kills | as promised | worst | promised | kept waiting | load, scheduler |',
        '|---|---:|---:|---:|---:|---:|---|',
    ]
    return lines + [
        f'| {row["name"]} | {row["kills"]} | {row["held"]} | {row["worst"]:.3g} {row["unit"]} '
        f'| {row["limit"]:g} {row["unit"]} | {_seconds(row.get("waited"))} '
        f'| {row["load"]}, {row["scheduler"]} |'
        for row in result['kills']
    ]


def _seconds(value: float | None) -> str:
    return f'{value:.3g} s' if value else ''


def grown(result: Result) -> list[str]:
    """Return the slopes of growth."""
    lines = [
        '| what grows | from | to | each, at both [µs] | paid once [ms] | slope |',
        '|---|---:|---:|---:|---:|---:|',
    ]
    for row in result['slopes']:
        counts, each = row['counts'], row['each_us']
        # Below zero it only says that the line is bent.
        once = f'{row["once_ms"]:.1f}' if row['once_ms'] >= 0.0 else ''
        lines.append(
            f'| {row["name"]} | {counts[0]} | {counts[-1]} | {each[0]:.3g}, {each[-1]:.3g} '
            f'| {once} | {row["slope"]:.2f}{"" if row["held"] else ", **not held**"} |'
        )
    limits = f'at least {result["least_slope"]:g} and at most {result["most_slope"]:g}'
    return [*lines, '', f'On logarithmic axes, {limits}.']


def mutated(result: Result) -> list[str]:
    """Return how many small mistakes the tests of each module find, and those they do not."""
    rows = result['mutation']
    lines = [
        '| module | mutants | tried | killed | share | tests |',
        '|---|---:|---:|---:|---:|---:|',
    ]
    for row in rows:
        lines.append(
            f'| `{row["module"]}` | {row["mutants"]} | {row["tried"]} | {row["killed"]} '
            f'| {row["killed"] / row["tried"]:.0%} | {row["tests"]} |'
        )
    tried, killed = (sum(row[key] for row in rows) for key in ('tried', 'killed'))
    seconds = sum(row['processor_s'] for row in rows)
    lines += [
        '',
        f'In all {killed} of {tried} killed, {killed / tried:.1%}; '
        f'{seconds / 60:.0f} min of processor time. Survivors:',
        '',
        '| module | line | change | reason |',
        '|---|---|---|---|',
    ]
    for row in rows:
        for item in row['survivors']:
            source, change = (item[key].replace('|', '\\|') for key in ('source', 'change'))
            short = row['module'].rpartition('.')[2]
            lines.append(
                f'| {short}, {item["line"]} | `{source}` | `{change}` | {item.get("reason", "")} |'
            )
    return lines


def outside(result: Result) -> list[str]:
    """Return the tables of the estimator on machines of another world."""
    lines = ['| case, command | answered yes | demanded | |', '|---|---:|---|---|']
    for row in result['outside']:
        asked = f'at least {row["least"]}' if row['least'] else f'at most {row["most"]}'
        held = 'held' if row['held'] else '**not held**'
        lines.append(
            f'| {row["name"]}: `{row["command"]}` | {row["yes"]} of {row["seeds"]} '
            f'| {asked} of 40 | {held} |'
        )
    lines += [
        '',
        '| case, estimate | 95 % intervals that hold | RMS error / σ | worst / σ | σ [ms] |',
        '|---|---:|---:|---:|---:|',
    ]
    for row in result['outside']:
        lines += [
            f'| {row["name"]}, {item["name"]} | {item["inside"]} of {item["count"]} '
            f'| {item["rms"]:.2f} | {item["worst"]:.2f} '
            f'| {"" if item["sigma_ms"] is None else format(item["sigma_ms"], ".2g")} |'
            for item in row['estimates']
        ]
    return [
        *lines,
        '',
        'Yes of `estimate`: consistent, and every bias, angle and delay within 3.5 σ of the '
        'truth; of `consistency`: consistent.',
    ]


def fuzzed(result: Result) -> list[str]:
    """Return what came of bad input, parser by parser."""
    lines = [
        '| parser | structured cases | byte cases | refused | defects | each [ms] | |',
        '|---|---:|---:|---:|---:|---:|---|',
    ]
    by_name: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in result['fuzz']:
        by_name.setdefault(row['parser'], {})[row['level']] = row
    for name, levels in sorted(by_name.items()):
        rows = levels.values()
        cases, refused, seconds = (
            sum(row[key] for row in rows) for key in ('cases', 'refused', 'seconds')
        )
        lines.append(
            f'| {name} | {levels["structured"]["cases"]} | {levels["bytes"]["cases"]} '
            f'| {refused / max(cases, 1):.0%} | {sum(len(row["findings"]) for row in rows)} '
            f'| {1e3 * seconds / max(cases, 1):.2g} | {levels["bytes"]["date"]} |'
        )
    return [*lines, '', 'Processor time, making the case included.']


def woken(result: Result) -> list[str]:
    """Return the table of a process that wakes up beside a busy session."""
    lines = [
        '| process | median [ms] | p99 [ms] | latest of a run, median [ms] | latest [ms] |',
        '|---|---:|---:|---:|---:|',
    ]
    lines += [
        f'| {row["process"]} | {row["p50_ms"]} | {row["p99_ms"]} | {row["middle_latest_ms"]} '
        f'| {row["latest_ms"]} |'
        for row in result['wakes']
    ]
    return lines


def loaded(result: Result) -> list[str]:
    """Return the table of runs beside busy loops."""
    rows = result['under_load']
    good = sum(row['exit_code'] == 0 for row in rows)
    lines = [
        f'{good} of {len(rows)} ended with exit code 0.',
        '',
        '| commit | busy loops | runs at once | exit code | time [s] | load before, after |',
        '|---|---:|---:|---:|---:|---:|',
    ]
    lines += [
        f'| {row["commit"]} | {row["loops"]} | {row["at_once"]} | {row["exit_code"]} '
        f'| {row["seconds"]:.0f} | {row["load_before"]:.1f}, {row["load_after"]:.1f} |'
        for row in rows
    ]
    return lines


TABLES: dict[str, Callable[[Result], list[str]]] = {
    'attacked': attacked,
    'cycles': cycles,
    'wave': wave,
    'outside': outside,
    'demands': demanded,
    'live': rates,
    'graph': graphs,
    'starts': starts,
    'seas': seas,
    'speeds': speeds,
    'runs': runs,
    'two_plants': two_plants,
    'slopes': grown,
    'mutation': mutated,
    'fuzz': fuzzed,
    'soak': soaked,
    'kills': killed,
    'reader_percent': sensor,
    'wakes': woken,
    'under_load': loaded,
    'timings': timings,
    'results': comparisons,
}
