# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX does and checks, restated for the tests: which files it offers as playbooks, what its API refuses,
and an API of the tests' own."""
