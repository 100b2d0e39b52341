"""Applications in Java: Flyway, Liquibase and Hibernate, and their databases moved."""

TITLE = "Flyway 11.8.2, Liquibase 4.31.1, Hibernate 6.6.15"


def setup(at):
    at.maven(
        "org.postgresql:postgresql:42.7.5", "org.flywaydb:flyway-database-postgresql:11.8.2",
        "org.liquibase:liquibase-core:4.31.1", "org.hibernate.orm:hibernate-core:6.6.15.Final",
        "org.slf4j:slf4j-nop:2.0.17",
    )


def run(at):
    outcomes = {}
    for name in ("flyway", "liquibase", "hibernate"):
        at.sql(f"CREATE DATABASE {name}")
        found = at.java("Applications.java", name, at.work, env=at.env(PGDATABASE=name))
        found |= at.exchange(name)
        outcomes |= {f"{name}: {test}": outcome for test, outcome in found.items()}
    return outcomes
