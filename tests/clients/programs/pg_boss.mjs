// pg-boss: creates its schema (with partitions), and runs jobs.
import PgBoss from 'pg-boss'
import pg from 'pg'
import { equal, run } from './cases.mjs'

const config = { user: 'postgres', password: 'secret', host: process.env.PGHOST,
  port: Number(process.env.PGPORT), database: process.env.PGDATABASE }
const boss = new PgBoss(config)
boss.on('error', (e) => console.log(e))
const pool = new pg.Pool()

await run({
  'start creates the schema': async () => {
    await boss.start()
    equal(await boss.isInstalled(), true)
  },
  'queue of each policy': async () => {
    for (const policy of ['standard', 'short', 'singleton', 'stately']) {
      await boss.createQueue(policy, { policy, retryLimit: 1, expireInSeconds: 60 })
    }
    const queues = (await boss.getQueues()).filter((q) => !q.name.startsWith('__'))
    equal(queues.map((q) => q.policy).sort(), ['short', 'singleton', 'standard', 'stately'])
  },
  'partitions': async () => {
    const { rows } = await pool.query(`SELECT count(*)::int AS n FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhparent WHERE c.relname = 'job'`)
    equal(rows[0].n, 5)
  },
  'send, fetch and complete': async () => {
    const id = await boss.send('standard', { hello: 'world' }, { priority: 3 })
    const [job] = await boss.fetch('standard', { includeMetadata: true })
    equal([job.id, job.data, job.priority, job.state], [id, { hello: 'world' }, 3, 'active'])
    await boss.complete('standard', id, { result: 1 })
    const found = await boss.getJobById('standard', id)
    equal([found.state, found.output], ['completed', { result: 1 }])
  },
  'fail and retry': async () => {
    const id = await boss.send('standard', {}, { retryLimit: 1, retryDelay: 0 })
    for (const state of ['retry', 'failed']) {
      await boss.fetch('standard')
      await boss.fail('standard', id, { why: 'test' })
      equal((await boss.getJobById('standard', id)).state, state)
    }
  },
  'short queue has one waiting job': async () => {
    const first = await boss.send('short')
    equal([typeof first, await boss.send('short')], ['string', null])
  },
  'singleton queue has one active job': async () => {
    await boss.send('singleton')
    await boss.send('singleton')
    equal((await boss.fetch('singleton')).length, 1)
    equal((await boss.fetch('singleton')).length, 0)
  },
  'insert many jobs and fetch a batch': async () => {
    await boss.insert(Array.from({ length: 500 }, (_, n) => ({ name: 'standard', data: { n } })))
    const batch = await boss.fetch('standard', { batchSize: 300 })
    equal(batch.length, 300)
    await boss.complete('standard', batch.map((j) => j.id))
    equal(await boss.getQueueSize('standard'), 200)
  },
  'cancel, resume and delete': async () => {
    const id = await boss.send('stately', { a: 1 })
    await boss.cancel('stately', id)
    equal((await boss.getJobById('stately', id)).state, 'cancelled')
    await boss.resume('stately', id)
    equal((await boss.getJobById('stately', id)).state, 'created')
    await boss.deleteJob('stately', id)
    equal(await boss.getJobById('stately', id), null)
  },
  'throttled jobs': async () => {
    const send = () => boss.send('standard', {}, { singletonSeconds: 60, singletonKey: 'x' })
    equal([typeof await send(), await send()], ['string', null])
  },
  'dead letters': async () => {
    await boss.createQueue('dead')
    await boss.createQueue('dying', { deadLetter: 'dead', retryLimit: 0 })
    const id = await boss.send('dying', { x: 1 })
    await boss.fetch('dying')
    await boss.fail('dying', id)
    equal((await boss.fetch('dead'))[0].data, { x: 1 })
  },
  'publish and subscribe': async () => {
    await boss.subscribe('event', 'dead')
    await boss.publish('event', { y: 2 })
    equal((await boss.fetch('dead'))[0].data, { y: 2 })
    await boss.unsubscribe('event', 'dead')
  },
  'schedule': async () => {
    await boss.schedule('standard', '0 3 * * *', { z: 1 }, { tz: 'Europe/Berlin' })
    equal((await boss.getSchedules()).map((s) => [s.name, s.cron, s.timezone]),
      [['standard', '0 3 * * *', 'Europe/Berlin']])
  },
  'maintenance': () => boss.maintain(),
  'purge a queue': async () => {
    await boss.purgeQueue('standard')
    equal(await boss.getQueueSize('standard'), 0)
  },
  'worker': async () => {
    const worked = new Promise((resolve) => boss.work('standard', { pollingIntervalSeconds: 0.5 },
      async ([job]) => resolve(job.data)))
    await boss.send('standard', { w: 1 })
    equal(await worked, { w: 1 })
  },
})
await boss.stop({ graceful: false })
await pool.end()
process.exit(0)
