//! Support functions of aggregates and types that are not built in: the function manager calls
//! them. There are no statements that create such objects, so the tests insert their catalog rows.

use super::shared::{Client, Fixture};
use catalog::rows::{Name, PgAggregate, PgProc, PgType, indexes};
use ids::Oid;

fn function(client: &mut Client, name: &str) -> Oid {
    let rows = client.session.state.cat().scan_all::<PgProc>().unwrap();
    rows.iter().find(|p| p.proname.as_str() == name).unwrap().oid
}

/// Adds an aggregate of integers whose state is an integer: a copy of `max` with other functions.
fn add_aggregate(client: &mut Client, name: &str, transition: &str, last: &str) {
    const MAX_INT4: Oid = Oid(2116);
    let functions = [function(client, transition), function(client, last)];
    let mut cat = client.session.state.cat();
    let oid = cat.new_oid(indexes::PG_PROC_OID_INDEX).unwrap();
    let proc = cat.function(MAX_INT4).unwrap().row.clone();
    cat.insert(&PgProc { oid, proname: Name::new(name), ..proc }).unwrap();
    let aggregate = cat.aggregate(MAX_INT4).unwrap().row.clone();
    cat.insert(&PgAggregate {
        aggfnoid: oid,
        aggtransfn: functions[0],
        aggfinalfn: functions[1],
        aggcombinefn: Oid::INVALID,
        aggsortop: Oid::INVALID,
        ..aggregate
    })
    .unwrap();
    cat.increment_command_counter().unwrap();
}

/// Adds a type that is stored like an integer.
fn add_type(client: &mut Client, name: &str, input: &str, output: &str) {
    let functions = [function(client, input), function(client, output)];
    let mut cat = client.session.state.cat();
    let oid = cat.new_oid(indexes::PG_TYPE_OID_INDEX).unwrap();
    let row = cat.type_row(types::oids::INT4).unwrap().row.clone();
    cat.insert(&PgType {
        oid,
        typname: Name::new(name),
        typarray: Oid::INVALID,
        typinput: functions[0],
        typoutput: functions[1],
        typreceive: Oid::INVALID,
        typsend: Oid::INVALID,
        ..row
    })
    .unwrap();
    cat.increment_command_counter().unwrap();
}

#[test]
fn functions_of_aggregates_may_be_written_in_sql() {
    let mut fixture = Fixture::new(true, 1);
    let client = &mut fixture.clients[0];
    client.query("BEGIN");
    client.query(
        "CREATE FUNCTION digits(int, int) RETURNS int LANGUAGE sql
         AS 'SELECT coalesce($1, 0) * 10 + $2'",
    );
    client.query(
        "CREATE FUNCTION largest(int, int) RETURNS int STRICT LANGUAGE sql
                  AS 'SELECT CASE WHEN $1 > $2 THEN $1 ELSE $2 END'",
    );
    client.query("CREATE FUNCTION negated(int) RETURNS int LANGUAGE sql AS 'SELECT -$1'");
    add_aggregate(client, "all_digits", "digits", "negated");
    add_aggregate(client, "largest_of", "largest", "negated");
    let rows = client.query("SELECT all_digits(i ORDER BY i)::text FROM generate_series(1, 4) i");
    assert!(rows.contains("-1234"), "{rows}");
    // A strict transition function takes the first value as its state and skips NULLs.
    let rows = client.query(
        "SELECT string_agg(format('%s=%s', k, m), ' ' ORDER BY k) FROM (
           SELECT i % 2 AS k, largest_of(nullif(i, 9)) AS m FROM generate_series(1, 9) i
           GROUP BY 1) g",
    );
    assert!(rows.contains("0=-8 1=-7"), "{rows}");
    let rows = client.query(
        "SELECT string_agg(d::text, ' ') FROM (
           SELECT all_digits(i) OVER (ORDER BY i) AS d FROM generate_series(1, 3) i) w",
    );
    assert!(rows.contains("-1 -12 -123"), "{rows}");
    let error = client.query("SELECT all_digits(1000000000 * i) FROM generate_series(1, 2) i");
    assert!(error.contains("22003"), "{error}");
}

/// A function with SET clauses is never called by pointer.
#[test]
fn functions_of_types_may_have_settings() {
    let mut fixture = Fixture::new(true, 1);
    let client = &mut fixture.clients[0];
    client.query("BEGIN");
    client.query(
        "CREATE FUNCTION number_in(cstring) RETURNS int STRICT LANGUAGE internal
         SET work_mem = '3MB' AS 'int4in'",
    );
    client.query(
        "CREATE FUNCTION number_out(int) RETURNS cstring STRICT LANGUAGE internal
         SET work_mem = '3MB' AS 'int4out'",
    );
    add_type(client, "number", "number_in", "number_out");
    let rows = client.query("SELECT '0042'::number");
    assert!(rows.contains("42") && !rows.contains("0042"), "{rows}");
    let rows = client
        .query("SELECT string_agg(('00' || i)::number::text, ' ') FROM generate_series(8, 9) i");
    assert!(rows.contains("8 9"), "{rows}");
    let rows = client.query("SELECT coalesce(max(NULL::text::number::text), 'none')");
    assert!(rows.contains("none"), "{rows}");
    let error = client.query("SELECT ('x' || i)::number FROM generate_series(8, 9) i");
    assert!(error.contains("22P02"), "{error}");
}
