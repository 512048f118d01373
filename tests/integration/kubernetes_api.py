# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes API server with only those parts of the API that a test of a storage class uses. The name of a storage
class determines how the server behaves. No containers are run: the commands of pods that test locks run on the hosts
that represent nodes."""

import base64
import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Object = dict[str, Any]
KINDS = {
    "jobs": ("batch/v1", "Job"),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim"),
    "pods": ("v1", "Pod"),
    "events": ("v1", "Event"),
    "storageclasses": ("storage.k8s.io/v1", "StorageClass"),
}
TOKEN = "fake-token"
_PATH = re.compile(r"/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/([^/]+))?/([a-z]+)(?:/([^/]+))?(/log|/exec)?\Z")
_PAIR = "mqops.logdisk/pair"
_ACCEPT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CLOSE = 8


class Refusal(Exception):
    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": code,
        }


class Cluster:
    """The objects by kind and name. ``measure`` takes the name of a host and a tester's arguments, and returns the
    tester's exit status and log. ``nodes`` are the nodes for pods that test locks: each makes the command line that
    runs a command on the node."""

    def __init__(
        self,
        classes: list[str],
        measure: Callable[[str, list[str]], tuple[int, str]],
        nodes: Mapping[str, Callable[[list[str]], list[str]]] | None = None,
    ) -> None:
        self.nodes = nodes or {}
        self.processes: dict[str, list[subprocess.Popen]] = {}
        self.executed: list[list[str]] = []
        self.objects: dict[str, dict[str, Object]] = {kind: {} for kind in KINDS}
        self.logs: dict[str, str] = {}
        self.made: list[str] = []
        self.deleted: list[Object] = []
        self.measure = measure
        self.lock = threading.RLock()
        for name in classes:
            self.objects["storageclasses"][name] = {
                "metadata": {"name": name},
                "provisioner": "fake.example.com",
                "reclaimPolicy": "Delete",
            }

    def create(self, kind: str, namespace: str, made: Object) -> Object:
        if namespace != "mq":
            raise Refusal(404, "NotFound", f'namespaces "{namespace}" not found')
        made["metadata"] |= {
            "uid": str(uuid.uuid4()),
            "creationTimestamp": "2026-11-22T10:00:00Z",
            "namespace": namespace,
        }
        self.objects[kind][made["metadata"]["name"]] = made
        self.made.append(f"{kind}/{made['metadata']['name']}")
        if kind == "persistentvolumeclaims":
            self._claimed(made)
        if kind == "jobs" and _PAIR in pod_of(made)["metadata"]["labels"]:
            self._start_locker(made)
        return made

    def delete(self, kind: str, name: str, options: Object) -> Object:
        found = self.objects[kind].get(name)
        if not found:
            raise Refusal(404, "NotFound", f'{kind} "{name}" not found')
        if options.get("preconditions", {}).get("uid") != found["metadata"]["uid"]:
            raise Refusal(409, "Conflict", "the UID in the precondition does not match")
        self.deleted.append(self.objects[kind].pop(name))
        if kind == "pods":
            self._end_processes(name)
            for job in self.objects["jobs"].values():  # the job replaces it
                if name.startswith(f"{job['metadata']['name']}-x"):
                    self._start_locker(job)
        for owned in ("pods", "persistentvolumeclaims"):  # as the garbage collector of Kubernetes does
            for each in list(self.objects[owned].values()):
                if found["metadata"]["uid"] in [owner["uid"] for owner in each["metadata"].get("ownerReferences", [])]:
                    self._end_processes(each["metadata"]["name"])
                    self.deleted.append(self.objects[owned].pop(each["metadata"]["name"]))
        return {"kind": "Status", "apiVersion": "v1", "status": "Success"}

    def _claimed(self, claim: Object) -> None:
        """Simulate the events that follow the creation of a job and its claim."""
        name, behaviour = claim["metadata"]["name"], claim["spec"]["storageClassName"]
        claim["status"] = {"phase": "Pending" if behaviour == "pending" else "Bound"}
        if behaviour == "pending":
            self._event(name, "ProvisioningFailed", "failed to provision volume: rpc error: storage pool full")
        if behaviour == "no-pod":
            self._event(
                name,
                "FailedCreate",
                f'Error creating: pods "{name}-x1" is forbidden: violates PodSecurity "restricted"',
            )
            return
        job = self.objects["jobs"][name]
        spec = job["spec"]["template"]["spec"]
        if _PAIR in pod_of(job)["metadata"]["labels"]:
            return
        owner = {"uid": job["metadata"]["uid"]}
        labels = {**job["spec"]["template"]["metadata"]["labels"], "job-name": name}
        metadata = {"name": f"{name}-x1", "namespace": "mq", "labels": labels, "ownerReferences": [owner]}
        pod = {
            "kind": "Pod",
            "metadata": metadata,
            "spec": {**spec, "nodeName": "" if behaviour == "pending" else "node1"},
            "status": self._status(behaviour, name, spec),
        }
        self.objects["pods"][f"{name}-x1"] = pod

    def _status(self, behaviour: str, name: str, spec: Object) -> Object:
        if behaviour == "pending":
            return {"phase": "Pending"}
        if behaviour == "no-image":
            waiting = {"reason": "ErrImagePull", "message": "failed to resolve reference: not found"}
            return {"phase": "Pending", "containerStatuses": [{"name": "logdisk", "state": {"waiting": waiting}}]}
        code, log = (
            (2, NO_SPACE) if behaviour == "no-space" else self.measure(spec["hostname"], spec["containers"][0]["args"])
        )
        self.logs[f"{name}-x1"] = log
        ended = {"exitCode": code, "reason": "Completed" if code == 0 else "Error", "message": log[-2000:]}
        return {
            "phase": "Failed" if code else "Succeeded",
            "containerStatuses": [{"name": "logdisk", "state": {"terminated": ended}}],
        }

    def _start_locker(self, job: Object) -> None:
        """Start the pod of a job that tests locks. Its tester is started when a command is executed there."""
        name, template = job["metadata"]["name"], pod_of(job)
        pair, behaviour = template["metadata"]["labels"][_PAIR], _class_of(template)
        others = [
            pod["spec"]["nodeName"]
            for pod in self.objects["pods"].values()
            if pod["metadata"]["labels"].get(_PAIR) == pair
        ]
        (rule,) = template["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert rule["topologyKey"] == "kubernetes.io/hostname"
        assert rule["labelSelector"] == {"matchLabels": {_PAIR: pair}}
        usable = list(self.nodes)[: 1 if behaviour == "one-node" else None]
        is_free = [node for node in usable if behaviour == "same-node" or node not in others]
        node = is_free[0] if is_free else ""
        number = sum(made.startswith(f"pods/{name}-x") for made in self.made) + 1
        labels = {**template["metadata"]["labels"], "job-name": name}
        if node:
            state = {"running": {"startedAt": "2026-11-22T10:00:01Z"}}
            status: Object = {"phase": "Running", "containerStatuses": [{"name": "logdisk", "state": state}]}
        else:
            message = "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules."
            condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
            status = {"phase": "Pending", "conditions": [condition]}
        self.made.append(f"pods/{name}-x{number}")
        self.objects["pods"][f"{name}-x{number}"] = {
            "kind": "Pod",
            "metadata": {
                "name": f"{name}-x{number}",
                "namespace": "mq",
                "labels": labels,
                "ownerReferences": [{"uid": job["metadata"]["uid"]}],
                "uid": str(uuid.uuid4()),
                "creationTimestamp": "2026-11-22T10:00:00Z",
            },
            "spec": {**template["spec"], "nodeName": node},
            "status": status,
        }

    def _end_processes(self, pod: str) -> None:
        for process in self.processes.pop(pod, []):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def execute(self, pod: str, command: list[str]) -> subprocess.Popen:
        """Start a command in a pod, on its node."""
        found = self.objects["pods"].get(pod)
        if not found:
            raise Refusal(404, "NotFound", f'pods "{pod}" not found')
        behaviour, node = _class_of(found), found["spec"]["nodeName"]
        where = next(iter(self.nodes)) if behaviour == "one-kernel" else node
        self.executed.append(command)
        process = subprocess.Popen(
            self.nodes[where](command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self.processes.setdefault(pod, []).append(process)
        return process

    def _event(self, about: str, reason: str, message: str) -> None:
        name = f"{about}.{len(self.objects['events'])}"
        about_object = {"name": about, "namespace": "mq"}
        self.objects["events"][name] = {
            "metadata": {"name": name, "namespace": "mq"},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "involvedObject": about_object,
        }

    def forbid(self, method: str, kind: str, body: Object) -> None:
        """Refuse to create jobs for the storage class named forbidden. Its name is taken from the path of the mount."""
        if (
            method == "POST"
            and kind == "jobs"
            and body["spec"]["template"]["spec"]["containers"][0]["volumeMounts"][0]["mountPath"] == "/data/forbidden"
        ):
            raise Refusal(
                403,
                "Forbidden",
                'jobs.batch is forbidden: User "ci" cannot create resource "jobs" in API group '
                '"batch" in the namespace "mq"',
            )


def pod_of(job: Object) -> Object:
    return job["spec"]["template"]


def _class_of(pod: Object) -> str:
    """Return the storage class of a pod, from the path of its mount."""
    return pod["spec"]["containers"][0]["volumeMounts"][0]["mountPath"].removeprefix("/data/")


class Socket:
    """The server's side of a WebSocket connection."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._read, self._send, self._lock = handler.rfile.read, handler.wfile, threading.Lock()

    def receive(self) -> tuple[int, bytes]:
        """Return the code and the content of the next frame."""
        first, second = self._read(2)
        size = second & 127
        size = int.from_bytes(self._read({126: 2, 127: 8}[size]), "big") if size > 125 else size
        mask, content = self._read(4), self._read(size)
        return first & 15, bytes(byte ^ mask[place % 4] for place, byte in enumerate(content))

    def send(self, content: bytes, code: int = 2) -> None:
        size = len(content)
        head = bytes([128 | code, size]) if size < 126 else bytes([128 | code, 126]) + size.to_bytes(2, "big")
        with self._lock:
            self._send.write(head + content)
            self._send.flush()


