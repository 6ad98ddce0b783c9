# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Lead lifecycle nodes up when asked, and always down again."""

from __future__ import annotations

from collections.abc import Callable
import functools
import traceback
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from stewart_node_support.errors import is_deliberate, sentence_of, StartUpError

SUCCESS = TransitionCallbackReturn.SUCCESS
AUTOSTART = 'autostart'
# The one private name of rclpy beside those of `executor.INTERNALS`.
STATE_MACHINE = '_state_machine'


def transition(
    callback: Callable[[Any, LifecycleState], TransitionCallbackReturn | None],
) -> Callable[[Any, LifecycleState], TransitionCallbackReturn]:
    """Make ``on_configure`` and the like say what went wrong; None counts as success.

    rclpy turns every exception of a transition callback into ERROR and says nothing. Here, what
    was raised on purpose is logged in one sentence and becomes FAILURE (the node stays in the
    state it was in); anything else is logged with its traceback and becomes ERROR.
    """

    @functools.wraps(callback)
    def guarded(self: Any, state: LifecycleState) -> TransitionCallbackReturn:
        self.refusal = ''
        try:
            return callback(self, state) or SUCCESS
        except Exception as error:
            self.refusal = sentence_of(error)
            if is_deliberate(error):
                self.get_logger().error(self.refusal)
                return TransitionCallbackReturn.FAILURE
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR

    return guarded


class ManagedNode(LifecycleNode):
    """A lifecycle node that refuses a transition which its state does not have.

    rclpy raises from the service where a number is asked for, and that would end the executor: any
    client that gives one without looking first, such as a lifecycle manager, took the rig down.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        for service in self.services:
            if service.srv_type is ChangeState:
                service.callback = functools.partial(self._change_if_there, service.callback)

    def _change_if_there(self, change: Callable[[Any, Any], Any], asked: Any, answer: Any) -> Any:
        there = {number for number, *_ in getattr(self, STATE_MACHINE).available_transitions}
        if asked.transition.label or asked.transition.id in there:
            return change(asked, answer)
        answer.success = False
        self.get_logger().warning(
            f'no transition {asked.transition.id} from the state {state_of(self)}'
        )
        return answer


class DeviceNode(ManagedNode):
    """A lifecycle node that holds a device from configuring on, and lets go of it in any case.

    A subclass takes hold in ``on_configure`` and overrides `let_go`.

    Attributes:
        active: Whether it publishes.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.active = False
        self._every: list[Any] = []
        super().__init__(name, **kwargs)

    def every(self, period: float, callback: Callable[[], object]) -> None:
        """Call back once a period [s], until the device is let go."""
        self._every.append(self.create_timer(period, callback))

    def let_go(self) -> None:
        """Close the device; harmless when it is not held."""
        raise NotImplementedError

    @transition
    def on_activate(self, state: LifecycleState) -> None:
        """Begin to publish."""
        self.active = True

    @transition
    def on_deactivate(self, state: LifecycleState) -> None:
        """Publish no more; the device stays open."""
        self.active = False

    @transition
    def on_cleanup(self, state: LifecycleState) -> None:
        """Let go of the device: in order, from any state, or after an unexpected error."""
        self.active = False
        while self._every:
            self.destroy_timer(self._every.pop())
        self.let_go()

    on_shutdown = on_error = on_cleanup


def state_of(node: LifecycleNode) -> str:
    """Return the state: ``unconfigured``, ``inactive``, ``active``, ``finalized``.

    rclpy tells it to nobody but its own services; StartUpError if this one keeps it elsewhere.
    """
    machine = getattr(node, STATE_MACHINE, None)
    if machine is None:
        raise StartUpError(f'this rclpy has no LifecycleNode.{STATE_MACHINE}')
    return str(machine.current_state[1])


def bring_up(node: LifecycleNode, stopped: Callable[[], bool] = lambda: False) -> None:
    """Configure and activate; StartUpError, with the reason that was noted, if that fails.

    No further step is done, and none has failed, once `stopped` tells that a stop was requested.
    """
    steps = {'unconfigured': node.trigger_configure, 'inactive': node.trigger_activate}
    while (state := state_of(node)) in steps and not stopped():
        if steps[state]() != SUCCESS and not stopped():
            what = {'unconfigured': 'configure', 'inactive': 'activate'}[state]
            reason = getattr(node, 'refusal', '') or 'see its log'
            raise StartUpError(f'{node.get_name()} did not {what}: {reason}')


def autostart(node: Node, stopped: Callable[[], bool] = lambda: False) -> None:
    """Bring a lifecycle node up if its parameter ``autostart``, by default false, says so.

    Without a lifecycle manager (``ros2 run``, the composition) nobody else does. `stopped` is that
    of `bring_up`.

    Raises:
        StartUpError: If a transition fails.
    """
    if not isinstance(node, LifecycleNode):
        return
    if not node.has_parameter(AUTOSTART):
        node.declare_parameter(AUTOSTART, False, ParameterDescriptor(read_only=True))
    if node.get_parameter(AUTOSTART).value:
        bring_up(node, stopped)


def take_down(node: Node) -> None:
    """Deactivate, clean up and destroy a node in any state, so that hardware is left safe."""
    try:
        if isinstance(node, LifecycleNode):
            if state_of(node) == 'active':
                node.trigger_deactivate()
            if state_of(node) == 'inactive':
                node.trigger_cleanup()
            if state_of(node) != 'finalized':
                node.trigger_shutdown()
    finally:
        node.destroy_node()
