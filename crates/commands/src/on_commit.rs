//! The ON COMMIT actions of temporary tables.
//!
//! Counterpart: `PreCommit_on_commit_actions`.

use crate::truncate;
use catalog::ObjectAddress;
use catalog::depend::DropBehavior;
use define::deletion;
use ids::Oid;
use pgerror::Result;
use utility::host::CommandHost;

/// Applies the ON COMMIT actions of the session's temporary tables; returns the tables that still
/// exist. Counterpart: `PreCommit_on_commit_actions`.
pub fn before_commit(
    host: &mut dyn CommandHost,
    tables: &[(Oid, bool)],
) -> Result<Vec<(Oid, bool)>> {
    let mut left = Vec::new();
    let mut emptied = Vec::new();
    for &(oid, drop) in tables {
        // The table was dropped, or its creation was rolled back.
        let Some(rel) = host.catalog().try_relation(oid)? else { continue };
        if drop {
            deletion::drop_objects(
                host,
                &[ObjectAddress::relation(oid)],
                DropBehavior::Cascade,
                true,
            )?;
            continue;
        }
        left.push((oid, drop));
        let Some(table) = &rel.table else { continue };
        let filled = engine::table::nblocks(host.backend(), table)? > 0;
        emptied.push((rel, filled));
    }
    truncate::check_commit_actions(host, &emptied)?;
    for (rel, _) in emptied.iter().filter(|(_, filled)| *filled) {
        truncate::truncate_one(host, rel)?;
    }
    Ok(left)
}
