"""psycopg 3: its own test-suite, with the implementation in C."""

TITLE = "psycopg 3.2.6"


def setup(at):
    at.venv("psycopg[binary]==3.2.6", "psycopg-pool==3.2.6", "pytest==8.3.5", "anyio==4.8.0",
            "pytest-timeout==2.3.1", "dnspython==2.7.0", "numpy==2.2.4", "pproxy==2.7.9")
    source = at.repository("https://github.com/psycopg/psycopg", "3.2.6")
    # The installed packages are tested, not the sources, whose extension is not compiled.
    for name in ("psycopg", "psycopg_c", "psycopg_pool"):
        at.remove(source / name)


def run(at):
    at.sql("CREATE DATABASE psycopg3_test")
    at.sql("CREATE EXTENSION hstore", "psycopg3_test")
    dsn = f"host=127.0.0.1 port={at.port} user=postgres password=secret dbname=psycopg3_test"
    env = at.env(PSYCOPG_IMPL="binary", PSYCOPG_TEST_DSN=dsn)
    # Other settings of the environment change what connections without a setting use.
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD"):
        del env[name]
    # Tests of types need mypy, and those of times an idle machine.
    marks = "not mypy and not timing and not slow and not flakey and not crdb"
    options = ["--timeout=120", "-m", marks]
    return at.pytest(*options, "tests", cache=True, cwd=at.work / "source", env=env)
