# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MQ's configuration files (mqs.ini and qm.ini) and the output of ``dspmqinf -o stanza``, which has the same form.

A line ``Name:`` opens a stanza, and lines ``Key=value`` belong to it. A comment begins with ``#`` or ``;`` at the start
of a line, or after a blank. Indentation, spacing, the case of names and the form of line ends do not matter. A stanza
is only checked when its content is requested, because a queue manager's file also has stanzas for exits and other
products.

Private to this collection; it may change at any time.
"""

import errno
import os
import re
import stat

from . import _user

MAX_BYTES = 1 << 20
LOG_PAGE_BYTES = 4096
DEFAULT_BUFFER_PAGES = 512
"""The meaning of LogBufferPages = 0."""
LEAST_BUFFER_PAGES = 18
"""The meaning of LogBufferPages = 1 to 17."""

LOG_NUMBERS = (
    ("LogFilePages", 64, 65535, 4096),
    ("LogPrimaryFiles", 2, 510, 3),
    ("LogSecondaryFiles", 1, 509, 2),
    ("LogBufferPages", 0, 4096, 0),
)
"""For each numeric setting in the stanzas Log and LogDefaults: the key, the range, and the product's default."""
LOG_WORDS = (
    ("LogType", ("CIRCULAR", "LINEAR", "REPLICATED")),
    ("LogWriteIntegrity", ("TripleWrite", "DoubleWrite", "SingleWrite")),
)
"""For each setting in these stanzas that is a word: the key and the allowed values. The first value is the product's
default."""
MOST_LOG_FILES = 511

_HEADER = re.compile(r"([^=:#;]*[^=:#;\s])\s*:\s*(?:[#;].*)?\Z")
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"\s[#;].*\Z")
"""A comment at the end of a value. In names and paths of MQ, these characters never follow a blank."""
_SHOWN = 60


class IniError(Exception):
    """A file that cannot be used; the message names the file, and the line and the key if there are any."""


class Stanza:
    """A stanza of a file: ``name``, and ``line``, the number of its first line."""

    def __init__(self, path, name, line):
        self.path = path
        self.name = name
        self.line = line
        self._entries = []

    def add(self, number, text):
        """Add a line of the file."""
        key, separator, value = text.partition("=")
        self._entries.append(
            (number, key.strip() if separator else "", _COMMENT.sub("", value).strip() if separator else text)
        )

    def named(self, name):
        """True if the stanza has this name, regardless of case."""
        return self.name.lower() == name.lower()

    def check(self):
        """Raise IniError if a line is neither a comment nor a key with its value."""
        for number, key, text in self._entries:
            if not key:
                raise self.error(
                    number, "%s in the stanza %s is not of the form Key=value" % (_quoted(text), self.name)
                )

    def text(self, key):
        """Return the value of a key; None if it is missing or empty. Raises IniError."""
        found = [(number, value) for number, each, value in self._entries if each.lower() == key.lower() and value]
        if not found:
            return None
        number, value = found[0]
        if not value.isprintable():
            raise self.error(number, "%s is %s, which cannot be printed" % (key, _quoted(value)))
        for another, other in found[1:]:
            if other != value:
                raise self.error(
                    another, "%s is %s, but line %d says %s" % (key, _quoted(other), number, _quoted(value))
                )
        return value

    def check_without(self, keys, name, least=1):
        """Raise IniError if this stanza has at least ``least`` of the keys of another one, because the line that opens
        the stanza ``name`` is damaged."""
        wanted = dict((key.lower(), key) for key in keys)
        found = {}
        for number, key, dummy in self._entries:
            for word in re.split(r"[^A-Za-z]+", key):
                if word.lower() in wanted:
                    found.setdefault(wanted[word.lower()], number)
        if len(found) >= least:
            number, key = min((number, key) for key, number in found.items())
            raise self.error(number, "%s is not in a stanza %s: correct the line %s: before it" % (key, name, name))

    def line_of(self, key):
        """Return the line number of a key, or of the stanza if the key is missing."""
        return next((number for number, each, dummy in self._entries if each.lower() == key.lower()), self.line)

    def path_of(self, key):
        """Return an absolute path, normalized; None if it is missing. Raises IniError."""
        text = self.text(key)
        if text is None:
            return None
        if not text.startswith("/"):
            raise self.error(self.line_of(key), "%s is %s, but must be an absolute path" % (key, _quoted(text)))
        return os.path.normpath("/" + text.lstrip("/"))

    def number(self, key, least, most):
        """Return a number; None if it is missing. Raises IniError."""
        text = self.text(key)
        if text is None:
            return None
        number = int(text) if re.match(r"[0-9]{1,9}\Z", text) else -1
        wrong = why_not_allowed(number, least, most)
        if wrong:
            raise self.error(self.line_of(key), "%s is %s, but %s" % (key, _quoted(text), wrong))
        return meant(key, number)

    def word(self, key, words):
        """Return one of the ``words``, regardless of its case in the file; None if it is missing. Raises IniError."""
        text = self.text(key)
        found = next((word for word in words if text is not None and word.lower() == text.lower()), None)
        if text is not None and found is None:
            raise self.error(
                self.line_of(key), "%s is %s, but must be one of %s" % (key, _quoted(text), ", ".join(words))
            )
        return found

    def error(self, number, why):
        """Return the IniError about a line."""
        return IniError("%s, line %d: %s" % (self.path, number, why))


