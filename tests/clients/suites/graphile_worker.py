"""graphile-worker: its schema, jobs in it, and the database moved to PostgreSQL and back."""

TITLE = "graphile-worker 0.16.6"


def setup(at):
    at.npm("graphile-worker@0.16.6", "pg@8.16.3")


def run(at):
    at.sql("CREATE DATABASE worker")
    outcomes = at.node("graphile_worker.mjs", env=at.env(PGDATABASE="worker"))
    return outcomes | at.exchange("worker")
