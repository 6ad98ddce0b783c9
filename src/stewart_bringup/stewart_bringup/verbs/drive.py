# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart drive``: switch the drives of a running rig on and off, and stop them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
import json
import math
from typing import TYPE_CHECKING

from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bringup.errors import BringupError, RequestRefused
from stewart_bringup.verbs.graph import on_the_graph
from stewart_driver.advice import advice

if TYPE_CHECKING:
    from stewart_bringup.nodes.operator import Operator

HELP = 'enable, disable, home, stop, slow down or reset the drives of a running rig'

DETAILS = """
Prints the state that the driver is in afterwards. It waits until that is reached, and up to 1 s
more until nothing is live where the drives were switched off: what is live then, is said to be so
still. What the driver refuses or does not reach is told in one sentence, with exit code 1. Ctrl-C
while the drives come on has them off again. quick-stop is the strongest stop of all six legs along
one common path; it is no emergency stop (docs/safety.md). What is live has voltage: where no leg
is live the drives are off.

examples:
  stewart drive state
  stewart drive state --json
  stewart drive enable
  stewart drive speed 50
  stewart drive override on
  stewart drive quick-stop --namespace hexapod
"""

# Of two speed scalings [-].
SAME = 1e-9
# Drives that find home by themselves are asked again after this time [s].
RENEWAL = 0.25

ACTIONS = {
    'state': 'only tell the state',
    'enable': 'switch on; the legs stay where they are',
    'disable': 'come to rest, go to the park position if the rig has one, switch off',
    'home': 'make the strokes absolute',
    'quick-stop': 'come to rest as fast as allowed, switch off',
    'reset-fault': 'leave FAULT: for ENABLED where drives still hold, else for DISABLED',
    'speed': 'play every path at VALUE, 1 to 100 [%%], of its speed',
    'override': 'VALUE on: legs outside their stroke may be jogged inwards; off: no more',
}
# Fields of DriverState, in the order of the JSON.
SHOWN = (
    *('homed', 'backend', 'simulated', 'live', 'braked', 'sto'),
    *('holding', 'override', 'speed_scaling', 'reason'),
)
VALUES = {'speed': '1 to 100 [%]', 'override': 'on or off'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    meanings = '; '.join(f'{name}: {meaning}' for name, meaning in ACTIONS.items())
    parser.add_argument('action', choices=list(ACTIONS), metavar='ACTION', help=meanings)
    parser.add_argument('value', nargs='?', metavar='VALUE', help='of speed and override')
    parser.add_argument('--json', action='store_true', help='print the state as JSON')
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Ask the driver, wait for the state, print it."""
    in_form = _as_json if arguments.json else _in_words
    value = _value(arguments.action, arguments.value)
    work = partial(_act, action=arguments.action, value=value, in_form=in_form)
    print(on_the_graph('operator:Operator', work, arguments.namespace))
    return 0


def _value(action: str, text: str | None) -> float:
    """Return speed scaling, or 1 for on and 0 for off [-]."""
    if action not in VALUES:
        if text is not None:
            raise BringupError(f'{action} takes no value, got {text!r}')
        return 0.0
    if action == 'override' and text in {'on', 'off'}:
        return float(text == 'on')
    try:
        percent = float(text or 'nan')
    except ValueError:
        percent = math.nan
    if action == 'override' or not 1.0 <= percent <= 100.0:
        raise BringupError(f'{action}: expected {VALUES[action]}, got {text or "nothing"}')
    return 1e-2 * percent


async def _act(
    operator: Operator, action: str, value: float, in_form: Callable[[Operator, str, str], str]
) -> str:
    """Do what was asked for, and return the state."""
    from std_srvs.srv import SetBool
    from stewart_bringup.nodes.operator import LETTING_GO
    from stewart_interfaces.msg import DriverState
    from stewart_interfaces.srv import SetSpeedScaling
    from stewart_node_support.conversions import STATE_NAMES

    await operator.until(lambda: operator.heard_driver, 'driver/state')
    service = f'driver/{action.replace("-", "_")}'
    if action == 'speed':
        await operator.request('driver/speed_scaling', SetSpeedScaling, speed_scaling=value)
        await operator.until(
            lambda: abs(operator.driver_state.speed_scaling - value) < SAME, 'driver/state'
        )
    elif action == 'override':
        await operator.request(service, SetBool, data=bool(value))
        await operator.until(lambda: operator.driver_state.override == bool(value), service)
    elif action == 'disable':
        if operator.driver_state.state != DriverState.DISABLED:
            await operator.switch_off()
    elif action == 'enable':
        await operator.switch_on()
    elif action != 'state':
        await operator.request(service)
    if action == 'home':
        await _until_home(operator, service)
    elif action in {'quick-stop', 'reset-fault'}:
        ends = {DriverState.DISABLED}
        ends.add(DriverState.FAULT if action == 'quick-stop' else DriverState.ENABLED)
        await operator.until(lambda: operator.driver_state.state in ends, service)
    number, live = operator.driver_state.state, 'live'
    off = action in {'disable', 'quick-stop'} and number == DriverState.DISABLED
    if off and not await operator.without_voltage():
        live = f'still live after {LETTING_GO:g} s'
    return in_form(operator, STATE_NAMES.get(number, str(number)), live)


async def _until_home(operator: Operator, service: str) -> None:
    """Wait until the strokes are absolute; drives that find home themselves halt unless asked."""
    from stewart_interfaces.msg import DriverState

    moved = False
    # The state comes beside the answer.
    await operator.pause(RENEWAL)
    while operator.driver_state.state == DriverState.ENABLING:
        moved = True
        await operator.request(service)
        await operator.pause(RENEWAL)
    if moved and not operator.driver_state.homed:
        raise RequestRefused(service, operator.driver_state.reason)
    await operator.until(lambda: operator.driver_state.homed, service)


def _in_words(operator: Operator, name: str, live: str) -> str:
    state = operator.driver_state
    homed = 'homed' if state.homed else 'not homed'
    simulated = ', SIMULATED: no metal moves' if state.simulated else ''
    legs = [str(leg) for leg, on in enumerate(state.live, 1) if on]
    live = f', {live}: legs {" ".join(legs)}' if legs else ', nothing is live'
    holds = ', holding' if state.holding else ''
    more = ', OVERRIDE' if state.override else ''
    more += f', speed {100.0 * state.speed_scaling:g} %' if state.speed_scaling < 1.0 else ''
    said = f'{name}, {homed}, back end {state.backend}{simulated}{live}{holds}{more}'
    todo = f'; do: {advice(state.reason)}' if name == 'FAULT' else ''
    return f'{said}: {state.reason}{todo}'


def _as_json(operator: Operator, name: str, _live: str) -> str:
    values = {key: getattr(operator.driver_state, key) for key in SHOWN}
    arrays = {key: list(values[key]) for key in ('live', 'braked', 'sto')}
    return json.dumps({'state': name, **values, **arrays}, indent=2)
