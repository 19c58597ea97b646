"""What would happen if the network were another one: the recorded traffic over changed topologies."""

from analytics.whatif.changes import Scenario, parse_scenario
from analytics.whatif.demand import Demand, HopLatency, demands, hop_latency
from analytics.whatif.evaluate import Result, evaluate
from analytics.whatif.jobs import Optimum, optimise, what_if

__all__ = [
    "Demand",
    "HopLatency",
    "Optimum",
    "Result",
    "Scenario",
    "demands",
    "evaluate",
    "hop_latency",
    "optimise",
    "parse_scenario",
    "what_if",
]
