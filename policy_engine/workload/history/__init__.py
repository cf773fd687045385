"""Job histories: what ran somewhere, read as the jobs of a workload.

``read_history`` recognises CSV, AWS Batch JSON and Slurm's ``sacct`` by what is in the file, not by its name. Teams
become shares, GPUs become instances and times become seconds from the first submission, as ``--map`` says. Nothing is
dropped in silence: what was left out, and what was read with a reservation, is counted by reason.
"""

from policy_engine.workload.history.history import Format, History
from policy_engine.workload.history.mapping import HistoryMap, load_map
from policy_engine.workload.history.reading import read_history
from policy_engine.workload.history.remarks import Remark

__all__ = ["Format", "History", "HistoryMap", "Remark", "load_map", "read_history"]
