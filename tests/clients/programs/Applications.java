// Flyway, Liquibase and Hibernate: Applications.java flyway|liquibase|hibernate DIRECTORY.
import jakarta.persistence.*;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.file.*;
import java.sql.*;
import java.time.*;
import java.util.*;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.diff.output.DiffOutputControl;
import liquibase.diff.output.changelog.DiffToChangeLog;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.serializer.core.xml.XMLChangeLogSerializer;
import org.flywaydb.core.Flyway;
import org.hibernate.LockMode;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.ColumnDefault;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.cfg.Configuration;
import org.hibernate.type.SqlTypes;

public class Applications {
    static final String URL = "jdbc:postgresql://" + System.getenv("PGHOST") + ":"
        + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");

    interface Body {
        void run() throws Throwable;
    }

    static void test(String name, Body body) {
        try {
            body.run();
            System.out.println("ok " + name);
        } catch (Throwable e) {
            System.out.println("not ok " + name);
            e.printStackTrace(System.out);
        }
    }

    static void equal(Object found, Object wanted) {
        if (!Objects.equals(found, wanted)) {
            throw new AssertionError("found " + found + ", wanted " + wanted);
        }
    }

    static Connection connect() throws SQLException {
        return DriverManager.getConnection(URL, "postgres", "secret");
    }

    static List<String> strings(String sql) throws SQLException {
        try (Connection c = connect(); ResultSet r = c.createStatement().executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (r.next()) {
                found.add(r.getString(1));
            }
            return found;
        }
    }

    public static void main(String[] args) throws Exception {
        Path directory = Files.createTempDirectory(Path.of(args[1]), "files");
        switch (args[0]) {
            case "flyway" -> flyway(directory);
            case "liquibase" -> liquibase(directory);
            default -> hibernate();
        }
        System.exit(0);
    }

