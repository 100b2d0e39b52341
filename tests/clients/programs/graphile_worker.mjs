// graphile-worker: migrates its schema, and runs jobs.
import { makeWorkerUtils, run as runWorker, runMigrations, runOnce } from 'graphile-worker'
import pg from 'pg'
import { equal, run } from './cases.mjs'

const pool = new pg.Pool()
const rows = async (text, values) => (await pool.query(text, values)).rows
const utils = await makeWorkerUtils({ pgPool: pool })
const done = []
const taskList = {
  note: (payload, { job }) => { done.push([payload.n, job.attempts]) },
  fail: () => { throw new Error('wanted to fail') },
}
const once = () => runOnce({ pgPool: pool, taskList, noHandleSignals: true, concurrency: 3 })

await run({
  'migrate': async () => {
    await runMigrations({ pgPool: pool })
    const found = await rows("SELECT tablename FROM pg_tables WHERE schemaname = 'graphile_worker'")
    equal(found.some((r) => r.tablename === '_private_jobs'), true)
  },
  'migrate again': () => runMigrations({ pgPool: pool }),
  'jobs in order of priority and time': async () => {
    await utils.addJob('note', { n: 1 }, { priority: 5, queueName: 'q' })
    await utils.addJob('note', { n: 2 }, { priority: 1, queueName: 'q' })
    await utils.addJob('note', { n: 3 }, { runAt: new Date(Date.now() + 3600_000) })
    await once()
    equal(done.splice(0), [[2, 1], [1, 1]])
  },
  'job keys replace, preserve and remove': async () => {
    await utils.addJob('note', { n: 10 }, { jobKey: 'k' })
    await utils.addJob('note', { n: 11 }, { jobKey: 'k', jobKeyMode: 'replace' })
    await utils.addJob('note', { n: 20 }, { jobKey: 'p', runAt: new Date(Date.now() + 3600_000) })
    await utils.addJob('note', { n: 21 }, { jobKey: 'p', jobKeyMode: 'preserve_run_at' })
    await utils.addJob('note', { n: 30 }, { jobKey: 'r' })
    await pool.query("SELECT graphile_worker.remove_job('r')")
    await once()
    equal(done.splice(0), [[11, 1]])
  },
  'many jobs by SQL in one call': async () => {
    await pool.query(`SELECT graphile_worker.add_jobs(array(
      SELECT row('note', json_build_object('n', g), 'queue' || g % 3, null, null, null, null, null)
        ::graphile_worker.job_spec FROM generate_series(1, 200) g))`)
    await once()
    equal(done.splice(0).length, 200)
  },
  'failing job is tried later': async () => {
    const job = await utils.addJob('fail', {}, { maxAttempts: 2 })
    await once()
    const [found] = await rows(
      `SELECT attempts, last_error LIKE '%wanted to fail%' AS error, run_at > now() AS later,
        locked_at FROM graphile_worker._private_jobs WHERE id = $1`, [job.id])
    equal(found, { attempts: 1, error: true, later: true, locked_at: null })
  },
  'complete, reschedule and fail jobs permanently': async () => {
    const jobs = await Promise.all([1, 2, 3].map((n) => utils.addJob('note', { n })))
    const ids = jobs.map((j) => j.id)
    equal((await utils.completeJobs([ids[0]])).length, 1)
    equal((await utils.permanentlyFailJobs([ids[1]], 'no')).map((j) => j.last_error), ['no'])
    equal((await utils.rescheduleJobs([ids[2]], { priority: 9 })).map((j) => j.priority), [9])
  },
  'worker hears of new jobs': async () => {
    const runner = await runWorker({
      pgPool: pool, taskList, noHandleSignals: true, pollInterval: 60_000, crontab: '',
    })
    await new Promise((resolve) => runner.events.once('pool:listen:success', resolve))
    const finished = new Promise((resolve) => runner.events.on('job:complete', ({ job }) => {
      if (job.payload?.n === 77) resolve()
    }))
    await pool.query("SELECT graphile_worker.add_job('note', json_build_object('n', 77))")
    await finished
    await runner.stop()
  },
  'view of jobs': async () => {
    const found = await rows('SELECT task_identifier, count(*)::int FROM graphile_worker.jobs' +
      ' GROUP BY 1 ORDER BY 1')
    equal(found.map((r) => r.task_identifier), ['fail', 'note'])
  },
  'cleanup': () => utils.cleanup({ tasks: ['GC_JOB_QUEUES', 'GC_TASK_IDENTIFIERS',
    'DELETE_PERMAFAILED_JOBS'] }),
})
await utils.release()
await pool.end()
process.exit(0)
