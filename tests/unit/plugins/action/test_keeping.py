# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A report outlives the job, either in the history or on the right server. If this fails, the failure is reported, and
affects nothing else."""

from __future__ import annotations

import http.server
import io
import json
import os
import ssl
import subprocess
import tarfile
import threading
import types
from pathlib import Path

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import upload
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.upload import UploadError, check_url
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import kept
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import JUDGED, STARTED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run import archive
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate, reopen_run, wait
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

GOOD = fabricate.tables(fabricate.sweep_rows((4096, 1048576), seconds=60))
TOKEN = "a-secret-token"


def answer(module, **options):
    """Return an action's result, and its warnings."""
    plugin, warnings = module.Step.__new__(module.Step), []
    plugin._task = types.SimpleNamespace(check_mode=False)
    plugin._display = types.SimpleNamespace(display=lambda *dummy, **more: None, warning=warnings.append)
    return plugin.answer(options, {"awx_job_id": 17}), warnings


def opened(reports, required=True, **keys):
    """Open a run that is to be kept, do everything except the gate, and return the run directory."""
    reports.mkdir(parents=True)
    place = str(reports / "history.sqlite")
    open_history(place, create=True).close()
    history = {"place": place, "required": required, "keep_report": True}
    return fabricate.run_directory(reports, {"db07": GOOD}, gate=False, profile="look", **{"history": history, **keys})


def gated(directory, **options):
    defaults = {
        "run_path": directory.path,
        "judged_hosts": directory.expected_hosts,
        "sign_key": "",
        "history": "",
        "policy": {},
    }
    defaults["upload_url"] = directory.run.get("upload_url") or ""
    result, dummy = answer(gate, **{**defaults, **options})
    return result


def fetched(directory, base):
    with open_history(directory.run["history"]["place"]) as history:
        return kept.fetch(history, directory.run["run_id"], str(base))


def stages(directory):
    with open_history(directory.run["history"]["place"]) as history:
        return [row[0] for row in history._execute("SELECT stage FROM logdisk_kept_runs").fetchall()]


def test_the_report_of_a_judged_run_is_kept(tmp_path):
    directory = opened(tmp_path / "reports")
    result = gated(directory)
    assert (result["fleet_problems"], result["warnings"], stages(directory)) == ([], [], [JUDGED])
    again = fetched(directory, tmp_path / "elsewhere")
    assert Path(again.path, "index.html").read_bytes() == Path(directory.path, "index.html").read_bytes()
    assert result["logdisk"]["report_kept"] is result["artifacts"]["logdisk_17"]["report_kept"] is True


@pytest.mark.parametrize("required", [True, False])
def test_a_report_that_cannot_be_kept_is_a_problem_of_the_fleet(tmp_path, monkeypatch, required):
    monkeypatch.setattr(archive, "MOST_PACKED_BYTES", 1000)
    directory = opened(tmp_path / "reports", required)
    result = gated(directory)
    (warning,) = result["warnings"]
    assert "the report was not kept in the history: " in warning and "larger than" in warning
    assert result["fleet_problems"] == ([warning] if required else [])
    assert result["artifacts"]["logdisk_17"]["report_kept"] is False and stages(directory) == []


def test_nothing_is_kept_unless_asked_for_nor_of_a_preflight(tmp_path):
    history = {"place": str(tmp_path / "history.sqlite"), "required": True}
    for number, keys in enumerate(({"history": history}, {"controller": {"check_mode": True}})):
        directory = opened(tmp_path / str(number), **keys)
        open_history(str(tmp_path / "history.sqlite"), create=True).close()
        result = gated(directory)
        assert result["fleet_problems"] == [] and result["logdisk"]["report_kept"] is False
    assert list(result["artifacts"]) == ["logdisk_preflight_17"]


def test_the_orders_are_kept_before_the_wait_and_a_failure_warns(tmp_path):
    directory = opened(tmp_path / "reports")
    directory.orders.write({"host": "db07", "volume": "log"})
    options = {"hosts": [], "schedule": {}, "interval_s": 1, "polls": 0, "told": [], "started": True}
    assert answer(wait, run_path=directory.path, **options)[1] == []
    (order,) = Path(fetched(directory, tmp_path / "elsewhere").path).glob("hosts/db07/log/order.json")
    assert stages(directory) == [STARTED] and json.loads(order.read_text())["host"] == "db07"
    os.unlink(directory.run["history"]["place"])
    (warning,) = answer(wait, run_path=directory.path, **options)[1]
    assert "was not kept in the history" in warning
    assert answer(wait, run_path=str(tmp_path / "none"), **options)[1] == []
    assert answer(wait, run_path=directory.path, **{**options, "started": False})[1] == []


