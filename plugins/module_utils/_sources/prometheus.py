# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads metrics about the recovery log of a queue manager from a Prometheus endpoint. The endpoint belongs to
mq_prometheus or to a queue manager in a container.

This source needs no authority in MQ, only access to the endpoint. mq_prometheus itself needs the same authorities as
``amqsrua`` (see amqsrua.py), and it must read the metrics of class DISK.

mq_prometheus answers each request with what the queue manager has published since the previous request, regardless of
who made that request. Therefore, the bytes are complete only if no other client reads the same endpoint. If the last
publication has already been fetched, there are no metrics about the log. Queue managers publish every 10 seconds.

Private to this collection; it may change at any time.
"""

import http.client
import re
import socket
import ssl
import threading
import time
from urllib.parse import urlsplit

from .. import _exposition
from . import SourceError

DEFAULT_URL = "http://localhost:9157/metrics"
LIMIT_S = 10
"""How long the endpoint may take to answer."""

CHECK_S = 30
"""How long to wait for the first metrics of the log. The very first answer of mq_prometheus does not contain any, and
neither do answers between publications."""

PATIENCE_S = 30
"""How long an endpoint that answered before may fail until the observation ends. It may only be restarting."""

MOST_BYTES = 64 << 20
MOST_LINE_BYTES = 64 << 10
MOST_KEPT_CHARACTERS = 256 << 10
MOST_QUEUE_MANAGERS = 50
MOST_NAMED = 5
TICK_S = 0.5

_ABOUT_LOG = re.compile(r"_r?log_")
_OF_REPLICA = re.compile(r"(?:\A|_)nha_")
_STATUS = "_qmgr_status"
_PUBLICATIONS = "_exporter_publications"


class Source:
    """The ``options`` are ``queue_manager`` (empty for the only queue manager of the endpoint), ``url`` and
    ``interval`` (seconds)."""

    of_averages = True
    check_limit_s = CHECK_S + LIMIT_S

    def __init__(self, options):
        self._queue_manager = options.get("queue_manager") or ""
        self._url = options.get("url") or DEFAULT_URL
        self._interval_s = options.get("interval") or 10
        self._only_replicas = False
        self._unknown = ()

    def check(self):
        """Wait for metrics of the queue manager's log. Returns facts. Raises SourceError."""
        end = time.monotonic() + CHECK_S
        while True:
            get = self._start()
            get.join(LIMIT_S)
            text = self._text_of(get)
            if text:
                return dict(source_queue_manager=self._queue_manager, source_url=self._url)
            if time.monotonic() >= end:
                raise self._nothing_published(CHECK_S)
            time.sleep(TICK_S)

    def samples(self, end_monotonic):
        """Yield the endpoint's metrics about the log at each interval, as lines of its exposition, and None in between.
        Raises SourceError."""
        due = good = time.monotonic()
        patience_s = max(PATIENCE_S, 3 * self._interval_s)
        trouble = None
        while due < end_monotonic:
            while time.monotonic() < due:
                time.sleep(max(0, min(TICK_S, due - time.monotonic())))
                yield None
            get, limit = self._start(), time.monotonic() + LIMIT_S
            while get.is_alive() and time.monotonic() < min(limit, end_monotonic):
                get.join(max(0, min(TICK_S, end_monotonic - time.monotonic())))
                yield None
            if get.is_alive() and time.monotonic() < limit:
                get.abandon()
                break
            try:
                text = self._text_of(get)
                if text:
                    good = time.monotonic()
                    yield text
                trouble = None
            except SourceError as error:
                trouble = error
            if time.monotonic() - good > patience_s:
                raise trouble or self._nothing_published(patience_s)
            due += self._interval_s * (1 + max(0, time.monotonic() - due) // self._interval_s)
        if trouble:
            raise trouble

    def _start(self):
        get = _Get(self._url)
        get.start()
        return get

    def _text_of(self, get):
        """Return the lines of an answer about the log of the queue manager; empty if there is nothing new. Raises
        SourceError."""
        if get.is_alive():
            get.abandon()
            raise SourceError(
                "%s did not answer within %d s. Check whether the exporter hangs, or set observe_url to another "
                "endpoint" % (self._url, LIMIT_S)
            )
        if get.error:
            raise get.error
        answer = get.answer
        if not answer.is_exposition:
            raise SourceError(
                (
                    "the response from %s does not contain Prometheus metrics: set observe_url to the address "
                    "of the metrics, for example %s"
                )
                % (self._url, DEFAULT_URL)
            )
        if answer.is_cut:
            raise _cut_off(self._url, "in the middle of a line")
        name = self._queue_manager or self._only(answer)
        if name not in answer.lines:
            raise SourceError(
                "%s reports %s, not %s: set observe_url to the endpoint of this queue manager"
                % (self._url, _listed(answer.lines), name)
            )
        if answer.status.get(name) == 0:
            raise SourceError(
                (
                    "%s reports that it has no connection to %s: start the queue manager, or check "
                    "the messages of the exporter"
                )
                % (self._url, name)
            )
        self._queue_manager = name
        self._only_replicas = name in answer.with_replicas and name not in answer.with_log
        self._unknown = sorted(answer.unknown.get(name, ()))
        return "\n".join(answer.lines[name]) if name in answer.with_log else ""

    def _only(self, answer):
        if len(answer.lines) != 1:
            raise SourceError(
                "%s reports %s: set observe_queue_manager to one of them" % (self._url, _listed(answer.lines))
            )
        return next(iter(answer.lines))

    def _nothing_published(self, seconds):
        if self._unknown:
            return SourceError(
                "%s has metrics of the log of %s, but their names are not known (%s): set observe_url to mq_prometheus "
                "or mq-container, or set observe_source to amqsrua or bpftrace"
                % (self._url, self._queue_manager, ", ".join(self._unknown[:MOST_NAMED]))
            )
        if self._only_replicas:
            return SourceError(
                "%s has metrics of the Native HA replicas of %s, but none of its own log: the "
                "exporter must also read the statistics of class DISK; or set observe_url to the "
                "exporter of the active instance" % (self._url, self._queue_manager)
            )
        return SourceError(
            "%s knows %s, but published nothing about its log for %d s: the exporter must read the statistics that "
            "the queue manager publishes (usePublications, class DISK), and its user needs the authority to "
            "subscribe to SYSTEM.ADMIN.TOPIC" % (self._url, self._queue_manager, seconds)
        )


def _listed(names):
    if not names:
        return "no queue manager"
    more = " and %d more" % (len(names) - 5) if len(names) > 5 else ""
    return "queue manager %s%s" % (", ".join(sorted(names)[:5]), more)


class _Answer:
    """The unchanged lines of an exposition that are about the logs of queue managers.
    Only these are kept, regardless of how long the rest is."""

    def __init__(self):
        self.is_exposition = False
        self.is_cut = False
        self.lines = {}
        self.status = {}
        self.with_log = set()
        self.with_replicas = set()
        self.unknown = {}
        self._kept = 0
        self._type = ("", "")
        self._help = ("", "")

    def take(self, line):
        if line.startswith("#"):
            declared, described = _exposition.type_of(line), _exposition.unit_in_help(line)
            if declared:
                self._type = (declared[0], line)
            if described:
                self._help = (described[0], line)
            return
        found = _exposition.sample_of(line)
        if not found:
            return
        self.is_exposition = True
        name, labels, value, dummy = found
        queue_manager = _exposition.queue_manager_of(labels)
        if queue_manager is None or (queue_manager not in self.lines and len(self.lines) >= MOST_QUEUE_MANAGERS):
            return
        kept = self.lines.setdefault(queue_manager, [])
        if _OF_REPLICA.search(name):
            self.with_replicas.add(queue_manager)
            return
        if name.endswith(_STATUS):
            self.status[queue_manager] = _exposition.number_of(value)
        lines = [text for of, text in (self._help, self._type) if of == name] + [line]
        size = sum(map(len, lines))
        if (_ABOUT_LOG.search(name) or name.endswith(_PUBLICATIONS)) and self._kept + size <= MOST_KEPT_CHARACTERS:
            self._kept += size
            kept.extend(lines)
            if _exposition.metric_of(name):
                self.with_log.add(queue_manager)
            elif _exposition.is_unknown(name):
                self.unknown.setdefault(queue_manager, set()).add(name)


class _Get(threading.Thread):
    """One request in a separate thread, so that the caller can stop waiting even while the host name is being
    resolved."""

    def __init__(self, url):
        threading.Thread.__init__(self)
        self.daemon = True
        self.answer, self.error = _Answer(), None
        self._url = url
        self._connection = None

    def run(self):
        try:
            self._read()
        except SourceError as error:
            self.error = error
        except http.client.IncompleteRead:
            self.error = _cut_off(self._url, "between two chunks")
        except Exception as error:  # the waiting caller reports any exception
            self.error = SourceError("%s cannot be read: %s" % (self._url, _why(error)))

    def abandon(self):
        """End the request. This is called when the thread is no longer needed."""
        connection = self._connection
        try:
            if connection is not None and connection.sock is not None:
                connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the request has ended in the meantime

    def _read(self):
        self._connection, path = _connection(self._url)
        try:
            # Environment variables are ignored, so no proxy is used.
            self._connection.request(
                "GET", path, headers={"Accept": "text/plain;version=0.0.4", "User-Agent": "mqops.logdisk"}
            )
            response = self._connection.getresponse()
            self._refuse_status(response)
            self._take(response)
        finally:
            self._connection.close()

    def _refuse_status(self, response):
        if response.status == 200:
            return
        said = "%s answers with status %d (%s)" % (self._url, response.status, _shown(response.reason))
        place = response.getheader("Location")
        if place:
            raise SourceError(
                "%s and points to %s, which is not followed: set observe_url to that address if it is the right one"
                % (said, _shown(place))
            )
        if response.status in (401, 403):
            raise SourceError("%s: it must be readable without a password from this host" % said)
        raise SourceError("%s: set observe_url to the address of the metrics, for example %s" % (said, DEFAULT_URL))

    def _take(self, response):
        # The length is None for a chunked answer, and for an answer that ends when the connection is closed.
        announced = response.length
        total, rest = 0, b""
        while True:
            part = response.read(65536)
            total += len(part)
            lines = (rest + part).split(b"\n")
            last = lines[-1]
            rest = lines.pop() if part else b""
            if total > MOST_BYTES or len(rest) > MOST_LINE_BYTES:
                raise SourceError(
                    (
                        "%s answers with more than %d MiB or with lines of more than %d KiB: set observe_url to "
                        "the metrics of a queue manager"
                    )
                    % (self._url, MOST_BYTES >> 20, MOST_LINE_BYTES >> 10)
                )
            for line in lines:
                if len(line) <= MOST_LINE_BYTES:
                    self.answer.take(line.decode("utf-8", "replace").strip())
            if not part:
                break
        if announced is not None and total < announced:
            raise _cut_off(self._url, "after %d of %d bytes" % (total, announced))
        # The last line of an exposition must also end with a line feed.
        self.answer.is_cut = announced is None and bool(last)


def _cut_off(url, where):
    return SourceError(
        "the response from %s was cut off %s: check whether the exporter, or a proxy in front of it, ends it too early"
        % (url, where)
    )


def _connection(url):
    """Return a connection that is not open yet, and the path to request.
    Raises SourceError if the URL cannot be used."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise SourceError("observe_url is not a URL (%s): write one as %s" % (error, DEFAULT_URL))
    if parts.username or parts.password:
        raise SourceError(
            "observe_url must not contain a user or a password: the endpoint must be readable without one"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not re.match(r"\A[!-~]+\Z", url):
        raise SourceError("observe_url is %s, but must be a URL such as %s" % (_shown(url), DEFAULT_URL))
    # This time limit only makes sure that the thread ends. The waiting caller gives up earlier.
    limit_s = 2 * LIMIT_S
    path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, port or 80, timeout=limit_s), path
    return http.client.HTTPSConnection(
        parts.hostname, port or 443, timeout=limit_s, context=ssl.create_default_context()
    ), path


_WHY = (
    (
        ssl.CertificateError,
        "its certificate is not trusted by this host (%s). Add its certificate authority to those that the host "
        "trusts, or use the name in the certificate",
    ),
    (ssl.SSLError, "no encrypted connection (%s). Does observe_url have to begin with http://?"),
    (ConnectionRefusedError, "nothing listens there. Start the exporter of the queue manager, or set observe_url"),
    (socket.gaierror, "the name of its host cannot be resolved (%s). Correct observe_url"),
    (
        ConnectionError,
        "the connection was closed before the answer was complete (%s). Check the messages of the exporter",
    ),
    (
        http.client.HTTPException,
        "the server there does not speak HTTP (%s). Correct observe_url, or begin it with https:// if the endpoint is "
        "encrypted",
    ),
    (Exception, "%s. Check the messages of the exporter, or correct observe_url"),
)
"""The reason why a request failed, by the first class that fits, and what to do."""


def _why(error):
    is_untrusted = "CERTIFICATE_VERIFY_FAILED" in str(error)
    kind = ssl.CertificateError if is_untrusted else type(error)
    sentence = next(text for each, text in _WHY if issubclass(kind, each))
    shown = _shown(getattr(error, "strerror", None) or str(error) or type(error).__name__)
    return sentence.replace("%s", shown)


def _shown(text):
    """Return a text from an untrusted source in a form that is safe for a message."""
    return "".join(each if each.isprintable() else "?" for each in str(text)[:200])
