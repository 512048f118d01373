# SPDX-License-Identifier: GPL-3.0-or-later
# `make help` lists the targets.

SHELL := /bin/sh
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
# Empty, so that Python keeps compiled files. Otherwise, each test process would compile them again.
export PYTHONDONTWRITEBYTECODE :=

# The user's python3, or the newest Python 3 if ansible-core does not support that one.
PYTHON ?= $(shell tools/find-python --default)
# The inventory to certify. Without one, `make certify` takes a quick look at this machine.
INVENTORY ?=
export INVENTORY
# How many integration tests run in parallel. They wait for hosts most of the time.
JOBS ?= 6
# If not empty, the test targets run all tests; `make test-all` sets it.
ALL ?=
# The program that builds the image, and the image's name.
ENGINE ?= podman
IMAGE ?= logdisk
# Tests that measure storage on a shared machine may be repeated; see tests/README.md.
RERUNS := --reruns 2 --reruns-delay 10 --rerun-show-tracebacks
# Each worker takes the next test, in the order of tests/integration/conftest.py.
IN_ORDER := --dist loadgroup --no-loadscope-reorder
# A test that takes longer than this hangs.
PATIENCE := --timeout 1200
# More arguments for ansible-playbook, or for the program that runs the tests.
ARGS ?=
# The ansible-core of the integration tests. If empty, the newest that this machine can run, or, with ALL, all of them.
CORE ?=
# The commit from which `make test-changed` looks for changes, and the one that `make bench-compare` compares with.
SINCE ?= HEAD
AGAINST ?=

# Ansible is started as a module, because a long path does not fit into the first line of its script.
CERTIFY := .venv/bin/python -m ansible playbook playbooks/certify.yml

# Runs two targets in parallel, without mixing their output.
TOGETHER = $(MAKE) --jobs 2 --output-sync=target
# The development tools call each other, so their directory is in PATH.
DEV := .venv-dev/bin
PYTEST = PATH="$(CURDIR)/$(DEV):$$PATH" $(DEV)/python -m pytest

.DEFAULT_GOAL := help

##@ Use

.PHONY: certify
certify: writable .venv/.finished link ## take a quick look at this machine, or certify a fleet: INVENTORY=hosts.yml ARGS="-e ..."
ifeq ($(INVENTORY),)
	@mkdir -p build
	@# By default, certify_hosts excludes localhost.
	@name=$$(uname -n); [ "$$name" != localhost ] || name=this-machine; \
	    printf '%s ansible_connection=local ansible_python_interpreter="{{ ansible_playbook_python }}"\n' "$$name" \
	        > build/this-machine.ini
	@echo "A quick look at this machine, which never certifies (sweep_preset=look)."
	$(CERTIFY) -i build/this-machine.ini -e sweep_preset=look $(ARGS)
else
	$(CERTIFY) -i "$$INVENTORY" $(ARGS)
endif

.PHONY: setup
setup: writable .venv/.finished link ## create .venv with ansible-core, and links to this checkout

.PHONY: image
image: ## build a container image of the tester (docs/kubernetes.md): ENGINE=podman or docker, IMAGE=logdisk
	@$(MAKE) --no-print-directory -C src static
	$(ENGINE) build --tag $(IMAGE) --file container/Containerfile src/build/static

.PHONY: writable
writable:
	@[ -w . ] || { printf 'make: %s cannot be written: copy it to a directory of yours, or install the collection\n' \
	    "$$(pwd)" >&2; exit 1; }

.PHONY: link
link:
	@tools/link-collection collections

.venv/.finished: requirements.txt tools/make-venv
	@tools/make-venv .venv "$(PYTHON)" -r requirements.txt
	@touch $@

##@ Develop (the tests create everything that they need and, as root, install Debian packages)

# Targets that wait for the network or for hosts run in parallel with others. Tests that use all processors run alone.
.PHONY: test
test: packages ## the tests before every push: each promise, playbook, kind of run and verdict once
	$(TOGETHER) environments test-tester
	$(MAKE) test-unit
	$(MAKE) --jobs 2 integration checks

