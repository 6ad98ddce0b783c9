# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo: seas and a paper's wave on a real ROS 2 graph, and a report on how well that went.

======================  ==========================================================================
``scenarios``           what is played: platform, configuration, limits that the result must keep
``session``             the graph of one scenario: enable, move, record, return, disable
``recording``           the bag as plain arrays, or what the driver said until it was cut short
``tracking``            how well the motion was followed, when, and with which forces
``machine``             how punctual it was, by ``wakeups``, what it grants, which wires it allows
``analysis``            the figures of the report, and what has to hold
``identification``      an unknown payload: found from an optimal motion, then fed forward
``plots``, ``report``   pictures, chapters and the page
``run``                 all of it in order, and what is seen on the terminal meanwhile
======================  ==========================================================================
"""
