# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""An EtherCAT master for a line in this process, in simulated time.

It stands where the driver has its own master on a socket, and speaks to the segment by frames
alone. It is written from the standard: what it shares with the slaves is the layout of frames.

``link`` sends frames and waits, ``slave_information`` reads the EEPROM, ``mailbox`` speaks CoE,
``configuration`` lays out process data and clocks, ``bus`` is what the driver sees of it all, and
the name under which it finds that. ``standard`` has the numbers.
"""
