"""Captures that Warp records once a session, for the tests of the reader and of the model."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the path of each capture of `makers`, by name. Do not change the files."""
    import makers

    folder = tmp_path_factory.mktemp("recorded")
    return {maker.__name__: makers.record(maker, folder) for maker in makers.MAKERS}
