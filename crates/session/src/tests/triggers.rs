//! Trigger functions other than those of constraints: when they are called, and the effects of
//! their results. The expected order is that of PostgreSQL with equivalent triggers in PL/pgSQL.

use super::shared::{Client, Fixture};
use crate::function::Call;
use crate::function::language::{Language, ReadyRows, Resolved, RunningSet};
use crate::state::State;
use catalog::Row;
use catalog::rows::{Int2Vector, Name, PgClass, PgProc, PgTrigger, Text, indexes};
use eval::Callee;
use executor::spi::{Query, QuerySnapshot};
use executor::{BeforeRowResult, Change, Level, Timing};
use ids::Oid;
use ids::code::Firing;
use pgerror::{PgError, Result};
use std::sync::Arc;
use trigger::{TriggerCall, TriggerHost};
use types::{Datum, DatumRef, oids};

const ROW: i16 = 1;
const BEFORE: i16 = 2;
const INSERT: i16 = 4;
const DELETE: i16 = 8;
const UPDATE: i16 = 16;

const NOTE: &str = "note";
const CHANGE: &str = "change";

/// The OID of a language in which these functions are written.
pub(crate) const LANGUAGE: Oid = Oid(99_000);

/// A language whose functions are the functions of this file, named by their bodies.
pub(crate) struct Logging;

impl Language for Logging {
    fn callee(&self, _: &mut State, _: &PgProc) -> Result<Callee> {
        Ok(Callee::Host)
    }

    fn validate(&self, _: &mut State, _: &Row<PgProc>, _: &str) -> Result<()> {
        Ok(())
    }

    fn call(&self, _: &mut State, _: &Call<'_>) -> Result<Datum> {
        Err(PgError::internal("a trigger function is called as a function"))
    }

    fn call_set(&self, state: &mut State, call: &Call<'_>, _: &[(Oid, i32)]) -> Result<RunningSet> {
        let rows = ReadyRows::one(self.call(state, call)?);
        Ok(RunningSet { whole: true, rows })
    }

    fn call_trigger(
        &self,
        state: &mut State,
        resolved: &Resolved,
        call: &TriggerCall<'_>,
    ) -> Result<BeforeRowResult> {
        match resolved.row.prosrc.as_str() {
            CHANGE => change(state, call),
            _ => note(state, call),
        }
    }
}

/// The OID of a function in that language.
fn function_named(client: &mut Client, name: &str) -> Oid {
    let known = client.session.state.cat().scan_all::<PgProc>().unwrap();
    if let Some(known) = known.iter().find(|p| p.proname.as_str() == name) {
        return known.oid;
    }
    client.query(&format!("CREATE FUNCTION {name}() RETURNS void LANGUAGE sql AS ''"));
    let mut cat = client.session.state.cat();
    let rows = cat.scan_all::<PgProc>().unwrap();
    let row = rows.iter().find(|p| p.proname.as_str() == name).unwrap().clone();
    let body = Text::from(name.to_owned());
    cat.update(&row, &PgProc { prolang: LANGUAGE, prosrc: body, ..row.row.clone() }).unwrap();
    cat.increment_command_counter().unwrap();
    row.oid
}

/// Adds a line to the table `log`.
fn log(host: &mut dyn TriggerHost, text: &str) -> Result<()> {
    let plan = host.plan_internal("INSERT INTO log(what) VALUES ($1)", &[oids::TEXT])?;
    let query = Query::new(plan, Arc::from([Datum::text(text)]));
    query.under(QuerySnapshot::NewCommand).rows(host).map(|_| ())
}

/// Logs the call.
fn note(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    let timing = if call.trigger.timing == Timing::Before { "before" } else { "after" };
    let level = if call.trigger.level == Level::Row { " row" } else { "" };
    let change = match call.change {
        Change::Insert => "insert",
        Change::Update => "update",
        Change::Delete => "delete",
        Change::Truncate => "truncate",
    };
    log(host, &format!("{timing} {change}{level}"))?;
    Ok(BeforeRowResult::Keep)
}

/// Doubles the second column; skips rows where it is negative, and deletions of such rows.
fn change(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    note(host, call)?;
    let Some(row) = call.new_row else { return Ok(BeforeRowResult::Skip) };
    let v = row[1].as_i32();
    if v < 0 {
        return Ok(BeforeRowResult::Skip);
    }
    let mut row: Vec<Datum> = row.iter().map(|value| DatumRef::to_owned(*value)).collect();
    row[1] = Datum::int4(v * 2);
    Ok(BeforeRowResult::Replace(row))
}

