# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT, SIGTERM and SIGHUP as a request to stop, at any moment of a process's life.

Nothing here imports ROS, so that the request is heard while rclpy is still being loaded.
"""

from __future__ import annotations

from collections.abc import Callable
import os
import signal
import threading
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _stop_signals() -> tuple[signal.Signals, ...]:
    """Return what asks to stop: a terminal that was closed, too, but not under nohup."""
    hangs_up = signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    return (*SIGNALS, signal.SIGHUP) if hangs_up else SIGNALS


class StopSignals:
    """Remember that SIGINT, SIGTERM or SIGHUP came, and call back from a thread of its own.

    SIGHUP comes when the terminal is closed or its ssh ends; where it is ignored, as under nohup,
    it stays so.

    A Python signal handler runs only when the main thread next executes Python, which a thread
    waiting inside rcl never does. So the interpreter writes each signal's number to a pipe at
    once (`signal.set_wakeup_fd`) and a watcher thread reads it there. rclpy's own handlers shut
    the context down under a waiting executor, which then sometimes raises; they stay out.

    Outside the main thread, where Python allows no handlers, it only carries requests made by
    `request`.

    Attributes:
        requested: True from the first signal on; more of them change nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._wake: Callable[[], object] | None = None
        self._lock = threading.Lock()
        self._pipe: tuple[int, int] | None = None
        self._signals: tuple[signal.Signals, ...] = ()
        self._previous: tuple[int, list[object]] = (-1, [])
        self._watcher = threading.Thread(target=self._watch, name='stop_signals', daemon=True)

    def install(self) -> StopSignals:
        """Start to listen; return self."""
        if self._pipe is None and threading.current_thread() is threading.main_thread():
            self._pipe = os.pipe()
            os.set_blocking(self._pipe[1], False)
            self._signals = _stop_signals()
            handlers: list[object] = [
                signal.signal(number, self._note) for number in self._signals
            ]
            previous = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
            self._previous = (previous, handlers)
            self._watcher.start()
        return self

    def restore(self) -> None:
        """Put back the handlers that were there before `install`."""
        if self._pipe is not None:
            self._leave(self._previous[1])

    def ignore(self) -> None:
        """Ignore these signals from now on: the process is about to end by itself."""
        if self._pipe is not None:
            self._leave([signal.SIG_IGN for _ in self._signals])

    def request(self) -> None:
        """Ask to stop, as a signal would; not to be called from a signal handler."""
        with self._lock:
            self.requested = True
            if self._wake is not None:
                self._wake()

    def on_request(self, wake: Callable[[], object] | None) -> None:
        """Set what is called, in another thread, when a request comes or has come already."""
        with self._lock:
            self._wake = wake
            if wake is not None and self.requested:
                wake()

    def __enter__(self) -> StopSignals:
        return self.install()

    def __exit__(self, *_: object) -> None:
        self.restore()

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        # The flag only: taking the lock here could wait for the very code that was interrupted.
        self.requested = True

    def _watch(self) -> None:
        assert self._pipe is not None
        while numbers := os.read(self._pipe[0], 16):
            if any(number in self._signals for number in numbers):
                self.request()
        os.close(self._pipe[0])

    def _leave(self, handlers: list[object]) -> None:
        assert self._pipe is not None
        for number, handler in zip(self._signals, handlers, strict=True):
            signal.signal(number, handler)  # type: ignore[arg-type]
        signal.set_wakeup_fd(self._previous[0])
        os.close(self._pipe[1])
        self._watcher.join()
        self._pipe = None
