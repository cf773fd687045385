"""The import laws: arrows point inwards, and the engine starts without the CDK and without boto3."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# What each module or package may import of ours, besides itself. The longest name that fits decides.
# "policy_engine" alone means its public names, not the modules behind them.
LAYERS: dict[str, tuple[str, ...]] = {
    "policy_engine._version": (),
    "policy_engine.collector": (),
    "policy_engine.errors": (),
    "policy_engine.policy": (),
    "policy_engine.scheduler": ("policy_engine.policy",),
    "policy_engine.simulation": ("policy_engine.policy", "policy_engine.scheduler"),
    "policy_engine.outcome": (
        "policy_engine.collector",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
    ),
    "policy_engine.sources": ("policy_engine.errors", "policy_engine.policy"),
    "policy_engine.sources.live": (
        "policy_engine._version",
        "policy_engine.errors",
        "policy_engine.policy",
        "policy_engine.sources",
    ),
    "policy_engine.workload": (
        "policy_engine.collector",
        "policy_engine.errors",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.sources.reading",
        "policy_engine.sources.validation",
    ),
    "policy_engine.envelope": ("policy_engine._version", "policy_engine.scheduler", "policy_engine.sources"),
    "policy_engine.guarantees": ("policy_engine.policy", "policy_engine.scheduler"),
    "policy_engine.changes": ("policy_engine.policy", "policy_engine.sources"),
    "policy_engine.comparison": (
        "policy_engine.changes",
        "policy_engine.errors",
        "policy_engine.expectations",
        "policy_engine.exploration",
        "policy_engine.findings",
        "policy_engine.guarantees",
        "policy_engine.outcome",
        "policy_engine.policy",
        "policy_engine.proving",
        "policy_engine.replaying",
        "policy_engine.scheduler",
        "policy_engine.simulation",
        "policy_engine.sources",
        "policy_engine.workload",
    ),
    "policy_engine.findings": (
        "policy_engine.changes",
        "policy_engine.guarantees",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.sources",
        "policy_engine.workload",
    ),
    "policy_engine.checking": (
        "policy_engine.envelope",
        "policy_engine.errors",
        "policy_engine.findings",
        "policy_engine.guarantees",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.sources",
        "policy_engine.workload",
    ),
    "policy_engine.expectations": (
        "policy_engine.errors",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
        "policy_engine.outcome",
        "policy_engine.workload",
    ),
    "policy_engine.explaining": (
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
        "policy_engine.outcome",
        "policy_engine.expectations.wording",
        "policy_engine.workload.durations",
    ),
    "policy_engine.exploration": (
        "policy_engine.collector",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
    ),
    "policy_engine.endpoint": (
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
        "policy_engine.workload.durations",
    ),
    "policy_engine.proving": (
        "policy_engine.errors",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
        "policy_engine.exploration",
        "policy_engine.expectations",
        "policy_engine.outcome",
        "policy_engine.workload",
    ),
    "policy_engine.conforming": (
        "policy_engine.errors",
        "policy_engine.exploration",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
        "policy_engine.sources.reading",
        "policy_engine.sources.validation",
        "policy_engine.workload",
    ),
    "policy_engine.observing": (
        "policy_engine.errors",
        "policy_engine.explaining",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
        "policy_engine.sources",
        "policy_engine.workload",
    ),
    "policy_engine.replaying": (
        "policy_engine._version",
        "policy_engine.collector",
        "policy_engine.errors",
        "policy_engine.policy",
        "policy_engine.scheduler",
        "policy_engine.simulation",
        "policy_engine.outcome",
        "policy_engine.sources.reading",
        "policy_engine.sources.validation",
        "policy_engine.workload",
    ),
    "policy_engine.suggesting": (
        "policy_engine.errors",
        "policy_engine.policy",
        "policy_engine.replaying",
        "policy_engine.workload",
    ),
    "policy_engine.arguments": ("policy_engine.errors", "policy_engine.sources", "policy_engine.workload"),
    "policy_engine.program": ("policy_engine._version", "policy_engine.errors"),
    "constructs_quota": ("policy_engine.policy",),
    "constructs_quota.validation": ("constructs_quota", "policy_engine"),
    "stacks": ("constructs_quota",),
    "app": ("constructs_quota", "policy_engine", "stacks"),
}
# These may import the whole engine, but for the ones after them.
LAST = (
    "policy_engine.report",
    "policy_engine.schema",
    "policy_engine.running",
    "policy_engine",
    "policy_engine.local_batch",
    "policy_engine.commands",
    "policy_engine.pytest_plugin",
    "policy_engine.cli",
    "policy_engine.__main__",
)

# Who alone may import what is slow to load or reaches out.
RESERVED: dict[str, tuple[str, ...]] = {
    "aws_cdk": ("constructs_quota", "stacks", "app"),
    "constructs": ("constructs_quota", "stacks", "app"),
    "jsii": ("constructs_quota",),
    "pytest": ("policy_engine.pytest_plugin",),
    "boto3": ("policy_engine.sources.live", "policy_engine.endpoint", "constructs_quota.handlers"),
    "botocore": ("policy_engine.sources.live", "policy_engine.endpoint"),
    "moto": ("policy_engine.endpoint.with_moto",),
}


def module_of(path: Path) -> str:
    """The dotted name of a file of the tree."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(
    [path for package in ("policy_engine", "constructs_quota", "stacks") for path in (ROOT / package).rglob("*.py")]
    + [path for path in [ROOT / "app.py"] if path.exists()]
)
MODULES = {module_of(path) for path in FILES}


