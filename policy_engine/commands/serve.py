"""The command `serve`."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from policy_engine.commands.options import choosing_options, duration, pairs
from policy_engine.errors import InputError
from policy_engine.program import HOLDS, complain, put_out

if TYPE_CHECKING:
    from policy_engine.endpoint import Endpoint, Settings
    from policy_engine.endpoint.serving import Server
    from policy_engine.policy import Policy
    from policy_engine.scheduler.choices import Choices

_SERVE = ("botocore", "waitress")
_MOTO = (*_SERVE, "moto", "flask", "flask_cors")
"""The last two are those of moto's own extra ``server``."""
UNSIGNED = "no signature is verified: any credentials will do, and so will those of anybody who can reach it"


def _account(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not (len(value) == 12 and value.isascii() and value.isdigit()):
        raise click.BadParameter(f"{value!r} is not an account id: 12 digits are expected")
    return value


def _choices(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Choices:
    """The answers, and the default ones to all other questions."""
    from policy_engine.scheduler.choices import BY_NAME, Choices

    given: dict[str, Any] = dict(pairs(context, parameter, values))
    if not given:
        return Choices()
    from pydantic import ValidationError

    from policy_engine.workload.scenario_file import ChoicesEntry

    for name, answer in given.items():
        if name not in ChoicesEntry.model_fields:
            raise click.BadParameter(f"no choice {name!r}; there is {', '.join(ChoicesEntry.model_fields)}")
        given[name] = int(answer) if BY_NAME[name].is_number and answer.isdecimal() else answer
    try:
        return Choices(**ChoicesEntry.model_validate(given).model_dump())
    except ValidationError as error:
        [first, *_] = error.errors()
        told = str(first["msg"]).removeprefix("Value error, ")
        raise click.BadParameter(f"{first['loc'][0]}: {told}") from None


@click.command(short_help="A local AWS Batch endpoint that behaves as the policy says.")
@click.argument("policy", required=False)
@choosing_options
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where it listens.")
@click.option("--region", metavar="NAME", help="Region of every request; else the one that it is signed for.")
@click.option("--account", metavar="ID", callback=_account, help="Account of every request; else 123456789012.")
@click.option(
    "--duration",
    default="1h",
    show_default=True,
    callback=duration,
    metavar="TIME",
    help="How long a job runs that does not say how long.",
)
@click.option("--stop-seconds", callback=duration, metavar="TIME", default="0s", help="From preemption to stop.")
@click.option("--start-seconds", callback=duration, metavar="TIME", default="0s", help="From SCHEDULED to RUNNING.")
@click.option(
    "--choice",
    "choices",
    metavar="NAME=ANSWER",
    multiple=True,
    callback=_choices,
    help="Answer to a question that AWS leaves open, as in a scenario's choices; may be repeated.",
)
@click.option(
    "--moto", "with_moto", is_flag=True, help="S3, IAM, STS, SageMaker and CloudFormation too, as moto has them."
)
@click.option("--step", is_flag=True, help="Move by POST /_sim/step alone, so that every state on the way is seen.")
def serve(policy: str | None, queue: str | None, parameters: dict[str, str], with_moto: bool, **settings: Any) -> int:
    """Answer as AWS Batch would for the queues of POLICY, in virtual time; without POLICY start empty.

    Prints its URL once it answers. The clock stands still but for POST /_sim/advance. With --moto it answers for the
    other services too, all of one account, so that `cdk deploy` and the SageMaker SDK need no other address.

    \b
    Example:
      policy-engine serve policy.yaml --port 8000
      AWS_ENDPOINT_URL_BATCH=http://127.0.0.1:8000 aws batch describe-job-queues
    """  # noqa: D301
    _require_extra(with_moto)
    from policy_engine.endpoint import ClientError, Endpoint

    policies = _policies(policy, queue, parameters)
    endpoint = Endpoint(_settings(**settings), policies)
    try:
        endpoint.account()
        server = _server(endpoint, settings["host"], settings["port"], with_moto)
    except ClientError as error:
        raise InputError(error.message, file=policy) from None
    except OSError as error:
        # Python adds the address to the text of the system's own errors, which have a number above 0
        number = error.errno or 0
        told = os.strerror(number) if number > 0 else str(error.strerror)
        where = f"{settings['host']}:{settings['port']}"
        raise InputError(f"cannot listen: {told.lower()}", key=where) from None
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    put_out(f"{server.url}\n")
    complain(UNSIGNED)
    if not server.is_local:
        complain(f"{server.host} can be reached from other machines")
    server.run()
    return HOLDS


def _server(endpoint: Endpoint, host: str, port: int, with_moto: bool) -> Server:
    from policy_engine.endpoint import Application
    from policy_engine.endpoint.serving import Server

    application = Application(endpoint)
    if not with_moto:
        return Server(application, host, port)
    from policy_engine.endpoint.with_moto import MAX_BODY, WithMoto

    return Server(WithMoto(application), host, port, MAX_BODY)


def _require_extra(with_moto: bool) -> None:
    from importlib.util import find_spec

    extra, needed = ("moto", _MOTO) if with_moto else ("serve", _SERVE)
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise InputError(f"needs {' and '.join(missing)}: install constructs-quota[{extra}]", key="serve")


def _policies(policy: str | None, queue: str | None, parameters: dict[str, str]) -> Sequence[Policy]:
    """Those of every queue of the source, or of the one that is wanted."""
    if policy is None:
        if queue is not None or parameters:
            raise click.UsageError("--queue and --parameter are of a POLICY, and none is given")
        return ()
    from policy_engine.sources import load

    return load(policy, parameters=parameters).policies(queue)


def _settings(
    *,
    region: str | None,
    account: str | None,
    duration: float,
    stop_seconds: float,
    start_seconds: float,
    choices: Choices,
    step: bool,
    **_: Any,
) -> Settings:
    from policy_engine.endpoint import Pace, Settings
    from policy_engine.scheduler.jobs import Timing

    pace = Pace(Timing(stop_seconds=stop_seconds, start_seconds=start_seconds), choices, stepped=step)
    return Settings(account=account, region=region, duration=duration, pace=pace)
