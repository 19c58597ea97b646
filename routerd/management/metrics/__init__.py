"""Metrics in the formats of Prometheus and OpenMetrics, for the router as a whole.

`families` lists all series, `router_samples` and `detailed` find their values, `gathering` has both done for a scrape,
and `exposition` writes them.
"""

from routerd.management.metrics.exposition import Samples
from routerd.management.metrics.families import DETAILED_FAMILIES, FAMILIES
from routerd.management.metrics.gathering import SERIES_MAX, Metrics, MetricsQuery, MetricsText, metrics_text

__all__ = [
    "DETAILED_FAMILIES",
    "FAMILIES",
    "SERIES_MAX",
    "Metrics",
    "MetricsQuery",
    "MetricsText",
    "Samples",
    "metrics_text",
]
