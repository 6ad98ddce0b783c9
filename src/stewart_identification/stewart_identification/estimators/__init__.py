# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimators: from a model and an experiment to parameters with intervals."""