fn add_trigger(client: &mut Client, name: &str, function: &str, kind: i16) {
    let function = function_named(client, function);
    let state = &mut client.session.state;
    let mut cat = state.cat();
    let table = cat.scan_all::<PgClass>().unwrap();
    let table = table.iter().find(|c| c.relname.as_str() == "t").unwrap().oid;
    let oid = cat.new_oid(indexes::PG_TRIGGER_OID_INDEX).unwrap();
    cat.insert(&PgTrigger {
        oid,
        tgrelid: table,
        tgparentid: Oid::INVALID,
        tgname: Name::new(name),
        tgfoid: function,
        tgtype: kind,
        tgenabled: Firing::Origin,
        tgisinternal: true,
        tgconstrrelid: Oid::INVALID,
        tgconstrindid: Oid::INVALID,
        tgconstraint: Oid::INVALID,
        tgdeferrable: false,
        tginitdeferred: false,
        tgnargs: 0,
        tgattr: Int2Vector::default(),
        tgargs: Text::default(),
        tgqual: None,
        tgoldtable: None,
        tgnewtable: None,
    })
    .unwrap();
    let row = cat.class(table).unwrap();
    match row.relhastriggers {
        true => cat.invalidate_relation(table, false),
        false => {
            cat.update(&row, &PgClass { relhastriggers: true, ..row.row.clone() }).unwrap();
        }
    }
    cat.increment_command_counter().unwrap();
}

/// The lines of the log since the last call.
fn take_log(client: &mut Client) -> Vec<String> {
    let lines = client.query("SELECT what FROM log ORDER BY n");
    client.query("DELETE FROM log");
    let rows = lines.lines().filter_map(|l| l.strip_prefix("D "));
    rows.map(|l| l.rsplit('\\').next().unwrap_or("").trim_start_matches(char::is_numeric).into())
        .collect()
}

fn fixture() -> Fixture {
    let mut fixture = Fixture::new(true, 1);
    let client = &mut fixture.clients[0];
    client.query(
        "CREATE TABLE t(id int PRIMARY KEY, v int, g int GENERATED ALWAYS AS (v + 1) STORED)",
    );
    client.query("CREATE TABLE log(n serial, what text)");
    client.query("BEGIN");
    fixture
}

#[test]
fn before_row_triggers_replace_and_skip_rows() {
    let mut fixture = fixture();
    let client = &mut fixture.clients[0];
    add_trigger(client, "a", CHANGE, ROW | BEFORE | INSERT | UPDATE | DELETE);
    let answer = client.query("INSERT INTO t VALUES (1, 10), (2, -1), (3, 5) RETURNING v, g");
    assert!(answer.contains("INSERT 0 2"), "{answer}");
    let answer = client.query("UPDATE t SET v = CASE id WHEN 1 THEN -5 ELSE v END");
    assert!(answer.contains("UPDATE 1"), "{answer}");
    let answer = client
        .query("INSERT INTO t VALUES (1, 0), (7, 1) ON CONFLICT (id) DO UPDATE SET v = t.v + 1");
    assert!(answer.contains("INSERT 0 2"), "{answer}");
    let answer = client.query("DELETE FROM t");
    assert!(answer.contains("DELETE 0"), "{answer}");
    let rows = client.query("SELECT string_agg(t::text, ' ' ORDER BY id) FROM t");
    assert!(rows.contains("(1,42,43) (3,20,21) (7,2,3)"), "{rows}");
}

#[test]
fn triggers_are_called_in_the_order_of_their_kinds() {
    let mut fixture = fixture();
    let client = &mut fixture.clients[0];
    add_trigger(client, "d", NOTE, INSERT | UPDATE | DELETE);
    add_trigger(client, "c", NOTE, ROW | INSERT | UPDATE | DELETE);
    add_trigger(client, "b", NOTE, ROW | BEFORE | INSERT | UPDATE | DELETE);
    add_trigger(client, "a", NOTE, BEFORE | INSERT | UPDATE | DELETE);
    client.query("INSERT INTO t VALUES (1, 1), (2, 2)");
    assert_eq!(
        take_log(client),
        [
            "before insert",
            "before insert row",
            "before insert row",
            "after insert row",
            "after insert row",
            "after insert"
        ]
    );
    client.query("UPDATE t SET v = 3 WHERE id = 9");
    assert_eq!(take_log(client), ["before update", "after update"]);
    client.query("DELETE FROM t WHERE id = 2");
    assert_eq!(
        take_log(client),
        ["before delete", "before delete row", "after delete row", "after delete"]
    );
    client.query("INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = 6");
    assert_eq!(
        take_log(client),
        [
            "before insert",
            "before update",
            "before insert row",
            "before update row",
            "after update row",
            "after update",
            "after insert"
        ]
    );
}
