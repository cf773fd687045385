"""What others reported of these resources and of the CDK in Python, and the test that holds what we do about it."""

import re

import pytest

from tests.synthesis import ROOT

HERE = "tests/constructs_quota"
COVERAGE = "aws-cloudformation/cloudformation-coverage-roadmap"
TERRAFORM = "hashicorp/terraform-provider-aws"

REPORTS: dict[str, tuple[str, ...]] = {
    # A fixed name and a change that replaces: 409. A new name: the jobs are ended.
    f"{COVERAGE} 2463": (
        f"{HERE}/test_job_queue.py::test_warns_of_a_fixed_name",
        f"{HERE}/test_training_queue.py::test_generates_names_unless_given",
        "tests/pipeline/test_run.py::test_a_destructive_change_fails",
    ),
    # An edit of tags alone fails, or replaces, or is never applied.
    f"{COVERAGE} 1229, 1230": (f"{HERE}/test_templates.py::test_of_a_stack_leave_out_queue_and_policy",),
    f"{COVERAGE} 1655": (f"{HERE}/test_templates.py::test_of_a_stack_leave_out_queue_and_policy",),
    "aws/aws-cdk 21988": ("tests/policy_engine/findings/test_rules.py::test_rule_on_fixture",),  # QM303
    f"{TERRAFORM} 29629": ("tests/policy_engine/changes/test_dangers.py::test_in_templates",),
    # Enumerations in lower case drift for ever.
    "aws/aws-cdk 31621": (
        f"{HERE}/test_quota_share.py::test_refuses",
        f"{HERE}/test_service_environment.py::test_refuses",
    ),
    # A name that is an ARN.
    "aws/aws-cdk 23018, 14563, 25093": (
        f"{HERE}/test_job_queue.py::test_name_is_a_name_and_arn_an_arn",
        f"{HERE}/test_scheduling_policy.py::test_name_is_a_name_and_arn_an_arn",
        f"{HERE}/test_service_environment.py::test_name_is_a_name_and_arn_an_arn",
        f"{HERE}/test_quota_share.py::test_name_is_a_name_and_arn_an_arn",
    ),
    # What a queue needs is deleted before it.
    f"{TERRAFORM} 2044, 11093, 13221": (
        f"{HERE}/test_job_queue.py::test_is_linked_by_ref_so_that_cloudformation_orders",
        f"{HERE}/test_quota_share.py::test_is_linked_by_ref_so_that_cloudformation_orders",
    ),
    # A service environment cannot be replaced under its queue.
    f"{TERRAFORM} 46925": (
        f"{HERE}/test_service_environment.py::test_warns_of_a_fixed_name",
        "tests/policy_engine/changes/test_dangers.py::test_in_templates",
    ),
    # A policy's ARN that is empty makes the queue one that cannot be deleted.
    "pulumi/pulumi-aws 3088": (
        f"{HERE}/test_scheduling_policy.py::test_import_refuses_an_empty_arn",
        f"{HERE}/test_scheduling_policy.py::test_refuses_what_is_no_name",
    ),
    # A policy cannot be added to a queue that has none, nor change its kind.
    "ASFHyP3/hyp3 799": ("tests/policy_engine/changes/test_dangers.py::test_in_templates",),
    # Every job has to name its share.
    "ASFHyP3/hyp3 802, nextflow-io/nextflow 3505, terraform-provider-aws 31226": (
        f"{HERE}/test_checkpoints.py::test_outputs_what_a_submitter_needs",
        "tests/stacks/test_training_queue_stack.py::test_outputs_what_a_submitter_names",
    ),
    # A queue without an environment fails at deployment.
    "aws/aws-cdk 6615": (f"{HERE}/test_job_queue.py::test_refuses", f"{HERE}/test_training_queue.py::test_refuses"),
    # A policy that one did not ask for.
    "terraform-aws-modules/terraform-aws-batch 3": (
        f"{HERE}/test_training_queue.py::test_takes_an_environment_and_a_policy",
    ),
    # Order by position in a list.
    f"{TERRAFORM} 19247, 20764": (f"{HERE}/test_job_queue.py::test_is_linked_by_ref_so_that_cloudformation_orders",),
    # No grants, or of the wrong ARN.
    "aws/aws-cdk 24178, 25574, 33862": (
        f"{HERE}/test_grants.py::test_grants_on_a_share",
        f"{HERE}/test_grants.py::test_grants_on_a_queue",
    ),
    # Service jobs are submitted with another action.
    "Netflix/metaflow 2596": (f"{HERE}/test_grants.py::test_grant_no_more_than_they_say",),
    # An export in use locks the stack that has it.
    "aws/aws-cdk 7602": (f"{HERE}/test_quota_share.py::test_a_queue_of_another_stack_gets_shares",),
    # A plugin that fails, or crashes, and a command that exits with 0.
    "aws/aws-cdk 26844, 27575": (
        f"{HERE}/test_validation_cli.py::test_an_error_fails_and_is_traced_to_the_user_s_line",
        f"{HERE}/test_validation_cli.py::test_a_crash_lets_neither_synth_nor_deploy_pass",
    ),
    # CDK's own validator is slow on conditions.
    "aws/aws-cdk 38378, 38425, 38498, 38614": (
        f"{HERE}/test_templates.py::test_no_template_has_conditions",
        "tests/test_app.py::test_cdk_synth",
    ),
    # Imports that take seconds.
    "aws/jsii 3389, aws/aws-cdk 19000, 21695": (
        "tests/test_architecture.py::test_engine_imports_neither_cdk_nor_boto3",
    ),
    # Dictionaries in Python's spelling break, or vanish.
    "cdk8s-team/cdk8s-core 874, hashicorp/terraform-cdk 280, awslabs/generative-ai-cdk-constructs 551": (
        f"{HERE}/test_quota_share.py::test_refuses",
        f"{HERE}/test_quota_share.py::test_refuses_a_dictionary_for_an_attribute",
        f"{HERE}/test_training_queue.py::test_refuses",
    ),
    # Checks of numbers that refuse tokens.
    "aws/aws-cdk 38043, 38245, 38263": (
        f"{HERE}/test_service_environment.py::test_a_number_token_of_any_form_passes",
        f"{HERE}/test_job_queue.py::test_a_time_limit_can_be_changed",
        f"{HERE}/test_validation.py::test_a_token_is_unknown_and_never_a_number",
    ),
    "aws/jsii 3344": (f"{HERE}/test_interfaces.py::test_has_every_member",),
    # mypy refuses a class where its interface is wanted.
    "aws/aws-cdk 13474, 15651": ("tests/docs/test_snippets.py::test_the_snippets_are_typed",),
    # The message drowns in JavaScript.
    "aws/jsii 1072, 47": (
        f"{HERE}/test_service_environment.py::test_names_everything_that_is_wrong",
        f"{HERE}/test_validation_cli.py::test_an_error_fails_and_is_traced_to_the_user_s_line",
    ),
}


@pytest.mark.parametrize("report", REPORTS)
def test_what_we_do_about_it_has_a_test(report: str) -> None:
    for test in REPORTS[report]:
        file, name = test.split("::")
        assert re.search(rf"^ *def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), test
