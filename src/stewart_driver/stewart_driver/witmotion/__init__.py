# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""WitMotion inertial sensors (WIT standard protocol) without ROS.

``frames`` and ``samples`` turn bytes into values, ``clock`` stamps them; ``commands``, ``link``
and ``settings`` talk to the sensor, ``transport`` is the serial port, ``reader`` keeps all of it
running and ``health`` says why there is no data. Checked against frames of a real WTGAHRS2: see
the tests.
"""
