# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates IBM MQ's sample program amqsrua: it replays a recording, and fails in the same ways as amqsrua. Runs on
Python 3.6.

The file with the program's name plus ``.json`` controls it: ``text`` is the output of amqsrua, and ``every_s`` is the
interval between publications. ``then`` determines what happens after the last publication: a reason code, ``hang`` or
``crash``; if it is empty, the program ends. With ``refuse``, a reason code, or ``fails``, a message, the program fails
immediately. With ``hang``, it prints nothing at all. It knows only the queue manager ``queue_manager`` (QM1 by
default).
"""

import json
import os
import re
import sys
import time


def main():
    with open(os.path.abspath(__file__) + ".json") as stream:
        play = json.load(stream)
    arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    if sorted(arguments) != ["-c", "-m", "-n", "-t"] or (arguments["-c"], arguments["-t"]) != ("DISK", "Log"):
        print("Usage: amqsrua ...")
        return 255
    if play.get("hang"):
        time.sleep(3600)
    if arguments["-m"] != play.get("queue_manager", "QM1"):
        print("MQCONN ended with reason code 2058")
        return 255
    if play.get("refuse"):
        print("MQOPEN ended with reason code %d" % play["refuse"])
        return 255
    if play.get("fails"):
        print(play["fails"])
        return 20
    publications = re.findall(r"(?ms)^Publication received.*?(?=^Publication received|\Z)", play.get("text", ""))
    for number in range(int(arguments["-n"])):
        if number >= len(publications):
            return after(play.get("then", ""))
        # As with stdio, output is buffered unless it is a terminal.
        print(in_locale(publications[number].rstrip("\n")) + "\n")
        time.sleep(play.get("every_s", 0))
    return 0


def in_locale(text):
    """Write numbers with a decimal comma, as in most of Europe, unless the locale is C."""
    return text if os.environ.get("LC_ALL") == "C" else re.sub(r"(?<=[0-9])\.(?=[0-9])", ",", text)


def after(what):
    if what == "hang":
        time.sleep(3600)
    if what == "crash":
        sys.stderr.write("amqsrua: error while loading shared libraries: libmqm_r.so: cannot open shared object file\n")
        return 127
    if what == 2033:
        print("no more messages")
        return 255
    if what:
        print("MQGET ended with reason code %d" % what)
        return 255
    return 0


sys.exit(main())
