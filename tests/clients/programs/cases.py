"""Runs test functions in their order, and prints the outcome of each."""

import asyncio
import traceback

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def run():
    # Coroutines share a loop, and other functions run while no loop runs, as Django demands.
    loop = asyncio.new_event_loop()
    for function in TESTS:
        name = function.__name__.replace("_", " ")
        try:
            result = function()
            if asyncio.iscoroutine(result):
                loop.run_until_complete(asyncio.wait_for(result, 120))
            print(f"ok {name}", flush=True)
        except Exception:
            print(f"not ok {name}", flush=True)
            traceback.print_exc()


def equal(found, wanted):
    assert found == wanted, f"found {found!r}, wanted {wanted!r}"
