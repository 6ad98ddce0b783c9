# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The node's end of the cyclic process: start it, talk to it, end it."""

from __future__ import annotations

from functools import partial
import os
import pickle
import subprocess
import time
from typing import Any, ClassVar

from stewart_driver.backend import Backend
from stewart_driver.control.child_process import ChildProcess, spawn
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle_link import Answer, CycleLink
from stewart_driver.control.shared_block import ProcessPhase, SharedBlock
from stewart_driver.control.state_machine import Request
from stewart_driver.errors import CycleError

# A process that ends is noticed at once; this is for one that hangs, on a busy machine [s].
START_TIMEOUT = 30.0
REPLY_TIMEOUT = 0.5
# What is carried out in the last moment is still told [s].
LAST_ANSWER = 0.1
# To reset a fault may mean to wait until legs have sunk, and to bring a whole bus up again.
RESET_TIMEOUT = START_TIMEOUT
# To end a process whose back end is closed.
END_TIMEOUT = 2.0
POLL = 5e-4
CYCLIC_PROCESS = 'stewart_driver.control.cyclic_process'
# Kernels are plain Python then.
PLAIN = {'NUMBA_DISABLE_JIT': '1'}


class Waiting:
    """A cyclic process that waits for its back end, and imports what that needs meanwhile.

    A context, in which the back end is made and the process handed to a `CycleClient`; it is
    killed if that fails.
    """

    def __init__(self, backend_type: type[Backend]) -> None:
        descriptor = SharedBlock.allocate()
        try:
            self.block = SharedBlock(descriptor)
            self.process = spawn(
                (CYCLIC_PROCESS, str(descriptor), str(os.getpid()), backend_type.__module__),
                {} if backend_type.compiles else PLAIN,
                stdin=subprocess.PIPE,
                pass_fds=(descriptor,),
            )
        finally:
            os.close(descriptor)

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.process.kill()
            # It takes nothing any more, so nothing is flushed into the pipe.
            self.process.communicate()


class CycleClient(ChildProcess, CycleLink):
    """A running cyclic process.

    Args:
        backend: Not opened; it is pickled into the process.
        timeout: Longest time until the first cycle has run [s].
        waiting: The process, if it was started before the back end was made.

    Raises:
        CycleError: If the process does not start, with the reason that it gave.
    """

    called: ClassVar[str] = 'the cyclic process'

    def __init__(
        self,
        backend: Backend,
        configuration: CycleConfiguration,
        timeout: float = START_TIMEOUT,
        waiting: Waiting | None = None,
    ) -> None:
        self._failures: list[str] = []
        self._closing = backend.longest_closing
        waiting = waiting or Waiting(type(backend))
        CycleLink.__init__(self, waiting.block, configuration.longest_stop)
        ChildProcess.__init__(self, waiting.process)
        try:
            self._hand_over((backend, configuration))
            self._wait_for_start(timeout)
        except BaseException:
            self._end_now()
            raise

    def steady(self) -> float:
        """Return the machine's steady clock [s]."""
        return time.monotonic()

    def pause(self) -> None:
        """Wait for a millisecond."""
        time.sleep(1e-3)

    def request(
        self, request: Request, value: float = 0.0, timeout: float | None = None
    ) -> tuple[bool, str]:
        """Ask for something and wait for the answer, which comes in the next cycle.

        What has not begun until then is not carried out later, but for what disables.

        Args:
            timeout: Longest wait [s]; None takes what such a request may need.
        """
        return _awaited(self._ask(request, value, timeout))

    def begin(self, request: Request) -> Answer:
        """Ask for something; return what gives the answer of `request` once it has come."""
        return self._ask(request, 0.0, None)

    def _ask(self, request: Request, value: float, timeout: float | None) -> Answer:
        if timeout is None:
            # Both may start the drives anew.
            slow = request in {Request.RESET_FAULT, Request.HOME}
            timeout = RESET_TIMEOUT if slow else REPLY_TIMEOUT
        number = self._push(request, value, self.steady() + timeout)
        return self._answer(partial(self._reply_to, number), timeout, LAST_ANSWER)

    def quick_stop(self) -> tuple[bool, str]:
        """Raise the quick-stop flag, which the next cycle obeys before anything else."""
        self._block.words['quick_stops'] += 1
        return _awaited(self._answer(self._stopped, REPLY_TIMEOUT))

    def _answer(self, look: Answer, timeout: float, longer: float = 0.0) -> Answer:
        """Return what looks for an answer, and says so if none will come any more [s]."""
        limit = time.monotonic() + timeout + longer

        def answer() -> tuple[bool, str] | None:
            # Before the look: what was answered while this process got no turn, or as the last
            # thing of all, is an answer.
            waits = self.alive and time.monotonic() < limit
            if (said := look()) is not None or waits:
                return said
            silence = f'the cyclic process did not answer within {timeout:g} s'
            return False, self.exit_reason() or silence

        return answer

    def end(self, timeout: float | None = None) -> None:
        """Bring the legs to rest, switch the drives off and end the process; raises `CycleError`.

        Args:
            timeout: Time after which it is killed [s]; None: of the longest stop, of closing the
                back end, and two seconds.
        """
        self._block.words['end'] = 1
        if timeout is None:
            timeout = self.longest_stop + self._closing + END_TIMEOUT
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            self._end_now()
            raise CycleError(
                f'the cyclic process did not end within {timeout:.3g} s and was killed'
            ) from error
        if code:
            raise CycleError(self.exit_reason())

    def _hand_over(self, payload: Any) -> None:
        assert self._process.stdin is not None
        try:
            with self._process.stdin as pipe:
                pickle.dump(payload, pipe)
        except BrokenPipeError:
            self._process.wait()
            raise CycleError(f'{self.exit_reason()} before it took its configuration') from None

    def _wait_for_start(self, timeout: float) -> None:
        limit, waits = time.monotonic() + timeout, True
        while waits:
            # Before the look, as in `_answer`.
            waits = time.monotonic() < limit
            alive = self.alive
            if self._block.words['phase'] != ProcessPhase.STARTING:
                break
            if not alive:
                raise CycleError(self.exit_reason())
            time.sleep(POLL)
        else:
            raise CycleError(f'the cyclic process did not start within {timeout:g} s')
        if self._block.words['phase'] == ProcessPhase.FAILED:
            raise CycleError(f'the cyclic process did not start: {self._said()}')

    def _said(self) -> str:
        self._failures += [failure['text'] for failure in self._block.failures.pop_all()]
        return '; '.join(self._failures)

    def _end_now(self) -> None:
        self.kill()
        self._process.wait()


def _awaited(answer: Answer) -> tuple[bool, str]:
    while (said := answer()) is None:
        time.sleep(POLL)
    return said
