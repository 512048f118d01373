# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import random

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _ini_files

QM_INI = """#*******************************************************************#
#* Module Name: qm.ini                                             *#
#*******************************************************************#
ExitPath:
   ExitsDefaultPath=/var/mqm/exits
Log:
   LogPrimaryFiles=3
   LogSecondaryFiles=2
   LogFilePages=4096
   LogType=CIRCULAR
   LogBufferPages=0
   LogPath=/var/mqm/log/QM1/
   LogWriteIntegrity=TripleWrite
Service:
   Name=AuthorizationService
"""
SETTINGS = {
    "LogPrimaryFiles": 3,
    "LogSecondaryFiles": 2,
    "LogFilePages": 4096,
    "LogType": "CIRCULAR",
    "LogBufferPages": 0,
    "LogWriteIntegrity": "TripleWrite",
}


def log_of(text):
    return _ini_files.only(_ini_files.parse(text, "qm.ini"), "Log")


def answer(text):
    """Return the log settings in a qm.ini, or the error."""
    try:
        log = log_of(text)
        return _ini_files.log_settings(log), log and log.path_of("LogPath")
    except _ini_files.IniError as error:
        return str(error)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text.replace("\n", "\n\n"),
        lambda text: text.replace("Log", "LOG").replace("Pages", "PAGES").replace("CIRCULAR", "circular"),
        lambda text: text.replace("=", "  =\t").replace("Log:", "\tLog :  ").replace("   Log", "Log"),
        lambda text: (
            text.replace("LogType", "; LogType=LINEAR\n   #LogType").replace("4096", "4096 # pages") + "Log2:\n   ???\n"
        ),
        lambda text: text.replace(
            "   LogFilePages=4096\n", "   LogFilePages=4096\n   LogFilePages=4096\n   LogFilePages=\n"
        ),
        lambda text: "LogFilePages=1\n" + text,
        lambda text: (
            text.replace("=4096", "=4096  # pages = 16 MiB")
            .replace("/QM1/", "/QM1/ \t; formerly = /log")
            .replace("CIRCULAR", "CIRCULAR\t #")
        ),
        lambda text: text.replace("LogFilePages", "LogFilePages=  # not yet\n   LogFilePages").replace(
            "Log:", "Log:  # recovery"
        ),
    ],
)
def test_form_does_not_matter(change):
    settings, path = answer(change(QM_INI))
    settings.setdefault("LogType", "CIRCULAR")  # one of the changes turns it into a comment
    assert settings == SETTINGS and path == "/var/mqm/log/QM1"


@pytest.mark.parametrize(
    "text", ["", "ExitPath:\n", "Log:\n", "Log:\n   LogFilePages=\n   LogPath =\n", "LogFilePages=64\n"]
)
def test_what_is_not_said_is_left_out(text):
    assert answer(text) == ({}, None)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("=4096", "=4o96", "qm.ini, line 9: LogFilePages is '4o96', but must be a whole number from 64 to 65535"),
        ("=4096", "=63", "qm.ini, line 9: LogFilePages is '63', but must be a whole number from 64 to 65535"),
        ("=4096", "=65536", "qm.ini, line 9: LogFilePages is '65536', but must be a whole number from 64 to 65535"),
        (
            "=4096",
            "=\u0661\u0661\u0661",
            "qm.ini, line 9: LogFilePages is '\u0661\u0661\u0661', but must be a whole number from 64 to 65535",
        ),
        ("Files=3", "Files=1", "qm.ini, line 7: LogPrimaryFiles is '1', but must be a whole number from 2 to 510"),
        (
            "Files=2",
            "Files=510",
            "qm.ini, line 8: LogSecondaryFiles is '510', but must be a whole number from 1 to 509",
        ),
        (
            "Files=3",
            "Files=510",
            "qm.ini, line 7: LogPrimaryFiles and LogSecondaryFiles add up to 512, but the maximum is 511",
        ),
        (
            "Pages=0",
            "Pages=4097",
            "qm.ini, line 11: LogBufferPages is '4097', but must be a whole number from 0 to 4096",
        ),
        ("CIRCULAR", "ROUND", "qm.ini, line 10: LogType is 'ROUND', but must be one of CIRCULAR, LINEAR, REPLICATED"),
        (
            "Triple",
            "Quad",
            (
                "qm.ini, line 13: LogWriteIntegrity is 'QuadWrite', but must be one of "
                "TripleWrite, DoubleWrite, SingleWrite"
            ),
        ),
        ("=/var/mqm/log", "=log", "qm.ini, line 12: LogPath is 'log/QM1/', but must be an absolute path"),
        ("/log/", "/l\0g/", "qm.ini, line 12: LogPath is '/var/mqm/l\\x00g/QM1/', which cannot be printed"),
        (
            "   LogType=",
            "   LogType ",
            "qm.ini, line 10: 'LogType CIRCULAR' in the stanza Log is not of the form Key=value",
        ),
        ("   LogType=CIRCULAR", "   logfilepages=64", "qm.ini, line 10: LogFilePages is '64', but line 9 says '4096'"),
        ("Service:", "log:", "qm.ini, line 14: there is a second stanza Log, the first one is in line 6"),
    ],
)
def test_an_error_names_the_file_the_line_and_the_key(old, new, error):
    assert old in QM_INI
    assert answer(QM_INI.replace(old, new, 1)) == error


