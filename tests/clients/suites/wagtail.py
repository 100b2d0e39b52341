"""Wagtail: its schema by Django's migrations, pages and search in it, and the database moved."""

TITLE = "Wagtail 7.1"


def setup(at):
    at.venv("wagtail==7.1", "Django==5.2", "psycopg[binary]==3.2.6")


def run(at):
    at.sql("CREATE DATABASE wagtail")
    env = at.env(PGDATABASE="wagtail")
    outcomes = at.program(at.python, at.here / "programs/wagtail_app.py", env=env)
    return outcomes | at.exchange("wagtail")
