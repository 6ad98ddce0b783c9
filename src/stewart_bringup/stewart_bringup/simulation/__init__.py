# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A rig in simulated time without ROS: the cores of the nodes, called one after the other.

``rig_parameters`` reads the files that the nodes read, ``motions`` finds what is played,
``machines`` makes what moves the legs, ``pipeline`` steps them all along a ``schedule``, as the
``operator`` wants. Its stages are ``setpoints``, ``poses`` and ``sensing``; they work through
blocks of samples, which give what single samples give. ``series`` keeps what the nodes would
publish and ``bags`` writes it.
"""
