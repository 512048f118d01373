# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _exposition
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import SourceError, prometheus
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.fabricate import PROJECT

LIMIT_S = 90
NOISE = (
    "# HELP go_goroutines Number of goroutines.\n# TYPE go_goroutines gauge\ngo_goroutines 9\n"
    'ibmmq_queue_depth{qmgr="QM7",queue="A"} 3\n'
)


def metrics(latency, queue_manager="QM1", status=2, more=""):
    """Return an answer of mq_prometheus."""
    own = f'{{description="of, {{mine}} \\"here\\"",platform="UNIX",qmgr="{queue_manager}"}}'
    log = (
        "# HELP ibmmq_qmgr_log_write_latency_seconds Log - write latency\n# TYPE "
        "ibmmq_qmgr_log_write_latency_seconds gauge\n"
        f"ibmmq_qmgr_log_write_latency_seconds{own} {latency}\n{more}"
    )
    return (
        f"{NOISE.replace('QM7', queue_manager)}{log if latency else ''}# TYPE ibmmq_qmgr_status gauge\n"
        f"ibmmq_qmgr_status{own} {status}\n"
    )


def kept(answer):
    """Return the part of an answer that a sample contains."""
    return "\n".join(
        line
        for line in answer.splitlines()
        if not line.startswith("# HELP") and not any(other in line for other in ("go_", "queue_depth", "qmgr_status"))
    )


SLOW, FAST, BETWEEN = metrics("0.003"), metrics("1.7e-05"), metrics(None)


@pytest.fixture
def exporter(tmp_path, monkeypatch):
    """exporter(answer, ...): a Source that reads an endpoint with these answers"""
    started = []
    for name in ("LIMIT_S", "CHECK_S", "PATIENCE_S"):
        monkeypatch.setattr(prometheus, name, LIMIT_S)

    def start(*answers, queue_manager="QM1", scheme="http", certificate="", **options):
        play = tmp_path / f"play{len(started)}.json"
        play.write_text(json.dumps({"answers": answers, "certificate": certificate}))
        started.append(
            subprocess.Popen(
                [sys.executable, str(PROJECT / "tests/mq/exporter.py"), str(play)], stdout=subprocess.PIPE, text=True
            )
        )
        url = f"{scheme}://localhost:{int(started[-1].stdout.readline())}/metrics"
        return prometheus.Source({"queue_manager": queue_manager, "url": url, "interval": 0.05, **options})

    yield start
    for process in started:
        process.kill()
        process.communicate()


def taken(source, count, seconds=LIMIT_S):
    """Return the first samples, and whether the source reported in between that there was nothing new."""
    generator, found, ticks = source.samples(time.monotonic() + seconds), [], 0
    for text in generator:
        ticks += text is None
        found += [] if text is None else [text]
        if len(found) == count:
            generator.close()
            break
    return found, ticks


def why(source):
    with pytest.raises(SourceError) as caught:
        source.check()
    return str(caught.value).replace(source._url, "URL")


def test_a_sample_holds_the_lines_about_the_log_as_they_are(exporter):
    slowest = 'ibmmq_qmgr_log_slowest_write_since_restart{qmgr="QM1"} 81234\n'
    slowest += '# TYPE mq_rlog_log_write_size_bytes gauge\nmq_rlog_log_write_size_bytes{queueManager="QM1"} 9\n'
    answer = metrics("0.003", more=slowest + 'ibmmq_qmgr_log_write_size_bytes{qmgr="QM2"} 8\n')
    found, ticks = taken(exporter(answer), 1)
    assert found == [kept(answer).replace('\nibmmq_qmgr_log_write_size_bytes{qmgr="QM2"} 8', "")]
    assert "0.003" in found[0] and "81234" in found[0] and "mq_rlog_log_write_size_bytes gauge" in found[0]
    assert ticks


@pytest.mark.parametrize("label", ["qmgr", "queueManager", "queue_manager", "QM", "qmgr_name"])
def test_exporters_call_the_label_of_the_queue_manager_differently(label):
    labels = f'description="a }} \\" qmgr=\\"no\\"",{label}="Q\\\\M"'
    assert _exposition.queue_manager_of(labels) == "Q\\M"


def test_each_interval_is_one_request(exporter):
    found = taken(exporter(SLOW, FAST, BETWEEN, SLOW), 3)[0]
    assert found == [kept(SLOW), kept(FAST), kept(SLOW)]


def test_the_check_waits_for_the_first_publication_and_names_the_only_queue_manager(exporter):
    source = exporter(BETWEEN, BETWEEN, SLOW, queue_manager="")
    assert source.check() == {"source_queue_manager": "QM1", "source_url": source._url}


