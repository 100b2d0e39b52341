#!/usr/bin/env python3
"""Runs the test-suites of drivers, ORMs and applications on Norsu and on PostgreSQL, and compares.

    tests/clients/run.py [--list] [--write] [--only ours|real] [SUITE]...

A suite is a module in tests/clients/suites with:

    TITLE       name and version for the table
    setup(at)   installs what it needs into the directory `at.work`; runs once per version of the
                module
    SETTINGS    settings of the server, if it needs others than all suites
    run(at)     runs the suite on the server of `at`, and returns {test: outcome} with the outcomes
                "passed", "failed", "error" and "skipped"

Clients whose packages contain no tests have a program in tests/clients/programs, which prints the
outcome of each of its cases. `at.exchange` moves what it leaves in the database by pg_dump to
PostgreSQL and back, and compares the dumps of all copies.

Servers listen on 127.0.0.1, with the superuser "postgres" (password "secret") and trust
authentication. Results are kept in target/clients/results. Failures that only Norsu has must be
listed in tests/clients/known/SUITE.txt as "PATTERN: reason" (a pattern of shell wildcards); others
make the program fail. --write updates the table in docs/compatibility.md from the kept results; the
lines of suites without kept results stay as they are.
"""

import argparse
import contextlib
import difflib
import fnmatch
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = Path(os.environ.get("NORSU_CLIENTS_DIR", ROOT / "target/clients"))
POSTGRES = Path("/usr/lib/postgresql/15/bin")
PORTS = {"ours": int(os.environ.get("NORSU_CLIENTS_PORT", "6165"))}
PORTS["real"] = PORTS["ours"] + 1
NAMES = {"ours": "Norsu", "real": "PostgreSQL"}
BAD = ("failed", "error")
MARKS = ("<!-- clients: begin -->", "<!-- clients: end -->")


class Fail(Exception):
    """An error that ends the suite or the program."""


def as_server_user(command):
    """Servers do not run as root."""
    if os.geteuid() == 0:
        return ["runuser", "-u", "postgres", "--", *map(str, command)]
    return list(map(str, command))


class Unavailable(Fail):
    """What a suite needs cannot be fetched here."""


