// TypeORM: entities synchronised with the database, migrations generated from it, and queries.
import 'reflect-metadata'
import typeorm from 'typeorm'
import { equal, rejects, run } from './cases.mjs'

const { DataSource, EntitySchema, In, Table, TableColumn, TableIndex, TableForeignKey } = typeorm

const author = (columns = {}) => new EntitySchema({
  name: 'Author', tableName: 'author',
  columns: {
    id: { type: 'int', primary: true, generated: 'identity' },
    name: { type: 'varchar', length: 80, unique: true, comment: 'of the person' },
    mood: { type: 'enum', enum: ['good', 'bad'], default: 'good' },
    moods: { type: 'enum', enum: ['x', 'y'], array: true, nullable: true },
    tags: { type: 'text', array: true, default: '{}' },
    data: { type: 'jsonb', nullable: true },
    key: { type: 'uuid', generated: 'uuid' },
    score: { type: 'numeric', precision: 10, scale: 2, default: 0 },
    next: { type: 'int', asExpression: 'version + 1', generatedType: 'STORED', nullable: true },
    span: { type: 'int4range', nullable: true }, place: { type: 'point', nullable: true },
    address: { type: 'inet', nullable: true }, lasts: { type: 'interval', nullable: true },
    words: { type: 'tsvector', nullable: true }, flags: { type: 'bit', length: 4, nullable: true },
    made: { type: 'timestamptz', createDate: true }, version: { type: 'int', version: true },
    gone: { type: 'timestamptz', deleteDate: true },
    ...columns,
  },
  relations: {
    books: { type: 'one-to-many', target: 'Book', inverseSide: 'author', cascade: true },
  },
  indices: [{ name: 'author_mood', columns: ['mood', 'score'], where: '"score" > 0' }],
  checks: [{ name: 'score_positive', expression: '"score" >= 0' }],
})
const book = new EntitySchema({
  name: 'Book', tableName: 'book',
  columns: {
    id: { type: 'uuid', primary: true, generated: 'uuid' }, title: { type: 'text' },
    pages: { type: 'smallint', nullable: true },
  },
  relations: {
    author: { type: 'many-to-one', target: 'Author', joinColumn: true, onDelete: 'CASCADE' },
    tags: { type: 'many-to-many', target: 'Tag', joinTable: true, cascade: true },
  },
})
const tag = new EntitySchema({
  name: 'Tag', tableName: 'tag', schema: 'other',
  columns: { id: { type: 'bigint', primary: true, generated: 'increment' },
    name: { type: 'citext' } },
  uniques: [{ name: 'tag_name', columns: ['name'], deferrable: 'INITIALLY DEFERRED' }],
})
const view = new EntitySchema({
  name: 'Count', tableName: 'count', type: 'view',
  expression: 'SELECT a.id, count(*)::int AS n FROM author a JOIN book b ON b."authorId" = a.id' +
    ' GROUP BY a.id',
  columns: { id: { type: 'int' }, n: { type: 'int' } },
})

const open = (entities) => new DataSource({
  type: 'postgres', host: process.env.PGHOST, port: Number(process.env.PGPORT), entities,
  username: 'postgres', password: 'secret', database: process.env.PGDATABASE,
}).initialize()

let db
const pending = async () => (await db.driver.createSchemaBuilder().log()).upQueries
  .map((q) => q.query)

