# SPDX-License-Identifier: GPL-3.0-or-later
"""AWX's behaviour and checks, reimplemented for the tests: which files it offers as playbooks, what its API refuses,
and a stand-in for its API."""
