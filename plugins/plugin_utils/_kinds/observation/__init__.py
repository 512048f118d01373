# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The observation: a live queue manager is observed, and its write latency is compared with the certificate of its
volume. It writes nothing and certifies nothing."""
