# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a page sends to the viewer over its web socket, and what then is asked of the platform."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
import struct
from typing import Any
from unittest.mock import patch

import msgspec.msgpack
from mutations import VALUES
import numpy as np
from parsers import Parse, Parser
from stewart_kinematics.errors import StewartError
from stewart_kinematics.limits.guard import MotionGuard
from stewart_kinematics.model.platform import Platform
from stewart_viewer import controls as viewer_controls
from stewart_viewer.controls import Controls, DRIVES, WAVES
from stewart_viewer.hand import HELD_RATE
from stewart_viewer.server import open_server, THIS_MACHINE
import viser
from viser._messages import Message
from viser.infra import ClientId

PREFIX = struct.Struct('<H')
FASTEST_JOG = 20.0
# Where the sliders end follows from the platform, not from a case, and takes longer than the rest.
SEARCHED = viewer_controls._reaches
SERVICES = {
    *DRIVES.values(),
    'driver/quick_stop',
    *(f'{w}/{a}' for w in WAVES for a in ('start', 'stop')),
}


class Careful:
    """An operator that takes nothing but what the controls may ask for."""

    obstacle = ''

    def move(self, position: Any, quaternion_xyzw: Any, speed: float) -> None:
        """Take a target."""
        assert np.isfinite([*position, *quaternion_xyzw]).all()
        assert 0.01 <= speed <= 1.0, speed

    def cancel(self) -> None:
        """Take the end of a move."""

    def call(self, service: str) -> None:
        """Take a call."""
        assert service in SERVICES, service

    def steer(self, twist: Any) -> None:
        """Take a velocity."""
        assert np.isfinite(twist).all(), twist

    def jog(self, rates: Any, leg: int | None) -> None:
        """Take a velocity of a leg or an axis."""
        assert leg is None or 0 <= leg < 6, leg
        assert np.abs(rates).max() <= np.radians(FASTEST_JOG), rates


class Here:
    """An executor that carries out at once, and keeps the first error."""

    error: BaseException | None = None

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[None]:
        """Call, as an executor does."""
        done: Future[None] = Future()
        try:
            call(*arguments)
        except Exception as error:
            self.error = self.error or error
        done.set_result(None)
        return done


def pages(place: Path) -> tuple[Sequence[bytes], Parse]:
    """Cases are messages of a page, one after the other, each with its length before it."""
    platform, here = Platform.from_yaml('ex800'), Here()
    server = open_server(THIS_MACHINE, 0)
    server.gui._thread_executor = server.scene._thread_executor = here
    server._connected_clients[0] = object()
    names = _controls(server, platform, place)
    handles = server.gui._gui_input_handle_from_uuid
    values = {name: handles[uuid].value for name, uuid in names.items()}

    def parse(data: bytes) -> None:
        here.error = None
        handles = _controls(server, platform, place)
        at = 0
        while at + PREFIX.size <= len(data):
            (length,) = PREFIX.unpack_from(data, at)
            at += PREFIX.size + length
            asyncio.run(_hear(server, handles, data[at - length : at]))
        if here.error is not None:
            raise here.error

    samples = [
        _packed([{'type': 'GuiUpdateMessage', 'updates': {'value': value}, 'uuid': name}])
        for name, value in values.items()
    ]
    hold = {'type': 'GuiButtonHoldMessage'}
    samples += [_packed([hold | {'uuid': name, 'frequency': HELD_RATE}]) for name in names]
    gizmo = {'type': 'TransformControlsUpdateMessage', 'name': '/target', 'owner': ''}
    samples.append(_packed([gizmo | {'wxyz': [1.0, 0.0, 0.0, 0.0], 'position': [0.0, 0.0, 1.0]}]))
    return samples, parse


@cache
def _of_platform(platform: Platform) -> list[float]:
    return SEARCHED(MotionGuard(platform))


def _controls(server: viser.ViserServer, platform: Platform, place: Path) -> dict[str, str]:
    """Make the controls anew; return the library's name of each by its place on the page."""
    server.gui.reset()
    with patch.object(viewer_controls, '_reaches', lambda guard: _of_platform(guard.platform)):
        controls = Controls(server, platform, Careful(), place / 'taught.yaml')
    controls._pose = platform.geometry.neutral_pose
    return {str(n): uuid for n, uuid in enumerate(server.gui._gui_input_handle_from_uuid)}


async def _hear(server: viser.ViserServer, names: dict[str, str], data: bytes) -> None:
    """Hand a message on as the library does; what it refuses itself ends one connection there."""
    with suppress(Exception):
        message: Any = Message.deserialize(data)
        if hasattr(message, 'uuid'):
            message.uuid = names.get(message.uuid, message.uuid)
        await server._websock_server._handle_incoming_message(ClientId(0), message)


def _packed(messages: Sequence[dict[str, Any]]) -> bytes:
    whole = [msgspec.msgpack.encode(message) for message in messages]
    return b''.join(PREFIX.pack(len(data)) + data for data in whole)


def touches(random: Random, samples: Sequence[bytes]) -> bytes:
    """Return messages with right types and names, and any value in them."""
    parts = []
    for _ in range(random.choice((1, 2, 4))):
        content = msgspec.msgpack.decode(random.choice(samples)[PREFIX.size :])
        if 'updates' in content and random.random() < 0.8:
            content['updates']['value'] = _any_value(random)
        for key in ('wxyz', 'position'):
            if key in content:
                content[key] = [_any_value(random) for _ in content[key]]
        try:
            parts.append(_packed([content]))
        except (OverflowError, ValueError):
            continue
    return b''.join(parts)


def _any_value(random: Random) -> Any:
    return random.choice((*VALUES, random.gauss(0.0, 10.0), 'driver', 'leg 3 [mm]', 'Enable'))


PAGES: dict[str, Parser] = {'web socket messages': Parser(pages, (StewartError,), touches)}
