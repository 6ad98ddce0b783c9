# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart view``: the platform in a browser."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bags.verbs.topic_names import add_topic_argument
from stewart_tables.errors import ConfigurationError
from stewart_tables.outputs import output_file, output_folder
from stewart_tables.progress import tell

LAST_PORT = 65535
TAUGHT_TO = 'taught.yaml'
RECORD_TO = Path()
LIVE_ONLY: dict[str, tuple[object, str]] = {
    'namespace': ('', 'has its topics as they are, see --topic'),
    'watch_only': (False, 'has no controls'),
    'taught_to': (TAUGHT_TO, 'has no waypoints to append'),
    'record_to': (RECORD_TO, 'is not recorded again'),
}
"""Arguments that a bag does not take: their value where nobody said them, and why."""
BAG_ONLY: dict[str, tuple[object, str]] = {
    'topic': ([], 'is shown by the names of its own topics'),
    'speed': ('1', 'is shown as it goes'),
}
"""The same of a rig."""
HELP = 'show the platform in a browser, live or from a bag'

DETAILS = """
Without a bag it joins the running graph and shows the rig that it finds there, or waits for one;
the page has a quick stop, sliders and a gizmo for a target, and starts waves. Whoever reaches the
page can move the platform, so it is served to this machine only; --host lets others in who know
the token in the environment variable STEWART_TOKEN, 8 to 128 letters, digits, - and _. The network
is not encrypted.

examples:
  stewart view
  stewart view build/demo/vigo_jonswap --speed 0.5
  stewart view foreign_bag --platform vigo --topic platform/pose=/mocap/pose
  stewart view --platform ex800 --port 8090 --watch-only
  STEWART_TOKEN=$(openssl rand -hex 8) stewart view --host 0.0.0.0
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument('bag', nargs='?', type=Path, help='recording to show (default: live)')
    parser.add_argument(
        '--platform', help='name or YAML file (default: that of the rig, or of the bag)'
    )
    text = 'address; others than this machine need STEWART_TOKEN (default: this machine only)'
    parser.add_argument('--host', default='127.0.0.1', help=text)
    text = 'waypoints recorded by the page are appended to it (default: %(default)s)'
    parser.add_argument(
        '--taught-to', type=output_file, default=TAUGHT_TO, metavar='FILE', help=text
    )
    text = 'folder in which the page records bags (default: this one)'
    parser.add_argument(
        '--record-to', type=output_folder, default=RECORD_TO, metavar='FOLDER', help=text
    )
    parser.add_argument('--port', type=_port, default=8080, help='0: any free one (default: 8080)')
    parser.add_argument(
        '--speed', choices=('0.1', '0.25', '0.5', '1', '2', '5'), default='1', help='of a bag'
    )
    add_topic_argument(parser)
    add_namespace_argument(parser)
    parser.add_argument('--watch-only', action='store_true', help='live: no controls')


def _port(text: str) -> int:
    """Return the number of a port."""
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f'expected a port from 0 to {LAST_PORT}, got {text!r}')
    return int(text)


def main(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C.

    Raises:
        ConfigurationError: If something was said that has no effect on what is to be shown:
            somebody would rely on it.
    """
    live = arguments.bag is None
    expected = 'a bag: a rig' if live else 'no bag: a recording'
    for name, (unsaid, why) in (BAG_ONLY if live else LIVE_ONLY).items():
        value = getattr(arguments, name)
        if value != unsaid:
            option = f'--{name.replace("_", "-")}'
            raise ConfigurationError(option, str(value), f'{expected} {why}')
    return _live(arguments) if live else _replay(arguments)


def _live(arguments: argparse.Namespace) -> int:
    from stewart_node_support.stop_signals import StopSignals

    stop = StopSignals().install()
    from rclpy.parameter import Parameter
    from stewart_node_support.running import run
    from stewart_viewer.nodes.web_viewer import WebViewer

    chosen = {
        'platform': arguments.platform or '',
        'host': arguments.host,
        'port': arguments.port,
        'taught_to': str(arguments.taught_to),
        'record_to': str(arguments.record_to),
        'allow_commands': not arguments.watch_only,
    }
    overrides = [Parameter(name, value=value) for name, value in chosen.items()]
    space = arguments.namespace
    run(lambda: WebViewer(namespace=space, parameter_overrides=overrides), args=[], stop=stop)
    return 0


def _replay(arguments: argparse.Namespace) -> int:
    from stewart_description import platform_names
    from stewart_kinematics.model.shared_platform import load_platform
    from stewart_node_support.stop_signals import StopSignals
    from stewart_viewer.leg_plots import LegPlots
    from stewart_viewer.looks import Looks
    from stewart_viewer.recognition import check, recognise
    from stewart_viewer.replay import Replay
    from stewart_viewer.scene import PlatformScene
    from stewart_viewer.server import asked_token, open_page
    from stewart_viewer.snapshot import Part
    from stewart_viewer.status import Status
    from stewart_viewer.verbs.recorded import read_recording

    with StopSignals() as stop:
        name = arguments.platform
        tell(f'reading {arguments.bag} …')
        read = partial(read_recording, arguments.bag, renamed=dict(arguments.topic), tell=tell)
        if name is None:
            recording = read(None)
            name = recognise(
                recording, {name: load_platform(name).geometry for name in platform_names()}
            )
        else:
            geometry = load_platform(name).geometry
            recording = read(geometry)
            check(recording, geometry, name)
        platform = load_platform(name)
        page = open_page(arguments.host, arguments.port, asked_token())
        server = page.server
        try:
            parts: list[Part] = [
                Status(server, platform, arguments.bag.name),
                PlatformScene(server, platform, name),
            ]
            replay = Replay(server, parts, recording, arguments.speed)
            parts += [LegPlots(server, platform), Looks(server, platform)]
            tell(page.url)
            replay.run(lambda: stop.requested)
        finally:
            page.close()
    return 0
