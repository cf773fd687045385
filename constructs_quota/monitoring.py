"""What to watch: CloudWatch metrics and EventBridge events of a job queue, alarms and a dashboard.

Sources: AWS Batch User Guide, using_cloudwatch_metrics, and the pages of service job events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from constructs import Construct

from constructs_quota.arns import JOB_QUEUE, name_in
from constructs_quota.declared import Refusal, is_token

if TYPE_CHECKING:
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_events as events

    from constructs_quota.job_queue import JobQueueBase
    from constructs_quota.share_metrics import ShareMetrics

# aws_cloudwatch and aws_events are loaded where they are used: an app that only declares queues does without.

PREEMPTION_STARTED: Final = "Batch Service Job Preemption Started"
PREEMPTION_COMPLETED: Final = "Batch Service Job Preemption Completed"
STATUSES: Final = ("PENDING", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
"""What a job can change to, so that there is an event; there is none of its submission."""
COUNT: Final = "Sum"
DURATION: Final = "Average"
METRICS: Final[Mapping[str, str]] = {
    "JobsSubmitted": COUNT,
    "JobsMovedToPending": COUNT,
    "JobsMovedToRunnable": COUNT,
    "JobsMovedToScheduled": COUNT,
    "JobsMovedToStarting": COUNT,
    "JobsMovedToRunning": COUNT,
    "JobsMovedToSucceeded": COUNT,
    "JobsMovedToFailed": COUNT,
    "JobsCancelled": COUNT,
    "JobsTerminated": COUNT,
    "JobsRetried": COUNT,
    "JobsPreempted": COUNT,
    "JobSubmittedToRunnableDuration": DURATION,
    "JobSubmittedToFirstScheduledDuration": DURATION,
    "JobAttemptRunnableToScheduledDuration": DURATION,
    "JobAttemptScheduledToStartingDuration": DURATION,
    "JobAttemptStartingToRunningDuration": DURATION,
    "JobAttemptExecutionDuration": DURATION,
    "JobAttemptDuration": DURATION,
}
"""The metrics of service jobs that AWS Batch publishes per queue, as far as it can, and what one usually takes of each.

