"""Runs a unittest suite and writes a line "TEST OUTCOME" per test: unittest_report.py FILE FUNCTION.

FUNCTION is the dotted name of a function that returns the suite.
"""

import importlib
import sys
import unittest

ORDER = ["skipped", "passed", "failed", "error"]


class Result(unittest.TextTestResult):
    """Keeps the worst outcome of each test."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.outcomes = {}

    def note(self, test, outcome):
        name = getattr(test, "test_case", test).id().replace(" ", "_")
        self.outcomes[name] = max(outcome, self.outcomes.get(name, "skipped"), key=ORDER.index)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "failed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(subtest, "failed" if issubclass(err[0], test.failureException) else "error")


def main():
    path, function = sys.argv[1:3]
    sys.path.insert(0, ".")
    module, _, name = function.rpartition(".")
    suite = getattr(importlib.import_module(module), name)()
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Result)
    outcomes = runner.run(suite).outcomes
    with open(path, "w") as out:
        out.writelines(f"{test} {outcome}\n" for test, outcome in sorted(outcomes.items()))


if __name__ == "__main__":
    main()