# These run at the lowest priority, so that they use only the processor time that integration tests leave.
.PHONY: checks
checks:
	nice -n 19 $(MAKE) --output-sync=target lint sanity

.PHONY: test-all
test-all: ## all tests, before a release
	$(MAKE) test importer molecule ALL=yes

.PHONY: environments
environments: packages .venv-dev/.finished link
	@$(DEV)/python tools/controllers.py venv$(if $(ALL), all)

.PHONY: test-changed
test-changed: packages .venv-dev/.finished link ## the tests of uncommitted changes, or of all changes since a commit: SINCE=HEAD~3
	@$(DEV)/python tools/changed_tests.py "$(SINCE)" $(ARGS)

.PHONY: test-tester
test-tester: packages ## the tester's own tests; only some: ARGS="name"; with more inputs of the fuzzer: ALL=yes
	$(if $(ALL),FUZZ_INPUTS=600000) $(MAKE) -C src -j "$$(nproc)" test $(if $(ARGS),NAMES="$(ARGS)")

.PHONY: test-unit
test-unit: packages .venv-dev/.finished link ## the unit tests; only some: ARGS="-k name"; with trials of error rates: ALL=yes
	$(PYTEST) $(if $(findstring tests/,$(ARGS)),,tests/unit) -n "$$(($$(nproc) + 1))" --dist worksteal \
	    $(if $(ALL),,-m "not trials") $(ARGS)

.PHONY: lint
lint: packages .venv-dev/.finished link ## ansible-lint, yamllint, ruff, shellcheck, changelog, documentation of plugins
	$(DEV)/ansible-lint --offline --nocolor
	$(DEV)/yamllint --strict .
	$(DEV)/ruff check --quiet
	$(DEV)/ruff format --check --quiet
	shellcheck $$(tools/shell-scripts)
	@! git grep -nE '^(<{7}|>{7}) '
	$(DEV)/antsibull-changelog lint
	PATH="$(CURDIR)/$(DEV):$$PATH" $(DEV)/antsibull-docs lint-collection-docs --plugin-docs .

.PHONY: artifact
artifact: .venv-dev/.finished ## build/artifact/*.tar.gz, as it would be published
	@rm -rf build/artifact
	@$(DEV)/python tools/make_artifact.py

.PHONY: sbom
sbom: .venv-dev/.finished ## the software bill of materials (CycloneDX) of the archive, the static tester and its image
	@$(DEV)/python tools/make_sbom.py

.PHONY: sanity
sanity: packages artifact ## ansible-test sanity on the artifact with the newest release of ansible-core, or with each: ALL=yes
	$(DEV)/python tools/sanity.py $(if $(ALL),--all) build/artifact/*.tar.gz

.PHONY: importer
importer: artifact ## the checks that Galaxy makes when the artifact is published
	$(DEV)/python tools/importer.py build/artifact/*.tar.gz

# All tests run with the newest ansible-core. Those of `make test` also run with each of the others.
.PHONY: integration
integration: environments ## ansible-playbook over SSH; all tests and cores: ALL=yes; some: ARGS="-k name", CORE=2.16
	@$(DEV)/python tools/controllers.py list
	tests="not acceptance$(if $(ALL)$(ARGS),, and not thorough)"; status=0; \
	for core in $(or $(CORE),$(if $(ALL),$$($(DEV)/python tools/controllers.py names),newest)); do \
	    LOGDISK_TEST_CORE=$$core \
	        $(PYTEST) tests/integration -n $(JOBS) $(IN_ORDER) -m "$$tests" $(RERUNS) $(PATIENCE) $(ARGS) || status=1; \
	    $(if $(ARGS),,tests="not acceptance and not thorough";) \
	done; exit $$status

.PHONY: molecule
molecule: packages .venv-dev/.finished link ## the Molecule scenarios of typical uses; only one: SCENARIO=together
	PATH="$(CURDIR)/$(DEV):$$PATH" $(DEV)/molecule --base-config .config/molecule/config.yml test --no-command-borders \
	    $(if $(SCENARIO),--scenario-name $(SCENARIO),--all)

.PHONY: acceptance
acceptance: environments ## tests that take long: long runs and stalls, power cuts, coverage, ten minutes of fuzzing
	$(PYTEST) tests/integration -n $(JOBS) -m acceptance $(RERUNS) $(ARGS)
	$(MAKE) -C src coverage
	$(MAKE) -C src fuzz

.PHONY: guests
guests: packages .venv-dev/.finished link ## virtual machines: power cuts, states of an honest disk, locks on real NFS: tests/guests/README.md
	@tools/apt-install $$(sed 's/#.*//' tests/guests/packages.txt)
	"$(PYTHON)" tests/guests/guests.py replay
	"$(PYTHON)" tests/guests/guests.py cut
	$(DEV)/python tests/guests/nfs_locks.py

