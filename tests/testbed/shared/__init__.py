# SPDX-License-Identifier: GPL-3.0-or-later
"""A file system that several hosts share, with leased locks. server.py is its server. client.py runs on each host and
carries the requests of the host's kernel to the server. See ``testbed.servers`` for how a bed starts it."""
