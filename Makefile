# SPDX-License-Identifier: GPL-3.0-or-later
# `make help` lists the targets.

SHELL := /bin/sh
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg

# The user's python3, or the newest Python 3 that runs where that one does not.
PYTHON ?= $(shell tools/find-python --default)
# The inventory to certify; without one this machine is certified, with a sweep short enough to look at.
INVENTORY ?=
# More arguments for ansible-playbook.
ARGS ?=

QUICK_SWEEP := -e sweep_duration=3 -e sweep_file_size=16M -e sweep_files=4
CERTIFY := .venv/bin/ansible-playbook playbooks/certify.yml

.DEFAULT_GOAL := help

##@ Use

.PHONY: certify
certify: .venv/.finished link ## certify this machine with a quick sweep, or a fleet: INVENTORY=hosts.yml ARGS="-e sweep_duration=60"
ifeq ($(INVENTORY),)
	@mkdir -p build
	@printf '%s ansible_connection=local ansible_python_interpreter="{{ ansible_playbook_python }}"\n' "$$(uname -n)" > build/this-machine.ini
	@echo "Certifying this machine with a quick sweep ($(QUICK_SWEEP)); a run this short does not certify."
	$(CERTIFY) -i build/this-machine.ini $(QUICK_SWEEP) $(ARGS)
else
	$(CERTIFY) -i $(INVENTORY) $(ARGS)
endif

.PHONY: setup
setup: .venv/.finished link ## only prepare: .venv with ansible-core, and the collection resolvable from this checkout

.PHONY: link
link:
	@tools/link-collection collections

.venv/.finished: requirements.txt tools/make-venv
	@tools/make-venv .venv "$(PYTHON)" -r requirements.txt
	@touch $@

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	    /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	    /^[a-z0-9_-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nmake ends with status 2 whatever failed. A change gate calls ansible-playbook itself, whose status 2 means that\n'
	@printf 'the gate said no and whose other statuses mean that something else went wrong.\n'
