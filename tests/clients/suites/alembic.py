"""Alembic: the tests of its own suite that use a database."""

TITLE = "Alembic 1.16.5"

TESTS = [
    f"tests/test_{name}.py"
    for name in ("autogen_composition", "autogen_diffs", "autogen_indexes", "batch", "bulk_insert",
                 "command", "impl", "op", "postgresql", "suite", "version_table")
]


def setup(at):
    at.venv("alembic==1.16.5", "SQLAlchemy==2.0.36", "psycopg2-binary==2.9.10", "pytest==8.3.5",
            "black==25.1.0", "tzdata")
    at.sdist("alembic", "1.16.5")


def run(at):
    at.sql("CREATE DATABASE test")
    at.sql("CREATE SCHEMA test_schema; CREATE EXTENSION btree_gin", "test")
    uri = f"postgresql+psycopg2://postgres:secret@127.0.0.1:{at.port}/test"
    return at.pytest("--dburi", uri, "-p", "no:logging", *TESTS, cwd=at.work / "source")
