# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Strokes and forces of the six legs over the last seconds."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from stewart_kinematics.model.leg_kinds import LINEAR, ROTARY
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_viewer.snapshot import Snapshot
from stewart_viewer.status import PLOTS
import viser
import viser.uplot

WINDOW = 20.0
"""Time that the plots show [s]."""

PLOTTED_EVERY = 0.2
"""Plots need not follow every picture [s]."""

COLOURS = ('#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b')

LEGEND = (
    '<div id="legs" style="padding:.2em .8em;display:flex;gap:.9em;flex-wrap:wrap">'
    + ''.join(
        f'<span><b style="color:{colour}">&#9632;</b> leg {leg}</span>'
        for leg, colour in enumerate(COLOURS, 1)
    )
    + '</div>'
)


class LegPlots:
    """Two plots; that of the forces appears with the first measured force."""

    def __init__(self, server: viser.ViserServer, platform: Platform) -> None:
        kind = platform.kind
        unit, self._scale = ('deg', float(np.degrees(1.0))) if kind is ROTARY else ('mm', 1e3)
        what = 'strokes' if kind is LINEAR else f'{kind.quantity}s'
        stroke = self._scale * platform.limits.stroke
        forces = 'forces [N], + pushes apart'
        if kind is not LINEAR:
            forces = f'efforts [{kind.effort_unit}], + drives the {kind.quantity} up'
        self._ends = float(stroke[:, 0].max()), float(stroke[:, 1].min())
        self._times: deque[float] = deque()
        self._rows: deque[tuple[Array, Array]] = deque()
        server.gui.add_html(LEGEND, order=PLOTS)
        self._strokes = self._plot(server, f'{what} [{unit}] over time [s]', limits=True)
        self._forces = self._plot(server, f'{forces}, over time [s]')
        self._forces.visible = False
        self._plotted, self._gap = -np.inf, False

    def _plot(self, server: viser.ViserServer, title: str, *, limits: bool = False) -> Any:
        time = viser.uplot.Series(label='t [s]')
        legs = [
            viser.uplot.Series(label=f'{leg}', stroke=COLOURS[leg - 1], width=1.5)
            for leg in range(1, 7)
        ]
        series = [time, *legs]
        scales = {'x': viser.uplot.Scale(time=False)}
        if limits:
            red = viser.uplot.Series(label='limit', stroke='#b91c1c', width=1, dash=(4, 4))
            series += [red, red]
        empty = np.zeros(1)
        data = tuple(empty for _ in series)
        return server.gui.add_uplot(
            data, tuple(series), title=title, scales=scales, aspect=2.0,
            legend=viser.uplot.Legend(show=False), order=PLOTS + 1.0 + (not limits),
        )  # fmt: skip

    def show(self, snapshot: Snapshot) -> None:
        """Take an instant into the plots; one before the last begins them anew."""
        if snapshot.strokes is None:
            self._gap = True
            return
        # No line is drawn over a gap in which nobody knew the strokes.
        if self._times and (snapshot.time < self._times[-1] or self._gap):
            self._times.clear()
            self._rows.clear()
            self._plotted = -np.inf
        self._gap = False
        if self._times and snapshot.time == self._times[-1]:
            return
        nothing = np.full(6, np.nan)
        forces = nothing if snapshot.forces is None else snapshot.forces
        self._times.append(snapshot.time)
        self._rows.append((self._scale * snapshot.strokes, forces))
        while self._times[0] < snapshot.time - WINDOW:
            self._times.popleft()
            self._rows.popleft()
        if snapshot.time >= self._plotted + PLOTTED_EVERY and len(self._times) > 1:
            self._plotted = snapshot.time
            self._draw(snapshot.time)

    def _draw(self, now: float) -> None:
        times = np.array(self._times) - now
        strokes = np.array([row[0] for row in self._rows])
        ends = tuple(np.full_like(times, end) for end in self._ends)
        self._strokes.data = (times, *strokes.T.copy(), *ends)
        forces = np.array([row[1] for row in self._rows])
        # No force is not a force of 0, and the plot knows no gaps.
        known = np.isfinite(forces).all(axis=1)
        self._forces.visible = bool(known.any())
        if self._forces.visible:
            self._forces.data = (times[known], *forces[known].T.copy())