.PHONY: fixtures
fixtures: ## record tests/fixtures/tables again with the tester of this checkout
	@tools/make-fixtures

.PHONY: reference
reference: .venv-dev/.finished link ## write the generated pages of docs/ (tools/write_reference.py lists them)
	PYTHONPATH=collections $(DEV)/python tools/write_reference.py

.PHONY: site
site: build/site-venv/.finished link ## build the documentation as a site with a search in build/site, and check all its links
	@build/site-venv/bin/python tools/make_site.py

build/site-venv/.finished: requirements-site.txt requirements.txt tools/make-venv
	@tools/make-venv build/site-venv "$(PYTHON)" -r requirements-site.txt
	@touch $@

.PHONY: sample
sample: .venv-dev/.finished link ## make docs/sample.html and the pictures in README.md again, with Chromium
	PYTHONPATH=collections $(DEV)/python tools/make_sample.py

.PHONY: scale
scale: packages .venv-dev/.finished link ## certify many SSH hosts on this machine, and show how the time is spent: HOSTS=100 FORKS=20
	PYTHONPATH=tests:tests/integration $(DEV)/python benchmarks/scale.py \
	    --hosts $(or $(HOSTS),100) --forks $(or $(FORKS),20) $(ARGS)

.PHONY: bench-compare
bench-compare: packages .venv-dev/.finished link ## compare the speed of the tester and of a fleet with another commit: AGAINST=commit
	@[ -n "$(AGAINST)" ] || \
	    { echo 'make: name the commit to compare with, for example: make bench-compare AGAINST=HEAD~1' >&2; exit 1; }
	PYTHONPATH=tests:tests/integration $(DEV)/python benchmarks/compare_commits.py "$(AGAINST)" $(ARGS)

.PHONY: changelog
changelog: .venv-dev/.finished ## add changelogs/fragments and new modules to CHANGELOG.md for the version in galaxy.yml
	PATH="$(CURDIR)/$(DEV):$$PATH" $(DEV)/antsibull-changelog release --update-existing --reload-plugins

.PHONY: clean
clean: ## remove everything that was built, and everything that a killed test run left on this machine
	@if [ -d /var/tmp/logdisk-testbed ]; then PYTHONPATH=tests "$(PYTHON)" -m testbed down --all; fi
	rm -rf build .venv .venv-dev collections/ansible_collections src/build

.PHONY: packages
packages:
	@tools/apt-install $$(sed 's/#.*//' tools/packages-test.txt)

.venv-dev/.finished: requirements.txt requirements-dev.txt tools/make-venv
	@tools/make-venv .venv-dev "$$(tools/find-python 3.11 3.14)" -r requirements-dev.txt
	@touch $@

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	    /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	    /^[a-z0-9_-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'make ends with status 2 for any kind of failure. In a change gate, call ansible-playbook directly, and read the'
	@echo 'outcome from reports/outcome.json (docs/gate.md).'
