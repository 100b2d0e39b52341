//! Builds the relation files of the catalogs: heap, visibility map and indexes of every table, and
//! the relation maps.

use super::heap::{HeapPages, ToastPages, form_row};
use super::index::build as build_index;
use super::renumber::{FIRST_COLLATION, OidShift};
use super::{DATABASES, Files, InitOptions};
use crate::builtin::Builtin;
use crate::collations;
use crate::facts;
use crate::rows::{
    CatalogRow, Name, PgAuthid, PgClass, PgCollation, PgDatabase, PgDescription, PgIndex, Text,
};
use btree::KeySchema;
use engine::RelMap;
use hashbrown::HashMap;
use ids::builtin::role;
use ids::code::CollProvider;
use ids::{Oid, RelFile, RelKind, Tid};
use pgerror::{PgError, Result};
use types::{Datum, DatumRef};

/// Page and row counts of a relation, for `pg_class`.
#[derive(Clone, Copy, Default)]
struct Size {
    pages: usize,
    rows: usize,
    all_visible: usize,
}

/// Paths and contents of all relation files, relation maps and `PG_VERSION` files of the databases.
pub(super) fn build(options: &InitOptions) -> Result<Files> {
    let source = Builtin::load();
    let shift = OidShift::new(options.collations.len());
    let mut builder = Builder { source, options, shift, sizes: HashMap::new(), files: Vec::new() };
    let mut tables: Vec<PgClass> =
        builder.source.classes.values().filter(|c| c.relkind == RelKind::Table).cloned().collect();
    tables.sort_by_key(|c| c.oid);
    for class in tables.iter().filter(|c| c.oid != PgClass::RELATION) {
        let rows = builder.adjusted_rows(class)?;
        builder.table(class, rows)?;
    }
    // pg_class is built last, because it contains the sizes of all relations. These include its own
    // size, so it is built twice; the second time does not change the size, because the columns
    // with sizes have a fixed width.
    let own = tables.iter().find(|c| c.oid == PgClass::RELATION);
    let own = own.ok_or_else(|| PgError::internal("pg_class is not in pg_class"))?;
    for _ in 0..2 {
        let rows = builder.class_rows();
        builder.table(own, rows)?;
    }
    let relations = std::mem::take(&mut builder.files);
    let mut files = Files::new();
    for (class, suffix, bytes) in relations {
        let number = shift.oid(if class.1.is_valid() { class.1 } else { class.0 });
        if class.2 {
            files.insert(format!("global/{number}{suffix}"), bytes);
            continue;
        }
        for database in DATABASES {
            files.insert(format!("base/{database}/{number}{suffix}"), bytes.clone());
        }
    }
    let mapped = |shared: bool| {
        let classes = builder.source.classes.values();
        let mapped = classes.filter(move |c| {
            c.relisshared == shared && c.relfilenode == Oid::INVALID && has_storage(c)
        });
        let mut mapped: Vec<(Oid, Oid)> = mapped.map(|c| (c.oid, c.oid)).collect();
        mapped.sort();
        let mut map = RelMap::default();
        for (relation, file) in mapped {
            map.set(relation, file)?;
        }
        Ok::<Vec<u8>, PgError>(map.encode().to_vec())
    };
    files.insert("global/pg_filenode.map".to_owned(), mapped(true)?);
    for database in DATABASES {
        files.insert(format!("base/{database}/pg_filenode.map"), mapped(false)?);
        files.insert(format!("base/{database}/PG_VERSION"), b"15\n".to_vec());
    }
    Ok(files)
}

fn has_storage(class: &PgClass) -> bool {
    matches!(class.relkind, RelKind::Table | RelKind::Index | RelKind::Toast)
}

/// OID, relfilenode and `relisshared` of a relation.
type FileKey = (Oid, Oid, bool);

struct Builder<'a> {
    source: Builtin,
    options: &'a InitOptions,
    shift: OidShift,
    sizes: HashMap<Oid, Size>,
    files: Vec<(FileKey, &'static str, Vec<u8>)>,
}

