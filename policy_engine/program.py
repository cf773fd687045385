"""The program around the commands: one line for every error, and the exit codes of the documentation."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
from click.exceptions import NoArgsIsHelpError

from policy_engine._version import __version__
from policy_engine.errors import InputError, UndecidedError, visible

NAME: Final = "policy-engine"
HOLDS: Final = 0
FAILS: Final = 1
WRONG_INPUT: Final = 2
UNDECIDED: Final = 3
DEFECT: Final = 70
"""The engine itself is at fault: ``EX_SOFTWARE``, since 1 would read as "an expectation fails"."""
INTERRUPTED: Final = 130
DEBUG: Final = "POLICY_ENGINE_DEBUG"
"""Environment variable that does what ``--debug`` does."""


class Program(click.Group):
    """A group of commands that return their exit codes. An error is one line on standard error."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = NAME, **settings: Any) -> Any:  # type: ignore[override]
        """Run the command line and exit. The exceptions of click's own way to do that come out as ours."""
        given = sys.argv[1:] if args is None else list(args)
        leave = _Leave()
        if args is None:
            atexit.register(leave)  # the first to register is the last to be called
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # it was closed before the program began
                setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - to the end
        for stream in (sys.stdout, sys.stderr):
            # A name that the terminal's encoding has not got must not end a run.
            with contextlib.suppress(AttributeError):
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        # Looking for pydantic's plugins means reading the metadata of every installed package; we have none.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        settings["standalone_mode"] = False
        with _defects_in_one_line(debug="--debug" in given or bool(os.environ.get(DEBUG))):
            code = leave.code = self._exit_code(given, prog_name, settings)
        sys.exit(code)

    def _exit_code(self, args: Sequence[str], prog_name: str | None, settings: dict[str, Any]) -> int:
        try:
            return int(super().main(args, prog_name, **settings) or HOLDS)
        except NoArgsIsHelpError as error:
            error.show()
            return WRONG_INPUT
        except click.ClickException as error:
            complain(f"{NAME}: {visible(_sentence(error.format_message()))}")
            return WRONG_INPUT
        except InputError as error:
            complain(str(error))
            return WRONG_INPUT
        except UndecidedError as error:
            complain(str(error))
            return UNDECIDED
        except (click.Abort, KeyboardInterrupt):
            return INTERRUPTED


class _Leave:
    """Ends the process when all is tidied up, but for what is in memory, which goes with it.

    To take a long replay apart would take half as long as to write it.
    """

    def __init__(self) -> None:
        self.code: int | None = None

    def __call__(self) -> None:
        if self.code is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(self.code)


def complain(line: str) -> None:
    """Write one line to standard error; what is not ours in it has been made visible."""
    click.echo(line, err=True)


def put_out(text: str | Iterable[str]) -> None:
    """Write a result, or its parts, to standard output. A reader who stops reading does not change the verdict."""
    try:
        sys.stdout.writelines((text,) if isinstance(text, str) else text)
        sys.stdout.flush()
    except OSError as error:
        # Python flushes once more when it exits, and would complain about the same again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"standard output: {(error.strerror or str(error)).lower()}") from error


def _sentence(message: str) -> str:
    """A message of click's as ours are written: one line, lower case, no full stop."""
    line = " ".join(message.split())
    return line[:1].lower() + line[1:].removesuffix(".")


@contextlib.contextmanager
def _defects_in_one_line(*, debug: bool) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if debug:
            raise
        what = visible(f"{type(error).__name__}: {error}".removesuffix(": "))
        complain(f"{NAME}: {what}: a defect of {NAME} {__version__}; please report it with what --debug shows")
        sys.exit(DEFECT)
