# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A WitMotion sensor that is not there, on a serial port that is.

``inertial`` says what is to be measured, ``measurement`` adds noise and rounds it into frames,
``device`` is the sensor's firmware as a pure state machine, ``pty_port`` the port with its speed,
``plugged_sensor`` puts them together with what goes wrong on the way, and ``emulator`` runs that
in real time.
"""
