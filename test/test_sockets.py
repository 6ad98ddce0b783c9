# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What listens while a verb or a node runs, as docs/security.md says it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import ipaddress
import os
from pathlib import Path
import socket
import subprocess
import sys

import psutil
import pytest

ROOT = Path(__file__).parents[1]
THIS_MACHINE = ROOT / 'src/stewart_node_support/stewart_node_support/this_machine.xml'
# It answers what it hears, and says so on a line of its own; Enter ends it.
NODE = """
import sys
from stewart_node_support.running import middleware
import rclpy
from std_msgs.msg import Empty
with middleware([]):
    node = rclpy.create_node(sys.argv[1])
    heard = []
    node.create_subscription(Empty, sys.argv[2], heard.append, 1)
    publisher = node.create_publisher(Empty, sys.argv[1], 1)
    print('up', flush=True)
    while not heard:
        publisher.publish(Empty())
        rclpy.spin_once(node, timeout_sec=0.1)
    print('heard', flush=True)
    # The other one may not have heard yet.
    import threading
    end = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), end.set()), daemon=True).start()
    while not end.is_set():
        publisher.publish(Empty())
        rclpy.spin_once(node, timeout_sec=0.1)
"""
# What only sends has a port of this range, too, and is never read (Linux' own default).
EPHEMERAL = int(Path('/proc/sys/net/ipv4/ip_local_port_range').read_text().split()[0])


@contextmanager
def process(*words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command, and end it."""
    with subprocess.Popen(
        words,
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.terminate()
            running.communicate()


def wait_for(running: subprocess.Popen[str], text: str) -> None:
    assert running.stdout is not None
    lines = []
    for line in running.stdout:
        lines.append(line)
        if text in line:
            return
    raise AssertionError(''.join(lines))


def tcp_and_udp(pid: int) -> tuple[set[str], set[str]]:
    """Return the addresses at which a process and its children listen, and take datagrams."""
    parent = psutil.Process(pid)
    sockets = parent.net_connections('inet')
    for child in parent.children(recursive=True):
        # A helper may have ended since.
        with suppress(psutil.NoSuchProcess):
            sockets += child.net_connections('inet')
    listening = {item.laddr.ip for item in sockets if item.status == psutil.CONN_LISTEN}
    datagrams = {
        item.laddr.ip
        for item in sockets
        if item.type == socket.SOCK_DGRAM and item.laddr.port < EPHEMERAL
    }
    return listening, datagrams


@pytest.mark.installed
@pytest.mark.parametrize(
    ('words', 'says'),
    [
        pytest.param(('virtual-rig', '--directory', 'rig'), 'truth', marks=pytest.mark.slow),
        (('imu-emulator',), '/dev/pts'),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else '',
)
def test_simulated_hardware_opens_no_socket_of_the_network(
    words: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with process('stewart', *words) as running:
        wait_for(running, says)
        assert tcp_and_udp(running.pid) == (set(), set())


@pytest.mark.ros
@pytest.mark.installed
def test_the_page_is_served_to_this_machine_only() -> None:
    with process('stewart', 'view', '--platform', 'ex800', '--port', '0') as running:
        wait_for(running, 'http://127.0.0.1:')
        listening, _ = tcp_and_udp(running.pid)
    assert listening
    assert all(ipaddress.ip_address(ip).is_loopback for ip in listening)


@pytest.mark.ros
def test_nodes_with_the_profile_of_this_machine_hear_each_other_and_nobody_else() -> None:
    profile = {'FASTRTPS_DEFAULT_PROFILES_FILE': str(THIS_MACHINE)}
    command = sys.executable, '-c', NODE
    with (
        process(*command, 'one', 'two', **profile) as one,
        process(*command, 'two', 'one', **profile) as two,
    ):
        for node in (one, two):
            wait_for(node, 'heard')
        assert [tcp_and_udp(node.pid) for node in (one, two)] == [(set(), {'127.0.0.1'})] * 2