def connect(socket: Socket, process: subprocess.Popen) -> None:
    """Connect a process to a client until either ends, as the node of a pod does."""

    def pump(stream: Any, channel: bytes) -> None:
        while content := stream.read(8192):
            with contextlib.suppress(OSError):
                socket.send(channel + content)

    def until_end() -> None:
        threads = [
            threading.Thread(target=pump, args=each) for each in ((process.stdout, b"\x01"), (process.stderr, b"\x02"))
        ]
        for thread in threads:
            thread.start()
        code = process.wait()
        for thread in threads:
            thread.join()
        causes = {"details": {"causes": [{"reason": "ExitCode", "message": str(code if code > 0 else 137)}]}}
        status = {"status": "Success"} if code == 0 else {"status": "Failure", **causes}
        with contextlib.suppress(OSError):
            socket.send(b"\x03" + json.dumps(status).encode())
            socket.send(b"\x03\xe8", _CLOSE)

    thread = threading.Thread(target=until_end)
    thread.start()
    with contextlib.suppress(OSError, ValueError):
        while True:
            code, content = socket.receive()
            if code == _CLOSE:
                break
            if content[:1] == b"\x00":
                process.stdin.write(content[1:])
    with contextlib.suppress(OSError):
        process.stdin.close()
    thread.join()


