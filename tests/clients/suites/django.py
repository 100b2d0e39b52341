"""Django 5.2: the tests that use the database most."""

TITLE = "Django 5.2"

LABELS = """
admin_changelist aggregation aggregation_regress annotations backends basic bulk_create
cache constraints custom_columns custom_lookups custom_pk datatypes dates datetimes db_functions
db_typecasts db_utils defer defer_regress delete delete_regress distinct_on_fields empty_models
expressions expressions_case expressions_window extra_regress fixtures fixtures_regress
force_insert_update foreign_object from_db_value generic_relations generic_relations_regress
get_or_create indexes inspectdb introspection known_related_objects lookup m2m_and_m2o
m2m_intermediary m2m_multiple m2m_recursive m2m_regress m2m_signals m2m_through
m2m_through_regress m2o_recursive managers_regress many_to_many many_to_one migrate_signals
migration_test_data_persistence migrations migrations2 model_fields model_forms model_indexes
model_inheritance model_inheritance_regress model_meta model_options multiple_database
mutually_referential nested_foreign_keys null_fk null_fk_ordering null_queries one_to_one
or_lookups order_with_respect_to ordering postgres_tests prefetch_related proxy_models queries
queryset_pickle raw_query reserved_names reverse_lookup save_delete_hooks schema select_for_update
select_related select_related_onetoone select_related_regress serializers sessions_tests
signals sites_tests string_lookup swappable_models test_utils timezones transaction_hooks
transactions unmanaged_models update update_only_fields validation xor_lookups
""".split()

# Applications whose tables need types and collations of their own (ICU, inet, ranges). They run
# apart, so that the others do not depend on these.
APART = [["inspectdb"], ["model_fields"], ["serializers"], ["postgres_tests"], ["validation"]]

SETTINGS = """
DATABASES = {{
    "default": {{
        "ENGINE": "django.db.backends.postgresql", "NAME": "django", "USER": "postgres",
        "PASSWORD": "secret", "HOST": "127.0.0.1", "PORT": {port},
    }},
    "other": {{
        "ENGINE": "django.db.backends.postgresql", "NAME": "django2", "USER": "postgres",
        "PASSWORD": "secret", "HOST": "127.0.0.1", "PORT": {port},
    }},
}}
SECRET_KEY = "tests"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "norsu_runner.Runner"
"""


def setup(at):
    at.venv("Django==5.2", "psycopg[binary,pool]==3.2.6", "asgiref", "jinja2", "PyYAML", "Pillow",
            "pytz", "tzdata", "tblib", "docutils", "numpy", "argon2-cffi", "bcrypt", "sqlparse",
            "aiosmtpd", "redis", "pymemcache", "selenium==4.30.0", "black==25.1.0")
    source = at.sdist("django", "5.2")
    # A migration of postgres_tests creates these extensions. They are created beforehand where they
    # exist, so that the tests that do not need them run.
    path = source / "tests/postgres_tests/migrations/0001_setup_extensions.py"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(
        line for line in lines if line.strip() not in ("BloomExtension(),", "BtreeGistExtension(),")
    ))


def run(at):
    folder = at.work / f"settings-{at.server.kind}"
    folder.mkdir(exist_ok=True)
    (folder / "norsu_settings.py").write_text(SETTINGS.format(port=at.port))
    (folder / "norsu_runner.py").write_text((at.here / "django_runner.py").read_text())
    for name in ("bloom", "btree_gist"):
        at.sql(f"""DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_available_extensions WHERE name = '{name}') THEN
                CREATE EXTENSION {name};
            END IF;
        END $$""", "template1")
    at.sql("CREATE DATABASE django")
    at.sql("CREATE DATABASE django2")
    outcomes = {}
    others = [label for label in LABELS if [label] not in APART]
    for group in [others, *APART]:
        report = at.work / f"{at.server.kind}.tests"
        report.unlink(missing_ok=True)
        env = at.env(PYTHONPATH=f"{folder}:{at.here}", NORSU_REPORT=str(report))
        at.call(at.python, "runtests.py", "--settings=norsu_settings", "--parallel=1", "--noinput",
                "-v", "1", *group, cwd=at.work / "source/tests", env=env, check=False)
        if report.exists():
            lines = report.read_text().splitlines()
            outcomes.update(line.rsplit(" ", 1) for line in lines)
    return outcomes
