"""pg-boss: its schema, jobs in it, and the database moved to PostgreSQL and back."""

TITLE = "pg-boss 10.3.2"


def setup(at):
    at.npm("pg-boss@10.3.2", "pg@8.16.3")


def run(at):
    at.sql("CREATE DATABASE boss")
    outcomes = at.node("pg_boss.mjs", env=at.env(PGDATABASE="boss"))
    return outcomes | at.exchange("boss")
