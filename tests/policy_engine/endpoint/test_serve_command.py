"""The command ``serve``: where it listens, what it says, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from policy_engine.endpoint import Application, Endpoint
from policy_engine.endpoint.serving import Server
from tests.policy_engine.command import folder, run

__all__ = ["folder"]

pytestmark = pytest.mark.usefixtures("folder")

UNSIGNED = "no signature is verified: any credentials will do, and so will those of anybody who can reach it\n"


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL that it prints, once it has; the process is ended by the signal of a service manager."""
    command = [sys.executable, "-m", "policy_engine", "serve", *arguments, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def post(url: str, request: dict[str, Any]) -> Any:
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(request).encode()), timeout=20) as answer:  # noqa: S310
        return json.loads(answer.read())


def test_it_answers_when_it_prints_its_url() -> None:
    with serving("policy.yaml", "--region", "eu-west-1", "--account", "111122223333", "--step") as (url, process):
        assert url.startswith("http://127.0.0.1:")
        [queue] = post(f"{url}/v1/describejobqueues", {})["jobQueues"]
        assert queue["jobQueueArn"] == "arn:aws:batch:eu-west-1:111122223333:job-queue/training"
        assert post(f"{url}/_sim/step", {})["step"] is True
        process.send_signal(signal.SIGTERM)
        rest, told = process.communicate(timeout=20)
    assert (process.returncode, rest, told) == (0, "", UNSIGNED)


def test_a_free_port_is_taken_each_time() -> None:
    servers = [Server(Application(Endpoint())) for _ in range(2)]
    assert len({server.port for server in servers}) == 2
    for server in servers:
        server.stop()
        server.run()


@pytest.mark.parametrize(
    ("host", "url", "local"),
    [
        ("127.0.0.1", "http://127.0.0.1:{}", True),
        ("localhost", "http://localhost:{}", True),
        ("::1", "http://[::1]:{}", True),
        ("0.0.0.0", "http://0.0.0.0:{}", False),  # noqa: S104
    ],
)
def test_where_it_listens(host: str, url: str, local: bool) -> None:
    try:
        server = Server(Application(Endpoint()), host)
    except OSError as error:
        pytest.skip(f"this machine has no {host}: {error}")
    server.stop()
    server.run()
    assert (server.url, server.is_local) == (url.format(server.port), local)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.yaml"], "nope.yaml: no such file"),
        (["policy.yaml", "--queue", "other"], "policy.yaml: no queue 'other'; there is training"),
        (["--queue", "other"], "policy-engine: --queue and --parameter are of a POLICY, and none is given"),
        (["policy.yaml", "--account", "12"], "policy-engine: invalid value for '--account': '12' is not an account id"),
        (["policy.yaml", "--duration", "soon"], "policy-engine: invalid value for '--duration': 'soon' is not a dura"),
        (["policy.yaml", "--port", "70000"], "policy-engine: invalid value for '--port': 70000 is not in the range"),
        (["policy.yaml", "--host", "192.0.2.1"], "192.0.2.1:8000: cannot listen: "),
        (["policy.yaml", "--host", "no such host"], "no such host:8000: cannot listen: "),
        (
            ["policy.yaml", "--choice", "victims=me"],
            "policy-engine: invalid value for '--choice': victims: 'me' is",
        ),
        (["policy.yaml", "--choice", "nope=me"], "policy-engine: invalid value for '--choice': no choice 'nope'"),
    ],
)
def test_what_cannot_be_served(arguments: list[str], message: str) -> None:
    result = run("serve", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("serve", "policy.yaml", "--port", str(port))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"127.0.0.1:{port}: cannot listen: address already in use\n"


def test_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "waitress" else object())
    result = run("serve")
    assert (result.exit_code, result.stderr) == (2, "serve: needs waitress: install constructs-quota[serve]\n")


@pytest.mark.parametrize("missing", ["moto", "flask", "flask_cors"])
def test_the_extra_that_moto_needs(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else object())
    result = run("serve", "--moto")
    assert (result.exit_code, result.stderr) == (2, f"serve: needs {missing}: install constructs-quota[moto]\n")


def test_it_loads_no_client() -> None:
    """botocore's service model and nothing that could make a request: that would take most of the start."""
    code = (
        "import sys; from policy_engine.endpoint import Application, Endpoint; import policy_engine.endpoint.serving;"
        "Application(Endpoint()).answer('POST', '/v1/describejobqueues', '', None, b'');"
        "print(*sorted({'boto3', 'botocore.session', 'botocore.client', 'moto'} & set(sys.modules)))"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == ""
