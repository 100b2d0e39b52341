//! Checks for catalog contents that PostgreSQL can create and this server does not support. Access
//! to them is refused with a feature-not-supported error (0A000), since ignoring them would give
//! wrong results or corrupt data.

use crate::cx::CatCx;
use crate::encoding;
use crate::reldesc::RelDesc;
use crate::rows::{PgClass, PgDatabase, PgPublication, indexes};
use ids::code::ReplicaIdentity;
use ids::{AttrNo, Oid, Persistence, RelKind};
use pgerror::{PgError, Result, pg_err};
use types::settings::Encoding;

/// The encoding of the database. Error 0A000 for multibyte encodings other than UTF-8.
pub fn check_database(row: &PgDatabase) -> Result<Encoding> {
    let Some(encoding) = encoding::of_database(row.encoding) else {
        let name = encoding::name(row.encoding);
        return Err(PgError::unsupported(format!("database encoding \"{name}\"")));
    };
    Ok(encoding)
}

/// A change that publications may replicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Update,
    Delete,
}

impl Change {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Change::Update => ("update", "update"),
            Change::Delete => ("delete from", "delete"),
        }
    }

    fn gerund(self) -> &'static str {
        match self {
            Change::Update => "updating",
            Change::Delete => "deleting from",
        }
    }
}

enum Identity {
    Full,
    /// Key columns of the replica identity index; empty without one.
    Columns(Vec<AttrNo>),
}

/// Attribute numbers of all columns in an expression over one relation.
fn columns_of(e: &plan::Expr) -> Vec<AttrNo> {
    fn walk(e: &plan::Expr, out: &mut Vec<AttrNo>) {
        if let plan::Expr::Var(v) = e {
            out.push(v.varattno);
        }
        plan::walk::each_child(e, &mut |c| walk(c, out));
    }
    let mut out = Vec::new();
    walk(e, &mut out);
    out
}

