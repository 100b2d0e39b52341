"""TypeORM: entities synchronised, changed and queried, and the database moved."""

TITLE = "TypeORM 0.3.27"


def setup(at):
    at.npm("typeorm@0.3.27", "reflect-metadata@0.2.2", "pg@8.16.3")


def run(at):
    at.sql("CREATE DATABASE typeorm")
    outcomes = at.node("typeorm.mjs", env=at.env(PGDATABASE="typeorm"))
    return outcomes | at.exchange("typeorm")