TWO = metrics("1", "QM7") + 'a{qmgr="QM8"} 1\n'
NONE = NOISE.replace("qmgr", "other")


@pytest.mark.parametrize(
    ("answers", "options", "message"),
    [
        (TWO, {}, "URL reports queue manager QM7, QM8, not QM1: set observe_url to the endpoint of this queue manager"),
        (TWO, {"queue_manager": ""}, "URL reports queue manager QM7, QM8: set observe_queue_manager to one of them"),
        (NONE, {}, "URL reports no queue manager, not QM1: set observe_url to the endpoint of this queue manager"),
        (
            metrics(None, status=0),
            {},
            (
                "URL reports that it has no connection to QM1: start the queue manager, or check "
                "the messages of the exporter"
            ),
        ),
        (
            "<html><body>It works!</body></html>",
            {},
            (
                "the response from URL does not contain Prometheus metrics: set observe_url to the address of the "
                "metrics, for example http://localhost:9157/metrics"
            ),
        ),
        (
            "redirect https://mq.example.com/\x07metrics",
            {},
            "URL answers with status 302 (Found) and points to https://mq.example.com/?metrics, which is not followed: "
            "set observe_url to that address if it is the right one",
        ),
        (
            "status 401",
            {},
            "URL answers with status 401 (Unauthorized): it must be readable without a password from this host",
        ),
        (
            "status 404",
            {},
            (
                "URL answers with status 404 (Not Found): set observe_url to the address of the metrics, for example "
                "http://localhost:9157/metrics"
            ),
        ),
    ],
)
def test_what_is_not_an_endpoint_of_the_queue_manager(exporter, answers, options, message):
    assert why(exporter(answers, **options)) == message


def test_what_listens_there_is_something_else(exporter):
    assert "the server there does not speak HTTP" in why(exporter("raw \x01TSH MQ listener"))
    assert "the connection was closed before the answer was complete" in why(exporter("stop"))
    assert "no encrypted connection" in why(exporter(SLOW, scheme="https"))
    with socket.socket() as unused:
        unused.bind(("localhost", 0))
        source = prometheus.Source(
            {"queue_manager": "QM1", "url": f"http://localhost:{unused.getsockname()[1]}/metrics"}
        )
        assert (
            why(source)
            == "URL cannot be read: nothing listens there. Start the exporter of the queue manager, or set observe_url"
        )


def test_an_encrypted_endpoint_needs_a_trusted_certificate(exporter, tmp_path, monkeypatch):
    certificate = tmp_path / "certificate.pem"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2"
    subprocess.run(
        [*made.split(), "-keyout", str(certificate), "-out", str(tmp_path / "public.pem")],
        check=True,
        capture_output=True,
    )
    certificate.write_text(certificate.read_text() + (tmp_path / "public.pem").read_text())
    source = exporter(SLOW, scheme="https", certificate=str(certificate))
    assert "its certificate is not trusted by this host" in why(source) and "Add its certificate authority" in why(
        source
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "public.pem"))
    assert source.check()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "http://me:secret@localhost/metrics",
            "observe_url must not contain a user or a password: the endpoint must be readable without one",
        ),
        (
            "ftp://localhost/metrics",
            "observe_url is ftp://localhost/metrics, but must be a URL such as http://localhost:9157/metrics",
        ),
        ("localhost:9157", "observe_url is localhost:9157, but must be a URL such as http://localhost:9157/metrics"),
        (
            "http://localhost/a b",
            "observe_url is http://localhost/a b, but must be a URL such as http://localhost:9157/metrics",
        ),
        ("http://localhost:x/", "observe_url is not a URL ("),
        ("http://[::1/", "observe_url is not a URL ("),
    ],
)
def test_a_wrong_url(url, message):
    with pytest.raises(SourceError) as caught:
        prometheus.Source({"queue_manager": "QM1", "url": url}).check()
    assert str(caught.value).startswith(message) and "secret" not in str(caught.value)


@pytest.mark.parametrize("answer", ["hang", "trickle"])
def test_an_endpoint_that_does_not_finish_is_not_waited_for(exporter, monkeypatch, answer):
    source = exporter(answer)
    monkeypatch.setattr(prometheus, "LIMIT_S", 0.3)
    assert (
        why(source)
        == "URL did not answer within 0 s. Check whether the exporter hangs, or set observe_url to another endpoint"
    )
    monkeypatch.setattr(prometheus, "PATIENCE_S", 0)
    with pytest.raises(SourceError, match="did not answer"):
        taken(source, 1)


