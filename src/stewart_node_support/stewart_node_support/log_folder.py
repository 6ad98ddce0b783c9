# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Start ROS where no log file can be written: without one, instead of not at all."""

from __future__ import annotations

from pathlib import Path
import tempfile

from rclpy.logging import get_logging_directory
from stewart_tables.progress import tell

WITHOUT_FILE = ('--ros-args', '--disable-external-lib-logs')
"""Log to the terminal and to ``/rosout`` alone."""


def log_arguments() -> tuple[str, ...]:
    """Return what to add to ROS's command line, and say so where no log file can be written.

    rclpy does not start without its log file. But a disk that was remounted read-only, or a folder
    that belongs to another account, must not keep anybody from stopping the platform.
    """
    folder = Path(get_logging_directory())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            return ()
    except OSError as error:
        tell(f'{folder}: {error.strerror}; no log file is written (ROS_LOG_DIR names the folder)')
        return WITHOUT_FILE
