"""Makes up realistic records of any size, with faults in them that the questions have to find."""

from analytics.synthesize.making import synthesize
from analytics.synthesize.plan import Plan, Planted

__all__ = ["Plan", "Planted", "synthesize"]
