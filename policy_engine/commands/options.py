"""What several commands take, and what they show."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from policy_engine.errors import visible
from policy_engine.program import put_out

# What is imported inside the functions would slow the start of every command.
if TYPE_CHECKING:
    from policy_engine.report.result import Report

F = TypeVar("F", bound=Callable[..., Any])


def pairs(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """``K=V`` pairs as a mapping."""
    given: dict[str, str] = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not (key and equals):
            raise click.BadParameter(f"{value!r} is not KEY=VALUE")
        if key in given:
            raise click.BadParameter(f"{key!r} is given twice")
        given[key] = text
    return given


def _reach(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """AWS is reached so until the command has ended."""
    if value is not None:
        from policy_engine.sources.live import reaching

        context.with_resource(reaching(**{str(parameter.name): value}))


def live_options(command: F) -> F:
    """Options about how a live queue is reached."""
    for name, told in (("region", "Region of a live queue"), ("profile", "AWS profile that a live queue is read with")):
        option = click.option(
            f"--{name}", metavar="NAME", expose_value=False, callback=_reach, help=f"{told}; default: AWS's settings."
        )
        command = option(command)
    return command


def policy_options(command: F) -> F:
    """Options about where the policy comes from."""
    return choosing_options(live_options(command))


def choosing_options(command: F) -> F:
    """Options about which policy of its source is meant."""
    command = click.option(
        "--parameter",
        "parameters",
        metavar="KEY=VALUE",
        multiple=True,
        callback=pairs,
        help="Value of a parameter of the template; may be repeated.",
    )(command)
    return click.option("--queue", metavar="NAME", help="Name or logical id of the queue, where there are several.")(
        command
    )


_FILES: Final = {
    "json": "JSON",
    "markdown": "Markdown",
    "html": "one self-contained HTML page",
    "junit": "JUnit's XML",
    "sarif": "SARIF",
}
"""Kind of report file to what it holds."""


def _writable(_: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse before anything is run what could not be written after it."""
    if path is not None and parameter.name == "html":
        from policy_engine.report.html import require_extra

        require_extra()
    return path


def report_options(command: F) -> F:
    """Options about reports."""
    debug = "Show the traceback of an internal error."
    command = click.option("--debug", is_flag=True, expose_value=False, help=debug)(command)
    for kind, holds in reversed(_FILES.items()):
        file = click.option(
            f"--{kind}",
            type=click.Path(path_type=Path),
            metavar="FILE",
            callback=_writable,
            help=f"Write {holds} to FILE too.",
        )
        command = file(command)
    form = click.Choice(["text", "json", "markdown"])
    told = "What standard output holds."
    return click.option("--format", "form", type=form, default="text", show_default=True, help=told)(command)


def publish(report: Report, form: str, files: Mapping[str, Path | None]) -> None:
    """Write the files first, so that a reader who stops reading loses none."""
    from policy_engine.report.publishing import shown, write_files

    write_files(report, {kind: path for kind, path in files.items() if path is not None})
    put_out(shown(report, form, _console))


def _console() -> Any:
    from rich.console import Console

    return Console()


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Takes what is being looked at, and shows it where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(Text(visible(text)))


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None] | None]:
    """Takes what is being done and how much of it is, and shows it where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    # no thread of its own: worker processes are forked while it is shown
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("replay", total=1.0)

        def show(what: str, done: float) -> None:
            bar.update(task, description=what, completed=done, refresh=True)

        yield show


def moment(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """A time as scenario files write it."""
    from policy_engine.workload.durations import parse_duration

    try:
        # on a command line a number is text too
        return None if value is None else parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def duration(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Seconds of ``21d``."""
    seconds = moment(context, parameter, value)
    if seconds is not None and seconds < 0:
        raise click.BadParameter(f"{value!r} is below zero")
    return seconds