@pytest.mark.parametrize(
    ("form", "where"),
    [("length", "after 300 of 1300 bytes"), ("chunks", "between two chunks"), ("closed", "in the middle of a line")],
)
def test_an_answer_that_is_cut_off_is_not_read(exporter, form, where):
    """Otherwise, the last figure could be read as a smaller one, because it is truncated. During an observation, the
    next answer may be complete again."""
    cut = f"cut {form} {SLOW[:300]}"
    assert why(exporter(cut)) == (
        f"the response from URL was cut off {where}: check whether the exporter, or a proxy "
        "in front of it, ends it too early"
    )
    assert taken(exporter(SLOW, cut, FAST), 2)[0] == [kept(SLOW), kept(FAST)]


REPLICAS = (
    'ibmmq_nha_log_write_latency_seconds{nha="b",platform="UNIX",qmgr="QM1"} 0.9\n'
    'ibmmq_nha_synchronous_log_sent_bytes{instance="b",qmgr="QM1"} 4096\n'
)


def test_an_endpoint_that_only_knows_the_replicas(exporter, monkeypatch):
    monkeypatch.setattr(prometheus, "CHECK_S", 0.2)
    assert why(exporter(BETWEEN + REPLICAS)) == (
        "URL has metrics of the Native HA replicas of QM1, but none of its own log: the exporter must also read the "
        "statistics of class DISK; or set observe_url to the exporter of the active instance"
    )
    assert taken(exporter(SLOW + REPLICAS), 1)[0] == [kept(SLOW)]


def test_the_status_of_the_log_is_not_what_it_writes(exporter, monkeypatch):
    """mq_prometheus also queries the status of the log, and repeats it in each answer."""
    monkeypatch.setattr(prometheus, "CHECK_S", 0.2)
    answer = BETWEEN + 'ibmmq_qmgr_log_size_restart{qmgr="QM1"} 4096\n'
    assert "published nothing about its log" in why(exporter(answer))


def test_names_that_are_not_known_are_the_reason(exporter, monkeypatch):
    monkeypatch.setattr(prometheus, "CHECK_S", 0.2)
    answer = BETWEEN + 'ibmmq_qmgr_log_write_latency_seconds_gauge{qmgr="QM1"} 0.002\n'
    assert why(exporter(answer)) == (
        "URL has metrics of the log of QM1, but their names are not known "
        "(ibmmq_qmgr_log_write_latency_seconds_gauge): set observe_url to mq_prometheus or mq-container, or set "
        "observe_source to amqsrua or bpftrace"
    )


def test_a_sample_holds_a_description_that_names_a_unit(exporter):
    described = "# HELP ibmmq_qmgr_log_write_latency Log - write latency (microseconds)\n"
    answer = BETWEEN + described + 'ibmmq_qmgr_log_write_latency{qmgr="QM1"} 702\n'
    assert described in taken(exporter(answer), 1)[0][0]


def test_an_answer_without_an_end_is_not_kept(exporter, monkeypatch):
    monkeypatch.setattr(prometheus, "MOST_BYTES", 1 << 20)
    assert "answers with more than 1 MiB" in why(exporter("endless"))


def test_an_endpoint_may_fail_for_a_while(exporter):
    assert taken(exporter(SLOW, "status 500", metrics(None, status=0), FAST), 2)[0] == [kept(SLOW), kept(FAST)]


def test_a_queue_manager_that_ends_ends_the_observation_with_the_reason(exporter, monkeypatch):
    monkeypatch.setattr(prometheus, "PATIENCE_S", 0.2)
    source = exporter(SLOW, SLOW, metrics(None, status=0))
    with pytest.raises(SourceError, match="has no connection to QM1: start the queue manager"):
        taken(source, 9)
    source = exporter(SLOW, "stop")
    with pytest.raises(SourceError, match=r"cannot be read: nothing listens there\. Start the exporter"):
        taken(source, 9)


def test_a_queue_manager_that_no_longer_publishes(exporter, monkeypatch):
    monkeypatch.setattr(prometheus, "PATIENCE_S", 0.2)
    monkeypatch.setattr(prometheus, "CHECK_S", 0.2)
    assert "knows QM1, but published nothing about its log for 0 s: the exporter must read the statistics" in why(
        exporter(BETWEEN)
    )
    with pytest.raises(SourceError, match=r"SYSTEM\.ADMIN\.TOPIC"):
        taken(exporter(SLOW, BETWEEN), 9)


def test_the_end_comes_at_its_time_whatever_the_endpoint_does(exporter):
    assert taken(exporter(SLOW, "hang"), 9, seconds=1)[0] in ([], [kept(SLOW)])
    with pytest.raises(SourceError, match="status 500"):
        taken(exporter("status 500"), 9, seconds=1)
