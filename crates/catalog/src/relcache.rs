//! The relation cache: one shared descriptor (`reldesc`) per relation.
//!
//! Counterpart: relcache.c.

use crate::cache;
use crate::cx::CatCx;
use crate::descriptors::{index_def, index_desc, rel_file, table_desc, tuple_desc};
use crate::reldesc::{IndexPart, RelDesc};
use crate::rows::{CatalogRow, PgAttribute, PgClass, PgIndex, Text, indexes};
use engine::index::{
    IndexColumn, IndexDef, MethodInfo, Support, SupportFunction, SupportKind, TupleLayout,
};
use engine::{IndexDesc, TableDesc, ToastDesc};
use ids::code::ConType;
use ids::{Oid, Persistence, RelFile, RelKind, Xid};
use page::tupdesc::Attr;
use pgerror::{PgError, Result};
use std::sync::OnceLock;
use sync::Arc;

/// The number of the support function for parameters of an operator class of GiST indexes.
const OPTIONS_PROC: i16 = 10;

impl CatCx<'_> {
    /// The descriptor of a relation. An internal error where it does not exist: the caller has
    /// resolved the OID and holds a lock. Counterpart: `RelationIdGetRelation`.
    pub fn relation(&mut self, oid: Oid) -> Result<Arc<RelDesc>> {
        self.try_relation(oid)?
            .ok_or_else(|| PgError::internal(format!("could not open relation with OID {oid}")))
    }

    /// As [`CatCx::relation`]; `None` where the relation does not exist.
    pub fn try_relation(&mut self, oid: Oid) -> Result<Option<Arc<RelDesc>>> {
        let generation = match self.session.catalog.find_relation(oid) {
            _ if self.session.overlay.is_relation_dirty(oid) => None,
            Ok(found) if self.session.overlay.is_part_dirty(&found) => None,
            // The cached descriptor is that of the session that owns the temporary table, so this
            // session builds its own.
            Ok(found) if self.is_other_temp(&found.class) => return self.build_relation(oid),
            Ok(found) => return Ok(Some(found)),
            Err(generation) => Some(generation),
        };
        if generation.is_none()
            && let Some(found) = self.session.overlay.find_relation(oid)
        {
            return Ok(Some(found));
        }
        let built = self.build_relation(oid)?;
        if let Some(desc) = built.as_ref().filter(|desc| !desc.other_temp) {
            match generation.filter(|_| !self.session.overlay.is_part_dirty(desc)) {
                Some(generation) => self.session.catalog.install_relation(generation, desc),
                None => self.session.overlay.install_relation(desc.clone()),
            }
        }
        Ok(built)
    }

    /// Counterpart: `RELATION_IS_OTHER_TEMP`.
    fn is_other_temp(&self, class: &PgClass) -> bool {
        let own = [self.session.temp_namespace, self.session.temp_toast_namespace];
        class.relpersistence == Persistence::Temporary && !own.contains(&class.relnamespace)
    }

    fn build_relation(&mut self, oid: Oid) -> Result<Option<Arc<RelDesc>>> {
        let Some(class) = self.scan(indexes::PG_CLASS_OID_INDEX, &[oid.into()])?.pop() else {
            return Ok(None);
        };
        let class = (*class).clone();
        let attributes = self.columns_of(oid)?;
        let missing = usize::try_from(class.relnatts).unwrap_or(0).saturating_sub(attributes.len());
        if missing > 0 {
            return Err(PgError::internal(format!(
                "pg_attribute catalog is missing {missing} attribute(s) for relation OID {oid}"
            )));
        }
        let tupdesc = Arc::new(tuple_desc(&attributes, class.reltype));
        let is_index = class.relkind.is_index();
        let has_rows = matches!(
            class.relkind,
            RelKind::Table | RelKind::PartitionedTable | RelKind::Toast | RelKind::MaterializedView
        );
        let mut desc = RelDesc {
            view_query: OnceLock::new(),
            row_desc: OnceLock::new(),
            attributes,
            tupdesc,
            indexes: Vec::new(),
            index: None,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            defaults: Vec::new(),
            rules: Vec::new(),
            triggers: Vec::new(),
            policies: Vec::new(),
            partitioned: None,
            partition_data: OnceLock::new(),
            other_temp: self.is_other_temp(&class),
            table: None,
            engine_index: None,
            class,
        };
        if is_index {
            desc.index = Some(self.index_part(&desc.class)?);
        }
        if has_rows && desc.class.relhasindex {
            let rows = self.scan(indexes::PG_INDEX_INDRELID_INDEX, &[oid.into()])?;
            desc.indexes = rows.iter().map(|r| r.row.clone()).filter(|i| i.indislive).collect();
            desc.indexes.sort_by_key(|i| i.indexrelid);
        }
        if !is_index && oid >= Oid::FIRST_UNPINNED {
            self.add_expressions(&mut desc)?;
        }
        if desc.class.relhasrules {
            let rows = self.scan(indexes::PG_REWRITE_REL_RULENAME_INDEX, &[oid.into()])?;
            desc.rules = rows.iter().map(|r| r.row.clone()).collect();
        }
        if desc.class.relhastriggers {
            let rows = self.scan(indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX, &[oid.into()])?;
            desc.triggers = rows.iter().map(|r| r.row.clone()).collect();
        }
        if desc.class.relrowsecurity {
            let rows = self.scan(indexes::PG_POLICY_POLRELID_POLNAME_INDEX, &[oid.into()])?;
            desc.policies = rows.iter().map(|r| r.row.clone()).collect();
        }
        if desc.class.relkind == RelKind::PartitionedTable {
            let row = self.search(cache::PARTRELID, &[oid.into()])?;
            desc.partitioned = row.map(|r| r.row.clone());
        }
        if desc.other_temp {
            return Ok(Some(Arc::new(desc)));
        }
        if matches!(
            desc.class.relkind,
            RelKind::Table | RelKind::Toast | RelKind::MaterializedView | RelKind::Sequence
        ) {
            desc.table = Some(Arc::new(self.engine_table(&desc)?));
        }
        if desc.class.relkind == RelKind::Index {
            desc.engine_index = self.engine_index(&desc)?.map(Arc::new);
        }
        Ok(Some(Arc::new(desc)))
    }

    fn file_of(&mut self, class: &PgClass) -> Result<RelFile> {
        let number = match class.relfilenode.valid() {
            Some(number) => number,
            None => self.store.mapped_file(class.oid, class.relisshared)?,
        };
        let database = self.session.catalog.database();
        Ok(rel_file(class, number, database, self.session.tablespace))
    }

    fn engine_table(&mut self, desc: &RelDesc) -> Result<TableDesc> {
        let class = &desc.class;
        let toast = match class.reltoastrelid.valid() {
            None => None,
            Some(oid) => {
                let toast = self.relation(oid)?;
                let index = toast.indexes.first().map(|i| i.indexrelid);
                let index = match index {
                    Some(index) => self.relation(index)?.engine_index.clone(),
                    None => None,
                };
                match (&toast.table, index) {
                    (Some(table), Some(index)) => Some(ToastDesc { table: table.clone(), index }),
                    _ => {
                        let message =
                            format!("no valid index found for toast relation with Oid {oid}");
                        return Err(PgError::internal(message));
                    }
                }
            }
        };
        let schema = self.namespace_name(class.relnamespace)?.unwrap_or_default();
        let file = self.file_of(class)?;
        let tupdesc = desc.tupdesc.clone();
        Ok(table_desc(class, schema.as_str(), file, tupdesc, toast, &desc.indexes))
    }

    /// The table descriptor of a view that is changed by INSTEAD OF triggers. It describes the
    /// rows; a view has no file.
    pub fn view_rows(&mut self, desc: &RelDesc) -> Result<TableDesc> {
        let class = &desc.class;
        let schema = self.namespace_name(class.relnamespace)?.unwrap_or_default();
        let database = self.session.catalog.database();
        let file = rel_file(class, Oid::INVALID, database, self.session.tablespace);
        Ok(table_desc(class, schema.as_str(), file, desc.tupdesc.clone(), None, &[]))
    }

    /// The engine's descriptor; `None` if the access method or an operator class is not supported,
    /// or this machine lacks the locale of a collation.
    fn engine_index(&mut self, desc: &RelDesc) -> Result<Option<IndexDesc>> {
        let Some(part) = &desc.index else { return Ok(None) };
        let Some(am) = self.access_method(part.am)?.and_then(|m| m.am) else { return Ok(None) };
        for &collation in part.row.indcollation.iter() {
            if self.locale(collation).is_err() {
                return Ok(None);
            }
        }
        let mut support = Vec::new();
        for column in 0..part.opfamilies.len() {
            match self.support_functions(desc, part, am.info(), column)? {
                Some(functions) => support.push(functions),
                None => return Ok(None),
            }
        }
        let table = self.find_class(part.row.indrelid)?.map(|c| c.relname).unwrap_or_default();
        let at = (table.as_str(), self.file_of(&desc.class)?);
        let mut def = index_def(&desc.class, at, &part.row, &desc.attributes, support)?;
        def.fetched = self.fetched_layout(&def, part)?;
        Ok(Some(index_desc(&desc.class, &part.row, am, def)))
    }

    /// The support functions of a key column that the access method uses; `None` if one of them is
    /// not supported.
    fn support_functions(
        &mut self,
        desc: &RelDesc,
        part: &IndexPart,
        info: &MethodInfo,
        column: usize,
    ) -> Result<Option<Vec<Support>>> {
        let (family, input) = (part.opfamilies[column], part.opcintypes[column]);
        let ty = match info.key_type.is_valid() {
            true => self.indexed_type(part, column)?,
            false => desc.attributes.get(column).map_or(Oid::INVALID, |a| a.atttypid),
        };
        let collation = part.row.indcollation.get(column).copied().unwrap_or_default();
        // GIN indexes compare keys that may be texts although the column has no collation.
        let key_collation = collation.valid().unwrap_or(ids::builtin::collation::DEFAULT);
        let mut list = Vec::new();
        for (number, kind) in (1..).zip(info.support) {
            if *kind == SupportKind::Unused {
                continue;
            }
            let oid = self.family_proc(family, input, input, number as i16)?;
            let oid = oid.unwrap_or_default();
            let prosrc = match oid.valid() {
                Some(oid) => self.find_function(oid)?.map(|f| f.prosrc.clone()),
                None => None,
            };
            let function = match (kind, prosrc) {
                (SupportKind::CompareKeys, name) => {
                    let compare = match name {
                        Some(name) => self.comparer(name.as_str(), ty, key_collation)?,
                        None => self.default_comparer(ty, key_collation)?,
                    };
                    match compare {
                        Some(compare) => SupportFunction::Compare(compare),
                        None => return Ok(None),
                    }
                }
                (
                    SupportKind::Gin { optional: true } | SupportKind::Gist { optional: true },
                    None,
                ) => {
                    continue;
                }
                (SupportKind::Gist { .. }, Some(name)) => match self.gist_function(name.as_str()) {
                    Some(function) => {
                        let options =
                            desc.attributes.get(column).and_then(|a| a.attoptions.as_deref());
                        let traits = self.gist_traits(part, column, key_collation, options)?;
                        SupportFunction::Gist(function, traits)
                    }
                    None => return Ok(None),
                },
                (SupportKind::Gin { .. }, Some(name)) => match self.gin_function(name.as_str()) {
                    Some(function) => {
                        let locale = self.session.default_locale().cloned();
                        SupportFunction::Gin(function, locale)
                    }
                    None => return Ok(None),
                },
                (SupportKind::EqualImage, None) => SupportFunction::EqualImage(false),
                (SupportKind::EqualImage, Some(name)) => {
                    let equal = self.is_equal_image(name.as_str(), input, collation)?;
                    SupportFunction::EqualImage(equal)
                }
                (SupportKind::Compare, Some(name)) => {
                    match self.comparer(name.as_str(), ty, collation)? {
                        Some(compare) => SupportFunction::Compare(compare),
                        None => return Ok(None),
                    }
                }
                (SupportKind::Hash, Some(name)) => {
                    match self.hasher(name.as_str(), ty, collation)? {
                        Some(hasher) => SupportFunction::Hash(hasher),
                        None => return Ok(None),
                    }
                }
                (_, None) => return Ok(None),
                (SupportKind::Unused, _) => continue,
            };
            list.push(Support { number, oid, function });
        }
        Ok(Some(list))
    }

    /// The support function of GIN indexes with this `pg_proc.prosrc`.
    fn gin_function(&self, prosrc: &str) -> Option<types::gin::Function> {
        let ascii = self.session.ctype_is_ascii;
        types::gin::lookup(prosrc).or_else(|| contrib::libraries::gin(prosrc, ascii))
    }

    /// The support function of GiST indexes with this `pg_proc.prosrc`.
    fn gist_function(&self, prosrc: &str) -> Option<types::gist::Function> {
        types::gist::lookup(prosrc).or_else(|| contrib::libraries::gist(prosrc))
    }

    /// The parameters of an operator class; `None` if it can have none.
    pub fn class_parameters(
        &mut self,
        class: Oid,
    ) -> Result<Option<&'static [types::gist::Parameter]>> {
        let row = self.opclass(class)?;
        let (family, input) = (row.opcfamily, row.opcintype);
        let Some(function) = self.family_proc(family, input, input, OPTIONS_PROC)? else {
            return Ok(None);
        };
        let function = self.function(function)?;
        Ok(match self.gist_function(function.prosrc.as_str()) {
            Some(types::gist::Function::Options(parameters)) => Some(parameters),
            _ => None,
        })
    }

    /// What the operator class of a column of a GiST index needs to know.
    fn gist_traits(
        &mut self,
        part: &IndexPart,
        column: usize,
        collation: Oid,
        options: Option<&[Text]>,
    ) -> Result<Arc<types::gist::Traits>> {
        let pairs = options.unwrap_or_default().iter().filter_map(|o| o.as_str().split_once('='));
        let options = pairs.filter_map(|(name, value)| Some((name.into(), value.parse().ok()?)));
        let mut input = self.indexed_type(part, column)?;
        if let Some(row) = self.find_type(input)?
            && row.typbasetype.is_valid()
        {
            input = row.typbasetype;
        }
        Ok(Arc::new(types::gist::Traits {
            collation,
            input,
            range: self.find_range_type(input, 0)?,
            locale: self.session.default_locale().cloned(),
            ctype_is_ascii: self.session.ctype_is_ascii,
            options: options.collect(),
        }))
    }

    /// The layout of what index-only scans return, if keys are of other types than the columns.
    fn fetched_layout(&mut self, def: &IndexDef, part: &IndexPart) -> Result<Option<TupleLayout>> {
        let fetches = |c: &IndexColumn| {
            let function = c.support(9);
            matches!(function, Some(SupportFunction::Gist(types::gist::Function::Fetch(_), _)))
        };
        if !def.keys().iter().any(fetches) {
            return Ok(None);
        }
        let mut attrs: Vec<Attr> = def.columns.iter().map(|c| c.attr.clone()).collect();
        for (n, attr) in attrs.iter_mut().enumerate().take(def.key_count) {
            let ty = self.indexed_type(part, n)?;
            if ty == attr.type_oid {
                continue;
            }
            let Some(row) = self.find_type(ty)? else { continue };
            *attr = Attr::new(&attr.name, ty, row.typlen, row.typbyval, row.typalign);
            attr.storage = row.typstorage;
        }
        Ok(Some(TupleLayout::new(attrs.iter())))
    }

    /// The type of the column or expression that is indexed.
    fn indexed_type(&mut self, part: &IndexPart, column: usize) -> Result<Oid> {
        let keys = &part.row.indkey;
        let number = keys.get(column).copied().unwrap_or_default();
        if number != 0 {
            let keys = [part.row.indrelid.into(), number.into()];
            let row = self.search(crate::cache::ATTNUM, &keys)?;
            return Ok(row.map_or(Oid::INVALID, |a| a.atttypid));
        }
        let exprs = match &part.row.indexprs {
            Some(text) => plan::nodetree::read_exprs(text.as_str())?,
            None => Vec::new(),
        };
        let at = keys.iter().take(column).filter(|k| **k == 0).count();
        Ok(exprs.get(at).map_or(Oid::INVALID, plan::Expr::type_oid))
    }

    /// Whether equal values of this type always have equal bytes. `prosrc` names the
    /// equalimage support function of the operator class.
    fn is_equal_image(&mut self, prosrc: &str, ty: Oid, collation: Oid) -> Result<bool> {
        match prosrc {
            // Equal bpchar values may differ in trailing blanks, regardless of the function.
            _ if ty == types::oids::BPCHAR => Ok(false),
            "btequalimage" => Ok(true),
            "btvarstrequalimage" => self.is_deterministic(collation),
            _ => Ok(false),
        }
    }

    fn columns_of(&mut self, oid: Oid) -> Result<Vec<PgAttribute>> {
        let rows = self.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &[oid.into()])?;
        let mut columns: Vec<PgAttribute> =
            rows.iter().filter(|a| a.attnum > 0).map(|a| a.row.clone()).collect();
        columns.sort_by_key(|a| a.attnum);
        Ok(columns)
    }

    /// The id of the transaction that wrote the index's row of `pg_index`. If that row has
    /// `indcheckxmin`, the index lacks older versions of rows, and snapshots that may see such
    /// versions must not use it.
    pub fn index_xmin(&mut self, index: Oid) -> Result<Xid> {
        let row = self.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[index.into()])?.pop();
        let row =
            row.ok_or_else(|| PgError::internal(format!("cache lookup failed for index {index}")))?;
        self.store.row_xmin(PgIndex::RELATION, row.tid)
    }

    fn index_part(&mut self, class: &PgClass) -> Result<IndexPart> {
        let oid = class.oid;
        let row = self.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[oid.into()])?.pop();
        let row =
            row.ok_or_else(|| PgError::internal(format!("cache lookup failed for index {oid}")))?;
        let mut part = IndexPart {
            row: row.row.clone(),
            am: class.relam,
            opfamilies: Vec::new(),
            opcintypes: Vec::new(),
        };
        for &opclass in part.row.indclass.iter() {
            let class = self.opclass(opclass)?;
            let (family, input) = (class.opcfamily, class.opcintype);
            part.opfamilies.push(family);
            part.opcintypes.push(input);
        }
        Ok(part)
    }

    fn add_expressions(&mut self, desc: &mut RelDesc) -> Result<()> {
        let oid = desc.class.oid;
        if desc.attributes.iter().any(|a| a.atthasdef) {
            let rows = self.scan(indexes::PG_ATTRDEF_ADRELID_ADNUM_INDEX, &[oid.into()])?;
            desc.defaults = rows.iter().map(|r| (r.adnum, r.adbin.clone())).collect();
        }
        if matches!(
            desc.class.relkind,
            RelKind::Table | RelKind::PartitionedTable | RelKind::ForeignTable
        ) {
            let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
            for row in self.scan(index, &[oid.into()])? {
                match row.contype {
                    ConType::Check => desc.checks.push(row.row.clone()),
                    ConType::ForeignKey => desc.foreign_keys.push(row.row.clone()),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
