"""Makes ``policy_engine/policy/instance_types.txt`` from the installed botocore: run it from the repository's root.

python -m tests.policy_engine.policy.instance_types
"""

from pathlib import Path

from policy_engine.policy import instance_types

FILE = Path(instance_types.__file__).with_name("instance_types.txt")


def text() -> str:
    """What the file should hold. Raises ModuleNotFoundError without botocore."""
    import botocore
    import botocore.session

    model = botocore.session.get_session().get_service_model("sagemaker")
    listed = "\n".join(sorted(model.shape_for("TrainingInstanceType").enum))
    return f"# TrainingInstanceType of the SageMaker API, from botocore {botocore.__version__}\n{listed}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
