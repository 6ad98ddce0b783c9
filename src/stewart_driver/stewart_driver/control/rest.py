# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether legs stand still where legs can stand."""

from __future__ import annotations

import numpy as np
from stewart_driver.errors import HomingError
from stewart_driver.legs import Array, END_MARGIN, LegLimits

# More than the noise of measured rates [m/s].
STANDSTILL = 2e-3


def require_rest(strokes: Array, rates: Array, limits: LegLimits) -> None:
    """Raise `HomingError` if a leg moves, or stands where no absolute stroke can be."""
    leg = int(np.abs(rates).argmax())
    if abs(rates[leg]) > STANDSTILL:
        raise HomingError(f'leg {leg + 1} moves at {rates[leg]:.4f} m/s while homing')
    beyond = limits.beyond(strokes)
    leg = int(beyond.argmax())
    if beyond[leg] > END_MARGIN:
        raise HomingError(f'leg {leg + 1} stands {beyond[leg]:.4f} m outside its stroke')
