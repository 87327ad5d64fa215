"""Settings of all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is slow, and that is no fault of what is tested.
settings.register_profile("careeval", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("careeval")
