"""MLflow with a database as its store: mlflow_app.py DIRECTORY."""

import os
import sys

import mlflow
from mlflow.entities import Metric, Param, RunTag
from mlflow.tracking import MlflowClient

from cases import equal, run, test

URI = os.environ["MLFLOW_TRACKING_URI"]
client = None
kept = {}


@test
def upgrade():
    import sqlalchemy
    from mlflow.store.db.utils import _initialize_tables, _upgrade_db

    engine = sqlalchemy.create_engine(URI)
    _initialize_tables(engine)
    _upgrade_db(engine)
    global client
    client = MlflowClient(URI)


@test
def schema_is_that_of_the_models():
    import sqlalchemy
    from mlflow.store.db.utils import _verify_schema

    _verify_schema(sqlalchemy.create_engine(URI))


@test
def experiments():
    kept["e"] = client.create_experiment("first", sys.argv[1], tags={"a": "b"})
    other = client.create_experiment("second", sys.argv[1])
    client.delete_experiment(other)
    found = client.search_experiments(filter_string="name LIKE 'f%' AND tags.a = 'b'")
    equal([e.name for e in found], ["first"])


@test
def runs_with_metrics():
    for n in range(8):
        r = client.create_run(kept["e"], tags={"n": str(n)})
        client.log_batch(
            r.info.run_id,
            metrics=[Metric("loss", 1 / (n + s + 1), 1000 + s, s) for s in range(20)],
            params=[Param("lr", str(n / 10))],
            tags=[RunTag("kind", "even" if n % 2 == 0 else "odd")],
        )
        client.set_terminated(r.info.run_id, "FINISHED" if n else "FAILED")
        kept["r"] = r.info.run_id
    client.log_metric(kept["r"], "special", float("nan"))
    client.log_metric(kept["r"], "special", float("inf"))
    equal(len(client.get_metric_history(kept["r"], "loss")), 20)


@test
def search_of_runs():
    found = client.search_runs(
        [kept["e"]],
        "metrics.loss < 0.045 and tags.kind = 'odd' and attributes.status = 'FINISHED'",
        order_by=["metrics.loss ASC", "params.lr DESC"], max_results=2,
    )
    equal([r.data.tags["n"] for r in found], ["7", "5"])
    rest = client.search_runs([kept["e"]], "params.lr ILIKE '0.%'", max_results=3)
    rest = client.search_runs([kept["e"]], "params.lr ILIKE '0.%'", page_token=rest.token)
    equal(len(rest), 5)


@test
def parameter_changed():
    try:
        client.log_param(kept["r"], "lr", "99")
        raise AssertionError("no error")
    except mlflow.exceptions.MlflowException as e:
        assert "Changing param values is not allowed" in str(e), e


@test
def deleted_and_restored_runs():
    client.delete_run(kept["r"])
    equal(len(client.search_runs([kept["e"]])), 7)
    client.restore_run(kept["r"])
    equal(len(client.search_runs([kept["e"]])), 8)


@test
def registered_models():
    client.create_registered_model("m", tags={"t": "1"}, description="text")
    for _ in range(3):
        client.create_model_version("m", sys.argv[1], kept["r"])
    client.set_registered_model_alias("m", "best", 2)
    client.update_model_version("m", "3", description="new")
    equal(client.get_model_version_by_alias("m", "best").version, 2)
    client.rename_registered_model("m", "n")
    found = client.search_model_versions("name = 'n'")
    equal(sorted(int(v.version) for v in found), [1, 2, 3])
    client.delete_model_version("n", "1")


@test
def traces():
    mlflow.set_experiment("first")
    with mlflow.start_span("outer") as span:
        span.set_inputs({"a": 1})
    mlflow.flush_trace_async_logging()
    found = client.search_traces(experiment_ids=[kept["e"]])
    equal(len(found), 1)


if __name__ == "__main__":
    run()
