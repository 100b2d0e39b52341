//! Consistency checks of every table, including catalogs, with its TOAST table and indexes: heap
//! pages, trees, and that both contain the same rows.

use catalog::rows::PgClass;
use catalog::{CatCx, CatSession, Catalogs};
use engine::{Backend, CommitExtras, Engine, Isolation};
use ids::{MultiXid, Oid, Persistence, RelFile, RelKind, Xid};
use std::collections::BTreeSet;
use std::sync::Arc;
use sync::wait::Waiter;

/// The database `postgres`.
const DATABASE: Oid = Oid(5);

/// Small catalogs that the scripts change frequently.
const CHANGED_OFTEN: [u32; 5] = [1259, 2610, 2606, 2604, 2224];
/// The first OID of user objects.
const FIRST_NORMAL: u32 = 16_384;

/// Checks all relations, or those that the scripts create and change most; returns their number.
pub(super) fn structure(engine: &Arc<Engine>, all: bool) -> Result<usize, String> {
    let in_step = |what: &str| {
        let what = what.to_owned();
        move |e: pgerror::PgError| format!("{what}: {e}")
    };
    let waiter = Arc::new(Waiter::new());
    let space = RelFile::DEFAULT_TABLESPACE;
    let mut be = Backend::connect(engine.storage(), 99, DATABASE, space, waiter)
        .map_err(in_step("connection"))?;
    let mut session = CatSession::new(Catalogs::new().database(DATABASE), Oid(10));
    be.begin(Isolation::ReadCommitted);
    let mut classes: Vec<(Oid, RelKind, String, Xid, MultiXid, bool)> = Vec::new();
    for class in
        CatCx::new(&mut be, &mut session).scan_all::<PgClass>().map_err(in_step("pg_class"))?
    {
        classes.push((
            class.oid,
            class.relkind,
            class.relname.as_str().to_owned(),
            class.relfrozenxid,
            MultiXid(class.relminmxid.0),
            class.relpersistence == Persistence::Temporary,
        ));
    }
    let mut names = BTreeSet::new();
    let mut checked = 0;
    for (oid, kind, name, frozen, min_multi, temporary) in classes {
        if !names.insert(oid) {
            return Err(format!("pg_class has {oid} twice"));
        }
        let wanted = all || oid.0 >= FIRST_NORMAL || CHANGED_OFTEN.contains(&oid.0);
        if !wanted || !kind.has_table_am() || temporary {
            continue;
        }
        let rel = CatCx::new(&mut be, &mut session).relation(oid).map_err(in_step(&name))?;
        let table = rel.table.clone().ok_or_else(|| format!("{name} has no rows of its own"))?;
        let faults = engine::verify::heap_faults(&mut be, &table, frozen, min_multi)
            .map_err(in_step(&name))?;
        if let Some(fault) = faults.first() {
            return Err(format!("{name}: {fault:?} and {} more", faults.len() - 1));
        }
        checked += 1;
        for index in &rel.indexes {
            let whole = index.indpred.is_none();
            let desc = CatCx::new(&mut be, &mut session)
                .relation(index.indexrelid)
                .map_err(in_step(&name))?;
            if let (true, Some(open)) = (whole, &desc.engine_index) {
                engine::verify::check_index(&mut be, &table, open).map_err(in_step(&name))?;
                checked += 1;
            }
        }
    }
    be.commit(CommitExtras::default()).map_err(in_step("commit"))?;
    Ok(checked)
}
