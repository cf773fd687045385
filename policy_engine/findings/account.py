"""QM401: what the account around a live queue lets it use (``check --account``)."""

from __future__ import annotations

from collections.abc import Iterator

from policy_engine.findings import pages
from policy_engine.findings.rule import Found, Severity, rule
from policy_engine.findings.subject import Subject


@rule(
    "QM401",
    Severity.WARNING,
    "(`check --account`) more instances than SageMaker lets the account train on",
    why="AWS Batch dispatches by the service environments alone. SageMaker then refuses a training job beyond the"
    " account's quota for its instance type, whatever the shares say, so that no guarantee is whole while the"
    " environments of all queues are in use.",
    remedy="ask Service Quotas for a higher quota, or lower the capacity of an environment",
    source=pages.SERVICE_QUOTAS,
)
def beyond_the_quota(subject: Subject) -> Iterator[Found]:
    """Sums up the enabled service environments of the account, on each instance type that the queue's has.

    A type of which Service Quotas has no quota is worth knowing alone.
    """
    account = subject.account
    if account is None:
        return
    for environment, unit, _, place in subject.capacities():
        declared = account.declared(unit)
        quota = account.quotas.get(unit)
        total = sum(declared.values())
        others = account.of_any_type
        more = f"; {_listed(others)} may use instances of any type too" if others else ""
        if quota is None:
            told = f"Service Quotas lists no quota '{unit} for training job usage', so it is not known{more}"
            yield Found(told, environment, place, unit, Severity.INFO)
        elif total > quota:
            told = f"the environments have {total} {unit} ({_listed(declared)}), and the account may train on {quota:g}"
            yield Found(f"{told}{more}", environment, place, unit)


def _listed(environments: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in environments.items())
