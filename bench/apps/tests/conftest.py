"""All tests run in name spaces of their own."""

import os
from contextlib import suppress

import pytest
from clients.process import INSIDE, go_inside
from clients.world import DRIVERS, OVERS


def pytest_configure(config: pytest.Config) -> None:
    if INSIDE not in os.environ:
        # The run inside prints for itself.
        config.pluginmanager.get_plugin("capturemanager").stop_global_capturing()  # type: ignore[union-attr]
    go_inside()
    # Beside other tests, card and server would have to wait for seconds. Only root may do this.
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=OVERS)
def over(request: pytest.FixtureRequest) -> str:
    return str(request.param)
