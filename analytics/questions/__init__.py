"""What operators ask: one module a question, each a function of DataFrames to a DataFrame."""

from analytics.questions.anomalies import anomalies
from analytics.questions.audit import audit
from analytics.questions.balance import balance
from analytics.questions.cells import decision_cells, flow_cells
from analytics.questions.churn import churn
from analytics.questions.clocks import clocks
from analytics.questions.latency import latency
from analytics.questions.matrix import matrix
from analytics.questions.outcomes import outcomes, undeliverables
from analytics.questions.stalls import stalls
from analytics.questions.stretch import stretch
from analytics.questions.talkers import talkers
from analytics.questions.trunks import trunks

__all__ = [
    "anomalies",
    "audit",
    "balance",
    "churn",
    "clocks",
    "decision_cells",
    "flow_cells",
    "latency",
    "matrix",
    "outcomes",
    "stalls",
    "stretch",
    "talkers",
    "trunks",
    "undeliverables",
]
