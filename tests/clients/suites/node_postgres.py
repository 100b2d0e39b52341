"""node-postgres with cursors, streams and COPY: scripted, as its packages contain no tests."""

TITLE = "node-postgres 8.16.3"


def setup(at):
    at.npm("pg@8.16.3", "pg-cursor@2.15.3", "pg-query-stream@4.10.3", "pg-copy-streams@7.0.0")


def run(at):
    at.sql("CREATE DATABASE node")
    outcomes = at.node("node_postgres.mjs", env=at.env(PGDATABASE="node"))
    return outcomes | at.exchange("node")
