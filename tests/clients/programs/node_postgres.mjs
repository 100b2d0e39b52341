// node-postgres with its cursors, streams and COPY.
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import pg from 'pg'
import Cursor from 'pg-cursor'
import QueryStream from 'pg-query-stream'
import copy from 'pg-copy-streams'
import { equal, rejects, run } from './cases.mjs'

const client = new pg.Client()
await client.connect()
const one = async (text, values) => Object.values((await client.query(text, values)).rows[0])[0]

async function collect(stream) {
  const rows = []
  for await (const row of stream) rows.push(row)
  return rows
}

await run({
  'simple query of several statements': async () => {
    const results = await client.query('SELECT 1 AS a; SELECT 2 AS b; CREATE TEMP TABLE t0 (a int)')
    equal(results.map((r) => [r.command, r.rows.length]),
      [['SELECT', 1], ['SELECT', 1], ['CREATE', 0]])
  },
  'parameters of common types': async () => {
    const values = [7, 'text', true, null, 1.5, [1, 2], { a: [1, null] }, Buffer.from([0, 255])]
    const { rows } = await client.query({
      text: `SELECT $1::int AS a, $2::text AS b, $3::bool AS c, $4::text AS d, $5::float8 AS e,
        $6::int[] AS f, $7::jsonb AS g, $8::bytea AS h`, values, rowMode: 'array',
    })
    equal(rows[0], values)
  },
  'binary results': async () => {
    const { rows } = await client.query({
      text: `SELECT 7::int2 AS a, 9::int4 AS b, 1.5::float8 AS c, true AS d, 1.25::float4 AS e,
        '{1,2}'::int4[] AS f, '2020-02-03 04:05:06.007+00'::timestamptz AS g`,
      binary: true, rowMode: 'array', values: [],
    })
    equal(rows[0].slice(0, 6), [7, 9, 1.5, true, 1.25, [1, 2]])
    equal(rows[0][6].toISOString(), '2020-02-03T04:05:06.007Z')
  },
  'fields of a result': async () => {
    await client.query('CREATE TABLE fields (a int, b varchar(10), c numeric(8, 2))')
    const { fields } = await client.query('SELECT a, b, c, 1 AS d FROM fields')
    equal(
      fields.map((f) => [f.name, f.columnID, f.dataTypeID, f.dataTypeSize, f.dataTypeModifier]),
      [['a', 1, 23, 4, -1], ['b', 2, 1043, -1, 14],
        ['c', 3, 1700, -1, 524294], ['d', 0, 23, 4, -1]],
    )
  },
  'named statement executed again after its table changed': async () => {
    await client.query('CREATE TABLE changed (a int)')
    const query = { name: 'changed', text: 'SELECT * FROM changed', values: [] }
    await client.query(query)
    await client.query('ALTER TABLE changed ADD b int')
    await rejects(client.query(query), '0A000')
  },
  'error of a statement with its fields': async () => {
    await client.query('CREATE TABLE unique_t (a int CONSTRAINT unique_a UNIQUE)')
    await client.query('INSERT INTO unique_t VALUES (1)')
    const e = await client.query('INSERT INTO unique_t VALUES ($1)', [1]).catch((e) => e)
    equal(
      [e.code, e.severity, e.schema, e.table, e.constraint, e.detail],
      ['23505', 'ERROR', 'public', 'unique_t', 'unique_a', 'Key (a)=(1) already exists.'],
    )
    const p = await client.query('SELECT nonsense').catch((e) => e)
    equal([p.code, p.position], ['42703', '8'])
  },
  'notice': async () => {
    const notices = []
    const note = (n) => notices.push([n.severity, n.code, n.message, n.where])
    client.on('notice', note)
    await client.query("DO $$ BEGIN RAISE WARNING 'hello %', 1 USING ERRCODE = '01234'; END $$")
    client.off('notice', note)
    equal(notices, [
      ['WARNING', '01234', 'hello 1', 'PL/pgSQL function inline_code_block line 1 at RAISE'],
    ])
  },
  'notification': async () => {
    const heard = new Promise((resolve) => client.once('notification', resolve))
    await client.query('LISTEN channel')
    await client.query("SELECT pg_notify('channel', 'payload')")
    const { channel, payload, processId } = await heard
    equal([channel, payload, processId], ['channel', 'payload', client.processID])
  },
  'cursor': async () => {
    const cursor = client.query(new Cursor('SELECT g FROM generate_series(1, 7) g'))
    const sizes = []
    for (;;) {
      const rows = await cursor.read(3)
      sizes.push(rows.length)
      if (!rows.length) break
    }
    equal(sizes, [3, 3, 1, 0])
  },
  'cursor closed early': async () => {
    const cursor = client.query(new Cursor('SELECT g FROM generate_series(1, 100000) g'))
    await cursor.read(10)
    await cursor.close()
    equal(await one('SELECT 1'), 1)
  },
  'stream of a query': async () => {
    const query = new QueryStream('SELECT g FROM generate_series(1, 5000) g', [], { batchSize: 7 })
    const stream = client.query(query)
    const rows = await collect(stream)
    equal([rows.length, rows.at(-1)], [5000, { g: 5000 }])
  },
  'COPY in and out': async () => {
    await client.query('CREATE TABLE copied (a int, b text)')
    const lines = Array.from({ length: 2000 }, (_, i) => `${i}\tline ${i}\n`)
    const sink = client.query(copy.from('COPY copied FROM STDIN'))
    await pipeline(Readable.from(lines), sink)
    equal(sink.rowCount, 2000)
    const chunks = await collect(client.query(copy.to('COPY copied TO STDOUT')))
    equal(Buffer.concat(chunks).toString(), lines.join(''))
  },
  'COPY with an error in the data': async () => {
    const sink = client.query(copy.from('COPY copied FROM STDIN'))
    await rejects(pipeline(Readable.from(['1\tx\n', 'nonsense\n']), sink), '22P02')
    equal(await one('SELECT count(*)::int FROM copied'), 2000)
  },
  'cancelled statement': async () => {
    const other = new pg.Client()
    await other.connect()
    const sleeping = rejects(client.query('SELECT pg_sleep(30)'), '57014')
    while (!(await other.query(
      "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'",
      [client.processID],
    )).rows.length);
    await other.query('SELECT pg_cancel_backend($1)', [client.processID])
    await sleeping
    await other.end()
  },
  'statement_timeout of the connection': async () => {
    const other = new pg.Client({ statement_timeout: 50 })
    await other.connect()
    await rejects(other.query('SELECT pg_sleep(10)'), '57014')
    await other.end()
  },
  'terminated connection': async () => {
    const other = new pg.Client()
    await other.connect()
    const failed = new Promise((resolve) => other.on('error', resolve))
    await client.query('SELECT pg_terminate_backend($1)', [other.processID])
    equal((await failed).code, '57P01')
  },
  'pool of connections with transactions': async () => {
    const pool = new pg.Pool({ max: 5 })
    await pool.query('CREATE TABLE pooled (id int PRIMARY KEY, n int)')
    await pool.query('INSERT INTO pooled VALUES (1, 0)')
    await Promise.all(Array.from({ length: 40 }, async () => {
      const c = await pool.connect()
      await c.query('BEGIN')
      await c.query('UPDATE pooled SET n = n + 1 WHERE id = 1')
      await c.query('COMMIT')
      c.release()
    }))
    const { rows } = await pool.query('SELECT n FROM pooled')
    equal(rows[0].n, 40)
    await pool.end()
  },
  'failed transaction': async () => {
    await client.query('BEGIN')
    await rejects(client.query('SELECT 1/0'), '22012')
    await rejects(client.query('SELECT 1'), '25P02')
    equal((await client.query('COMMIT')).command, 'ROLLBACK')
  },
  'wrong number of parameters': () =>
    rejects(client.query('SELECT $1::int, $2::int', [1]), '08P01'),
  'array of composite values and unusual text': async () => {
    const text = 'quote \' double " backslash \\ comma , brace } null NULL \n é 漢'
    equal(await one('SELECT $1::text[]', [[text, null, 'NULL', '']]), [text, null, 'NULL', ''])
  },
})
await client.end()