None is per quota share; see ``ShareMetrics``.
"""


class MonitoredQueue:
    """The metrics and events of a queue, whether it is declared here or imported."""

    _arn: str

    @cached_property
    def _queue_name(self) -> str:
        return name_in(self._arn, JOB_QUEUE)

    def metric(self, name: str, **options: Any) -> cloudwatch.Metric:
        """A metric of the queue, by its name in ``METRICS``.

        The options are those of ``aws_cloudwatch.Metric``; by default it is a sum, of durations an average, over five
        minutes (which is CDK's own default).

        Raises:
            ValueError: AWS has no such metric.
        """
        from aws_cdk import aws_cloudwatch as cloudwatch

        problem = _metric_problem(name)
        if problem is not None:
            raise ValueError(f"metric: {problem}")
        defaults = {
            "dimensions_map": {"JobQueueName": self._queue_name},
            "statistic": METRICS[name],
        }
        return cloudwatch.Metric(namespace="AWS/Batch", metric_name=name, **{**defaults, **options})

    def metric_jobs_submitted(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that were submitted (``JobsSubmitted``)."""
        return self.metric("JobsSubmitted", **options)

    def metric_jobs_moved_to_pending(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that became PENDING (``JobsMovedToPending``)."""
        return self.metric("JobsMovedToPending", **options)

    def metric_jobs_moved_to_runnable(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that became RUNNABLE, also after a preemption or a retry (``JobsMovedToRunnable``)."""
        return self.metric("JobsMovedToRunnable", **options)

    def metric_jobs_moved_to_scheduled(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that were dispatched, also after a preemption (``JobsMovedToScheduled``)."""
        return self.metric("JobsMovedToScheduled", **options)

    def metric_jobs_moved_to_starting(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that got their instances (``JobsMovedToStarting``)."""
        return self.metric("JobsMovedToStarting", **options)

    def metric_jobs_moved_to_running(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that began to run (``JobsMovedToRunning``)."""
        return self.metric("JobsMovedToRunning", **options)

    def metric_jobs_moved_to_succeeded(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that succeeded (``JobsMovedToSucceeded``)."""
        return self.metric("JobsMovedToSucceeded", **options)

    def metric_jobs_moved_to_failed(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that failed (``JobsMovedToFailed``)."""
        return self.metric("JobsMovedToFailed", **options)

    def metric_jobs_cancelled(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that were cancelled (``JobsCancelled``)."""
        return self.metric("JobsCancelled", **options)

    def metric_jobs_terminated(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that somebody, or a time limit, ended (``JobsTerminated``)."""
        return self.metric("JobsTerminated", **options)

    def metric_jobs_retried(self, **options: Any) -> cloudwatch.Metric:
        """Jobs that were tried again (``JobsRetried``)."""
        return self.metric("JobsRetried", **options)

    def metric_jobs_preempted(self, **options: Any) -> cloudwatch.Metric:
        """Preemptions of jobs (``JobsPreempted``)."""
        return self.metric("JobsPreempted", **options)

    def metric_time_to_runnable(self, **options: Any) -> cloudwatch.Metric:
        """Time from submission to RUNNABLE (``JobSubmittedToRunnableDuration``)."""
        return self.metric("JobSubmittedToRunnableDuration", **options)

    def metric_time_to_first_scheduled(self, **options: Any) -> cloudwatch.Metric:
        """Time from submission to the first dispatch (``JobSubmittedToFirstScheduledDuration``)."""
        return self.metric("JobSubmittedToFirstScheduledDuration", **options)

    def metric_time_to_scheduled(self, **options: Any) -> cloudwatch.Metric:
        """Time that attempts wait, also after a preemption (``JobAttemptRunnableToScheduledDuration``)."""
        return self.metric("JobAttemptRunnableToScheduledDuration", **options)

    def metric_time_to_starting(self, **options: Any) -> cloudwatch.Metric:
        """Time that dispatched attempts wait for their instances (``JobAttemptScheduledToStartingDuration``)."""
        return self.metric("JobAttemptScheduledToStartingDuration", **options)

    def metric_time_to_running(self, **options: Any) -> cloudwatch.Metric:
        """Time that attempts with instances take to begin (``JobAttemptStartingToRunningDuration``)."""
        return self.metric("JobAttemptStartingToRunningDuration", **options)

    def metric_attempt_time(self, **options: Any) -> cloudwatch.Metric:
        """Time that attempts take in all (``JobAttemptDuration``)."""
        return self.metric("JobAttemptDuration", **options)

    def metric_execution_time(self, **options: Any) -> cloudwatch.Metric:
        """Time that attempts run (``JobAttemptExecutionDuration``)."""
        return self.metric("JobAttemptExecutionDuration", **options)

    def on_job_state_change(
        self,
        rule_id: str,
        *,
        target: events.IRuleTarget | None = None,
        quota_share_name: str | None = None,
        statuses: Sequence[str] = (),
    ) -> events.Rule:
        """A rule for the jobs of the queue: of every share and to every state, or those given.

        There is no event for a submission, and none has a job's tags or payload. A share that the app does not
        declare on the queue, where it declares the queue, is refused at synthesis.

        Raises:
            ValueError: A status is none that a job can change to.
        """
        refusal = Refusal(cast("Construct", self), rule_id)
        refusal.add("statuses", _statuses_problem(statuses))
        refusal.raise_if_any()
        detail: dict[str, Any] = {"jobQueue": [self._arn]}
        if quota_share_name is not None:
            self._expect_share(quota_share_name)
            detail["quotaShareName"] = [quota_share_name]
        if statuses:
            detail["status"] = list(statuses)
        return self._rule(rule_id, "Batch Service Job State Change", target, detail)

    def on_queue_blocked(self, rule_id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for when a job blocks the front of a share of the queue; ``statusReason`` says why."""
        return self._rule(rule_id, "Batch Service Job Queue Blocked", target, {"jobQueue": [self._arn]})

    def on_preemption_started(self, rule_id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for when a job begins to be preempted: of whatever queue.

        The event names neither the queue nor the share, so no rule can tell; ``notify_preemptions`` looks them up.
        """
        return self._rule(rule_id, PREEMPTION_STARTED, target, None)

    def on_preemption_completed(self, rule_id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for when a preempted job has stopped and is RUNNABLE again, or FAILED: of whatever queue."""
        return self._rule(rule_id, PREEMPTION_COMPLETED, target, None)

    def _expect_share(self, name: str) -> None:
        """Have it refused at synthesis that the queue has no such quota share; of an imported one nothing is known."""

    def _rule(
        self, rule_id: str, detail_type: str, target: events.IRuleTarget | None, detail: dict[str, Any] | None
    ) -> events.Rule:
        from aws_cdk import aws_events as events

        pattern = events.EventPattern(source=["aws.batch"], detail_type=[detail_type], detail=detail)
        targets = [] if target is None else [target]
        return events.Rule(cast("Construct", self), rule_id, event_pattern=pattern, targets=targets)


class QueueMonitoring(Construct):
    """Alarms on a queue, and a dashboard of it.

    Attributes:
        alarms: Metric name and word to alarm.
        dashboard: The dashboard.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        job_queue: JobQueueBase,
        alarms: Mapping[str, Mapping[str, float]] | None = None,
        actions: Mapping[str, Sequence[cloudwatch.IAlarmAction]] | None = None,
        share_metrics: ShareMetrics | None = None,
    ) -> None:
        """Declare them.

        Args:
            scope: The construct that contains them.
            construct_id: Their id there.
            job_queue: The queue.
            alarms: Metric (of ``METRICS``) to thresholds, each under a word that the alarm's name ends in:
                ``{"JobsPreempted": {"Warning": 5, "Critical": 20}}`` is two alarms, above five and above twenty
                preemptions in five minutes. Default: none.
            actions: Word to what the alarms of that word do. Default: nothing.
            share_metrics: Metrics per share, to show on the dashboard.

        Raises:
            ValueError: There is no such metric, a threshold is no number, or an action for a word that no alarm has.
        """
        from aws_cdk import aws_cloudwatch as cloudwatch

        wanted = alarms or {}
        refusal = Refusal(scope, construct_id)
        refusal.job_queue(job_queue, "metric")
        words = set(_words(refusal, wanted))
        todos: Mapping[str, object] = actions or {}
        for word, todo in todos.items():
            if not isinstance(todo, Sequence):
                refusal.add(f"actions[{word!r}]", f"{todo!r} is not a list of alarm actions")
            if word not in words:
                refusal.add("actions", f"no alarm is called {word!r}; there is {', '.join(sorted(words)) or 'none'}")
        refusal.raise_if_any()
        super().__init__(scope, construct_id)
        self.alarms = {
            (name, word): self._alarm(job_queue, name, word, threshold, (actions or {}).get(word, ()))
            for name, thresholds in wanted.items()
            for word, threshold in thresholds.items()
        }
        self.dashboard = cloudwatch.Dashboard(self, "Dashboard", widgets=_widgets(job_queue, share_metrics))
        if self.alarms:
            self.dashboard.add_widgets(cloudwatch.AlarmStatusWidget(alarms=list(self.alarms.values()), width=24))

    def _alarm(
        self,
        queue: JobQueueBase,
        name: str,
        word: str,
        threshold: float,
        actions: Sequence[cloudwatch.IAlarmAction],
    ) -> cloudwatch.Alarm:
        from aws_cdk import aws_cloudwatch as cloudwatch

        above = "what is set at deployment" if is_token(threshold) else f"{threshold:g}"
        alarm = cloudwatch.Alarm(
            self,
            f"{name}{word}",
            metric=queue.metric(name),
            threshold=threshold,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            # AWS publishes nothing where nothing happens, and only as far as it can.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=f"{name} of a quota share queue above {above} ({word})",
        )
        alarm.add_alarm_action(*actions)
        return alarm


def _widgets(queue: JobQueueBase, share_metrics: ShareMetrics | None) -> list[list[cloudwatch.IWidget]]:
    from aws_cdk import aws_cloudwatch as cloudwatch

    graphs = {
        "Jobs": ("JobsSubmitted", "JobsMovedToScheduled", "JobsMovedToSucceeded", "JobsMovedToFailed"),
        "Preemptions": ("JobsPreempted", "JobsTerminated"),
        "Waiting": ("JobSubmittedToFirstScheduledDuration", "JobAttemptRunnableToScheduledDuration"),
    }
    row: list[cloudwatch.IWidget] = [
        cloudwatch.GraphWidget(title=title, left=[queue.metric(name) for name in names], width=8)
        for title, names in graphs.items()
    ]
    return [row] if share_metrics is None else [row, share_metrics.widgets()]


def _words(refusal: Refusal, alarms: Mapping[str, Any]) -> Iterator[str]:
    """The words of the alarms, which are held to: metrics that there are, each to words with a number."""
    for name, thresholds in alarms.items():
        refusal.add("alarms", _metric_problem(name))
        if not isinstance(thresholds, Mapping):
            refusal.add(
                f"alarms[{name!r}]", f"{thresholds!r} is not a mapping of word to threshold, such as {{'Warning': 5}}"
            )
            continue
        for word, threshold in thresholds.items():
            refusal.value(f"alarms[{name!r}][{word!r}]", threshold, _threshold_problem)
            yield word


def _threshold_problem(threshold: object) -> str | None:
    # Nothing that is counted or timed is below 0; a number token is.
    if isinstance(threshold, int | float) and not isinstance(threshold, bool) and threshold >= 0:
        return None
    return f"{threshold!r} is not a number of 0 or more"


def _statuses_problem(statuses: object) -> str | None:
    if isinstance(statuses, str) or not isinstance(statuses, Sequence):
        return f"{statuses!r} is not a list of statuses, such as ['FAILED']"
    unknown = [status for status in statuses if status not in STATUSES]
    return f"{unknown[0]!r} is not one of {', '.join(STATUSES)}" if unknown else None


def _metric_problem(name: str) -> str | None:
    if name in METRICS:
        return None
    near = get_close_matches(name, METRICS, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else f"; there is {', '.join(METRICS)}"
    return f"{name!r} is not a metric of a job queue{meant}"
