# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in messages, which people copy into a shell.

Private to this collection; it may change at any time.
"""

import json
import re
import shlex

_PLAIN = re.compile(r"[\w./:@%+,-]+\Z", re.ASCII)
"""A value that neither a shell nor ``-e name=value`` changes."""
_TEMPLATE = re.compile(r"\{[{%#]")


def command(words):
    """Return a command, with the words quoted that need it."""
    return " ".join(shlex.quote(word) for word in words)


def extra_variable(name, value):
    """Return the option of ansible-playbook that sets a variable to exactly this text.

    Ansible splits ``name=value`` at blanks and removes quotes and backslashes, so other values are passed as JSON. In
    both forms, it would evaluate a template.
    """
    if _PLAIN.match(value):
        return "-e %s=%s" % (name, value)
    text = json.dumps(value, ensure_ascii=not value.isprintable())
    return "-e " + shlex.quote('{"%s": %s%s}' % (name, "!unsafe " if _TEMPLATE.search(value) else "", text))