class Server:
    """A server on a new data directory, stopped at the end."""

    def __init__(self, kind, settings=None):
        self.kind = kind
        self.more = settings or {}
        self.port = PORTS[kind]
        self.data = WORK / f"data-{kind}"
        self.log = WORK / f"{kind}.log"
        self.socket_directory = str(WORK) if len(str(WORK)) < 80 else "/tmp"
        norsu = Path(os.environ.get("NORSU_BIN", ROOT / "target/release/norsu"))
        self.bin = WORK / "bin"
        if kind == "ours":
            self.bin.mkdir(parents=True, exist_ok=True)
            program = self.bin / "norsu"
            if not program.exists() or program.stat().st_mtime < norsu.stat().st_mtime:
                shutil.copy(norsu, program)
            for name in ("initdb", "pg_ctl", "postgres"):
                link = self.bin / name
                if not link.is_symlink():
                    link.symlink_to("norsu")
        else:
            self.bin = POSTGRES

    def start(self):
        WORK.mkdir(parents=True, exist_ok=True)
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir()
        self.log.unlink(missing_ok=True)
        self.log.touch()
        if os.geteuid() == 0:
            for path in (self.data, self.log):
                shutil.chown(path, "postgres")
        password = WORK / "password"
        password.write_text("secret\n")
        password.chmod(0o644)
        subprocess.run(
            as_server_user(
                [self.bin / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-k", "-N"]
                + [f"--pwfile={password}", "--locale=C.UTF-8", "-E", "UTF8"]
            ),
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        settings = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": self.socket_directory,
            "fsync": "off",
            "max_connections": 200,
            "max_prepared_transactions": 20,
        } | self.more
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        if os.geteuid() == 0:
            WORK.chmod(0o777)
        started = subprocess.run(
            as_server_user([self.bin / "pg_ctl", "-D", self.data, "-l", self.log, "-w", "start"]),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        if started.returncode:
            raise Fail(f"{NAMES[self.kind]} does not start:\n{self.log.read_text()}")

    def stop(self):
        if (self.data / "postmaster.pid").exists():
            command = [self.bin / "pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop"]
            subprocess.run(
                as_server_user(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    def is_alive(self):
        command = [POSTGRES / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(command).returncode == 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


class At:
    """Where a suite runs: its directory and, unless it is set up, a server."""

    def __init__(self, name, server=None):
        self.name = name
        self.work = WORK / name
        self.server = server
        self.here = HERE
        self.downloads = WORK / "downloads"

    @property
    def port(self):
        return self.server.port

    def env(self, **more):
        env = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONDONTWRITEBYTECODE="1")
        for name in [n for n in env if n.startswith("PG")]:
            del env[name]
        if self.server:
            env.update(
                PGHOST="127.0.0.1", PGPORT=str(self.port), PGUSER="postgres", PGPASSWORD="secret"
            )
        env.update(more)
        return env

    def call(self, *command, cwd=None, env=None, check=True, timeout=3600):
        """Runs a command. Its output goes to a file."""
        label = f"{self.server.kind}" if self.server else "setup"
        path = self.work / f"{label}.out"
        with open(path, "a") as out:
            out.write(f"\n$ {' '.join(map(str, command))}\n")
            out.flush()
            try:
                done = subprocess.run(
                    list(map(str, command)), cwd=cwd or self.work, env=env or self.env(),
                    timeout=timeout, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                )
                status = done.returncode
            except subprocess.TimeoutExpired:
                out.write(f"\nended after {timeout} s\n")
                status = 124
        if check and status:
            raise Fail(f"{command[0]} failed with status {status}; see {path}")
        return status

    def sql(self, text, database="postgres"):
        psql = [POSTGRES / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        psql += ["-d", database, "-c", text]
        done = subprocess.run(
            list(map(str, psql)), env=self.env(), capture_output=True, text=True
        )
        if done.returncode:
            raise Fail(done.stderr.strip())
        return done.stdout.strip()

    def program(self, *command, **options):
        """Runs a program that prints "ok TEST" or "not ok TEST" per test; the outcomes."""
        path = self.work / f"{self.server.kind}.out"
        path.touch()
        begin = path.stat().st_size
        self.call(*command, check=False, **options)
        outcomes = {}
        with open(path) as out:
            out.seek(begin)
            for line in out:
                if match := re.fullmatch(r"(ok|not ok) (\S.*)", line.rstrip()):
                    outcomes[match[2]] = "passed" if match[1] == "ok" else "failed"
        return outcomes

    def exchange(self, database):
        """Moves a database by pg_dump from this server to PostgreSQL and back; the outcomes.

        On PostgreSQL both databases are on the same server, so all must pass.
        """
        outcomes = {}

        def step(name, function, *args):
            try:
                result = function(*args)
                outcomes[name] = "failed" if result is False else "passed"
                return result
            except Fail as e:
                print(f"{self.name}: {name}: {e}", flush=True)
                outcomes[name] = "failed"

        def move(text, port, copy):
            self.postgres("psql", "-c", f'CREATE DATABASE "{copy}" TEMPLATE template0', port=port)
            options = ["-v", "ON_ERROR_STOP=1", "-d", copy, "-f", "-"]
            self.postgres("psql", *options, port=port, text=text)
            return self.dump(copy, port)

        here, copy = self.port, f"{database}_copy"
        with contextlib.ExitStack() as stack:
            there = here
            if self.server.kind == "ours":
                there = stack.enter_context(Server("real")).port
                roles = self.postgres("pg_dumpall", "--roles-only", "--no-role-passwords")
                self.postgres("psql", "-f", "-", port=there, text=roles)
            dump = step("pg_dump", self.dump, database, here)
            if dump is None:
                return outcomes
            (self.work / f"{database}.{self.server.kind}.sql").write_text(dump)
            # Each restore parses expressions again, which may write them in another form. So the
            # dumps of the copies are compared, not the first dump.
            moved = step("pg_dump: restored on PostgreSQL", move, dump, there, copy)
            again = step("pg_dump: restored here", move, dump, here, f"{database}_again")
            if moved is not None and again is not None:
                step("pg_dump: the same on both", self.same, again, moved)
                back = step("pg_dump: moved back", move, moved, here, f"{database}_back")
                if back is not None:
                    step("pg_dump: the same when moved back", self.same, moved, back)
        return outcomes

    def same(self, one, other):
        difference = list(difflib.unified_diff(one.splitlines(), other.splitlines(), n=1))
        with open(self.work / f"{self.server.kind}.out", "a") as out:
            out.writelines(f"{line}\n" for line in difference)
        return not difference

    def dump(self, database, port):
        lines = self.postgres("pg_dump", "-d", database, port=port).splitlines(keepends=True)
        # Comments and the random keys of psql's restricted mode differ.
        return "".join(
            line for line in lines if not re.match(r"--|\\(un)?restrict ", line)
        )

    def postgres(self, program, *args, port=None, text=None):
        """Runs a program of PostgreSQL; its output."""
        command = [POSTGRES / program, *args]
        if program == "psql":
            command[1:1] = ["-X", "-q"]
        done = subprocess.run(
            list(map(str, command)), env=self.env(PGPORT=str(port or self.port)), input=text,
            capture_output=True, text=True,
        )
        if done.returncode:
            raise Fail(f"{program}: {done.stderr.strip()[:2000]}")
        return done.stdout

    def npm(self, *packages):
        """Installs packages of npm; the suite's programs are copied beside them."""
        package = self.work / "package.json"
        if not package.exists():
            package.write_text('{"private": true, "type": "module"}')
        self.call("npm", "install", "--no-audit", "--no-fund", "--save-exact", *packages)

    def node(self, program, *args, env=None, timeout=600):
        """Runs a program of the directory `programs` with the packages of `npm`."""
        for name in ("cases.mjs", program):
            shutil.copy(self.here / "programs" / name, self.work / name)
        return self.program("node", program, *args, env=env, timeout=timeout)

    def npm_source(self, *packages):
        """Installs what `package.json` of the directory `source` needs, with these packages in the
        place of those for its development, which are for other databases too."""
        path = self.work / "source/package.json"
        package = json.loads(path.read_text())
        package |= {"devDependencies": {}, "peerDependencies": {}, "scripts": {}}
        path.write_text(json.dumps(package))
        command = ["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps"]
        self.call(*command, *packages, cwd=path.parent)

    def mocha(self, *args, env, timeout=3600):
        """Runs mocha in the directory `source`; the outcome of each test."""
        report = self.work / f"{self.server.kind}.xml"
        report.unlink(missing_ok=True)
        options = ["--exit", "--reporter=xunit", f"--reporter-options=output={report}"]
        command = ["npx", "mocha", *options, *args]
        self.call(*command, cwd=self.work / "source", env=env, check=False, timeout=timeout)
        return junit(report)

    def venv(self, *packages):
        """A virtual environment with these packages; its directory."""
        venv = self.work / "venv"
        if not (venv / "bin/python").exists():
            self.call(sys.executable, "-m", "venv", venv)
        self.call(venv / "bin/pip", "install", "-q", *packages)
        return venv

    @property
    def python(self):
        return self.work / "venv/bin/python"

    def sdist(self, package, version):
        """Downloads and unpacks a source distribution; its directory."""
        target = self.work / "source"
        if not target.exists():
            self.downloads.mkdir(parents=True, exist_ok=True)
            spec = f"{package}=={version}"
            python = self.python if self.python.exists() else sys.executable
            folder = self.work / "download"
            self.call(
                python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", package,
                "-d", folder, spec,
            )
            self.unpack(next(folder.glob("*.tar.gz")), target)
        return target

    def repository(self, url, tag, *paths):
        """Unpacks a tag of a public Git repository, or only some of its paths, for tests that no
        package has; its directory.

        $NORSU_CLIENTS_REPOSITORIES may name a directory with copies: OWNER+NAME/repo.
        """
        target = self.work / "source"
        if target.exists():
            return target
        name = url.split("//")[1].split("/", 1)[1].replace("/", "+")
        copies = os.environ.get("NORSU_CLIENTS_REPOSITORIES")
        archive = self.work / "source.tar"
        copy = Path(copies or "") / name / "repo"
        if not (copies and copy.exists()):
            copy = self.work / "repository"
            self.remove(copy)
            command = ["git", "clone", "-q", "--bare", "--depth=1", f"--branch={tag}", url, copy]
            if self.call(*command, check=False):
                raise Unavailable(f"{url} cannot be reached")
        self.call("git", "-C", copy, "archive", "--prefix=source/", "-o", archive, tag, *paths)
        self.unpack(archive, target)
        return target

    def unpack(self, archive, target):
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        self.call("tar", "-xf", archive, "-C", partial, "--strip-components=1")
        partial.rename(target)

    def remove(self, path):
        shutil.rmtree(path, ignore_errors=True)

    @property
    def socket_directory(self):
        return self.server.socket_directory

    def go_module(self, module, version):
        """Downloads a module of Go, whose tests are part of it; its directory is changeable."""
        target = self.work / "source"
        if not target.exists():
            folder = self.work / "module"
            folder.mkdir(exist_ok=True)
            (folder / "go.mod").write_text("module fetch\n")
            self.call("go", "get", f"{module}@{version}", cwd=folder)
            done = subprocess.run(
                ["go", "list", "-m", "-f", "{{.Dir}}", module], cwd=folder, env=self.env(),
                capture_output=True, text=True, check=True,
            )
            shutil.copytree(done.stdout.strip(), target)
            self.call("chmod", "-R", "u+w", target)
        # Compiles the tests, and so downloads the modules that they need.
        self.call("go", "test", "-run", "^$", "./...", cwd=target, check=False)

    def go_test(self, *packages, env, timeout=3600):
        """Runs the tests of Go packages in the directory `source`; the outcome of each."""
        report = self.work / f"{self.server.kind}.json"
        with open(report, "w") as out, open(self.work / f"{self.server.kind}.out", "a") as errors:
            subprocess.run(
                ["go", "test", "-json", "-count=1", "-p=1", *packages],
                cwd=self.work / "source", env=env, stdin=subprocess.DEVNULL, stdout=out,
                stderr=errors, timeout=timeout,
            )
        actions = {"pass": "passed", "fail": "failed", "skip": "skipped"}
        outcomes = {}
        for line in report.read_text().splitlines():
            event = json.loads(line) if line.startswith("{") else {}
            if "Test" in event and event["Action"] in ("run", *actions):
                # A test without an end was running when its program ended.
                outcome = actions.get(event["Action"], "error")
                outcomes[f"{event['Package']}::{event['Test']}"] = outcome
        return outcomes

    def maven_sources(self, group, artifact, version, classifier):
        """Downloads and unpacks an archive of sources from Maven's repository."""
        target = self.work / "source"
        if not target.exists():
            self.call(
                "mvn", "-q", "-B", "dependency:copy", "-Dmdep.useBaseVersion=true",
                f"-Dartifact={group}:{artifact}:{version}:tar.gz:{classifier}",
                f"-DoutputDirectory={self.work}",
            )
            self.unpack(self.work / f"{artifact}-{version}-{classifier}.tar.gz", target)

    def maven(self, *artifacts):
        """Copies artifacts "GROUP:NAME:VERSION" and what they need to the directory `lib`."""
        needed = "".join(
            "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
            "</dependency>".format(*artifact.split(":"))
            for artifact in artifacts
        )
        (self.work / "pom.xml").write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            "<groupId>clients</groupId><artifactId>clients</artifactId><version>1</version>"
            f"<dependencies>{needed}</dependencies></project>"
        )
        goal = "dependency:copy-dependencies"
        self.call("mvn", "-q", "-B", goal, f"-DoutputDirectory={self.work / 'lib'}")

    def java(self, program, *args, env=None, timeout=600):
        """Runs a program of the directory `programs`, one file, with the artifacts of `maven`."""
        classes, libraries = self.work / "classes", f"{self.work / 'lib'}/*"
        path = self.here / "programs" / program
        self.call("javac", "-nowarn", "-cp", libraries, "-d", classes, path)
        command = ["java", "-cp", f"{classes}:{libraries}", path.stem]
        return self.program(*command, *args, env=env, timeout=timeout)

    def junit(self, *reports):
        return junit(*reports)

    def pytest(self, *args, cwd, env=None, timeout=5400, cache=False):
        """Runs pytest; the outcome of each test from its JUnit report."""
        report = self.work / f"{self.server.kind}.xml"
        report.unlink(missing_ok=True)
        options = ["-q", f"--junit-xml={report}", "-o", "junit_family=xunit1"]
        options += [] if cache else ["-p", "no:cacheprovider"]
        self.call(
            self.python, "-m", "pytest", *options, *args, cwd=cwd, env=env, check=False,
            timeout=timeout,
        )
        return junit(report)


def junit(*reports):
    """The outcomes of JUnit reports."""
    import xml.etree.ElementTree as tree

    outcomes = {}
    for report in reports:
        if not report.exists():
            raise Fail(f"the suite wrote no report {report}")
        for case in tree.parse(report).getroot().iter("testcase"):
            name = f"{case.get('classname')}::{case.get('name')}"
            kinds = {child.tag for child in case}
            outcome = "passed"
            for tag, kind in (("skipped", "skipped"), ("failure", "failed"), ("error", "error")):
                if tag in kinds:
                    outcome = kind
            # A test that is run several times has its worst outcome.
            order = ["skipped", "passed", "failed", "error"]
            outcomes[name] = max(outcome, outcomes.get(name, "skipped"), key=order.index)
    return outcomes


def load(name):
    path = HERE / f"suites/{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return module


def suites():
    order = (HERE / "suites/order.txt").read_text().split()
    return order


def set_up(name, module):
    at = At(name)
    stamp = at.work / ".set-up"
    at.work.mkdir(parents=True, exist_ok=True)
    wanted = getattr(module, "VERSION", module.digest)
    if not stamp.exists() or stamp.read_text() != wanted:
        module.setup(at)
        stamp.write_text(wanted)


def known(name):
    path = HERE / f"known/{name}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    return [tuple(part.strip() for part in line.rsplit(": ", 1)) for line in lines]


def run_suite(name, kinds):
    module = load(name)
    set_up(name, module)
    results = WORK / "results"
    results.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        begun = time.monotonic()
        with Server(kind, getattr(module, "SETTINGS", None)) as server:
            at = At(name, server)
            (at.work / f"{kind}.out").unlink(missing_ok=True)
            outcomes = module.run(at)
            alive = server.is_alive()
        seconds = round(time.monotonic() - begun)
        record = {"title": module.TITLE, "seconds": seconds, "alive": alive, "tests": outcomes}
        record["measured"] = f"{time.strftime('%Y-%m-%d')}, {commit()}"
        (results / f"{name}.{kind}.json").write_text(json.dumps(record, indent=0, sort_keys=True))
        good = sum(o == "passed" for o in outcomes.values())
        print(f"{name} on {NAMES[kind]}: {good} of {len(outcomes)} passed, {seconds} s", flush=True)
        if not alive:
            print(f"{name}: {NAMES[kind]} is not running any more", flush=True)


def commit():
    """The commit that the server was built from, as the caller says, or that of the sources."""
    if given := os.environ.get("NORSU_COMMIT"):
        return given
    command = ["git", "-C", ROOT, "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def compare(name):
    """Counts and names of differing tests from the kept results; None if there are none."""
    kept = {}
    for kind in PORTS:
        path = WORK / f"results/{name}.{kind}.json"
        if not path.exists():
            return None
        kept[kind] = json.loads(path.read_text())
    ours, real = kept["ours"]["tests"], kept["real"]["tests"]
    passed = [t for t, o in real.items() if o == "passed"]
    both = [t for t in passed if ours.get(t) == "passed"]
    lost = sorted(t for t in passed if ours.get(t) != "passed")
    reasons = known(name)
    explained = {}
    unknown = []
    for test in lost:
        reason = next((r for p, r in reasons if fnmatch.fnmatchcase(test, p)), None)
        if reason is None:
            unknown.append(test)
        else:
            explained[reason] = explained.get(reason, 0) + 1
    return {
        "title": kept["ours"]["title"], "total": len(real), "both": len(both), "lost": lost,
        "explained": explained, "unknown": unknown, "alive": kept["ours"]["alive"],
        "neither": len(real) - len(passed), "measured": kept["ours"].get("measured", ""),
    }


def table(previous):
    """The table; `previous` has the lines that stay for suites without kept results."""
    lines = [
        "| suite | passed on both | failed only on Norsu | failed or skipped on PostgreSQL"
        " | measured | reasons |",
        "|---|---|---|---|---|---|",
    ]
    old = {line.split("|")[1].strip(): line for line in previous if line.startswith("| ")}
    for name in suites():
        result = compare(name)
        if result is None:
            lines += [line for line in [old.get(load(name).TITLE)] if line]
            continue
        explained = sorted(result["explained"].items(), key=lambda e: -e[1])
        reasons = [f"{reason} ({count})" for reason, count in explained]
        if result["unknown"]:
            reasons.append(f"not examined ({len(result['unknown'])})")
        lines.append(
            f"| {result['title']} | {result['both']} | {len(result['lost'])} |"
            f" {result['neither']} | {result['measured']} | {'; '.join(reasons)} |"
        )
    return "\n".join(lines)


def write_table():
    path = ROOT / "docs/compatibility.md"
    text = path.read_text()
    begin, end = MARKS
    head, rest = text.split(begin, 1)
    previous, tail = rest.split(end, 1)
    path.write_text(f"{head}{begin}\n{table(previous.splitlines())}\n{end}{tail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--list", action="store_true", help="list the suites")
    parser.add_argument("--write", action="store_true", help="update docs/compatibility.md")
    parser.add_argument("--only", choices=list(PORTS), help="run on one server only")
    parser.add_argument("--compare", action="store_true", help="compare kept results only")
    parser.add_argument("suite", nargs="*")
    given = parser.parse_args()
    if given.list:
        print("\n".join(suites()))
        return 0
    names = given.suite or suites()
    kinds = [given.only] if given.only else list(PORTS)
    wrong = False
    for name in names:
        if not given.compare:
            try:
                run_suite(name, kinds)
            except Unavailable as e:
                print(f"{name}: left out: {e}", flush=True)
                continue
            except Fail as e:
                print(f"{name}: {e}", flush=True)
                wrong = True
                continue
        result = compare(name)
        if result is None:
            continue
        lost = len(result["lost"])
        print(f"{name}: {result['both']} passed on both, {lost} failed only on Norsu", flush=True)
        for test in result["unknown"]:
            print(f"    {test}")
        wrong |= bool(result["unknown"]) or not result["alive"]
    if given.write:
        write_table()
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
