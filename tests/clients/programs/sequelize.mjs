// Sequelize: models synchronised with the database, changed, queried and described.
import sequelize from 'sequelize'
import { equal, rejects, run } from './cases.mjs'

const { DataTypes, Op, QueryTypes, Sequelize, Transaction } = sequelize
const db = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, process.env.PGPASSWORD, {
  dialect: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, logging: false,
})
const query = db.getQueryInterface()

const Author = db.define('author', {
  name: { type: DataTypes.STRING(80), allowNull: false, unique: true },
  mood: DataTypes.ENUM('good', 'bad'),
  tags: { type: DataTypes.ARRAY(DataTypes.TEXT), defaultValue: [] },
  data: DataTypes.JSONB,
  born: DataTypes.DATEONLY,
  score: { type: DataTypes.DECIMAL(10, 2), defaultValue: 0 },
  span: DataTypes.RANGE(DataTypes.INTEGER),
  address: DataTypes.INET,
  key: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
  picture: DataTypes.BLOB,
}, { paranoid: true, comment: 'people', indexes: [
  { fields: [{ name: 'born', order: 'DESC' }] },
  { fields: ['data'], using: 'gin', operator: 'jsonb_path_ops', name: 'author_data' },
  { fields: ['mood'], where: { mood: 'good' }, name: 'author_good' },
  { fields: [Sequelize.fn('lower', Sequelize.col('name'))], name: 'author_lower' },
] })
const Book = db.define('book', { title: { type: DataTypes.TEXT, comment: 'as printed' },
  pages: DataTypes.INTEGER })
Author.hasMany(Book, { onDelete: 'CASCADE' })
Book.belongsTo(Author)
const Tag = db.define('tag', { name: { type: DataTypes.CITEXT, primaryKey: true } })
Book.belongsToMany(Tag, { through: 'book_tags' })
Tag.belongsToMany(Book, { through: 'book_tags' })

