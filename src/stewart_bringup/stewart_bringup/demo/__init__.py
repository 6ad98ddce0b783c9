# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The demo: seas and a paper's wave on a real ROS 2 graph, and a report on how well that went.

======================  ==========================================================================
``scenarios``           what is played: platform, configuration, limits that the result must keep
``session``             the graph of one scenario: enable, move, record, return, disable
``recording``           the bag as plain arrays, or why a scenario did not come to its end
``tracking``            how well the motion was followed, when, and with which forces
``machine``             how punctual the machine was, by ``wakeups``, and the priority it grants
``analysis``            the figures of the report, and what has to hold
``loaded``              the runs of a platform with a payload that its description does not know
``identification``      parameters from the first of them, fed forward in the last
``plots``, ``report``   pictures and the page
``progress``            what is seen on the terminal meanwhile
======================  ==========================================================================
"""
