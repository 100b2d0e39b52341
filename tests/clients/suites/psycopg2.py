"""psycopg 2: its own test-suite."""

import re

TITLE = "psycopg 2.9.10"


def setup(at):
    at.venv("psycopg2-binary==2.9.10", "setuptools<80")
    at.sdist("psycopg2", "2.9.10")


def run(at):
    at.sql("CREATE DATABASE psycopg2_test")
    env = at.env(
        PSYCOPG2_TESTDB="psycopg2_test", PSYCOPG2_TESTDB_HOST="127.0.0.1",
        PSYCOPG2_TESTDB_PORT=str(at.port), PSYCOPG2_TESTDB_USER="postgres",
        PSYCOPG2_TESTDB_PASSWORD="secret", PSYCOPG2_TEST_FAST="1",
    )
    at.sql("CREATE EXTENSION IF NOT EXISTS hstore", "psycopg2_test")
    path = at.work / f"{at.server.kind}.tests"
    path.unlink(missing_ok=True)
    at.call(at.python, at.here / "unittest_report.py", path, "tests.test_suite",
            cwd=at.work / "source", env=env, check=False)
    return dict(re.findall(r"^(\S+) (\w+)$", path.read_text(), re.M))
