# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo: seas and a paper's wave on a real ROS 2 graph, and a report on how well that went.

======================  ==========================================================================
``scenarios``           what is played: platform, configuration, limits that the result must keep
``session``             the graph of one scenario: enable, move, record, return, disable
``scheduling``          a real-time priority, where that is allowed
``recording``           the bag as plain arrays
``latency``             when a setpoint shows in the measured strokes
``check``               what has to hold, what it means, and whether a late machine excuses it
``machine``             how punctual the machine was, by ``wakeups``
``analysis``            the figures of the report, from arrays alone
``loaded``              the runs of a platform with a payload that its description does not know
``identification``      parameters from the first of them, fed forward in the last
``plots``, ``report``   pictures and the page
``progress``            what is seen on the terminal meanwhile
======================  ==========================================================================
"""
