"""Metrics of RPC servers for oslo.metrics; oslo.messaging itself measures RPC clients."""

from typing import Any

from oslo_config import cfg
from oslo_messaging._metrics import client

from .addressing import Destination


class ServerMetrics:
    """Tells oslo.metrics' collector of requests, if [oslo_messaging_metrics] metrics_enabled says so."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        try:
            self._is_enabled = bool(conf.oslo_messaging_metrics.metrics_enabled)
        except cfg.NoSuchOptError:
            # A configuration of one's own does not have the options of the metrics.
            self._is_enabled = False

    def began(self, destination: Destination, message: Any) -> None:
        """A request came in for a destination."""
        if self._is_enabled:
            client.get_collector(self._conf).rpc_server_invocation_start_total(**_labels(destination, message))

    def ended(self, destination: Destination, message: Any, duration_s: float, failure: Any) -> None:
        """A request was dealt with."""
        if not self._is_enabled:
            return
        collector, labels = client.get_collector(self._conf), _labels(destination, message)
        if failure is not None:
            collector.rpc_server_exception_total(exception=failure[0].__name__, **labels)
        collector.rpc_server_processing_seconds(duration=duration_s, **labels)
        collector.rpc_server_invocation_end_total(**labels)


def _labels(destination: Destination, message: Any) -> dict[str, Any]:
    return {
        "target": destination,
        "endpoint": None,
        "ns": message.get("namespace"),
        "ver": message.get("version"),
        "method": message.get("method"),
    }
