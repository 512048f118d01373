# SPDX-License-Identifier: GPL-3.0-or-later
"""The behaviour and the checks of AWX, reimplemented for the tests: which files it offers as playbooks, what its API
refuses, and a simulated API."""
