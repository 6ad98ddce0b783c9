# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A launch file in a process of its own, as a person runs it: by ``ros2 launch``, in a terminal.

Imported, this module starts that process, presses Ctrl-C and reads what stands in the terminal;
executed, it is that process.
"""

from __future__ import annotations

import os
from pathlib import Path
import re
import signal
import subprocess
import sys

FOLDER = Path(__file__).parents[1] / 'launch'
# Of what ends everything: longer than the driver is given to come to rest [s].
PATIENCE = 60.0
# It says how it was called, shows a model's description as robot_state_publisher does or hears it
# as controller_manager does, and stays until it is asked to end; nothing is drawn, no tf is sent.
STAND_IN = f"""#!{sys.executable}
import sys
from rclpy.node import Node
from std_msgs.msg import String
from stewart_node_support.qos import STATE_QOS
from stewart_node_support.running import run

def make():
    node = Node('stand_in')
    node.get_logger().info(f'stands in, called with {{sys.argv[1:]}}')
    if description := node.declare_parameter('robot_description', '').value:
        publisher = node.create_publisher(String, 'robot_description', STATE_QOS)
        publisher.publish(String(data=description))
    else:
        def heard(message):
            node.get_logger().info(f'heard a description of {{len(message.data)}} characters')
        node.create_subscription(String, 'robot_description', heard, STATE_QOS)
    return node

run(make)
"""


class Launched:
    """A launch file that runs.

    Args:
        name: Of the file.
        folder: Where the terminal's text, the logs and the stand-ins go.
        stand_ins: Executables instead of which a stand-in is started, as ``package/executable``;
            without the second the package has one of its own name.
        **arguments: Of the launch file.
    """

    def __init__(self, name: str, folder: Path, *stand_ins: str, **arguments: str) -> None:
        for wanted in stand_ins:
            package, _, executable = wanted.partition('/')
            stand_in(package, executable or package, folder)
        self._terminal = folder / 'terminal.txt'
        environment = {
            **os.environ,
            'AMENT_PREFIX_PATH': os.pathsep.join([str(folder), os.environ['AMENT_PREFIX_PATH']]),
            'ROS_LOG_DIR': str(folder / 'log'),
        }
        words = [f'{key}:={value}' for key, value in arguments.items()]
        with self._terminal.open('wb') as terminal:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(FOLDER / f'{name}.launch.py'), *words],
                env=environment,
                stdout=terminal,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        """What stands in the terminal."""
        return self._terminal.read_text(encoding='utf-8', errors='replace')

    @property
    def started(self) -> list[str]:
        """The executables in the order of their starts."""
        return re.findall(r'\[(\w+)-\d+\]: process started', self.text)

    def says(self, words: str) -> bool:
        """Tell whether something stands in the terminal; it must not have ended before."""
        found = words in self.text
        assert found or self._process.poll() is None, self.text
        return found

    def press_ctrl_c(self) -> None:
        """Send SIGINT as a terminal does: to launch, and to all that it has started."""
        os.killpg(self._process.pid, signal.SIGINT)

    def end(self, seconds: float = PATIENCE, *, code: int = 0) -> dict[str, int]:
        """Wait for its end with an exit code; return the others' by executable."""
        assert self._process.wait(seconds) == code
        died = re.findall(r'\[(\w+)-\d+\]: process has died .* exit code (-?\d+)', self.text)
        clean = re.findall(r'\[(\w+)-\d+\]: process has finished cleanly', self.text)
        return {name: int(code) for name, code in died} | dict.fromkeys(clean, 0)

    def kill(self) -> None:
        """Leave nothing behind if a test has failed."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def stand_in(package: str, executable: str, prefix: Path) -> None:
    """Install a package of which only an executable is wanted."""
    mark = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages' / package
    program = prefix / 'lib' / package / executable
    for path in (mark, program):
        path.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    program.write_text(STAND_IN)
    program.chmod(0o755)


def main(path: str, *words: str) -> int:
    """Launch a file until it ends or is interrupted; return launch's exit code."""
    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    file = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(path),
        launch_arguments=[word.split(':=', 1) for word in words],
    )
    service = LaunchService()
    service.include_launch_description(LaunchDescription([file]))
    return int(service.run())


if __name__ == '__main__':
    raise SystemExit(main(*sys.argv[1:]))
