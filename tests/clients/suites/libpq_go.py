"""lib/pq, a driver for Go: its own test-suite, which is part of the module."""

TITLE = "lib/pq 1.10.9 (Go)"


def setup(at):
    at.go_module("github.com/lib/pq", "v1.10.9")


def run(at):
    at.sql("CREATE DATABASE pqgotest")
    at.sql("CREATE EXTENSION hstore", "pqgotest")
    env = at.env(PGDATABASE="pqgotest", PGSSLMODE="disable", PQTEST_BINARY_PARAMETERS="no")
    text = at.go_test(".", "./scram", "./hstore", env=env)
    env["PQTEST_BINARY_PARAMETERS"] = "yes"
    binary = at.go_test(".", env=env)
    return text | {f"binary {test}": outcome for test, outcome in binary.items()}
