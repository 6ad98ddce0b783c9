# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart drive``: switch the drives of a running rig on and off, and stop them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
import json
from typing import TYPE_CHECKING

from stewart_bringup.verbs.graph import add_namespace_argument, tell

if TYPE_CHECKING:
    from stewart_bringup.nodes.operator import Operator

HELP = 'enable, disable, home, stop or reset the drives of a running rig'

DETAILS = """
Prints the state that the driver is in afterwards. It waits until that is reached; what the driver
refuses or does not reach is told in one sentence, with exit code 1. quick-stop is the strongest
stop of all six legs along one common path; it is no emergency stop (docs/safety.md).

examples:
  stewart drive state
  stewart drive state --json
  stewart drive enable
  stewart drive quick-stop --namespace hexapod
"""

ACTIONS = {
    'state': 'only tell the state',
    'enable': 'switch on; the legs stay where they are',
    'disable': 'come to rest, switch off',
    'home': 'make the strokes absolute',
    'quick-stop': 'come to rest as fast as allowed, switch off',
    'reset-fault': 'leave FAULT for DISABLED',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """
    Add the options.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of the verb.

    """
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = DETAILS
    meanings = '; '.join(f'{name}: {meaning}' for name, meaning in ACTIONS.items())
    parser.add_argument('action', choices=list(ACTIONS), metavar='ACTION', help=meanings)
    parser.add_argument('--json', action='store_true', help='print the state as JSON')
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """
    Ask the driver, wait for the state, print it.

    Parameters
    ----------
    arguments : argparse.Namespace
        What `add_arguments` asked for.

    Returns
    -------
    int
        0.

    Raises
    ------
    RequestRefused
        If the driver refuses, goes to FAULT, or does not answer.

    """
    in_form = _as_json if arguments.json else _in_words
    return tell(partial(_act, action=arguments.action, in_form=in_form), arguments.namespace)


async def _act(operator: Operator, action: str, in_form: Callable[[Operator, str], str]) -> str:
    """Do what was asked for, and return the state."""
    from stewart_interfaces.msg import DriverState
    from stewart_kinematics.nodes.start_pose import STATE_NAMES

    await operator.until(lambda: operator.heard_driver, 'driver/state')
    service = f'driver/{action.replace("-", "_")}'
    if action != 'state':
        await operator.request(service)
    if action == 'enable':
        await operator.reach(DriverState.ENABLED, service)
    elif action == 'disable':
        await operator.reach(DriverState.DISABLED, service)
    elif action == 'home':
        await operator.until(lambda: operator.driver_state.homed, service)
    elif action in {'quick-stop', 'reset-fault'}:
        off = {DriverState.DISABLED}
        if action == 'quick-stop':
            off.add(DriverState.FAULT)
        await operator.until(lambda: operator.driver_state.state in off, service)
    number = operator.driver_state.state
    return in_form(operator, STATE_NAMES.get(number, str(number)))


def _in_words(operator: Operator, name: str) -> str:
    state = operator.driver_state
    homed = 'homed' if state.homed else 'not homed'
    simulated = ', SIMULATED: no metal moves' if state.simulated else ''
    return f'{name}, {homed}, back end {state.backend}{simulated}: {state.reason}'


def _as_json(operator: Operator, name: str) -> str:
    state = operator.driver_state
    shown = {
        'state': name,
        'homed': state.homed,
        'backend': state.backend,
        'simulated': state.simulated,
        'reason': state.reason,
    }
    return json.dumps(shown, indent=2)