@pytest.mark.parametrize(("pages", "meant"), [(0, 0), (1, 18), (17, 18), (18, 18), (19, 19), (4096, 4096)])
def test_a_small_log_buffer_has_18_pages(pages, meant):
    """IBM: if you specify a value from 1 to 17, MQ uses 18."""
    assert answer(f"Log:\n   LogBufferPages={pages}\n")[0] == {"LogBufferPages": meant}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (QM_INI.encode("utf-16"), 1),
        (QM_INI.encode("utf-16-le"), 1),
        (QM_INI.encode()[:300] + b"\0" * 100, 8),
    ],
)
def test_a_file_that_is_not_text_is_not_taken_for_one_without_settings(tmp_path, content, line):
    (tmp_path / "qm.ini").write_bytes(content)
    with pytest.raises(_ini_files.IniError) as caught:
        _ini_files.read(str(tmp_path / "qm.ini"))
    assert str(caught.value) == (
        f"{tmp_path}/qm.ini, line {line}: there is a NUL byte, so it is not a file that MQ can read. If it was saved "
        "as UTF-16, save it as UTF-8; if its content was lost, restore it"
    )


def test_a_long_value_is_cut():
    assert len(answer("Log:\n   LogFilePages=" + "x" * 10000)) < 200


def test_any_bytes_give_an_answer_or_an_error_with_the_file(tmp_path):
    chance = random.Random(12)
    path = tmp_path / "qm.ini"
    good = QM_INI.encode()
    for _try in range(1500):
        content = bytearray(good)
        for _change in range(chance.randrange(1, 20)):
            at = chance.randrange(len(content) + 1)
            content[at : at + chance.randrange(4)] = chance.choice(
                [b"\r", b"\n", b"=", b":", b"#", b"\xff", b"\0", b"\xe2\x80\xa8", good[at : at + 30]]
            )
        path.write_bytes(content)
        try:
            log = _ini_files.only(_ini_files.read(str(path)), "Log")
            settings = _ini_files.log_settings(log)
            place = log.path_of("LogPath") if log else None
        except _ini_files.IniError as error:
            assert str(error).startswith(f"{path}, line ") and str(error).isprintable()
            continue
        assert all(
            low <= settings.get(key, low) <= most or settings[key] == 0
            for key, low, most, _default in _ini_files.LOG_NUMBERS
        )
        assert place is None or (place.startswith("/") and place.isprintable())


def test_what_is_too_large_is_not_read(tmp_path):
    (tmp_path / "qm.ini").write_bytes(b"#" * (_ini_files.MAX_BYTES + 1))
    with pytest.raises(_ini_files.IniError, match=r"qm\.ini cannot be used: it is larger than 1048576 bytes"):
        _ini_files.read(str(tmp_path / "qm.ini"))
    assert _ini_files.read(str(tmp_path / "none")) is None
