"""Sequelize: models synchronised, queried, changed and described, and the database moved."""

TITLE = "Sequelize 6.37.7"


def setup(at):
    at.npm("sequelize@6.37.7", "pg@8.16.3")


def run(at):
    at.sql("CREATE DATABASE sequelize")
    outcomes = at.node("sequelize.mjs", env=at.env(PGDATABASE="sequelize"))
    return outcomes | at.exchange("sequelize")