await run({
  'version of the server': async () => equal((await db.databaseVersion()).startsWith('15.'), true),
  'sync': async () => {
    await db.query('CREATE EXTENSION citext')
    await db.sync({ force: true })
  },
  'sync again with drop': () => db.sync({ force: true }),
  'sync with alter': () => db.sync({ alter: true }),
  'create, read and update': async () => {
    const a = await Author.create({
      name: 'Ann', mood: 'good', tags: ['x', 'y'], data: { a: { b: [1, 2] } }, born: '1970-01-02',
      span: [1, 10], address: '10.0.0.1', picture: Buffer.from('abc'),
    })
    await a.update({ score: 12.5 })
    await a.reload()
    equal([a.mood, a.tags, a.data, a.born, a.score, a.address, a.span.map((e) => e.value)],
      ['good', ['x', 'y'], { a: { b: [1, 2] } }, '1970-01-02', '12.50', '10.0.0.1', [1, 10]])
  },
  'operators': async () => {
    const count = (where) => Author.count({ where })
    equal(await Promise.all([
      count({ tags: { [Op.contains]: ['x'] } }), count({ tags: { [Op.overlap]: ['z'] } }),
      count({ data: { [Op.contains]: { a: { b: [1] } } } }), count({ 'data.a.b': null }),
      count({ span: { [Op.contains]: 5 } }), count({ name: { [Op.iLike]: 'AN%' } }),
      count({ name: { [Op.regexp]: '^A' } }), count({ span: { [Op.strictRight]: [11, 12] } }),
    ]), [1, 0, 1, 0, 1, 1, 1, 0])
  },
  'associations': async () => {
    const a = await Author.create({ name: 'Bob', books: [{ title: 'One' }, { title: 'Two' }] },
      { include: Book })
    const [tag] = await Tag.findOrCreate({ where: { name: 'Prose' } })
    await a.books[0].addTag(tag)
    const found = await Author.findAll({ where: { name: 'Bob' }, order: [[Book, 'title', 'DESC']],
      include: { model: Book,
        include: { model: Tag, where: { name: 'PROSE' }, required: false } } })
    equal(found[0].books.map((b) => [b.title, b.tags.length]), [['Two', 0], ['One', 1]])
  },
  'bulk insert with upsert and returning': async () => {
    const rows = await Author.bulkCreate(
      [{ name: 'Ann', mood: 'bad' }, { name: 'Cid', mood: 'good' }],
      { updateOnDuplicate: ['mood'], returning: true })
    equal(rows.map((r) => [r.name, r.mood]), [['Ann', 'bad'], ['Cid', 'good']])
    const [, created] = await Tag.upsert({ name: 'prose' })
    equal(created, null)
  },
  'errors': async () => {
    await rejects(Author.create({ name: 'Ann' }), '23505')
    await rejects(Book.create({ authorId: 9999 }), '23503')
    await rejects(db.query("UPDATE authors SET mood = 'none'"), '22P02')
  },
  'grouping': async () => {
    const rows = await Book.findAll({ group: ['authorId'], raw: true,
      attributes: ['authorId', [Sequelize.fn('count', Sequelize.col('id')), 'n']] })
    equal(rows.map((r) => r.n), ['2'])
  },
  'transactions with isolation and locks': async () => {
    await db.transaction({ isolationLevel: Transaction.ISOLATION_LEVELS.REPEATABLE_READ },
      async (transaction) => {
        const a = await Author.findOne({ where: { name: 'Ann' }, transaction, skipLocked: true,
          lock: transaction.LOCK.UPDATE })
        await a.increment('score', { by: 2, transaction })
        await db.transaction({ transaction }, (inner) => a.destroy({ transaction: inner }))
      })
    equal([await Author.count(), await Author.count({ paranoid: false })], [2, 3])
  },
  'description of a table': async () => {
    const found = await query.describeTable('authors')
    equal(Object.entries(found).map(([n, c]) => [n, c.type, c.allowNull, c.primaryKey]), [
      ['id', 'INTEGER', false, true], ['name', 'CHARACTER VARYING(80)', false, false],
      ['mood', 'USER-DEFINED', true, false], ['tags', 'ARRAY', true, false],
      ['data', 'JSONB', true, false], ['born', 'DATE', true, false],
      ['score', 'NUMERIC', true, false], ['span', 'INT4RANGE', true, false],
      ['address', 'INET', true, false], ['key', 'UUID', true, false],
      ['picture', 'BYTEA', true, false],
      ['createdAt', 'TIMESTAMP WITH TIME ZONE', false, false],
      ['updatedAt', 'TIMESTAMP WITH TIME ZONE', false, false],
      ['deletedAt', 'TIMESTAMP WITH TIME ZONE', true, false],
    ])
    equal([found.mood.special, found.tags.defaultValue], [['good', 'bad'], 'ARRAY[]'])
  },
  'indexes, keys and constraints': async () => {
    const indexes = await query.showIndex('authors')
    equal(indexes.map((i) => [i.name, i.unique, i.fields.map((f) => [f.attribute, f.order])]), [
      ['author_data', false, [['data', undefined]]], ['author_good', false, [['mood', undefined]]],
      ['author_lower', false, []], ['authors_born', false, [['born', 'DESC']]],
      ['authors_name_key', true, [['name', undefined]]],
      ['authors_name_key1', true, [['name', undefined]]],
      ['authors_pkey', true, [['id', undefined]]],
    ])
    const keys = await query.getForeignKeyReferencesForTable('books')
    equal(keys.map((k) => [k.columnName, k.referencedTableName]), [['authorId', 'authors']])
    const constraints = await query.showConstraint('book_tags')
    equal(constraints.map((c) => c.constraintType).filter((t) => t !== 'CHECK').sort(),
      ['FOREIGN KEY', 'FOREIGN KEY', 'PRIMARY KEY'])
  },
  'changes of columns': async () => {
    await query.addColumn('books', 'isbn', { type: DataTypes.STRING(13), unique: true })
    await query.changeColumn('books', 'pages', { type: DataTypes.BIGINT, defaultValue: 1,
      allowNull: true, comment: 'in print' })
    await query.changeColumn('books', 'isbn', { type: DataTypes.ENUM('a', 'b') })
    await query.renameColumn('books', 'pages', 'length')
    await query.addConstraint('books', { fields: ['length'], type: 'check', name: 'positive',
      where: { length: { [Op.gt]: 0 } } })
    await rejects(query.bulkInsert('books', [{ length: -1, createdAt: new Date(),
      updatedAt: new Date() }]), '23514')
    await query.removeConstraint('books', 'positive')
    await query.removeColumn('books', 'isbn')
    await query.renameTable('book_tags', 'taggings')
  },
  'functions, schemas and views': async () => {
    await query.createFunction('twice', [{ type: 'integer', name: 'n' }], 'integer', 'plpgsql',
      'RETURN n * 2;', ['IMMUTABLE', 'STRICT'])
    const [{ twice }] = await db.query('SELECT twice(:n)', { type: QueryTypes.SELECT,
      replacements: { n: 4 } })
    equal(twice, 8)
    await query.renameFunction('twice', [{ type: 'integer' }], 'double')
    await query.dropFunction('double', [{ type: 'integer' }])
    await db.createSchema('other')
    equal((await db.showAllSchemas()).includes('other'), true)
    await db.dropSchema('other')
    equal((await query.showAllTables()).sort(), ['authors', 'books', 'taggings', 'tags'])
  },
})
await db.close()
