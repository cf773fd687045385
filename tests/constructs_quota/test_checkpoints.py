from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks
from syrupy.assertion import SnapshotAssertion

from constructs_quota import CheckpointOptions, QuotaShareOptions, QuotaTrainingQueue, ResourceSharing
from tests.synthesis import assert_documented, template_of

ONE = {"ml.g5.xlarge": 1}
FOLDER = "what CDK's bucket grants are made of, on the one folder"
SHARE = QuotaShareOptions(capacity_limits=ONE, resource_sharing=ResourceSharing.lend(), in_share_preemption=False)


def queue(stack: cdk.Stack, **options: Any) -> QuotaTrainingQueue:
    return QuotaTrainingQueue(
        stack,
        "Training",
        capacity_limits=ONE,
        quota_shares={"QS1": SHARE},
        checkpoints=CheckpointOptions(**options),
    )


def of_kind(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [r["Properties"] for r in template["Resources"].values() if r["Type"] == kind]


def test_template(stack: cdk.Stack, snapshot: SnapshotAssertion) -> None:
    queue(stack)

    assert template_of(stack) == snapshot


def test_without_there_is_neither_bucket_nor_role_nor_output(stack: cdk.Stack) -> None:
    training = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE)

    template = template_of(stack)
    assert not of_kind(template, "AWS::S3::Bucket")
    assert not of_kind(template, "AWS::IAM::Role")
    assert "Outputs" not in template
    assert training.checkpoints is None


def test_the_bucket_is_private_encrypted_and_kept_and_forgets(stack: cdk.Stack) -> None:
    queue(stack, expire_after=cdk.Duration.days(10))

    template = template_of(stack)
    (bucket,) = of_kind(template, "AWS::S3::Bucket")
    assert bucket["BucketEncryption"] == {
        "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
    }
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["LifecycleConfiguration"]["Rules"] == [
        {
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
            "ExpirationInDays": 10,
            "Id": "ExpireCheckpoints",
            "Prefix": "checkpoints/",
            "Status": "Enabled",
        }
    ]
    (resource,) = [r for r in template["Resources"].values() if r["Type"] == "AWS::S3::Bucket"]
    assert resource["DeletionPolicy"] == "Retain"


def test_the_role_is_for_sagemaker_of_this_account_and_the_folder(stack: cdk.Stack) -> None:
    training = queue(stack, prefix="runs/models")

    template = template_of(stack)
    (role,) = of_kind(template, "AWS::IAM::Role")
    assert role["AssumeRolePolicyDocument"]["Statement"] == [
        {
            "Action": "sts:AssumeRole",
            "Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
            "Effect": "Allow",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
        }
    ]
    (policy,) = of_kind(template, "AWS::IAM::Policy")
    assert training.checkpoints is not None
    bucket = stack.resolve(training.checkpoints.bucket.bucket_arn)
    logs = ["arn:", {"Ref": "AWS::Partition"}, ":logs:", {"Ref": "AWS::Region"}, ":", {"Ref": "AWS::AccountId"}]
    assert policy["PolicyDocument"]["Statement"] == [
        {
            "Action": ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            "Effect": "Allow",
            "Resource": {"Fn::Join": ["", [*logs, ":log-group:/aws/sagemaker/TrainingJobs:*"]]},
        },
        {
            "Action": "cloudwatch:PutMetricData",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}},
            "Effect": "Allow",
            "Resource": "*",
        },
        {
            "Action": [
                "s3:Abort*",
                "s3:DeleteObject*",
                "s3:GetBucket*",
                "s3:GetObject*",
                "s3:List*",
                "s3:PutObject",
                "s3:PutObjectLegalHold",
                "s3:PutObjectRetention",
                "s3:PutObjectTagging",
                "s3:PutObjectVersionTagging",
            ],
            "Effect": "Allow",
            "Resource": [bucket, {"Fn::Join": ["", [bucket, "/runs/models/*"]]}],
        },
    ]