    static void flyway(Path directory) throws Exception {
        Flyway flyway = Flyway.configure().dataSource(URL, "postgres", "secret")
            .schemas("app").locations("filesystem:" + directory).cleanDisabled(false)
            // A lock held in a transaction would block CREATE INDEX CONCURRENTLY.
            .configuration(Map.of("flyway.postgresql.transactional.lock", "false"))
            .baselineOnMigrate(true).validateMigrationNaming(true).load();
        Files.writeString(directory.resolve("V1__first.sql"), """
            CREATE TABLE person (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text);
            CREATE FUNCTION upper_name() RETURNS trigger LANGUAGE plpgsql AS $body$
            BEGIN
                NEW.name := upper(NEW.name); -- a comment; with a semicolon
                RETURN NEW;
            END
            $body$;
            CREATE TRIGGER t BEFORE INSERT ON person
                FOR EACH ROW EXECUTE FUNCTION upper_name();
            INSERT INTO person (name) VALUES ('ann');
            COPY person (name) FROM STDIN;
            bob
            \\.
            """);
        Files.writeString(directory.resolve("V2__index.sql"),
            "CREATE INDEX CONCURRENTLY person_name ON app.person (name);");
        Files.writeString(directory.resolve("R__view.sql"),
            "CREATE OR REPLACE VIEW names AS SELECT name FROM person;");
        test("migrate", () -> {
            equal(flyway.migrate().migrationsExecuted, 3);
            equal(strings("SELECT name FROM app.names ORDER BY 1"), List.of("ANN", "BOB"));
        });
        test("migrate again", () -> equal(flyway.migrate().migrationsExecuted, 0));
        test("validate", flyway::validate);
        test("failing migration is rolled back", () -> {
            Files.writeString(directory.resolve("V3__bad.sql"),
                "CREATE TABLE later (a int); SELECT 1 / 0;");
            try {
                flyway.migrate();
                throw new AssertionError("no error");
            } catch (org.flywaydb.core.api.FlywayException e) {
                equal(strings("SELECT to_regclass('app.later')").get(0), null);
            }
            Files.delete(directory.resolve("V3__bad.sql"));
            flyway.repair();
        });
        test("concurrent migrations wait for each other", () -> {
            Files.writeString(directory.resolve("V4__slow.sql"),
                "CREATE TABLE slow (a int); SELECT pg_sleep(0.5);");
            List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                threads.add(new Thread(() -> {
                    try {
                        flyway.migrate();
                    } catch (Throwable e) {
                        errors.add(e);
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            equal(errors, List.of());
        });
        test("clean", () -> {
            try (Connection c = connect()) {
                c.createStatement().execute("""
                    CREATE TYPE app.mood AS ENUM ('good', 'bad');
                    CREATE DOMAIN app.positive AS int CHECK (VALUE > 0);
                    CREATE SEQUENCE app.numbers; CREATE AGGREGATE app.sums(int)
                        (SFUNC = int4pl, STYPE = int); CREATE MATERIALIZED VIEW app.m AS SELECT 1 a;
                    CREATE PROCEDURE app.p(a int) LANGUAGE sql AS 'SELECT 1';
                    CREATE TYPE app.pair AS (a int, b app.mood); CREATE EXTENSION citext SCHEMA app;
                    CREATE TABLE app.parts (a int) PARTITION BY RANGE (a)""");
            }
            flyway.clean();
            equal(strings("SELECT nspname FROM pg_namespace WHERE nspname = 'app'"), List.of());
        });
        test("migrate after clean", () -> equal(flyway.migrate().migrationsExecuted, 4));
        test("baseline and info", () -> equal(flyway.info().applied().length, 5));
    }

    static Liquibase open(Path directory, String file) throws Exception {
        var database = DatabaseFactory.getInstance()
            .findCorrectDatabaseImplementation(new JdbcConnection(connect()));
        return new Liquibase(file, new DirectoryResourceAccessor(directory), database);
    }

    static final String CHANGES = """
        databaseChangeLog:
        - changeSet:
            id: "1"
            author: a
            changes:
            - createTable:
                tableName: person
                remarks: of all kinds
                columns:
                - column: {name: id, type: bigint, autoIncrement: true, constraints:
                    {primaryKey: true, primaryKeyName: person_pk}}
                - column: {name: name, type: varchar(80), constraints: {nullable: false}}
                - column: {name: born, type: timestamp with time zone, defaultValueComputed: now()}
                - column: {name: picture, type: blob}
                - column: {name: notes, type: clob, remarks: long}
                - column: {name: score, type: "decimal(10,2)", defaultValueNumeric: 0}
                - column: {name: key, type: uuid}
                - column: {name: data, type: jsonb}
                - column: {name: tags, type: "text[]"}
            - createTable:
                tableName: book
                columns:
                - column: {name: id, type: int, constraints: {primaryKey: true}}
                - column: {name: person_id, type: bigint, constraints: {nullable: false,
                    foreignKeyName: book_person, references: person(id), deleteCascade: true}}
                - column: {name: title, type: text}
            - addUniqueConstraint: {tableName: person, columnNames: "name, born",
                constraintName: person_name, deferrable: true, initiallyDeferred: true}
            - createIndex: {tableName: book, indexName: book_title, columns:
                [{column: {name: title, descending: true}}]}
            - createSequence: {sequenceName: numbers, startValue: 7, incrementBy: 3}
            - createView: {viewName: titles, selectQuery: SELECT title FROM book}
            - insert: {tableName: person, columns: [{column: {name: name, value: Ann}}]}
        - changeSet:
            id: "2"
            author: a
            changes:
            - addColumn: {tableName: book, columns: [{column: {name: pages, type: int}}]}
            - modifyDataType: {tableName: book, columnName: pages, newDataType: bigint}
            - renameColumn: {tableName: book, oldColumnName: pages, newColumnName: size}
            - addNotNullConstraint: {tableName: book, columnName: size, defaultNullValue: 0}
            - addDefaultValue: {tableName: book, columnName: size, defaultValueNumeric: 1}
            - sql: {sql: "CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'"}
            - setTableRemarks: {tableName: book, remarks: printed}
            rollback:
            - dropColumn: {tableName: book, columnName: size}
            - sql: {sql: DROP FUNCTION one()}
        """;

    static void liquibase(Path directory) throws Exception {
        Files.writeString(directory.resolve("changes.yaml"), CHANGES);
        test("update", () -> {
            open(directory, "changes.yaml").update(new Contexts());
            equal(strings("SELECT name FROM person"), List.of("Ann"));
        });
        test("update again", () -> open(directory, "changes.yaml").update(new Contexts()));
        test("roll back and update", () -> {
            Liquibase liquibase = open(directory, "changes.yaml");
            liquibase.rollback(1, "");
            liquibase.update(new Contexts());
        });
        test("generate a change log of the database", () -> {
            // The change log is written to the file of this name, and not to the stream.
            Liquibase liquibase = open(directory, directory.resolve("found.xml").toString());
            var control = new DiffOutputControl(false, false, false, null);
            liquibase.generateChangeLog(new liquibase.CatalogAndSchema(null, "public"),
                new DiffToChangeLog(control), new PrintStream(PrintStream.nullOutputStream()),
                new XMLChangeLogSerializer());
            String text = Files.readString(directory.resolve("found.xml"));
            for (String part : List.of("person_pk", "book_person",
                    "remarks=\"of all kinds\"", "numeric(10, 2)", "JSONB", "numbers", "titles",
                    "book_title", "descending=\"true\"")) {
                if (!text.toLowerCase().contains(part.toLowerCase())) {
                    throw new AssertionError(part + " is not in " + text);
                }
            }
        });
        test("generated change log makes an equal database", () -> {
            try (Connection c = connect()) {
                c.createStatement().execute("CREATE DATABASE liquibase2");
            }
            String url = URL.replaceAll("/[^/]*$", "/liquibase2");
            var connection = DriverManager.getConnection(url, "postgres", "secret");
            var other = DatabaseFactory.getInstance()
                .findCorrectDatabaseImplementation(new JdbcConnection(connection));
            new Liquibase("found.xml", new DirectoryResourceAccessor(directory), other)
                .update(new Contexts());
            Liquibase here = open(directory, "changes.yaml");
            var result = here.diff(other, here.getDatabase(),
                liquibase.diff.compare.CompareControl.STANDARD);
            equal(result.getMissingObjects().stream().map(Object::toString)
                .filter(o -> !o.contains("catalog")).toList(), List.of());
            equal(result.getUnexpectedObjects().stream().map(Object::toString).toList(),
                List.of());
        });
        test("drop all", () -> {
            open(directory, "changes.yaml").dropAll();
            equal(strings("SELECT relname FROM pg_class WHERE relnamespace ="
                + " 'public'::regnamespace"), List.of());
        });
        test("update after drop", () -> {
            try (Connection c = connect()) {
                c.createStatement().execute("DROP FUNCTION IF EXISTS one()");
            }
            open(directory, "changes.yaml").update(new Contexts());
        });
    }

    enum Mood { GOOD, BAD }

    @Embeddable
    record Address(String street, String city) {}

    @Entity(name = "Person")
    @Table(name = "person", indexes = @Index(name = "person_name", columnList = "name DESC"),
        uniqueConstraints = @UniqueConstraint(name = "person_code", columnNames = {"code", "name"}))
    @Inheritance(strategy = InheritanceType.JOINED)
    public static class Person {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) Long id;
        @Version int version;
        @Column(length = 80, nullable = false) String name;
        @ColumnDefault("'x'") String code;
        @Enumerated(EnumType.STRING) Mood mood;
        @JdbcTypeCode(SqlTypes.NAMED_ENUM) Mood named;
        @JdbcTypeCode(SqlTypes.JSON) Map<String, Object> data;
        @JdbcTypeCode(SqlTypes.INET) java.net.InetAddress inet;
        String[] tags;
        UUID key = UUID.randomUUID();
        @Column(precision = 12, scale = 3) BigDecimal score;
        LocalDate born;
        Instant seen;
        OffsetDateTime zoned;
        Duration lasts;
        byte[] picture;
        @Column(columnDefinition = "text") String notes;
        Address address;
        @OneToMany(mappedBy = "person", cascade = CascadeType.ALL, orphanRemoval = true)
        @OrderBy("title") List<Book> books = new ArrayList<>();
        @ElementCollection Set<String> nicknames = new HashSet<>();
    }

    @Entity(name = "Employee")
    public static class Employee extends Person {
        BigDecimal salary;
    }

    @Entity(name = "Book")
    public static class Book {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Integer id;
        String title;
        int pages;
        @ManyToOne(fetch = FetchType.LAZY) Person person;

        public Book() {}

        Book(Person person, String title, int pages) {
            this.person = person;
            this.title = title;
            this.pages = pages;
        }
    }

    static SessionFactory factory(String mode) {
        return new Configuration().addAnnotatedClass(Person.class)
            .addAnnotatedClass(Employee.class).addAnnotatedClass(Book.class)
            .setProperty("hibernate.connection.url", URL)
            .setProperty("hibernate.connection.username", "postgres")
            .setProperty("hibernate.connection.password", "secret")
            .setProperty("hibernate.jdbc.batch_size", "20")
            .setProperty("hibernate.hbm2ddl.halt_on_error", "true")
            .setProperty("hibernate.hbm2ddl.auto", mode).buildSessionFactory();
    }

    static void hibernate() {
        test("create the schema", () -> factory("create").close());
        test("validate the schema", () -> factory("validate").close());
        test("update the schema", () -> {
            try (Connection c = connect()) {
                c.createStatement().execute("ALTER TABLE book DROP COLUMN pages;"
                    + "DROP INDEX person_name; DROP TABLE person_nicknames");
            }
            factory("update").close();
            factory("validate").close();
        });
        SessionFactory factory = factory("validate");
        test("save and find", () -> {
            Long id = factory.fromTransaction(s -> {
                Person p = new Employee();
                p.name = "Ann";
                p.mood = Mood.BAD;
                p.named = Mood.GOOD;
                p.data = Map.of("a", List.of(1, 2));
                p.tags = new String[] {"x", null};
                p.score = new BigDecimal("1.500");
                p.born = LocalDate.of(1970, 1, 2);
                p.seen = Instant.parse("2020-01-02T03:04:05.678901Z");
                p.lasts = Duration.ofMinutes(90);
                p.picture = new byte[] {0, 1, -1};
                p.address = new Address("street", "city");
                p.nicknames.addAll(Set.of("a", "b"));
                p.books.add(new Book(p, "Two", 20));
                p.books.add(new Book(p, "One", 10));
                s.persist(p);
                return p.id;
            });
            factory.inTransaction(s -> {
                Person p = s.find(Person.class, id);
                equal(p instanceof Employee, true);
                equal(p.named + " " + p.data + Arrays.toString(p.tags) + p.score + p.born + p.seen
                    + p.lasts + Arrays.toString(p.picture) + p.address.city + p.nicknames.size(),
                    "GOOD {a=[1, 2]}[x, null]1.5001970-01-022020-01-02T03:04:05.678901ZPT1H30M"
                    + "[0, 1, -1]city2");
                equal(p.books.stream().map(b -> b.title).toList(), List.of("One", "Two"));
            });
        });
        test("batch of inserts", () -> factory.inTransaction(s -> {
            for (int i = 0; i < 100; i++) {
                Person p = new Person();
                p.name = "n" + i;
                p.score = BigDecimal.valueOf(i);
                s.persist(p);
            }
        }));
        test("queries with functions, windows, CTE and set operations", () -> {
            factory.inTransaction(s -> {
                equal(s.createQuery("select count(*) from Person where name like 'n%'"
                    + " and extract(year from coalesce(seen, instant)) > 2000", Long.class)
                    .getSingleResult(), 100L);
                equal(s.createQuery("select p.name from (select q.name as name, rank() over"
                    + " (order by q.score desc) as r from Person q where q.name like 'n%') p"
                    + " where p.r <= 2 order by p.name", String.class).getResultList(),
                    List.of("n98", "n99"));
                equal(s.createQuery("with t as (select p.id as id, p.score as points from Person p)"
                    + " select sum(r.points) from t r where r.points < 4", BigDecimal.class)
                    .getSingleResult().intValue(), 7);
                equal(s.createQuery("select listagg(b.title, ',') within group (order by b.title"
                    + " desc) from Book b", String.class).getSingleResult(), "Two,One");
                equal(s.createQuery("select p.name from Person p where array_contains(p.tags,"
                    + " 'x') union all select b.title from Book b order by 1", String.class)
                    .getResultList(), List.of("Ann", "One", "Two"));
                equal(s.createQuery("select name from Person order by id", String.class)
                    .setFirstResult(1).setMaxResults(3).getResultList().size(), 3);
            });
        });
        test("locks", () -> factory.inTransaction(s -> {
            equal(s.createQuery("from Person where name = 'n1'", Person.class)
                .setHibernateLockMode(LockMode.UPGRADE_SKIPLOCKED).getResultList().size(), 1);
            s.createQuery("from Book", Book.class).setLockMode(LockModeType.PESSIMISTIC_READ)
                .getResultList();
        }));
        test("bulk update and delete of joined tables", () -> factory.inTransaction(s -> {
            equal(s.createMutationQuery("update Employee set salary = 5, name = 'Bea'")
                .executeUpdate(), 1);
            equal(s.createMutationQuery("delete from Person where name like 'n_'")
                .executeUpdate(), 10);
            equal(s.createMutationQuery("insert into Book (title, pages) select name, 1 from"
                + " Person where name like 'n1%' on conflict do nothing").executeUpdate(), 10);
        }));
        test("optimistic lock", () -> {
            Person p = factory.fromTransaction(s -> s.createQuery("from Person where name='Bea'",
                Person.class).getSingleResult());
            factory.inTransaction(s -> s.find(Person.class, p.id).notes = "changed");
            try {
                p.notes = "stale";
                factory.inTransaction(s -> s.merge(p));
                throw new AssertionError("no error");
            } catch (OptimisticLockException expected) {
                // The version of the row has changed.
            }
        });
        test("scrolling through results", () -> factory.inTransaction(s -> {
            var r = s.createQuery("from Person order by id", Person.class).setFetchSize(7).scroll();
            int n = 0;
            while (r.next()) {
                n++;
            }
            equal(n, 91);
        }));
        factory.close();
    }
}
