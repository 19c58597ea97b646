"""What holds for all tests: hypothesis draws the same examples in every run, and no clock decides over a test."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "client", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("client")
