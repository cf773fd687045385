"""What every test stands on: the same environment on every machine. Imports nothing that imports aws_cdk."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from hypothesis import settings

from tests.browser import browser

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