def test_outputs_what_a_submitter_needs(stack: cdk.Stack) -> None:
    training = queue(stack)
    training.add_quota_share(
        "QS2", capacity_limits=ONE, resource_sharing=ResourceSharing.lend(), in_share_preemption=False
    )

    outputs = {name.rstrip("0123456789ABCDEF"): out["Value"] for name, out in template_of(stack)["Outputs"].items()}
    assert set(outputs) == {
        "TrainingJobQueueName",
        "TrainingQuotaShareNames",
        "TrainingJobTags",
        "TrainingExecutionRoleArn",
        "TrainingCheckpointUri",
    }
    name = stack.resolve(training.job_queue_name)
    assert outputs["TrainingJobQueueName"] == name
    assert outputs["TrainingQuotaShareNames"] == "QS1,QS2"
    assert outputs["TrainingJobTags"] == {"Fn::Join": ["", ["JobQueue=", name, ",QuotaShare=<quotaShareName>"]]}
    assert outputs["TrainingCheckpointUri"]["Fn::Join"][1][-1] == "/checkpoints"


def test_takes_a_bucket_a_key_and_a_role(stack: cdk.Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "existing")
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::123456789012:role/training")

    training = queue(stack, bucket=bucket, execution_role=role)

    assert training.checkpoints is not None
    assert training.checkpoints.uri == "s3://existing/checkpoints"
    assert training.checkpoints.execution_role is role
    assert not of_kind(template_of(stack), "AWS::S3::Bucket")


def test_a_key_encrypts_a_new_bucket(stack: cdk.Stack) -> None:
    queue(stack, encryption_key=kms.Key(stack, "Key", enable_key_rotation=True))

    (bucket,) = of_kind(template_of(stack), "AWS::S3::Bucket")
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"


def test_the_role_may_use_the_key(stack: cdk.Stack) -> None:
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    queue(stack, encryption_key=key)

    (policy,) = of_kind(template_of(stack), "AWS::IAM::Policy")
    (statement,) = [s for s in policy["PolicyDocument"]["Statement"] if "kms:Decrypt" in s["Action"]]
    assert statement == {
        "Action": ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
        "Effect": "Allow",
        "Resource": stack.resolve(key.key_arn),
    }


@pytest.mark.parametrize("prefix", ["", "/a", "a/", "a//b", "a b", "ä", "a*"])
def test_refuses_a_prefix_that_is_no_folder(stack: cdk.Stack, prefix: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Training/Checkpoints: prefix: ") as refused:
        queue(stack, prefix=prefix)

    assert repr(prefix) in str(refused.value)


def test_refuses_options_of_a_new_bucket_beside_a_bucket(stack: cdk.Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "existing")

    with pytest.raises(ValueError, match=r"^Stack/Training/Checkpoints: bucket: given, so "):
        queue(stack, bucket=bucket, expire_after=cdk.Duration.days(1))


def test_refuses_what_are_no_options(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Training: checkpoints: True is not a CheckpointOptions"):
        QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, checkpoints=True)  # type: ignore[arg-type]


def test_cdk_nag_is_clean_but_for_what_is_acknowledged(app: cdk.App, stack: cdk.Stack) -> None:
    queue(stack)
    logs = "arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:/aws/sagemaker/TrainingJobs:*"
    reasons = {
        "AwsSolutions-S1": "access to checkpoints is in CloudTrail's data events, where a team wants it",
        "AwsSolutions-IAM5[Resource::*]": "PutMetricData has no resource level; the namespace is a condition",
        f"AwsSolutions-IAM5[Resource::{logs}]": "the streams of the one log group that SageMaker writes to",
        "AwsSolutions-IAM5[Resource::<TrainingCheckpointsBucket425899AB.Arn>/checkpoints/*]": FOLDER,
        **{
            f"AwsSolutions-IAM5[Action::s3:{verb}*]": FOLDER
            for verb in ("Abort", "DeleteObject", "GetBucket", "GetObject", "List")
        },
    }
    for finding, reason in reasons.items():
        assert_documented(reason)
        cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id=finding, reason=reason))
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    app.synth()
