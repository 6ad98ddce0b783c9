# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A software EtherCAT segment: CiA 402 drives that answer the frames of a real master."""
