"""pgx, a driver for Go: its own test-suite, which is part of the module."""

TITLE = "pgx 5.7.5"

# The users and types of the file testsetup/postgresql_setup.sql of the module.
SETUP = r"""
CREATE EXTENSION hstore; CREATE EXTENSION ltree; CREATE DOMAIN uint64 AS numeric(20, 0);
SET password_encryption = md5;
CREATE USER pgx_md5 SUPERUSER PASSWORD 'secret';
SET password_encryption = 'scram-sha-256';
CREATE USER pgx_pw SUPERUSER PASSWORD 'secret';
CREATE USER pgx_scram SUPERUSER PASSWORD 'secret';
CREATE USER " tricky, ' } "" \ test user " SUPERUSER PASSWORD 'secret';
"""


def setup(at):
    at.go_module("github.com/jackc/pgx/v5", "v5.7.5")


def run(at):
    at.sql("CREATE DATABASE pgx_test")
    at.sql(SETUP, "pgx_test")
    address = f"host=127.0.0.1 port={at.port} dbname=pgx_test"
    env = at.env(
        PGX_TEST_DATABASE=f"{address} user=postgres password=secret",
        PGX_TEST_TCP_CONN_STRING=f"{address} user=pgx_md5 password=secret",
        PGX_TEST_MD5_PASSWORD_CONN_STRING=f"{address} user=pgx_md5 password=secret",
        PGX_TEST_PLAIN_PASSWORD_CONN_STRING=f"{address} user=pgx_pw password=secret",
        PGX_TEST_SCRAM_PASSWORD_CONN_STRING=f"{address} user=pgx_scram password=secret",
        PGX_TEST_UNIX_SOCKET_CONN_STRING=(
            f"host={at.socket_directory} port={at.port} user=postgres dbname=pgx_test"
        ),
    )
    # Other settings of the environment change what connections without a setting use.
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD"):
        del env[name]
    return at.go_test("./...", env=env)
