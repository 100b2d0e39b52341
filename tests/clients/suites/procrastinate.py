"""procrastinate: its schema by Django's migrations and by SQL, jobs, and the databases moved."""

TITLE = "procrastinate 3.5.3"


def setup(at):
    at.venv("procrastinate[django]==3.5.3", "psycopg[binary,pool]==3.2.6", "Django==5.2")


def run(at):
    outcomes = {}
    for name in ("procrastinate_sql", "procrastinate_django"):
        at.sql(f"CREATE DATABASE {name}")
        env = at.env(PGDATABASE=name)
        found = at.program(at.python, at.here / "programs/procrastinate_app.py", name, env=env)
        found |= at.exchange(name)
        outcomes |= {f"{name}: {test}": outcome for test, outcome in found.items()}
    return outcomes
