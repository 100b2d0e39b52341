"""MLflow: its schema by Alembic, experiments, runs and models in it, and the database moved."""

TITLE = "MLflow 3.4.0"


def setup(at):
    at.venv("mlflow-skinny==3.4.0", "SQLAlchemy==2.0.36", "alembic==1.16.5",
            "psycopg2-binary==2.9.10", "numpy", "pandas")


def run(at):
    at.sql("CREATE DATABASE mlflow")
    uri = f"postgresql://postgres:secret@127.0.0.1:{at.port}/mlflow"
    env = at.env(
        MLFLOW_TRACKING_URI=uri, MLFLOW_DISABLE_TELEMETRY="true", GIT_PYTHON_REFRESH="quiet"
    )
    outcomes = at.program(at.python, at.here / "programs/mlflow_app.py", at.work, env=env)
    return outcomes | at.exchange("mlflow")
