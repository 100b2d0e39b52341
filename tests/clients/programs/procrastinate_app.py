"""procrastinate with its schema applied by SQL or by Django: procrastinate_app.py DATABASE."""

import asyncio
import os
import sys

import procrastinate
from procrastinate import exceptions

from cases import equal, run, test

BY_DJANGO = sys.argv[1].endswith("django")
app = procrastinate.App(connector=procrastinate.PsycopgConnector())
done = []


@app.task(queue="plain")
def note(n):
    done.append(n)


@app.task(queue="plain", retry=1)
def fail():
    raise ValueError("wanted to fail")


@app.periodic(cron="* * * * * */1")
@app.task(queue="periodic", pass_context=True)
async def tick(context, timestamp):
    done.append("tick")


async def work(*queues, **options):
    await app.run_worker_async(
        queues=queues or ["plain"], wait=False, install_signal_handlers=False, **options
    )


def migrate_by_django():
    import django
    from django.conf import settings
    from django.core.management import call_command

    settings.configure(
        INSTALLED_APPS=["procrastinate.contrib.django"],
        DATABASES={"default": {
            "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
            "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
            "USER": os.environ["PGUSER"],
        }},
    )
    django.setup()
    call_command("migrate", verbosity=0)
    call_command("makemigrations", "procrastinate", check=True, dry_run=True, verbosity=0)


@test
async def schema():
    if BY_DJANGO:
        await asyncio.to_thread(migrate_by_django)
        await app.open_async()
    else:
        await app.open_async()
        await app.schema_manager.apply_schema_async()


@test
async def jobs_in_order_of_priority():
    await note.configure(priority=1).defer_async(n=1)
    await note.configure(priority=5).defer_async(n=2)
    await note.configure(schedule_in={"hours": 1}).defer_async(n=3)
    await work()
    equal(done, [2, 1])
    done.clear()


@test
async def batch_of_jobs():
    await note.batch_defer_async(*[{"n": n} for n in range(50)])
    await work(concurrency=5)
    equal(sorted(done), list(range(50)))
    done.clear()


@test
async def queueing_lock():
    await note.configure(queueing_lock="one").defer_async(n=1)
    try:
        await note.configure(queueing_lock="one").defer_async(n=2)
        raise AssertionError("no error")
    except exceptions.AlreadyEnqueued:
        pass
    await work()


@test
async def lock_of_jobs():
    for n in range(5):
        await note.configure(lock="l").defer_async(n=n)
    done.clear()
    await work()
    equal(done, [0, 1, 2, 3, 4])


@test
async def failing_job_is_retried():
    job = await fail.defer_async()
    await work()
    [found] = await app.job_manager.list_jobs_async(id=job)
    equal((found.status, found.attempts), ("failed", 2))


@test
async def cancel_and_list():
    job = await note.configure(schedule_in={"hours": 1}).defer_async(n=9)
    equal(await app.job_manager.cancel_job_by_id_async(job), True)
    equal((await app.job_manager.get_job_status_async(job)).value, "cancelled")
    [queue] = [q for q in await app.job_manager.list_queues_async() if q["name"] == "plain"]
    equal((queue["failed"], queue["cancelled"], queue["todo"]), (1, 1, 1))


@test
async def stalled_jobs():
    found = await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=1)
    equal(list(found), [])


@test
async def worker_hears_of_new_jobs():
    done.clear()
    worker = asyncio.create_task(app.run_worker_async(
        queues=["plain"], fetch_job_polling_interval=60, install_signal_handlers=False))
    await asyncio.sleep(1)
    await note.defer_async(n=77)
    while done != [77]:
        await asyncio.sleep(0.05)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)


@test
async def periodic_tasks():
    done.clear()
    worker = asyncio.create_task(app.run_worker_async(
        queues=["periodic"], install_signal_handlers=False))
    while "tick" not in done:
        await asyncio.sleep(0.05)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)


@test
async def old_jobs_deleted():
    await app.job_manager.delete_old_jobs(nb_hours=0, include_failed=True)
    left = await app.job_manager.list_jobs_async(queue="plain")
    equal({j.status for j in left} <= {"todo", "cancelled"}, True)


@test
async def close():
    await app.close_async()


if __name__ == "__main__":
    run()
