# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

# Where it is empty, scripts/setup takes the Python of the last set-up, and the others take python3.
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help setup demo test coverage test-slow test-compat lint format bench fuzz docs papers wheels audit sbom wheelhouse clean

# make exits with 2 if a recipe fails, and with 1 only if it was asked (-q) whether anything is left to do. So the
# set-up runs while this file is read, unless make shall only tell (-n): where something that it needs is missing, it
# has said so in one sentence, no recipe runs any more, and the answer is 1.
IN_THE_ENVIRONMENT := setup demo test coverage test-slow lint format bench fuzz papers wheels wheelhouse
ifneq ($(filter $(IN_THE_ENVIRONMENT),$(MAKECMDGOALS)),)
ifeq ($(findstring n,$(firstword -$(MAKEFLAGS))),)
$(shell PYTHON='$(PYTHON)' scripts/setup >&2)
ifneq ($(.SHELLSTATUS),0)
MAKEFLAGS += --question
endif
endif
endif

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup:  ## install ROS 2 Jazzy and the pinned packages into .venv, build the workspace
	@:

demo:  ## waves on virtual platforms through the whole ROS 2 graph, and a report
	@scripts/run stewart demo

test:  ## every test and linter
	@scripts/test

coverage:  ## how much of the core its tests run: at least 90 % of the lines
	@scripts/test-coverage

test-slow:  ## the long tests that `make test` leaves out
	@scripts/run pytest -m slow

test-compat:  ## the tests of the core with the versions that Ubuntu 24.04 ships, without ROS
	@scripts/test-compat

lint:  ## the linters alone
	@scripts/run pytest test/test_lint.py

format:  ## put the sources in order
	@scripts/run sh -c 'ruff check --fix && ruff format'

bench:  ## every benchmark
	@scripts/run scripts/each benchmarks

fuzz:  ## bad input for every parser, for MINUTES=10 of processor time with SEED=0
	@scripts/run python fuzz/fuzz.py --minutes $(or $(MINUTES),10) --seed $(or $(SEED),0) --keep

docs:  ## the site: guides, tutorials, reference and API in build/site, every link checked
	@scripts/docs

papers:  ## the five papers recomputed: one page of all tables and figures
	@scripts/run python papers/all_papers.py

wheels:  ## the cores that need no ROS, from kinematics to identification, as wheels in build/wheels
	@scripts/run scripts/wheels

audit:  ## known vulnerabilities of the pinned packages, asked of the package registry
	@scripts/supply audit

sbom:  ## the pinned packages of this Python as a CycloneDX list in build/sbom.cdx.json
	@scripts/supply sbom

wheelhouse:  ## all that a set-up installs, held against its hashes, in build/wheelhouse: for machines without network
	@scripts/run scripts/supply wheelhouse

clean:  ## remove what make has made
	rm -rf .cache .venv build install log
