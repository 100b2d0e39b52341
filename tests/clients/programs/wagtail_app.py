"""Wagtail with its search in the database: wagtail_app.py."""

import os

import django
from django.conf import settings

from cases import equal, run, test

APPS = """
django.contrib.staticfiles django.contrib.auth django.contrib.contenttypes django.contrib.sessions
django.contrib.messages wagtail.contrib.forms wagtail.contrib.redirects
wagtail.contrib.search_promotions wagtail.embeds
wagtail.sites wagtail.users wagtail.snippets wagtail.documents wagtail.images wagtail.search
wagtail.locales wagtail.admin wagtail.contrib.simple_translation wagtail taggit modelcluster
""".split()

settings.configure(
    INSTALLED_APPS=APPS, SECRET_KEY="x", USE_TZ=True, WAGTAIL_SITE_NAME="s", ROOT_URLCONF="__main__",
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
        "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"],
    }},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField", WAGTAIL_I18N_ENABLED=True, STATIC_URL="s/",
    LANGUAGES=[("en", "English"), ("fr", "French")], WAGTAILADMIN_BASE_URL="http://localhost",
    WAGTAIL_CONTENT_LANGUAGES=[("en", "English"), ("fr", "French")],
    WAGTAILSEARCH_BACKENDS={"default": {
        "BACKEND": "wagtail.search.backends.database", "SEARCH_CONFIG": "english",
    }},
)
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402
from wagtail.models import Locale, Page, Site  # noqa: E402
from wagtail.search.backends import get_search_backend  # noqa: E402

urlpatterns = []
TITLES = ["Running dogs", "A dog runs", "Cats sleep", "The café of the cat", "Plain words"]


@test
def migrate():
    call_command("migrate", verbosity=0)


@test
def migrations_are_complete():
    call_command("migrate", check_unapplied=True, verbosity=0)


@test
def tree_of_pages():
    root = Page.objects.get(depth=2)
    for n, title in enumerate(TITLES):
        page = root.add_child(instance=Page(title=title, search_description=f"number {n}"))
        page.add_child(instance=Page(title=f"Child of {title}"))
    call_command("fixtree", interactive=False, verbosity=0)
    equal(Page.objects.descendant_of(root).count(), 10)
    equal(root.get_children().last().get_prev_sibling().title, TITLES[3])


@test
def move_and_copy_of_pages():
    root = Page.objects.get(depth=2)
    first, second = root.get_children()[:2]
    second.move(first, pos="last-child")
    equal(Page.objects.get(title=TITLES[1]).depth, 4)
    copied = Page.objects.get(title=TITLES[2]).copy(
        recursive=True, update_attrs={"title": "Copied", "slug": "copied"})
    equal(copied.get_descendants().count(), 1)


@test
def search():
    call_command("update_index", verbosity=0)
    equal({p.title for p in Page.objects.search("dog run")} >= set(TITLES[:2]), True)
    equal([p.title for p in Page.objects.search("café")][:1], ["The café of the cat"])
    equal(Page.objects.search("cat -sleeps", operator="or").count() > 0, True)
    found = Page.objects.filter(depth=3).search("words", fields=["title"])
    equal([p.title for p in found], ["Plain words"])


@test
def autocompletion_and_facets():
    equal({p.title for p in Page.objects.autocomplete("slee")} >= {"Cats sleep"}, True)
    facets = get_search_backend().search("dog", Page).facet("content_type_id")
    equal(sum(facets.values()) >= 2, True)


@test
def revisions_and_publishing():
    user = User.objects.create_superuser("admin", "a@example.org", "x")
    page = Page.objects.get(title="Plain words")
    page.title = "Changed words"
    revision = page.save_revision(user=user)
    equal(Page.objects.get(pk=page.pk).title, "Plain words")
    revision.publish()
    equal(Page.objects.get(pk=page.pk).title, "Changed words")
    page.refresh_from_db()
    page.unpublish()
    equal(Page.objects.live().filter(pk=page.pk).exists(), False)


@test
def translations():
    french = Locale.objects.create(language_code="fr")
    page = Page.objects.get(depth=2)
    copy = page.copy_for_translation(french)
    equal(page.get_translations().get().pk, copy.pk)


@test
def failed_transaction_leaves_no_page():
    try:
        with transaction.atomic():
            Page.objects.filter(depth=2).first().add_child(instance=Page(title="Never"))
            raise ValueError
    except ValueError:
        pass
    equal(Page.objects.filter(title="Never").exists(), False)


@test
def deletion():
    Page.objects.get(title="Running dogs").delete()
    call_command("rebuild_references_index", verbosity=0)
    equal(Page.objects.filter(title__contains="Running").count(), 0)
    equal(Site.objects.count(), 1)


if __name__ == "__main__":
    run()
