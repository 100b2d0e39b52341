"""Django's test runner, which also writes a line "TEST OUTCOME" per test to $NORSU_REPORT."""

import os

from django.test.runner import DiscoverRunner
from unittest_report import Result


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Result

    def run_suite(self, suite, **kwargs):
        result = super().run_suite(suite, **kwargs)
        with open(os.environ["NORSU_REPORT"], "w") as out:
            out.writelines(f"{t} {o}\n" for t, o in sorted(result.outcomes.items()))
        return result
