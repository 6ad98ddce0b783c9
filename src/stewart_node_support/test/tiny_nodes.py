# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that test_running.py starts as processes of their own."""

from __future__ import annotations

import sys

from stewart_node_support.stop_signals import StopSignals


def main() -> None:
    """Run the node named on the command line, hearing signals from the first line on."""
    stop = StopSignals().install()
    print('listening', flush=True)
    import rclpy.lifecycle
    import rclpy.node
    from stewart_node_support.lifecycle import transition
    from stewart_node_support.running import run
    from stewart_tables.errors import ParameterError

    class Plain(rclpy.node.Node):
        def __init__(self) -> None:
            super().__init__('plain')
            self.create_timer(0.005, self.get_clock().now)
            print('ready', flush=True)

    class Managed(rclpy.lifecycle.LifecycleNode):
        def __init__(self) -> None:
            super().__init__('managed')

        @transition
        def on_configure(self, _: object) -> None:
            print('configured', flush=True)

        @transition
        def on_activate(self, _: object) -> None:
            print('active', flush=True)

        @transition
        def on_deactivate(self, _: object) -> None:
            print('safe', flush=True)

        @transition
        def on_cleanup(self, _: object) -> None:
            print('clean', flush=True)

        def destroy_node(self) -> None:
            super().destroy_node()
            print('destroyed', flush=True)

    class Alone(Managed):
        alone = True

    class Refusing(Managed):
        @transition
        def on_configure(self, _: object) -> None:
            raise ParameterError('port', 7, 'a text')

    class Misconfigured(rclpy.node.Node):
        def __init__(self) -> None:
            super().__init__('misconfigured')
            raise ParameterError('rate', -1.0, 'a decimal number of at least 1')

    class Broken(rclpy.node.Node):
        def __init__(self) -> None:
            super().__init__('broken')
            raise KeyError('a bug')

    class Crashing(Managed):
        def __init__(self) -> None:
            super().__init__()
            self.create_timer(0.01, self.crash)

        def crash(self) -> None:
            raise KeyError('a bug')

    class Ending(Crashing):
        def crash(self) -> None:
            raise ParameterError('start_offset', 60, 'less than 5')

    run(locals()[sys.argv[1]], stop=stop)


if __name__ == '__main__':
    main()
