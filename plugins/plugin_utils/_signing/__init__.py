# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The signature of a run: a manifest of all its files, a statement for supply-chain tools, and signing and verifying
with ssh-keygen."""
