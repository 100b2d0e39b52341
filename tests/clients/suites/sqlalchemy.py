"""SQLAlchemy 2: the dialect suite and the tests of the PostgreSQL dialect that use a database."""

TITLE = "SQLAlchemy 2.0.36"


def setup(at):
    at.venv("SQLAlchemy==2.0.36", "psycopg[binary]==3.2.6", "psycopg2-binary==2.9.10",
            "pytest==8.3.5", "pytest-xdist==3.6.1", "pytest-timeout==2.3.1")
    at.sdist("sqlalchemy", "2.0.36")


def run(at):
    at.sql("CREATE DATABASE test")
    at.sql("CREATE SCHEMA test_schema; CREATE SCHEMA test_schema_2;"
           "CREATE EXTENSION hstore; CREATE EXTENSION citext", "test")
    uri = f"postgresql+psycopg2://postgres:secret@127.0.0.1:{at.port}/test"
    return at.pytest(
        "--dburi", uri, "--backend-only", "--maxfail=100000", "-p", "no:logging", "--timeout=300",
        "test/dialect/test_suite.py", "test/dialect/postgresql", cwd=at.work / "source",
    )