def reopening(**options):
    """Return the run that is reopened, and the warnings."""
    result, warnings = answer(reopen_run, **{"history": "", "sign_key": "", "upload_url": "", "policy": {}, **options})
    return result["run"], warnings


def test_a_run_that_is_collected_decides_as_it_recorded_and_is_stored_where_the_command_says(tmp_path):
    directory = opened(tmp_path / "reports", policy={"fail_on": ["missing"], "report_only": True, "valid_days": 90})
    place = str(tmp_path / "elsewhere.sqlite")
    open_history(place, create=True).close()
    same, warnings = reopening(run=directory.path, report_dir=str(tmp_path / "reports"))
    assert (same["policy"], same["history"], warnings) == ({}, directory.run["history"]["place"], [])
    assert reopening(run=directory.path, report_dir="") == ({**same}, [])
    run, (warning,) = reopening(
        run=directory.path, report_dir="", history=place, policy={"gate_report_only": False, "gate_fail_on": ["warn"]}
    )
    assert warning.endswith(f"its certificates are stored in {place}, according to this command")
    gated(directory, history=run["history"], policy=run["policy"])
    with open_history(place) as history:
        assert [entry.run_id for entry in history.newest()] == [directory.run["run_id"]] and history.kept_run(
            directory.run["run_id"]
        )
    assert directory.verdict()["policy"] == {
        "fail_on": ["warn"],
        "report_only": False,
        "instead_of": {"fail_on": ["missing"], "report_only": True},
    }
    with pytest.raises(AnsibleActionFail, match="fail_on names 'pass'"):
        reopening(run=directory.path, report_dir="", policy={"gate_fail_on": ["pass"]})


def test_a_run_is_reopened_wherever_it_is(tmp_path, monkeypatch):
    directory = opened(tmp_path / "reports")
    gated(directory)
    run_id, place = directory.run["run_id"], directory.run["history"]["place"]
    monkeypatch.chdir(tmp_path)

    def reopened(path, report_dir, history=""):
        return reopening(run=path, report_dir=report_dir, history=history)[0]["path"]

    assert {reopened(name, "reports") for name in (run_id, None, "", "reports/latest", directory.path)} == {
        directory.path
    }
    assert reopened(run_id, "elsewhere", place) == str(tmp_path / "elsewhere" / run_id)
    for arguments, message in (
        ((None, "nowhere"), f"No run is named, and there is none in {tmp_path}/nowhere. Name a run by -e collect_run="),
        (
            ("20990101T000000Z-abcdef", "nowhere", place),
            "neither in .* nor kept: the history .* does not contain the report of the run .* Name a run by",
        ),
        (
            ("20990101T000000Z-abcdef", "nowhere"),
            "neither in .* nor kept: the history .* does not exist.* Name a run by",
        ),
        (("reports/typo", "reports"), "reports/typo/run.json cannot be read: No such file or directory"),
    ):
        with pytest.raises(AnsibleActionFail, match=message):
            reopened(*arguments)
    merged = merge_runs([directory.path], str(tmp_path / "reports"))
    with pytest.raises(
        AnsibleActionFail,
        match=f"{merged.path} was merged from {run_id}, and hosts have results of that one only. Name a run by",
    ):
        reopened(None, "reports")
    observation = type(directory).create(
        str(tmp_path / "reports"), {**directory.run, "run_id": "seen", "kind": "observation"}
    )
    with pytest.raises(
        AnsibleActionFail,
        match=f"{observation.path} is an observation: if its controller is lost, hosts keep no results.* Name a run by",
    ):
        reopened(None, "reports")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """The paths of a certificate for localhost and of its key."""
    path = tmp_path_factory.mktemp("tls")
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    key, chain = str(path / "key.pem"), str(path / "chain.pem")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        key,
        "-out",
        chain,
        *names,
    ]
    subprocess.run(command, check=True, capture_output=True)
    return chain, key


class Storage(http.server.ThreadingHTTPServer):
    """A file server that answers with a status, and records the requests."""

    def __init__(self, chain, key, status=201, location=""):
        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.status, self.location, self.received = status, location, []
        self.url = f"https://localhost:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *dummy):
        self.shutdown()
        self.server_close()

    def handle_error(self, *dummy):
        """A client that does not trust the server closes the connection."""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        self.server.received.append(
            (self.path, self.headers["Authorization"], self.rfile.read(int(self.headers["Content-Length"])))
        )
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT

    def log_message(self, *dummy):
        pass