impl Builder<'_> {
    /// The rows of a table, adjusted to the options of `init`.
    fn adjusted_rows(&self, class: &PgClass) -> Result<Vec<Vec<Datum>>> {
        let types = facts::column_types(class.oid);
        // Only rows of the fact tables are renumbered; rows added below already have final OIDs.
        let mut rows: Vec<Vec<Datum>> = facts::table(class.oid).map_or_else(Vec::new, |table| {
            table.edited(&types, |ty, text| self.shift.statistics(ty, text)).collect()
        });
        self.shift.rows(&mut rows, &types);
        match class.oid {
            PgAuthid::RELATION => change(&mut rows, |role: &mut PgAuthid| {
                if role.oid == role::BOOTSTRAP_SUPERUSER {
                    role.rolname = Name::new(&self.options.user);
                    role.rolpassword = self.options.password.clone().map(Text::from);
                }
            })?,
            PgDatabase::RELATION => change(&mut rows, |database: &mut PgDatabase| {
                database.encoding = self.options.encoding;
                database.datcollate = Text::from(self.options.lc_collate.as_str());
                database.datctype = Text::from(self.options.lc_ctype.as_str());
                let (provider, locale) = match &self.options.icu_locale {
                    Some(icu) => (CollProvider::Icu, icu),
                    None => (CollProvider::Libc, &self.options.lc_collate),
                };
                database.datlocprovider = provider;
                database.daticulocale = self.options.icu_locale.as_deref().map(Text::from);
                // template0 has none, because nothing in it depends on collations.
                let version = collations::actual_version(provider, locale);
                database.datcollversion =
                    version.filter(|_| database.datname != "template0").map(Text::from);
                database.datfrozenxid = ids::Xid::FIRST_NORMAL;
                database.datminmxid = ids::Xid(1);
            })?,
            PgCollation::RELATION => {
                let found = self.options.collations.iter().zip(FIRST_COLLATION.0..);
                rows.extend(
                    found.map(|(c, oid)| PgCollation { oid: Oid(oid), ..c.clone() }.to_row()),
                );
            }
            PgDescription::RELATION => {
                // As initdb, after the objects that do not depend on the machine.
                let after = |row: &Vec<Datum>| row[0].as_ref().as_oid() >= FIRST_COLLATION;
                let at = rows.iter().position(after).unwrap_or(rows.len());
                rows.splice(at..at, self.described_collations());
            }
            _ => {}
        }
        Ok(rows)
    }

    /// The rows of `pg_description` for the collations of this machine.
    fn described_collations(&self) -> Vec<Vec<Datum>> {
        let found = self.options.collations.iter().zip(FIRST_COLLATION.0..);
        let rows = found.filter_map(|(collation, oid)| {
            let locale = collation.colliculocale.as_ref()?;
            let description = PgDescription {
                objoid: Oid(oid),
                classoid: PgCollation::RELATION,
                objsubid: 0,
                description: Text::from(locale::icu_display_name(locale.as_str())?),
            };
            Some(description.to_row())
        });
        rows.collect()
    }

    /// The rows of `pg_class` with the sizes known so far.
    fn class_rows(&self) -> Vec<Vec<Datum>> {
        let mut rows = self.fact_class_rows();
        self.shift.rows(&mut rows, &facts::column_types(PgClass::RELATION));
        rows
    }

    fn fact_class_rows(&self) -> Vec<Vec<Datum>> {
        let rows = facts::rows::<PgClass>().into_iter().map(|mut class| {
            let size = self.sizes.get(&class.oid).copied().unwrap_or_default();
            if has_storage(&class) {
                class.relpages = size.pages as i32;
                class.reltuples = size.rows as f32;
                class.relallvisible = size.all_visible as i32;
            }
            if matches!(class.relkind, RelKind::Table | RelKind::Toast) {
                class.relfrozenxid = ids::Xid::FIRST_NORMAL;
                class.relminmxid = ids::Xid(1);
            }
            class.to_row()
        });
        rows.collect()
    }

    /// Builds a table, its TOAST table and all their indexes.
    fn table(&mut self, class: &PgClass, rows: Vec<Vec<Datum>>) -> Result<()> {
        let desc = self.source.tupdesc(class);
        let mut toast = class.reltoastrelid.valid().map(|t| ToastPages::new(self.shift.oid(t)));
        let mut heap = HeapPages::default();
        let mut tids = Vec::with_capacity(rows.len());
        for row in &rows {
            let tuple = form_row(&desc, row, toast.as_mut())?;
            tids.push(heap.add(tuple)?);
        }
        let indexes = self.source.indexes_of(class.oid).to_vec();
        for index in &indexes {
            let mut keys: Vec<(Vec<Datum>, Tid)> = rows
                .iter()
                .zip(&tids)
                .map(|(row, &tid)| {
                    let column = |&n: &i16| row[n as usize - 1].clone();
                    (index.indkey.iter().map(column).collect(), tid)
                })
                .collect();
            self.index(index, &mut keys)?;
        }
        self.heap(class, heap);
        if let Some(mut toast) = toast {
            let class = self.source.class(class.reltoastrelid)?.clone();
            let indexes = self.source.indexes_of(class.oid).to_vec();
            for index in &indexes {
                self.index(index, &mut toast.chunks)?;
            }
            self.heap(&class, toast.heap);
        }
        Ok(())
    }

    fn index(&mut self, index: &PgIndex, keys: &mut [(Vec<Datum>, Tid)]) -> Result<()> {
        let class = self.source.class(index.indexrelid)?.clone();
        let file = RelFile::new(RelFile::DEFAULT_TABLESPACE, Oid::INVALID, class.relfilenode);
        let schema = KeySchema::of(&self.source.index_def(index, &class, ("", file))?)?;
        let (bytes, pages) = build_index(&schema, &class, keys, self.options.checksums)?;
        self.sizes.insert(class.oid, Size { pages, rows: keys.len(), all_visible: 0 });
        self.put(&class, "", bytes);
        Ok(())
    }

    fn heap(&mut self, class: &PgClass, mut heap: HeapPages) {
        let pages = heap.pages.len();
        self.sizes.insert(class.oid, Size { pages, rows: heap.rows, all_visible: pages });
        let map = heap.visibility_map(self.options.checksums);
        let bytes = heap.bytes(self.options.checksums);
        self.put(class, "", bytes);
        if !map.is_empty() {
            self.put(class, "_vm", map);
        }
    }

    fn put(&mut self, class: &PgClass, suffix: &'static str, bytes: Vec<u8>) {
        let key = (class.oid, class.relfilenode, class.relisshared);
        self.files.retain(|f| f.0 != key || f.1 != suffix);
        self.files.push((key, suffix, bytes));
    }
}

/// Applies `edit` to all rows.
fn change<R: CatalogRow>(rows: &mut [Vec<Datum>], edit: impl Fn(&mut R)) -> Result<()> {
    for row in rows {
        let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
        let mut typed = R::from_row(&refs)?;
        edit(&mut typed);
        *row = typed.to_row();
    }
    Ok(())
}