def imports(source: str, module: str, *, is_package: bool = False) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a module imports, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")
                parents = parents[: len(parents) - node.level + is_package]
                base = ".".join([*parents, base] if base else parents)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield node.lineno, full if full in MODULES else base


def within(name: str, packages: tuple[str, ...]) -> bool:
    """Whether a dotted name is one of the packages or inside one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def place_among_the_last(module: str) -> int | None:
    """Where in LAST a module stands, itself or its package; None for the ones before."""
    names = (name for name in LAST if module == name or (name != "policy_engine" and within(module, (name,))))
    return next((LAST.index(name) for name in names), None)


def broken_law(module: str, imported: str) -> str | None:
    """What is wrong with this module importing that one; None where nothing is."""
    distribution = imported.split(".", maxsplit=1)[0]
    if distribution in RESERVED and not within(module, RESERVED[distribution]):
        return f"only {', '.join(RESERVED[distribution])} may import {distribution}"
    if not within(imported, ("policy_engine", "constructs_quota", "stacks", "app")):
        return None
    if (place := place_among_the_last(module)) is not None:
        outside = not within(imported, ("policy_engine",))
        too_late = (place_among_the_last(imported) or 0) > place
        return f"{module} may not import {imported}" if outside or too_late else None
    layer = max((name for name in LAYERS if within(module, (name,))), key=len, default=None)
    if layer is None:
        return f"{module} has no place in LAYERS: say what it may import"
    deep = tuple(name for name in LAYERS[layer] if name != "policy_engine")
    allowed = within(imported, (layer, *deep)) or (imported == "policy_engine" and "policy_engine" in LAYERS[layer])
    return None if allowed else f"{layer} may import only {', '.join(LAYERS[layer]) or 'nothing of ours'}"


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_module_keeps_the_import_laws(path: Path) -> None:
    module = module_of(path)
    found = imports(path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py")
    broken = [
        f"{path.relative_to(ROOT)}:{line}: imports {name}: {law}"
        for line, name in found
        if (law := broken_law(module, name))
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("module", "source", "law"),
    [
        ("policy_engine.policy", "from policy_engine.scheduler import Pass", "may import only nothing of ours"),
        ("policy_engine.scheduler.victims", "from ..simulation import Run", "may import only policy_engine.policy"),
        (
            "policy_engine.scheduler.victims",
            "from policy_engine import simulate",
            "may import only policy_engine.policy",
        ),
        ("policy_engine.scheduler.victims", "from .jobs import Job", None),
        (
            "policy_engine.simulation",
            "def f():\n    import policy_engine.report.text",
            "policy_engine.simulation may import",
        ),
        ("policy_engine.report.html", "import policy_engine.cli", "may not import policy_engine.cli"),
        ("policy_engine.report.html", "from policy_engine import check", "may not import policy_engine"),
        ("policy_engine.cli", "import policy_engine.report.html", None),
        ("policy_engine.commands.check", "from policy_engine.report.check import CheckReport", None),
        ("policy_engine.commands.check", "from policy_engine.cli import main", "may not import policy_engine.cli"),
        ("policy_engine.report.text", "from policy_engine.commands.check import check", "may not import"),
        ("policy_engine.__main__", "from policy_engine.cli import main", None),
        ("policy_engine.drawer", "from policy_engine.policy import Policy", "has no place in LAYERS"),
        ("policy_engine.sources.assembly", "import aws_cdk.aws_batch as batch", "may import aws_cdk"),
        ("policy_engine.sources.template", "from botocore.session import Session", "may import botocore"),
        ("policy_engine.sources.live", "import boto3", None),
        ("constructs_quota.quota_share", "from policy_engine import check", "may import only policy_engine.policy"),
        ("constructs_quota.quota_share", "from policy_engine.policy import Share", None),
        ("constructs_quota.validation", "from policy_engine import check", None),
        ("constructs_quota.validation", "from policy_engine.findings import check", "may import only"),
        ("stacks.training", "from policy_engine import Policy", "may import only constructs_quota"),
    ],
)
def test_each_law_is_told_apart(module: str, source: str, law: str | None) -> None:
    [(_, imported)] = imports(source, module)
    broken = broken_law(module, imported)
    assert broken is None if law is None else law in (broken or "")


def test_engine_imports_neither_cdk_nor_boto3() -> None:
    """In a process of its own: here other tests have long imported both."""
    code = (
        "import sys, policy_engine\n"
        "public = [getattr(policy_engine, name) for name in policy_engine.__all__]\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "pydantic" in loaded, "the public names load what is behind them"
    assert set(loaded).isdisjoint(RESERVED)