impl CatCx<'_> {
    /// 0A000 where rows cannot be inserted or updated, because a constraint of the table is not
    /// checked by this server or an index not maintained. Reads and deletes are allowed: indexes
    /// keep entries of dead rows until VACUUM, which is refused.
    pub fn check_new_rows(&mut self, rel: &RelDesc) -> Result<()> {
        if rel.other_temp {
            return rel.rows().map(|_| ());
        }
        // The indexes of a partitioned table have no files.
        let indexes = rel.indexes.iter().filter(|_| rel.kind() != RelKind::PartitionedTable);
        for index in indexes.filter(|i| i.indisready) {
            let index = self.relation(index.indexrelid)?;
            if index.engine_index.is_none() {
                return Err(self.unsupported_index(&index));
            }
        }
        Ok(())
    }

    /// 55000 or 42P10 where a publication replicates these changes and the replica identity does
    /// not allow it. Counterpart: `CheckCmdReplicaIdentity`, `RelationBuildPublicationDesc`.
    pub fn check_published(&mut self, rel: &RelDesc, change: Change) -> Result<()> {
        if !matches!(rel.kind(), RelKind::Table | RelKind::PartitionedTable)
            || rel.class.relpersistence != Persistence::Permanent
            || rel.is_catalog()
        {
            return Ok(());
        }
        let publishes = |p: &PgPublication| match change {
            Change::Update => p.pubupdate,
            Change::Delete => p.pubdelete,
        };
        let (verb, event) = change.words();
        let cannot = |detail| {
            pg_err!(INVALID_COLUMN_REFERENCE, "cannot {verb} table \"{}\"", rel.name())
                .detail(detail)
        };
        let mut is_published = false;
        for publication in self.scan(indexes::PG_PUBLICATION_OID_INDEX, &[])? {
            if publication.puballtables {
                is_published |= publishes(&publication);
                continue;
            }
            let keys = [rel.class.relnamespace.into(), publication.oid.into()];
            let by_schema = self.search(crate::cache::PUBLICATIONNAMESPACEMAP, &keys)?.is_some();
            let keys = [rel.oid().into(), publication.oid.into()];
            let by_name = self.search(crate::cache::PUBLICATIONRELMAP, &keys)?;
            is_published |= publishes(&publication) && (by_schema || by_name.is_some());
            let Some(entry) = by_name.filter(|_| publishes(&publication)) else { continue };
            let identity = self.identity(rel)?;
            if let (Some(text), Identity::Columns(known)) = (&entry.prqual, &identity) {
                let used = columns_of(&plan::nodetree::read_expr(text.as_str())?);
                if used.iter().any(|column| !known.contains(column)) {
                    return Err(cannot(
                        "Column used in the publication WHERE expression is not part of the \
                         replica identity.",
                    ));
                }
            }
            let covers = match (&entry.prattrs, &identity) {
                (None, _) => true,
                (Some(_), Identity::Full) => false,
                (Some(list), Identity::Columns(known)) => known.iter().all(|c| list.0.contains(c)),
            };
            if !covers {
                return Err(cannot(
                    "Column list used by the publication does not cover the replica identity.",
                ));
            }
        }
        if !is_published
            || !matches!(self.identity(rel)?, Identity::Columns(list) if list.is_empty())
        {
            return Ok(());
        }
        Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot {verb} table \"{}\" because it does not have a replica identity and publishes \
             {event}s",
            rel.name()
        )
        .hint(format!(
            "To enable {} the table, set REPLICA IDENTITY using ALTER TABLE.",
            change.gerund()
        )))
    }

    /// The columns of an old row that logical replication would send.
    fn identity(&mut self, rel: &RelDesc) -> Result<Identity> {
        let index = match rel.class.relreplident {
            ReplicaIdentity::Full => return Ok(Identity::Full),
            ReplicaIdentity::Default => {
                rel.indexes.iter().find(|i| i.indisprimary && i.indimmediate)
            }
            ReplicaIdentity::Index => rel.indexes.iter().find(|i| i.indisreplident),
            ReplicaIdentity::Nothing => None,
        };
        let columns =
            index.map(|i| i.indkey.iter().take(i.indnkeyatts as usize).copied().collect());
        Ok(Identity::Columns(columns.unwrap_or_default()))
    }

    /// The error for an index that is not supported, that is, without [`RelDesc::btree`].
    pub fn unsupported_index(&mut self, index: &RelDesc) -> PgError {
        let collations = index.index.iter().flat_map(|part| part.row.indcollation.iter());
        for &collation in collations {
            if let Err(e) = self.locale(collation) {
                return e;
            }
        }
        PgError::unsupported(format!("index \"{}\" of this access method", index.name()))
    }

    /// 0A000 for tables with inheritance children, partitioned tables and foreign tables.
    pub fn check_children(&mut self, class: &PgClass) -> Result<()> {
        if class.relkind == RelKind::ForeignTable {
            return Err(PgError::unsupported(format!("foreign table \"{}\"", class.relname)));
        }
        if class.relkind == RelKind::PartitionedTable {
            return Err(PgError::unsupported(format!("partitioned table \"{}\"", class.relname)));
        }
        // `relhassubclass` may remain set after the children were dropped.
        if class.relhassubclass
            && !self.scan(indexes::PG_INHERITS_PARENT_INDEX, &[class.oid.into()])?.is_empty()
        {
            return Err(PgError::unsupported("inheritance"));
        }
        Ok(())
    }

    /// 0A000 where row-level security policies apply to the role. Counterpart: `check_enable_rls`.
    pub fn check_row_security(&mut self, role: Oid, class: &PgClass) -> Result<()> {
        if !class.relrowsecurity {
            return Ok(());
        }
        let row = self.search(crate::cache::AUTHOID, &[role.into()])?;
        if row.is_some_and(|r| r.rolsuper || r.rolbypassrls) {
            return Ok(());
        }
        if !class.relforcerowsecurity && self.is_member(role, class.relowner, true)? {
            return Ok(());
        }
        Err(PgError::unsupported(format!("row-level security of table \"{}\"", class.relname)))
    }
}