NO_SPACE = (
    "Creating files...\nlogdisk: /data/no-space/QM1 has 1000000 bytes free, but the test files take 4194304 "
    "and 16777216 must stay free\n"
)


def handler(cluster: Cluster) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *dummy: object) -> None:
            pass

        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def do_DELETE(self) -> None:
            self._answer("DELETE")

        def _answer(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    raise Refusal(401, "Unauthorized", "Unauthorized")
                if urlsplit(self.path).path.endswith("/exec"):
                    self._execute()
                    return
                with cluster.lock:
                    code, content = 200, self._found(method, json.loads(body) if body else {})
            except Refusal as refusal:
                code, content = refusal.status["code"], refusal.status
            sent = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain" if isinstance(content, str) else "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def _execute(self) -> None:
            """Run a command in a pod, with a WebSocket as its standard streams."""
            url = urlsplit(self.path)
            pod, query = url.path.split("/")[-2], parse_qs(url.query)
            assert query["stdin"] == ["True"] and query["container"] == ["logdisk"]
            with cluster.lock:
                process = cluster.execute(pod, query["command"])
            key = self.headers["Sec-WebSocket-Key"].encode()
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key + _ACCEPT).digest()).decode())
            self.send_header("Sec-WebSocket-Protocol", "v4.channel.k8s.io")
            self.end_headers()
            self.close_connection = True
            connect(Socket(self), process)

        def _found(self, method: str, body: Object) -> Object | str:
            url = urlsplit(self.path)
            described = discovery(url.path.rstrip("/"))
            if described:
                return described
            path = _PATH.match(url.path)
            if not path or path[2] not in KINDS:
                raise Refusal(404, "NotFound", f"the server could not find the requested resource {url.path}")
            namespace, kind, name, log = path.groups()
            cluster.forbid(method, kind, body)
            if method == "POST":
                return cluster.create(kind, namespace, body)
            if method == "DELETE":
                return cluster.delete(kind, name, body)
            if log:
                return cluster.logs[name]
            return self._read(kind, name, parse_qs(url.query))

        def _read(self, kind: str, name: str | None, query: dict[str, list[str]]) -> Object:
            version, word = KINDS[kind]
            if name:
                if name not in cluster.objects[kind]:
                    raise Refusal(404, "NotFound", f'{kind} "{name}" not found')
                return {"apiVersion": version, "kind": word, **cluster.objects[kind][name]}
            wanted = dict(each.split("=", 1) for each in query.get("labelSelector", [""])[0].split(",") if each)
            items = [
                each
                for each in cluster.objects[kind].values()
                if wanted.items() <= each["metadata"].get("labels", {}).items()
            ]
            return {"apiVersion": version, "kind": f"{word}List", "metadata": {}, "items": items}

    return Handler


def discovery(path: str) -> Object | None:
    """Return the answer to the first request of a client: the available resources."""
    groups = sorted({version for version, dummy in KINDS.values()} - {"v1"})
    if path == "/version":
        return {"major": "1", "minor": "37", "gitVersion": "v1.37.0"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        versions = [{"groupVersion": each, "version": each.split("/")[1]} for each in groups]
        found = [
            {"name": each["groupVersion"].split("/")[0], "versions": [each], "preferredVersion": each}
            for each in versions
        ]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}
    group = path.removeprefix("/apis/").removeprefix("/api/")
    resources = [
        {
            "name": name,
            "singularName": "",
            "namespaced": name != "storageclasses",
            "kind": word,
            "verbs": ["create", "delete", "get", "list", "patch"],
        }
        for name, (version, word) in KINDS.items()
        if version == group
    ]
    if group == "v1":
        resources.append({"name": "pods/log", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]})
    return {"kind": "APIResourceList", "groupVersion": group, "resources": resources} if resources else None


def serve(cluster: Cluster) -> ThreadingHTTPServer:
    """Return the API server on a separate port. Its thread ends with shutdown()."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(cluster))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