await run({
  'synchronize': async () => {
    db = await open([author(), book, tag, view])
    await db.query('CREATE SCHEMA other')
    await db.synchronize()
  },
  'nothing to change after synchronize': async () => equal(await pending(), []),
  'save and find': async () => {
    const authors = db.getRepository('Author')
    const saved = await authors.save({ name: 'Ann', tags: ['x'], data: { a: [1] }, span: '[1,5)',
      moods: ['y', 'x'], flags: '0101', lasts: '1 day 02:00:00', place: '(1,2)',
      books: [{ title: 'One', tags: [{ name: 'Prose' }] }, { title: 'Two', tags: [] }] })
    const found = await authors.findOneOrFail({ where: { id: saved.id },
      relations: { books: { tags: true } }, order: { books: { title: 'DESC' } } })
    equal([found.next, found.tags, found.data, found.score, found.moods, found.place, found.flags],
      [2, ['x'], { a: [1] }, '0.00', ['y', 'x'], { x: 1, y: 2 }, '0101'])
    equal(found.books.map((b) => [b.title, b.tags.length]), [['Two', 0], ['One', 1]])
  },
  'upsert, update and soft delete': async () => {
    const authors = db.getRepository('Author')
    await authors.upsert([{ name: 'Ann', mood: 'bad' }, { name: 'Bob' }], ['name'])
    await authors.increment({ name: 'Bob' }, 'score', 2.5)
    await authors.softDelete({ name: 'Bob' })
    equal(await authors.count(), 1)
    await authors.restore({ name: 'Bob' })
    equal((await authors.findBy({ name: In(['Ann', 'Bob']), mood: 'bad' })).length, 1)
  },
  'query builder with CTE, subquery, DISTINCT ON and paging': async () => {
    const rows = await db.createQueryBuilder('Author', 'a').distinctOn(['a.mood'])
      .leftJoinAndSelect('a.books', 'b').where((q) => `a.id IN ${q.subQuery().select('c.id')
        .from('Author', 'c').where('c.score >= :s').getQuery()}`).setParameter('s', 0)
      .orderBy('a.mood').addOrderBy('b.title').getMany()
    equal(rows.map((r) => r.name), ['Bob', 'Ann'])
    const page = await db.getRepository('Book').findAndCount({ take: 1, skip: 1,
      relations: { author: true }, order: { title: 'ASC' } })
    equal([page[0].map((b) => b.title), page[1]], [['Two'], 2])
  },
  'locks and transactions': () => db.transaction('REPEATABLE READ', async (m) => {
    const rows = await m.createQueryBuilder('Author', 'a').setLock('pessimistic_write')
      .setOnLocked('skip_locked').getMany()
    equal(rows.length, 2)
    await m.transaction((inner) => inner.delete('Book', { title: 'Two' }))
  }),
  'view': async () => {
    equal((await db.getRepository('Count').find()).map((r) => r.n), [1])
  },
  'errors': async () => {
    await rejects(db.getRepository('Author').insert({ name: 'Ann' }), '23505')
    await rejects(db.query("UPDATE author SET score = -1"), '23514')
  },
  'change of entities': async () => {
    await db.destroy()
    db = await open([author({
      mood: { type: 'enum', enum: ['good', 'bad', 'new'],
        default: 'new' }, score: { type: 'float8', default: 1 }, more: { type: 'bytea',
        nullable: true }, tags: { type: 'varchar', array: true, default: '{}', comment: 'words' },
    }), book, tag, view])
    equal((await pending()).length > 3, true)
    await db.synchronize()
    equal(await pending(), [])
  },
  'tables loaded, changed and described': async () => {
    const q = db.createQueryRunner()
    await q.createTable(new Table({ name: 'plain', columns: [
      { name: 'id', type: 'serial', isPrimary: true },
      { name: 'n', type: 'int', isNullable: true, default: '3' }] }))
    await q.addColumn('plain', new TableColumn({ name: 'a', type: 'int', isNullable: true }))
    await q.createForeignKey('plain', new TableForeignKey({ columnNames: ['a'],
      onUpdate: 'SET NULL', deferrable: 'INITIALLY DEFERRED', referencedTableName: 'author',
      referencedColumnNames: ['id'] }))
    await q.createIndex('plain', new TableIndex({ columnNames: ['n', 'a'], isUnique: true,
      name: 'plain_n' }))
    await q.renameColumn('plain', 'n', 'm')
    await q.changeColumn('plain', 'm', new TableColumn({ name: 'm', type: 'bigint', default: '4' }))
    await q.renameTable('plain', 'simple')
    const t = await q.getTable('simple')
    equal(t.columns.map((c) => [c.name, c.type, c.default, c.isPrimary]).sort(), [
      ['a', 'integer', undefined, false],
      ['id', 'integer', undefined, true],
      ['m', 'bigint', "'4'", false]])
    equal(t.foreignKeys.map((k) => [k.columnNames, k.onUpdate, k.deferrable]),
      [[['a'], 'SET NULL', 'INITIALLY DEFERRED']])
    equal(t.uniques.map((u) => [u.name, u.columnNames]), [])
    await q.dropTable('simple')
    await q.release()
  },
  'view and enum types described': async () => {
    const q = db.createQueryRunner()
    equal((await q.getView('count')).expression.includes('GROUP BY a.id'), true)
    const t = await q.getTable('author')
    equal(t.columns.find((c) => c.name === 'mood').enum, ['good', 'bad', 'new'])
    equal(t.columns.find((c) => c.name === 'next').generatedType, 'STORED')
    equal(t.checks.map((c) => c.name), ['score_positive'])
    await q.release()
  },
})
await db.destroy()
