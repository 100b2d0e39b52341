//! The structure of the system catalogs, which is the same in every database of a major version:
//! columns and indexes, read from the fact tables. Only the relfilenodes differ between databases.

use crate::descriptors::{self, tuple_desc};
use crate::facts;
use crate::rows::{PgAmproc, PgAttribute, PgClass, PgIndex, PgOpclass, PgProc, Text};
use engine::index::{IndexDef, Support, SupportFunction};
use hashbrown::HashMap;
use ids::{Oid, RelFile};
use page::tupdesc::TupleDesc;
use pgerror::{PgError, Result};
use sync::Arc;

/// Rows of the fact tables, keyed for lookup.
pub(crate) struct Builtin {
    pub classes: HashMap<Oid, PgClass>,
    pub attributes: HashMap<Oid, Vec<PgAttribute>>,
    pub indexes: HashMap<Oid, Vec<PgIndex>>,
    opclasses: HashMap<Oid, PgOpclass>,
    /// (operator family, type, support number) → function name.
    procs: HashMap<(Oid, Oid, i16), String>,
}

impl Builtin {
    pub(crate) fn load() -> Builtin {
        let mut attributes: HashMap<Oid, Vec<PgAttribute>> = HashMap::new();
        for row in facts::rows::<PgAttribute>() {
            if row.attnum > 0 {
                attributes.entry(row.attrelid).or_default().push(row);
            }
        }
        for columns in attributes.values_mut() {
            columns.sort_by_key(|a| a.attnum);
        }
        let mut indexes: HashMap<Oid, Vec<PgIndex>> = HashMap::new();
        for row in facts::rows::<PgIndex>() {
            indexes.entry(row.indrelid).or_default().push(row);
        }
        // The indexes of a table are opened and maintained by ascending OID.
        for rows in indexes.values_mut() {
            rows.sort_by_key(|i| i.indexrelid);
        }
        let names: HashMap<Oid, Text> =
            facts::rows::<PgProc>().into_iter().map(|p| (p.oid, p.prosrc)).collect();
        let amprocs = facts::rows::<PgAmproc>().into_iter();
        let same = amprocs.filter(|a| a.amproclefttype == a.amprocrighttype);
        let procs = same.map(|a| {
            let name = names.get(&a.amproc).map_or("", |p| p.as_str());
            ((a.amprocfamily, a.amproclefttype, a.amprocnum), name.to_owned())
        });
        Builtin {
            procs: procs.collect(),
            classes: facts::rows::<PgClass>().into_iter().map(|c| (c.oid, c)).collect(),
            attributes,
            indexes,
            opclasses: facts::rows::<PgOpclass>().into_iter().map(|c| (c.oid, c)).collect(),
        }
    }

    pub(crate) fn class(&self, oid: Oid) -> Result<&PgClass> {
        let class = self.classes.get(&oid);
        class.ok_or_else(|| PgError::internal(format!("no relation {oid} in the fact tables")))
    }

    pub(crate) fn columns(&self, relation: Oid) -> &[PgAttribute] {
        self.attributes.get(&relation).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn indexes_of(&self, table: Oid) -> &[PgIndex] {
        self.indexes.get(&table).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn tupdesc(&self, class: &PgClass) -> Arc<TupleDesc> {
        Arc::new(tuple_desc(self.columns(class.oid), class.reltype))
    }

    fn support(&self, opclass: Oid, number: i16) -> Option<&str> {
        let class = self.opclasses.get(&opclass)?;
        let key = (class.opcfamily, class.opcintype, number);
        self.procs.get(&key).map(String::as_str)
    }

    /// The definition of a catalog index, which is a B-tree.
    pub(crate) fn index_def(
        &self,
        index: &PgIndex,
        class: &PgClass,
        at: (&str, RelFile),
    ) -> Result<IndexDef> {
        let support = index.indclass.iter().map(|&class| {
            let compare = self.support(class, 1).and_then(types::compare::lookup);
            let compare = compare
                .ok_or_else(|| PgError::internal(format!("no comparison for class {class}")))?;
            // Indexed catalog columns have deterministic collations only.
            let equal_image = self.support(class, 4).is_some();
            Ok(vec![
                support(1, SupportFunction::Compare(compare.into())),
                support(4, SupportFunction::EqualImage(equal_image)),
            ])
        });
        let support = support.collect::<Result<_>>()?;
        descriptors::index_def(class, at, index, self.columns(index.indexrelid), support)
    }
}

fn support(number: u16, function: SupportFunction) -> Support {
    Support { number, oid: Oid::INVALID, function }
}
