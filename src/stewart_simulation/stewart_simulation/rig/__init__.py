# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The virtual rig: one plant, and every wire that a real machine has, in one process.

``settings`` say what there is, ``mechanics`` is the plant with its time, ``axes`` and
``inertial_feed`` put it behind the EtherCAT segment and the inertial sensor, ``parts`` make them
all and the sheet ``rig.yaml``, ``wires`` or ``inline_rig`` lead out of the process or stay in it,
``truth`` tells what really happens, ``faults`` break it, ``process`` and ``launcher`` are the two
ends of its life.
"""
