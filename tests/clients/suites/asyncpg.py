"""asyncpg: its own test-suite, without the tests that start servers themselves."""

TITLE = "asyncpg 0.30.0"


def setup(at):
    at.venv("asyncpg==0.30.0", "pytest==8.3.5", "pytest-timeout==2.3.1", "uvloop==0.21.0", "distro")
    source = at.sdist("asyncpg", "0.30.0")
    # The installed package is tested, not the sources, whose extension is not compiled.
    tests = at.work / "tests-only"
    if not tests.exists():
        tests.mkdir()
        (source / "tests").rename(tests / "tests")


def run(at):
    env = at.env(PGDATABASE="postgres")
    skipped = ["tests/test__sourcecode.py", "tests/test__environment.py"]
    options = ["--timeout=120", *[f"--ignore={path}" for path in skipped]]
    return at.pytest(*options, "tests", cwd=at.work / "tests-only", env=env)