@pytest.fixture
def trusted(certificate, monkeypatch):
    """The certificate of the server is trusted, a token is set, and no proxy is used."""
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
    monkeypatch.setenv("LOGDISK_UPLOAD_TOKEN", TOKEN + "\n")
    return certificate


def test_a_run_is_uploaded_once_before_the_decision(tmp_path, trusted):
    with Storage(*trusted) as storage:
        directory = opened(tmp_path / "reports", upload_url=f"{storage.url}/reports/")
        result = gated(directory)
        run_id = directory.run["run_id"]
        ((path, authorization, content),) = storage.received
    assert (path, authorization) == (f"/reports/{run_id}.tar.gz", f"Bearer {TOKEN}")
    with tarfile.open(fileobj=io.BytesIO(content)) as sent:
        assert {f"{run_id}/index.html", f"{run_id}/hosts/db07/log/record.json"} <= set(sent.getnames())
    assert (result["fleet_problems"], result["warnings"]) == ([], [])
    assert (
        result["logdisk"]["report_url"]
        == result["artifacts"]["logdisk_17"]["report_url"]
        == f"{storage.url}/reports/{run_id}.tar.gz"
    )


def test_the_token_only_goes_where_this_command_allows_it(tmp_path, trusted):
    """A run that was restored from the history contains the upload server of the command that stored it."""
    with Storage(*trusted) as storage:
        directory = opened(tmp_path / "reports", required=False, upload_url=storage.url)
        (problem,) = gated(directory, upload_url="https://storage.example/")["fleet_problems"]
        assert "because gate_upload_url is not that" in problem and storage.received == []


def assert_not_uploaded(tmp_path, url, message):
    directory = opened(tmp_path / "reports", required=False, upload_url=url)
    result = gated(directory)
    (problem,) = result["fleet_problems"]
    assert (
        result["warnings"] == [problem] and problem.startswith("the report was not uploaded: ") and message in problem
    )
    assert TOKEN not in json.dumps(result) and result["artifacts"]["logdisk_17"]["report_url"] == ""
    assert Path(directory.path, "summary.txt").exists()


def test_the_token_does_not_follow_a_redirect(tmp_path, trusted):
    with Storage(*trusted) as other, Storage(*trusted, status=307, location=f"{other.url}/x") as storage:
        assert_not_uploaded(
            tmp_path, f"{storage.url}/run.tar.gz", "answered 307 Temporary Redirect: redirects are not followed"
        )
        assert [path for path, *dummy in storage.received] == ["/run.tar.gz"] and other.received == []


def test_a_server_that_refuses_or_is_not_there_is_told(tmp_path, trusted):
    with Storage(*trusted, status=403) as storage:
        assert_not_uploaded(tmp_path / "a", storage.url, "answered 403 Forbidden")
    assert_not_uploaded(tmp_path / "b", storage.url, "cannot be reached: ")


def test_a_server_that_nobody_vouches_for_gets_nothing(tmp_path, trusted, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    with Storage(*trusted) as storage:
        assert_not_uploaded(tmp_path / "a", storage.url, "certificate verify failed")
        monkeypatch.setenv("SSL_CERT_FILE", trusted[0])
        assert_not_uploaded(tmp_path / "b", storage.url.replace("localhost", "127.0.0.1"), "certificate verify failed")
        assert storage.received == []


def test_a_server_that_never_answers_is_given_up(tmp_path, trusted, monkeypatch):
    monkeypatch.setattr(upload, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(Handler, "do_PUT", lambda handler: handler.server.released.wait(60))
    with Storage(*trusted) as storage:
        storage.released = threading.Event()
        assert_not_uploaded(tmp_path, storage.url, "timed out")
        storage.released.set()


def test_a_token_that_no_header_can_have_is_not_shown(tmp_path, trusted, monkeypatch):
    monkeypatch.setenv("LOGDISK_UPLOAD_TOKEN", f"{TOKEN}\r\nX: {TOKEN}")
    with Storage(*trusted) as storage:
        assert_not_uploaded(tmp_path, storage.url, "LOGDISK_UPLOAD_TOKEN contains characters that no header can have")


@pytest.mark.parametrize(
    "url",
    [
        "http://h/x",
        "ftp://h/x",
        "h/x",
        "https:///x",
        "https://u@h/x",
        "https://u:hunter2@h/x",
        "https://h/x?sig=hunter2",
        "https://h/#hunter2",
        "https://h/a b",
    ],
)
def test_a_url_that_could_show_a_secret_or_is_not_encrypted_is_refused(url):
    with pytest.raises(UploadError, match="LOGDISK_UPLOAD_TOKEN") as caught:
        check_url(url)
    assert "hunter2" not in str(caught.value)
