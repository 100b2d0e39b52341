"""pgjdbc, a driver for Java: its own test-suite, from the archive of its sources."""

TITLE = "pgjdbc 42.7.5"


def setup(at):
    at.maven_sources("org.postgresql", "postgresql", "42.7.5", "jdbc-src")
    at.call("mvn", "-q", "-B", "test-compile", cwd=at.work / "source")
    # Surefire loads the providers of tests when it runs them.
    at.call("mvn", "-q", "-B", "surefire:test", "-Dtest=OidTest", "-DfailIfNoTests=false",
            cwd=at.work / "source", check=False)


def run(at):
    at.sql("CREATE USER test PASSWORD 'test'")
    at.sql("CREATE DATABASE test OWNER test")
    at.sql("CREATE EXTENSION hstore; CREATE EXTENSION citext;"
           "GRANT CREATE ON SCHEMA public TO test", "test")
    properties = {
        "server": "127.0.0.1", "port": at.port, "secondaryServer1": "127.0.0.1",
        "secondaryPort1": at.port + 100, "secondaryServer2": "127.0.0.1",
        "secondaryServerPort2": at.port + 100, "database": "test", "username": "test",
        "password": "test", "privilegedUser": "postgres", "privilegedPassword": "secret",
        "sspiusername": "", "preparethreshold": 5, "protocolVersion": 0,
    }
    source = at.work / "source"
    local = source / "build.local.properties"
    local.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    (source / "ssltest.local.properties").write_text("enable_ssl_tests=false\n")
    reports = source / "target/surefire-reports"
    at.remove(reports)
    at.call(
        "mvn", "-B", "surefire:test", "-Dmaven.test.failure.ignore=true",
        f"-Dbuild.properties.relative.path={source}", cwd=source, check=False, timeout=3600,
    )
    return at.junit(*reports.glob("TEST-*.xml"))
