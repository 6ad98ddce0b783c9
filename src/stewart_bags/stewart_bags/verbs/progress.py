# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One line that keeps changing, where somebody watches."""

from __future__ import annotations

from typing import TextIO


class Progress:
    """
    A line that is overwritten.

    Parameters
    ----------
    stream : TextIO
        Where to; nothing is shown unless it is a terminal.

    """

    def __init__(self, stream: TextIO) -> None:
        """Find out whether anybody watches."""
        self._stream = stream
        self._watched = stream.isatty()
        self._shown = False

    def show(self, text: str) -> None:
        """Replace the line."""
        if self._watched:
            self._stream.write(f'\r\033[K{text}')
            self._stream.flush()
            self._shown = True

    def end(self) -> None:
        """Leave the line as it is and begin a new one."""
        if self._shown:
            self._stream.write('\n')
            self._stream.flush()