def parse(text, path):
    """Return the stanzas of a file's text, in order. Text before the first stanza is a stanza without a name."""
    stanzas = []
    for number, line in enumerate(_LINE_END.split(text.lstrip("\ufeff")), 1):
        bare = line.strip()
        header = _HEADER.match(bare)
        if not bare or bare[0] in "#;":
            continue
        if header:
            stanzas.append(Stanza(path, header.group(1), number))
        else:
            if not stanzas:
                stanzas.append(Stanza(path, "", number))
            stanzas[-1].add(number, bare)
    return stanzas


def read(path):
    """Return the stanzas of a file; None if there is none. Raises IniError. Never waits for a writer."""
    text = read_text(path)
    return None if text is None else parse(text, path)


def read_text(path):
    """Return the text of a file. Raises the same errors as :func:`read`."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise IniError("%s cannot be read: it is not a regular file" % path)
            content = stream.read(MAX_BYTES + 1)
    except (IOError, OSError) as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR) and not os.path.islink(path):
            return None
        raise IniError("%s cannot be read%s" % (path, why(error)))
    if len(content) > MAX_BYTES:
        raise IniError("%s cannot be used: it is larger than %d bytes" % (path, MAX_BYTES))
    if b"\0" in content:
        # A file in UTF-16, or one whose blocks were lost, would look like a file without any stanza.
        raise IniError(
            "%s, line %d: there is a NUL byte, so it is not a file that MQ can read. If it was saved as UTF-16, save "
            "it as UTF-8; if its content was lost, restore it"
            % (path, content[: content.index(b"\0")].count(b"\n") + 1)
        )
    return content.decode("utf-8", "surrogateescape")


def why(error):
    """Return the end of a message: the reason for an OSError and, if permission was denied, the user and what to do."""
    if error.errno not in (errno.EACCES, errno.EPERM):
        return ": %s" % os.strerror(error.errno)
    return " by %s: act as a user of the group mqm (for example workspace_owner: mqm)" % _user.name()


def only(stanzas, name):
    """Return the stanza with this name, after checking it; None if there is none. Raises IniError if one of its lines
    is wrong or if there are two such stanzas."""
    found = [stanza for stanza in stanzas if stanza.named(name)]
    if len(found) > 1:
        raise found[1].error(
            found[1].line, "there is a second stanza %s, the first one is in line %d" % (name, found[0].line)
        )
    for stanza in found:
        stanza.check()
    return found[0] if found else None


def check_any(stanzas, path):
    """Raise IniError if the text of a file does not open any stanza. It must not be taken for a file without
    settings."""
    if not any(stanza.name for stanza in stanzas):
        raise IniError(
            "%s has no line of the form Name: that opens a stanza, so it is not a file that MQ can read. If it was "
            "saved in another encoding, for example EBCDIC, save it as UTF-8; if its content was lost, restore it"
            % path
        )


def why_not_allowed(number, least, most):
    """Return the allowed values of a setting in LOG_NUMBERS; empty if the number is allowed."""
    return "" if least <= number <= most else "must be a whole number from %d to %d" % (least, most)


def meant(key, number):
    """Return the number that MQ uses for the number of a setting."""
    return LEAST_BUFFER_PAGES if key == "LogBufferPages" and 0 < number < LEAST_BUFFER_PAGES else number


def why_too_many_files(primary, secondary):
    """Return the problem with the sum of a log's primary and secondary files; empty if there is none."""
    return (
        "add up to %d, but the maximum is %d" % (primary + secondary, MOST_LOG_FILES)
        if primary + secondary > MOST_LOG_FILES
        else ""
    )


def log_settings(stanza):
    """Return the settings in a stanza Log or LogDefaults (or None), by key; missing ones are left out.
    Raises IniError."""
    if stanza is None:
        return {}
    values = [(key, stanza.number(key, least, most)) for key, least, most, dummy in LOG_NUMBERS]
    values += [(key, stanza.word(key, words)) for key, words in LOG_WORDS]
    found = dict((key, value) for key, value in values if value is not None)
    wrong = why_too_many_files(
        *(found.get(key, default) for key, dummy, dummy, default in LOG_NUMBERS if key.endswith("aryFiles"))
    )
    if wrong:
        raise stanza.error(stanza.line_of("LogPrimaryFiles"), "LogPrimaryFiles and LogSecondaryFiles %s" % wrong)
    return found


def _quoted(text):
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
