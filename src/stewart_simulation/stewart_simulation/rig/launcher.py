# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The other end of a rig process: start it, know where its wires are, end it."""

from __future__ import annotations

from contextlib import suppress
import json
from pathlib import Path
import select
import subprocess
import tempfile
import time
from typing import Any, ClassVar

from stewart_driver.control.child_process import ChildProcess, spawn
from stewart_driver.control.scheduling import AS_PERMITTED, take_priority
from stewart_simulation.control import ControlClient
from stewart_simulation.errors import RigError
from stewart_simulation.rig import directory as places
from stewart_simulation.rig.settings import RigSettings
from stewart_simulation.rig.truth import TruthReader

# Limit for a driver that never lets go [s]; less than the 15 s that launch gives the driver.
LONGEST = 10.0
# On a new machine kernels are compiled first [s].
START_TIMEOUT = 90.0
END_TIMEOUT = LONGEST + 3.0


class RigProcess(ChildProcess):
    """A running rig process, which ends with this one.

    Args:
        directory: Where the ends of its wires shall be; None for ``default_directory``.

    Attributes:
        ends: Interface and namespace of the segment, card, imu, control, truth and rig_file;
            without those that there are not.
        refused: What the machine did not permit this process, empty if nothing.

    Raises:
        RigError: If it does not start, with the reason that it gave.
    """

    called: ClassVar[str] = 'the virtual rig'

    def __init__(self, settings: RigSettings, directory: Path | None = None) -> None:
        if settings.ethercat:
            # Here and not in the rig process: the caller names a missing package.
            import pyroute2  # noqa: F401
        self.directory = directory or places.default_directory(settings.platform)
        # Not a pipe, which somebody would have to read lest it fills up.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        plain = json.dumps(settings.plain())
        super().__init__(
            spawn(
                ('stewart_simulation.rig', str(self.directory), '--settings', plain),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        )
        try:
            self.ends = self._wait()
            # Machines answer at once: whoever waits for a frame waits for this process.
            self.refused = take_priority(AS_PERMITTED, self.pid)
        except BaseException:
            self._end_now()
            raise

    def _said(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors='replace').strip()

    def truth(self) -> TruthReader:
        """Return a reader of what really happens."""
        return TruthReader(Path(self.ends['truth']))

    def control(self) -> ControlClient:
        """Return a client for faults; the caller closes it."""
        return ControlClient(Path(self.ends['control']))

    @property
    def facts(self) -> dict[str, Any]:
        """What diagnostics tell of it."""
        return {'process': self.pid, **self.ends}

    def now(self) -> float:
        """Return the present time of its clock [s]."""
        return time.monotonic()

    def call(self, fault: str, /, **arguments: Any) -> Any:
        """Break or mend something; raises `SegmentError` where fault or arguments do not fit."""
        with self.control() as control:
            return control.call(fault, **arguments)

    def end(self) -> None:
        """End it as soon as nobody uses it any more, and remove what it could not."""
        if self.alive:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_TIMEOUT)
        self._end_now()

    def _end_now(self) -> None:
        self.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
        places.sweep(self.directory, self.pid)

    def _wait(self) -> dict[str, str]:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], START_TIMEOUT)
        line = self._process.stdout.readline() if ready else b''
        if not ready:
            raise RigError(f'the virtual rig did not start within {START_TIMEOUT:g} s')
        if not line:
            self._process.wait()
            raise RigError(self.exit_reason())
        ends: dict[str, str] = json.loads(line)
        return ends

    def __enter__(self) -> RigProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
