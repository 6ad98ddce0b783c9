# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The virtual rig: one plant, and every wire that a real machine has, in one process.

``settings`` say what there is, ``mechanics`` is the plant with its time, ``parts`` put it behind
the EtherCAT segment, the card and, by ``inertial_feed``, the inertial sensor, and write the sheet
``calibration.yaml``; ``process`` leads the wires to other processes, and ``launcher`` starts it,
``inline_rig`` stays in this one; ``truth`` tells what really happens, ``faults`` break it.
"""
