"""Drizzle: its own tests with node-postgres and postgres.js."""

import json
import os

TITLE = "Drizzle 0.45.0"

TESTS = [
    f"tests/{name}.test.ts"
    for name in ("pg/node-postgres", "pg/postgres-js", "pg/pg-custom", "relational/pg",
                 "relational/pg.postgresjs")
]


def setup(at):
    paths = ("integration-tests", "tsconfig.json")
    url = "https://github.com/drizzle-team/drizzle-orm"
    folder = at.repository(url, "drizzle-kit@0.31.8", *paths) / "integration-tests"
    # The tests of other databases need many packages more.
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    packages = ("drizzle-orm@0.45.0", "pg@8.16.3", "postgres@3.4.7", "vitest@3.1.3",
                "vite-tsconfig-paths@4.3.2", "uuid@9.0.0", "get-port@7.0.0", "dockerode@4.0.6",
                "async-retry@1.3.3", "dotenv@16.1.4", "keyv@5.2.3", "zod@3.20.2")
    at.call("npm", "install", "--no-audit", "--no-fund", *packages, cwd=folder)


def run(at):
    at.sql("CREATE DATABASE drizzle")
    report = at.work / f"{at.server.kind}.json"
    report.unlink(missing_ok=True)
    uri = f"postgres://postgres:secret@127.0.0.1:{at.port}/drizzle"
    env = at.env(PG_CONNECTION_STRING=uri)
    options = ["--reporter=json", f"--outputFile={report}"]
    folder = at.work / "source/integration-tests"
    at.call("npx", "vitest", "run", *options, *TESTS, cwd=folder, env=env, check=False)
    outcomes = {"passed": "passed", "failed": "failed"}
    return {
        f"{os.path.basename(file['name'])}::{test['fullName']}":
            outcomes.get(test["status"], "skipped")
        for file in json.loads(report.read_text())["testResults"]
        for test in file["assertionResults"]
    }
