"""What every test stands on: the same environment on every machine. Imports nothing that imports aws_cdk."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import settings

from tests.browser import browser
from tests.laws.laws import BrokenLawError
from tests.laws.watching import unwatched, watched

__all__ = ["browser"]

# The environment is set here, at import, because aws_cdk starts its Node kernel when a test module first imports it.

# Nobody's account, and no question to a metadata service.
for variable in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[variable]
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"

# The node that `make setup` may have put into the environment, also when pytest is called without make.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

# CDK's own template validation is 70 % of a synth; the test of the whole command switches it on again.
os.environ["CDK_VALIDATION"] = "false"
os.environ["CDK_DISABLE_CLI_TELEMETRY"] = "true"

# jsii prints a banner for a Node past its end of life, and silences it by major number alone.
if node := shutil.which("node"):
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    os.environ["JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION"] = version.lstrip("v").split(".")[0]

# `make test` tries the same examples every time; `make nightly` looks for new ones.
settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.register_profile("nightly", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile("suite")


# --- every simulated run keeps the laws -----------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "unwatched: its runs are not held to the laws, so that they can be timed")


@pytest.fixture(scope="session", autouse=True)
def _laws() -> Iterator[None]:
    """Of a session, so that runs of wider fixtures are watched too."""

    def broken(error: BrokenLawError) -> None:
        raise error

    with watched(broken):
        yield


@pytest.fixture(autouse=True)
def _timed(request: pytest.FixtureRequest) -> Iterator[None]:
    with unwatched() if request.node.get_closest_marker("unwatched") else nullcontext():
        yield
