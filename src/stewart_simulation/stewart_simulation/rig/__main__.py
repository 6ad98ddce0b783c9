# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a virtual rig until Ctrl-C; one line of JSON on stdout tells where its wires are.

``python -m stewart_simulation.rig build/rig --settings '{"platform": "ex800"}'``
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import sys

from stewart_tables.errors import StewartError
from stewart_tables.one_thread import ONE_THREAD
from stewart_tables.progress import tell

# A process with several threads may not enter a namespace, and libraries start theirs at once.
os.environ.update(ONE_THREAD)


def main() -> int:
    """Serve."""
    parser = argparse.ArgumentParser(
        prog='python -m stewart_simulation.rig', description=__doc__.splitlines()[0]
    )
    parser.add_argument('directory', type=Path, help='where the ends of its wires shall be')
    parser.add_argument('--settings', default='{}', help='JSON object, see stewart virtual-rig')
    arguments = parser.parse_args()
    try:
        from stewart_simulation.rig.process import serve
        from stewart_simulation.rig.settings import RigSettings

        settings = RigSettings.from_plain(json.loads(arguments.settings))
        serve(settings, arguments.directory, lambda ends: print(json.dumps(ends), flush=True))
    except (StewartError, OSError) as error:
        tell(error)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
