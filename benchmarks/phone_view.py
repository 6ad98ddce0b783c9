# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""How many updates of a live platform a phone's page takes and shows per second.

    python benchmarks/phone_view.py [--slower 4] [--graphics software]

Chromium with a phone's window (390 x 844 pixels) and a throttled processor opens the viewer at
this machine's network address, with a token, while poses, strokes and forces come at 50 Hz. There
is no graphics chip: by default the page's drawing calls are dropped, which leaves the work of its
processor; `--graphics software` draws on the cores that do everything else, too. An update is
shown if a matrix that the page hands to the graphics changes after it and before the next one.

Needs the Debian packages chromium and chromium-driver.
"""

from __future__ import annotations

import argparse
from itertools import count
import os
from pathlib import Path
import shutil
import socket
import sys
import threading
import time

import numpy as np
from stewart_kinematics.model.shared_platform import load_platform
from stewart_kinematics.motion import Pose
from stewart_kinematics.solvers.inverse import leg_positions
from stewart_viewer.live import LiveView, Mailbox
from stewart_viewer.snapshot import DriveReport

sys.path.insert(0, str(Path(__file__).parents[1] / 'src' / 'stewart_viewer' / 'test'))
from chromium import chromium, DISMISS, wait_until

DATA_RATE, RATE, SECONDS = 50.0, 30.0, 15.0
"""Of the data, and of the viewer's pictures [Hz]; how long is counted [s]."""

PHONE = {'width': 390, 'height': 844, 'deviceScaleFactor': 1, 'mobile': True}
COUNTING = """
window.seen = {updates: 0, shown: 0, drawn: 0};
let waiting = false, sum = 0, last = 0;
const gl = WebGL2RenderingContext.prototype, send = gl.uniformMatrix4fv;
gl.uniformMatrix4fv = function (place, transpose, values, ...rest) {
    for (let k = 0; k < 16; ++k) sum += (k + 1) * values[k];
    return send.call(this, place, transpose, values, ...rest);
};
const drops = name => %s && /^(draw[AE]|clear$|blit)/.test(name);
Object.getOwnPropertyNames(gl).filter(drops).forEach(name => { gl[name] = () => {}; });
window.Worker = class extends Worker {
    set onmessage(handle) { super.onmessage = event => {
        const kinds = (event.data.messages ?? []).map(message => message.type);
        if (kinds.includes('SetPositionMessage')) { ++seen.updates; waiting = true; }
        handle(event);
    }; }
};
const tick = () => {
    if (sum !== 0) ++seen.drawn;
    if (sum !== 0 && sum !== last && waiting) { ++seen.shown; waiting = false; }
    if (sum !== 0) last = sum;
    sum = 0;
    requestAnimationFrame(tick);
};
requestAnimationFrame(tick);
"""


def main() -> None:
    """Open the page, let it run, print what it has shown."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n', maxsplit=1)[0])
    parser.add_argument('--slower', type=float, default=4.0, help='factor of the processor [-]')
    parser.add_argument('--graphics', choices=('dropped', 'software'), default='dropped')
    chosen = parser.parse_args()
    programs = [shutil.which(name) for name in ('chromium', 'chromedriver')]
    if None in programs:
        raise SystemExit('phone_view: needs the Debian packages chromium and chromium-driver')
    mailbox, done = Mailbox(), threading.Event()
    view = LiveView(
        'vigo', mailbox, None, host='0.0.0.0', port=0, rate=RATE, token='benchmark-token'
    )
    talking = threading.Thread(target=talk, args=(mailbox, done))
    talking.start()
    counting = COUNTING % str(chosen.graphics == 'dropped').lower()
    try:
        with chromium(*map(str, programs), all_pictures=True) as page:
            page.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', PHONE)
            page.execute_cdp_cmd('Emulation.setCPUThrottlingRate', {'rate': chosen.slower})
            page.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {'source': counting})
            page.get(view.url.replace('0.0.0.0', address()))
            wait_until(lambda: page.execute_script('return seen.shown > 30'))
            page.execute_script(DISMISS)
            before, began = page.execute_script('return seen'), time.monotonic()
            time.sleep(SECONDS)
            after, elapsed = page.execute_script('return seen'), time.monotonic() - began
    finally:
        done.set()
        talking.join()
        view.close()
    rates = ', '.join(f'{(after[key] - before[key]) / elapsed:.1f} {key}/s' for key in after)
    machine = f'load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores'
    print(f'{chosen.slower:g} x slower, graphics {chosen.graphics}, {machine}: {rates}')


def talk(mailbox: Mailbox, done: threading.Event) -> None:
    """Report at `DATA_RATE` where a platform is that heaves and rolls."""
    platform = load_platform('vigo')
    neutral = platform.geometry.neutral_pose
    drives = DriveReport('ENABLED', 'simulated', True, 'all drives are on')
    begun = time.monotonic()
    for step in count():
        now = step / DATA_RATE
        if done.wait(max(begun + now - time.monotonic(), 0.0)):
            return
        place = np.add(neutral.position, [0.0, 0.0, 0.05 * np.sin(2.0 * now)])
        pose = Pose.from_rpy(place, (0.1 * np.cos(2.0 * now), 0.0, 0.0))
        strokes = leg_positions(platform.geometry, pose.position, pose.quaternion_xyzw)
        forces = 100.0 + 20.0 * np.sin(2.0 * now + np.arange(6))
        mailbox.put(now, pose=pose, commanded=pose, strokes=strokes, forces=forces, drives=drives)


def address() -> str:
    """Return the address of this machine in its network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Nothing is sent: this only chooses an interface. The address is for documentation.
        probe.connect(('192.0.2.1', 9))
        return str(probe.getsockname()[0])


if __name__ == '__main__':
    main()
