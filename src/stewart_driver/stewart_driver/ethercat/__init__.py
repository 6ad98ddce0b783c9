# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``ethercat``: six CiA 402 drives behind an EtherCAT master on pysoem."""
