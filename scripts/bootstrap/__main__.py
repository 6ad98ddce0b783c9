# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Set up the ROS-less environment of this clone: `.venv`, and the workspace built in it.

Every step is repeated only when something it depends on has changed, an interrupted step
starts over, and nothing is written outside the clone. Only the standard library is used:
this runs before anything else is there.

    machine               what must be there before anything is written
    steps                 running a step, with progress and a log
    pins                  the pinned packages, and how they are installed
    virtual_environment   .venv, replaced only by one that is complete
    ros_environment       the variables that make it a ROS 2
    workspace             what colcon builds
    kernels               what numba compiles
    places                where all of it is
"""

from __future__ import annotations

import platform
import sys

from kernels import compiled_kernels
from machine import check_clone_path, check_loopback, check_platform
import places
from ros_environment import write_environment
from steps import alone, SetupError
from virtual_environment import make_venv
from workspace import build_workspace, write_sums


def main() -> int:
    """Bring the environment up to date."""
    try:
        check_clone_path(places.ROOT)
        check_platform(platform.system(), platform.machine())
        check_loopback()
        for folder in (places.TEMPORARY, places.LOG.parent):
            folder.mkdir(parents=True, exist_ok=True)
        with alone():
            make_venv()
            write_environment()
            with compiled_kernels():
                build_workspace()
            write_sums()
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        # Where no file is named, it is one that was being written.
        print(f'{error.filename or places.LOG}: {error.strerror or error}.', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\nInterrupted; the next call takes it up again.', file=sys.stderr)
        return 130
    return 0


if __name__ == '__main__':
    sys.exit(main())
