# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

PYTHON ?= python3
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-compat lint format bench papers clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup:  ## install ROS 2 Jazzy and the pinned packages into .venv, build the workspace
	@scripts/setup

demo: setup  ## three waves on virtual platforms through the whole ROS 2 graph, and a report
	@scripts/run stewart demo

test: setup  ## every test and linter, with the coverage of the core
	@scripts/test

test-slow: setup  ## the long tests that `make test` leaves out
	@scripts/run pytest -m slow

test-compat:  ## the tests of the core with the versions that Ubuntu 24.04 ships, without ROS
	@scripts/test-compat

lint: setup  ## the linters alone
	@scripts/run pytest test/test_lint.py

format: setup  ## put the sources in order
	@scripts/run sh -c 'ruff check --fix && ruff format'

bench: setup  ## every benchmark
	@scripts/run scripts/each benchmarks

papers: setup  ## the published numbers of every paper, recomputed
	@scripts/run scripts/each papers

clean:  ## remove what make has made
	rm -rf .cache .venv build install log
