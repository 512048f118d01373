# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates the Prometheus endpoint of a queue manager: each request gets the next recorded answer. Runs on Python 3.6.

Usage: ``exporter.py PLAY [PORT]``. PLAY is a JSON file with ``answers``, a list of texts and actions: ``hang`` (no
answer), ``trickle`` (a byte now and then), ``stop`` (the program ends), ``endless`` (an answer without an end),
``redirect URL``, ``status NUMBER``, ``raw TEXT`` (instead of HTTP), or ``cut FORM TEXT`` (a truncated answer; with FORM
``length``, the answer has a Content-Length, with ``chunks``, it is chunked, and with ``closed``, neither). The last
answer is repeated for all further requests. With ``certificate`` (a file that also contains the key), the endpoint is
encrypted. The program prints its port.
"""

import json
import os
import socketserver
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


class Server(socketserver.ThreadingMixIn, HTTPServer):
    daemon_threads = True
    answers = ()
    count = 0

    def handle_error(self, request, client_address):
        """The client may disconnect."""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        answer = server.answers[min(server.count, len(server.answers) - 1)]
        server.count += 1
        action, dummy, argument = answer.partition(" ")
        if action == "hang":
            time.sleep(3600)
        elif action == "stop":
            os._exit(0)
        elif action == "raw":
            self.wfile.write(argument.encode())
        elif action == "cut":
            self.cut_off(*argument.split(" ", 1))
        elif action in ("redirect", "status"):
            self.send_response(302 if action == "redirect" else int(argument))
            if action == "redirect":
                self.send_header("Location", argument)
            self.end_headers()
        else:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.send_body(action, answer)

    def cut_off(self, form, text):
        headers = dict(
            length="Content-Length: %d\r\n" % (len(text) + 1000), chunks="Transfer-Encoding: chunked\r\n", closed=""
        )
        body = "%x\r\n%s\r\n" % (len(text), text) if form == "chunks" else text
        self.wfile.write(("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n%s\r\n%s" % (headers[form], body)).encode())
        self.close_connection = True

    def send_body(self, action, answer):
        while action == "trickle":
            self.wfile.write(b"#")
            self.wfile.flush()
            time.sleep(0.2)
        while action == "endless":
            self.wfile.write(b"# nothing of interest\n" * 4096)
        self.wfile.write(answer.encode())

    def log_message(self, *dummy):
        """Print nothing."""


def main():
    with open(sys.argv[1]) as stream:
        play = json.load(stream)
    server = Server(("localhost", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
    server.answers = play["answers"]
    if play.get("certificate"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(play["certificate"])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    sys.stdout.write("%d\n" % server.server_address[1])
    sys.stdout.flush()
    server.serve_forever()


main()
