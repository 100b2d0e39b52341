//! Range table entries and their columns; resolution of column and table references.
//!
//! Counterpart: parser/parse_relation.c.

use crate::state::{Analyzer, ExprKind, NsColumn, NsItem};
use crate::ty;
use ids::{AttrNo, Oid, RelKind};
use parse::ast;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{Expr, Location, Var};
use plan::query::{Alias, JoinType, Query, RangeTblEntry, RangeTblFunction, RteKind, acl};
use std::sync::Arc;
use stdx::Nested;

/// A column of a row type.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub ty: Oid,
    pub typmod: i32,
    pub collation: Oid,
    pub dropped: bool,
}

/// The columns of a join. The vectors `names`, `columns` and `aliasvars` have one entry each.
#[derive(Default)]
pub struct JoinColumns {
    pub names: Vec<String>,
    pub columns: Vec<NsColumn>,
    /// The columns' values in terms of the sides.
    pub aliasvars: Vec<Expr>,
    /// Number of merged columns, which are the first.
    pub merged: usize,
    /// The columns' numbers in the left side: of the merged columns, then of its own.
    pub left: Vec<i32>,
    /// As `left`, for the right side.
    pub right: Vec<i32>,
}

/// Number and type of a system column by name.
pub fn system_column(name: &str) -> Option<(AttrNo, Oid)> {
    Some(match name {
        "ctid" => (-1, ty::TID),
        "xmin" => (-2, ty::XID),
        "cmin" => (-3, ty::CID),
        "xmax" => (-4, ty::XID),
        "cmax" => (-5, ty::CID),
        "tableoid" => (-6, ty::OID),
        _ => return None,
    })
}

/// A new range table entry, without required privileges.
pub(crate) fn new_rte(kind: RteKind, alias: Option<Alias>, eref: Alias) -> RangeTblEntry {
    RangeTblEntry {
        kind,
        alias,
        eref,
        lateral: false,
        inh: false,
        in_from_cl: true,
        required_perms: 0,
        check_as_user: Oid::INVALID,
        selected_cols: Vec::new(),
        inserted_cols: Vec::new(),
        updated_cols: Vec::new(),
        security_quals: Vec::new(),
    }
}

/// The alias of the raw parse tree as that of a range table entry.
pub fn alias_of(alias: &ast::Alias) -> Alias {
    Alias {
        aliasname: alias.aliasname.to_string(),
        colnames: alias.colnames.iter().map(|n| n.to_string()).collect(),
    }
}

/// The column names, the first of them replaced by those of the alias. It is an error if the alias
/// has too many.
pub fn aliased_columns(
    name: &str,
    alias: Option<&Alias>,
    columns: &[Column],
) -> Result<Vec<String>> {
    let given = alias.map_or(&[][..], |a| &a.colnames);
    let mut given_names = given.iter();
    let mut out = Vec::with_capacity(columns.len());
    for column in columns {
        if column.dropped {
            out.push(String::new());
        } else {
            out.push(given_names.next().unwrap_or(&column.name).clone());
        }
    }
    let available = columns.iter().filter(|c| !c.dropped).count();
    if given_names.next().is_some() {
        return Err(pg_err!(
            INVALID_COLUMN_REFERENCE,
            "table \"{name}\" has {available} columns available but {} columns specified",
            given.len()
        ));
    }
    Ok(out)
}

impl Analyzer<'_> {
    /// Adds an entry to the range table and returns its namespace item.
    pub fn add_rte(&mut self, rte: RangeTblEntry, columns: &[Column]) -> NsItem {
        let level = self.level();
        level.rtable.push(rte);
        let rtindex = level.rtable.len() as i32;
        let rte = level.rte(rtindex);
        let relid = match rte.kind {
            RteKind::Relation { relid, .. } => relid,
            _ => Oid::INVALID,
        };
        let ns_columns = columns
            .iter()
            .enumerate()
            .map(|(i, c)| {
                if c.dropped {
                    return NsColumn::DROPPED;
                }
                NsColumn {
                    varno: rtindex,
                    varattno: (i + 1) as AttrNo,
                    vartype: c.ty,
                    vartypmod: c.typmod,
                    varcollid: c.collation,
                    hidden: false,
                }
            })
            .collect();
        NsItem {
            name: rte.eref.aliasname.clone(),
            colnames: rte.eref.colnames.clone(),
            rtindex,
            columns: ns_columns,
            relid,
            aliased: rte.alias.is_some(),
            rel_visible: true,
            cols_visible: true,
            lateral_only: false,
            lateral_ok: true,
        }
    }

    /// The columns of a relation, dropped ones included.
    pub fn relation_columns(relation: &crate::lookup::Relation) -> Vec<Column> {
        relation
            .attributes
            .iter()
            .map(|a| Column {
                name: a.attname.to_string(),
                ty: a.atttypid,
                typmod: a.atttypmod,
                collation: a.attcollation,
                dropped: a.attisdropped,
            })
            .collect()
    }

    /// Opens and locks a table by name.
    pub fn open_table(
        &mut self,
        name: &ast::RangeVar,
        lock: i32,
    ) -> Result<Arc<crate::lookup::Relation>> {
        if let Some(catalog) = &name.catalogname
            && **catalog != *self.cat.database_name()?
        {
            let e = pg_err!(
                FEATURE_NOT_SUPPORTED,
                "cross-database references are not implemented: \"{}.{}.{}\"",
                catalog,
                name.schemaname.as_deref().unwrap_or(""),
                name.relname
            );
            return Err(self.at(e, name.location));
        }
        let found = self.cat.range_var(name.schemaname.as_deref(), &name.relname, lock);
        let found = self.with_position(found, name.location)?;
        let Some(oid) = found else {
            let e = match &name.schemaname {
                Some(schema) => pg_err!(
                    UNDEFINED_TABLE,
                    "relation \"{schema}.{}\" does not exist",
                    name.relname
                ),
                None if self.is_future_cte(&name.relname) => pg_err!(
                    UNDEFINED_TABLE,
                    "relation \"{}\" does not exist",
                    name.relname
                )
                .detail(format!(
                    "There is a WITH item named \"{}\", but it cannot be referenced from this part \
                     of the query.",
                    name.relname
                ))
                .hint(
                    "Use WITH RECURSIVE, or re-order the WITH items to remove forward references.",
                ),
                None => {
                    pg_err!(UNDEFINED_TABLE, "relation \"{}\" does not exist", name.relname)
                }
            };
            return Err(self.at(e, name.location));
        };
        self.cat
            .relation(oid)?
            .ok_or_else(|| pg_err!(UNDEFINED_TABLE, "relation \"{}\" does not exist", name.relname))
    }

    fn is_future_cte(&self, name: &str) -> bool {
        self.levels.iter().any(|l| l.future_ctes.iter().any(|c| c == name))
    }

    /// Adds an entry for a relation, which must be locked. Counterpart:
    /// `addRangeTableEntryForRelation`.
    pub fn add_relation_rte(
        &mut self,
        relation: &crate::lookup::Relation,
        alias: Option<Alias>,
        inh: bool,
        lock: i32,
    ) -> Result<NsItem> {
        let columns = Self::relation_columns(relation);
        let name = alias.as_ref().map_or(relation.class.relname.as_str(), |a| &a.aliasname);
        let eref = Alias {
            aliasname: name.to_string(),
            colnames: aliased_columns(name, alias.as_ref(), &columns)?,
        };
        let kind = RteKind::Relation {
            relid: relation.class.oid,
            relkind: relation.class.relkind,
            rellockmode: lock,
            tablesample: None,
        };
        let mut rte = new_rte(kind, alias, eref);
        rte.inh = inh;
        rte.required_perms = acl::SELECT;
        Ok(self.add_rte(rte, &columns))
    }

    /// The result columns of a query, without junk columns.
    pub fn query_columns(query: &Query) -> Vec<Column> {
        query
            .result_columns()
            .map(|t| Column {
                name: t.resname.clone().unwrap_or_default(),
                ty: t.expr.type_oid(),
                typmod: t.expr.typmod(),
                collation: t.expr.collation(),
                dropped: false,
            })
            .collect()
    }

    /// Adds an entry for a sub-select in FROM. Counterpart: `addRangeTableEntryForSubquery`.
    pub fn add_subquery_rte(
        &mut self,
        query: Query,
        alias: Option<Alias>,
        lateral: bool,
        in_from: bool,
    ) -> Result<NsItem> {
        let columns = Self::query_columns(&query);
        let name = alias.as_ref().map_or("unnamed_subquery", |a| &a.aliasname).to_string();
        let colnames = aliased_columns(&name, alias.as_ref(), &columns)?;
        let kind = RteKind::Subquery {
            subquery: Nested::new(query),
            security_barrier: false,
            relid: Oid::INVALID,
        };
        let mut rte = new_rte(kind, alias, Alias { aliasname: name, colnames });
        rte.lateral = lateral;
        rte.in_from_cl = in_from;
        Ok(self.add_rte(rte, &columns))
    }

    /// Adds an entry for a VALUES list. Counterpart: `addRangeTableEntryForValues`.
    pub fn add_values_rte(
        &mut self,
        values_lists: Vec<Vec<Expr>>,
        columns: Vec<Column>,
        alias: Option<Alias>,
        lateral: bool,
        in_from: bool,
    ) -> Result<NsItem> {
        let name = alias.as_ref().map_or("*VALUES*", |a| &a.aliasname).to_string();
        let colnames = aliased_columns(&name, alias.as_ref(), &columns)?;
        let kind = RteKind::Values {
            values_lists,
            coltypes: columns.iter().map(|c| c.ty).collect(),
            coltypmods: columns.iter().map(|c| c.typmod).collect(),
            colcollations: columns.iter().map(|c| c.collation).collect(),
        };
        let mut rte = new_rte(kind, alias, Alias { aliasname: name, colnames });
        rte.lateral = lateral;
        rte.in_from_cl = in_from;
        Ok(self.add_rte(rte, &columns))
    }

    /// Adds an entry for functions in FROM. Counterpart: `addRangeTableEntryForFunction`.
    pub fn add_function_rte(
        &mut self,
        name: &str,
        functions: Vec<RangeTblFunction>,
        columns: Vec<Column>,
        alias: Option<Alias>,
        ordinality: bool,
        lateral: bool,
    ) -> Result<NsItem> {
        let aliasname = alias.as_ref().map_or(name, |a| &a.aliasname).to_string();
        let colnames = aliased_columns(&aliasname, alias.as_ref(), &columns)?;
        let kind = RteKind::Function { functions, funcordinality: ordinality };
        let mut rte = new_rte(kind, alias, Alias { aliasname, colnames });
        rte.lateral = lateral;
        Ok(self.add_rte(rte, &columns))
    }

    /// Adds a reference to the `index`-th WITH query of the level `up` levels above.
    pub fn add_cte_rte(
        &mut self,
        up: u32,
        index: usize,
        alias: Option<Alias>,
        location: i32,
    ) -> Result<NsItem> {
        let level = self.level_up(up);
        let self_reference = !level.ctes_done[index];
        let cte = &mut level.ctes[index];
        if !self_reference {
            cte.refcount += 1;
            let returns = cte.query.command_type == plan::query::CmdType::Select
                || !cte.query.returning_list.is_empty();
            if !returns {
                let e = pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "WITH query \"{}\" does not have a RETURNING clause",
                    cte.ctename
                );
                return Err(self.at(e, location));
            }
        }
        let cte = &self.level_up(up).ctes[index];
        let mut columns: Vec<Column> = (0..cte.colnames.len())
            .map(|i| Column {
                name: cte.colnames[i].clone(),
                ty: cte.coltypes[i],
                typmod: cte.coltypmods[i],
                collation: cte.colcollations[i],
                dropped: false,
            })
            .collect();
        let extra = crate::search_cycle::extra_columns(cte);
        let hidden = if up > 0 { extra.len() } else { 0 };
        columns.extend(extra.into_iter().map(|(name, ty, typmod, collation)| Column {
            name,
            ty,
            typmod,
            collation,
            dropped: false,
        }));
        let name = alias.as_ref().map_or(&cte.ctename, |a| &a.aliasname).clone();
        let kind = RteKind::Cte {
            ctename: cte.ctename.clone(),
            ctelevelsup: up,
            self_reference,
            coltypes: columns.iter().map(|c| c.ty).collect(),
            coltypmods: columns.iter().map(|c| c.typmod).collect(),
            colcollations: columns.iter().map(|c| c.collation).collect(),
        };
        let colnames = aliased_columns(&name, alias.as_ref(), &columns)?;
        let rte = new_rte(kind, alias, Alias { aliasname: name, colnames });
        let mut item = self.add_rte(rte, &columns);
        // Inside the WITH query, `*` does not include the columns that SEARCH and CYCLE add.
        item.columns.iter_mut().rev().take(hidden).for_each(|c| c.hidden = true);
        Ok(item)
    }

    /// Adds an entry for a transition table. Counterpart: `addRangeTableEntryForENR`.
    pub fn add_transition_table_rte(
        &mut self,
        name: &str,
        alias: Option<Alias>,
        table: crate::lookup::TransitionTable,
    ) -> Result<NsItem> {
        let relation = self.cat.relation(table.relid)?.ok_or_else(|| {
            PgError::internal(format!("cache lookup failed for relation {}", table.relid))
        })?;
        let columns = Self::relation_columns(&relation);
        let of_type = |c: &Column| if c.dropped { Oid::INVALID } else { c.ty };
        let kind = RteKind::NamedTuplestore {
            enrname: name.to_string(),
            enrtuples: table.rows as f64,
            relid: table.relid,
            coltypes: columns.iter().map(of_type).collect(),
            coltypmods: columns.iter().map(|c| c.typmod).collect(),
            colcollations: columns.iter().map(|c| c.collation).collect(),
        };
        let shown = alias.as_ref().map_or(name, |a| &a.aliasname).to_string();
        let colnames = aliased_columns(&shown, alias.as_ref(), &columns)?;
        let rte = new_rte(kind, alias, Alias { aliasname: shown, colnames });
        Ok(self.add_rte(rte, &columns))
    }

    /// The WITH query of this name: number of levels above, and index.
    pub fn find_cte(&self, name: &str) -> Option<(u32, usize)> {
        for (up, level) in self.levels.iter().rev().enumerate() {
            if let Some(index) = level.ctes.iter().position(|c| c.ctename == name) {
                return Some((up as u32, index));
            }
        }
        None
    }

    /// Adds an entry for a join. Counterpart: `addRangeTableEntryForJoin`.
    pub fn add_join_rte(
        &mut self,
        jointype: JoinType,
        columns: JoinColumns,
        join_using_alias: Option<Alias>,
        alias: Option<Alias>,
    ) -> Result<NsItem> {
        let JoinColumns { names: colnames, columns, aliasvars, merged, left, right } = columns;
        let described: Vec<Column> = colnames
            .iter()
            .map(|n| Column {
                name: n.clone(),
                ty: Oid::INVALID,
                typmod: -1,
                collation: Oid::INVALID,
                dropped: false,
            })
            .collect();
        let name = alias.as_ref().map_or("unnamed_join", |a| &a.aliasname).to_string();
        let given = alias.as_ref().map_or(0, |a| a.colnames.len());
        if given > colnames.len() {
            return Err(pg_err!(
                INVALID_COLUMN_REFERENCE,
                "join expression \"{name}\" has {} columns available but {given} columns specified",
                colnames.len()
            ));
        }
        let colnames = aliased_columns(&name, alias.as_ref(), &described)?;
        let kind = RteKind::Join {
            jointype,
            joinmergedcols: merged as i32,
            joinaliasvars: aliasvars,
            joinleftcols: left,
            joinrightcols: right,
            join_using_alias,
        };
        let rte = new_rte(kind, alias, Alias { aliasname: name, colnames });
        let mut item = self.add_rte(rte, &[]);
        item.columns = columns;
        Ok(item)
    }

    /// Makes an item's names visible. Counterpart: `addNSItemToQuery`.
    pub fn add_ns_item(&mut self, mut item: NsItem, join: bool, rel_names: bool, var_names: bool) {
        if join {
            self.level().joinlist.push(plan::query::JoinTreeNode::Rtr(item.rtindex));
        }
        if rel_names || var_names {
            item.rel_visible = rel_names;
            item.cols_visible = var_names;
            item.lateral_only = false;
            item.lateral_ok = true;
            self.level().namespace.push(item);
        }
    }

    /// An error if two items of the same FROM have one name. Counterpart:
    /// `checkNameSpaceConflicts`.
    pub fn check_namespace_conflicts(&self, left: &[NsItem], right: &[NsItem]) -> Result<()> {
        for a in left.iter().filter(|a| a.rel_visible) {
            for b in right.iter().filter(|b| b.rel_visible) {
                if a.name != b.name {
                    continue;
                }
                // Two tables of one name in different schemas are distinct.
                let both = a.relid.is_valid() && b.relid.is_valid() && !a.aliased && !b.aliased;
                if both && a.relid != b.relid {
                    continue;
                }
                return Err(pg_err!(
                    DUPLICATE_ALIAS,
                    "table name \"{}\" specified more than once",
                    a.name
                ));
            }
        }
        Ok(())
    }

    /// Records that a column is read, for the privilege check.
    pub fn mark_selected(&mut self, var: &Var) {
        let level = self.level_up(var.varlevelsup);
        mark(level, var.varno, var.varattno);
    }

    /// A column of a namespace item of the level `up` levels above; `None` if the item has no
    /// column of that name.
    pub fn column_of_item(
        &mut self,
        item: &NsItem,
        up: u32,
        name: &str,
        location: i32,
    ) -> Result<Option<Expr>> {
        let mut found = None;
        for (i, colname) in item.colnames.iter().enumerate() {
            if colname == name && !name.is_empty() {
                if found.is_some() {
                    let e = pg_err!(AMBIGUOUS_COLUMN, "column reference \"{name}\" is ambiguous");
                    return Err(self.at(e, location));
                }
                found = Some(i);
            }
        }
        if let Some(i) = found {
            self.check_lateral(item, up, location)?;
            let column = &item.columns[i];
            if column.varno == 0 {
                let e = pg_err!(
                    UNDEFINED_COLUMN,
                    "column \"{name}\" of relation \"{}\" does not exist",
                    item.name
                );
                return Err(self.at(e, location));
            }
            let var = self.var(column, up, location);
            self.mark_selected(&var);
            return Ok(Some(Expr::Var(var)));
        }
        if item.relid.is_valid()
            && let Some((varattno, vartype)) = system_column(name)
        {
            self.check_system_column(varattno, name, location)?;
            // Views and composite types have no system columns.
            let kind = match self.level_up(up).rte(item.rtindex).kind {
                RteKind::Relation { relkind, .. } => relkind,
                _ => RelKind::Table,
            };
            if matches!(kind, RelKind::View | RelKind::CompositeType) {
                return Ok(None);
            }
            let var = Var {
                varno: item.rtindex,
                varattno,
                vartype,
                vartypmod: -1,
                varcollid: Oid::INVALID,
                varlevelsup: up,
                location: Location(location),
            };
            self.mark_selected(&var);
            return Ok(Some(Expr::Var(var)));
        }
        Ok(None)
    }

    fn check_system_column(&mut self, number: AttrNo, name: &str, location: i32) -> Result<()> {
        let kind = self.kind();
        if kind == ExprKind::CheckConstraint && number != -6 {
            let e = pg_err!(
                INVALID_COLUMN_REFERENCE,
                "system column \"{name}\" reference in check constraint is invalid"
            );
            return Err(self.at(e, location));
        }
        if kind == ExprKind::GeneratedColumn && number != -6 {
            let e = pg_err!(
                INVALID_COLUMN_REFERENCE,
                "cannot use system column \"{name}\" in column generation expression"
            );
            return Err(self.at(e, location));
        }
        if kind == ExprKind::MergeWhen && number != -6 {
            let e = pg_err!(
                INVALID_COLUMN_REFERENCE,
                "cannot use system column \"{name}\" in MERGE WHEN condition"
            );
            return Err(self.at(e, location));
        }
        Ok(())
    }

    /// An error if the item is visible only to LATERAL references, and the join type does not allow
    /// them.
    fn check_lateral(&mut self, item: &NsItem, up: u32, location: i32) -> Result<()> {
        if item.lateral_only && !item.lateral_ok {
            let e = pg_err!(
                INVALID_COLUMN_REFERENCE,
                "invalid reference to FROM-clause entry for table \"{}\"",
                item.name
            );
            let e = match &self.level_up(up).target {
                Some(target) if target.rtindex == item.rtindex => e.hint(format!(
                    "There is an entry for table \"{}\", but it cannot be referenced from this \
                     part of the query.",
                    item.name
                )),
                _ => e.detail(
                    "The combining JOIN type must be INNER or LEFT for a LATERAL reference.",
                ),
            };
            return Err(self.at(e, location));
        }
        Ok(())
    }

    /// An unqualified column, searched from the innermost level outwards. Counterpart:
    /// `colNameToVar`.
    pub fn unqualified_column(
        &mut self,
        name: &str,
        local_only: bool,
        location: i32,
    ) -> Result<Option<Expr>> {
        for up in 0..self.levels.len() as u32 {
            let level = self.level_up(up);
            let lateral_active = level.lateral_active;
            let items: Vec<NsItem> = level
                .namespace
                .iter()
                .filter(|n| n.cols_visible && (!n.lateral_only || lateral_active))
                .filter(|n| {
                    n.colnames.iter().any(|c| c == name)
                        || (n.relid.is_valid() && system_column(name).is_some())
                })
                .cloned()
                .collect();
            let mut result: Option<Expr> = None;
            for item in &items {
                if let Some(column) = self.column_of_item(item, up, name, location)? {
                    if result.is_some() {
                        let e =
                            pg_err!(AMBIGUOUS_COLUMN, "column reference \"{name}\" is ambiguous");
                        return Err(self.at(e, location));
                    }
                    result = Some(column);
                }
            }
            if result.is_some() || local_only {
                return Ok(result);
            }
        }
        Ok(None)
    }

    /// The FROM item of this name: number of levels above, and the item. Counterpart:
    /// `refnameNamespaceItem`.
    pub fn namespace_item(
        &mut self,
        schema: Option<&str>,
        name: &str,
        location: i32,
    ) -> Result<Option<(u32, NsItem)>> {
        let relid = match schema {
            Some(schema) => match self.cat.range_var(Some(schema), name, 0)? {
                Some(oid) => oid,
                None => return Ok(None),
            },
            None => Oid::INVALID,
        };
        for up in 0..self.levels.len() as u32 {
            let level = self.level_up(up);
            let lateral_active = level.lateral_active;
            let mut found: Option<NsItem> = None;
            let mut twice = false;
            for item in level.namespace.iter().filter(|n| n.rel_visible) {
                if item.lateral_only && !lateral_active {
                    continue;
                }
                let same = match schema {
                    Some(_) => item.relid == relid && !item.aliased,
                    None => item.name == name,
                };
                if same {
                    twice |= found.is_some();
                    found = Some(item.clone());
                }
            }
            if twice {
                let e = pg_err!(AMBIGUOUS_ALIAS, "table reference \"{name}\" is ambiguous");
                return Err(self.at(e, location));
            }
            if let Some(item) = found {
                self.check_lateral(&item, up, location)?;
                return Ok(Some((up, item)));
            }
        }
        Ok(None)
    }

    /// A whole-row reference to a FROM item. Counterpart: `transformWholeRowRef`.
    pub fn whole_row(&mut self, item: &NsItem, up: u32, location: i32) -> Result<Expr> {
        let kind = self.level_up(up).rte(item.rtindex).kind.clone();
        let row_type = match &kind {
            RteKind::Relation { relid, .. } => {
                let relation = self.cat.relation(*relid)?;
                let row_type = relation.map_or(Oid::INVALID, |r| r.class.reltype);
                if !row_type.is_valid() {
                    return Err(pg_err!(
                        WRONG_OBJECT_TYPE,
                        "relation \"{}\" does not have a composite type",
                        item.name
                    ));
                }
                row_type
            }
            RteKind::Function { functions, funcordinality: false } if functions.len() == 1 => {
                let result = functions[0].funcexpr.type_oid();
                if self.is_complex(result)? {
                    result
                } else if functions[0].funccolnames.is_empty() && result != ty::RECORD {
                    // The whole row of a scalar function is its value.
                    let Some(column) = item.columns.first() else { return Ok(null_row()) };
                    let mut var = self.var(column, up, location);
                    var.varattno = 1;
                    self.mark_selected(&var);
                    return Ok(Expr::Var(var));
                } else {
                    ty::RECORD
                }
            }
            RteKind::Join { .. } => {
                // The whole row of a join is built from its columns.
                let mut args = Vec::new();
                for column in &item.columns {
                    let var = self.var(column, up, location);
                    self.mark_selected(&var);
                    args.push(Expr::Var(var));
                }
                return Ok(Expr::Row(Box::new(plan::expr::RowExpr {
                    args,
                    row_typeid: ty::RECORD,
                    row_format: plan::expr::CoercionForm::ImplicitCast,
                    colnames: item.colnames.clone(),
                    location: Location(location),
                })));
            }
            _ => ty::RECORD,
        };
        let var = Var {
            varno: item.rtindex,
            varattno: 0,
            vartype: row_type,
            vartypmod: -1,
            varcollid: Oid::INVALID,
            varlevelsup: up,
            location: Location(location),
        };
        self.mark_selected(&var);
        Ok(Expr::Var(var))
    }

    /// Names and references of all visible columns of an item, for `*`.
    pub fn expand_item(&mut self, item: &NsItem, up: u32, location: i32) -> Vec<(String, Expr)> {
        let mut out = Vec::new();
        for (name, column) in item.colnames.iter().zip(&item.columns) {
            if column.varno == 0 || column.hidden {
                continue;
            }
            let var = self.var(column, up, location);
            self.mark_selected(&var);
            out.push((name.clone(), Expr::Var(var)));
        }
        out
    }

    /// As [`Self::expand_item`], from the range table entry alone; dropped columns are omitted.
    pub fn expand_rte_vars(
        &mut self,
        rte: &RangeTblEntry,
        rtindex: i32,
        up: u32,
        location: i32,
    ) -> Result<Vec<(String, Expr)>> {
        let columns = self.rte_columns(rte)?;
        let mut out = Vec::new();
        for (i, column) in columns.into_iter().enumerate() {
            if column.dropped {
                continue;
            }
            out.push((
                column.name,
                Expr::Var(Var {
                    varno: rtindex,
                    varattno: (i + 1) as AttrNo,
                    vartype: column.ty,
                    vartypmod: column.typmod,
                    varcollid: column.collation,
                    varlevelsup: up,
                    location: Location(location),
                }),
            ));
        }
        Ok(out)
    }

    /// The columns of an entry, under the names of its alias.
    pub fn rte_columns(&mut self, rte: &RangeTblEntry) -> Result<Vec<Column>> {
        let described = |tys: &[Oid], typmods: &[i32], collations: &[Oid]| -> Vec<Column> {
            (0..tys.len())
                .map(|i| Column {
                    name: String::new(),
                    ty: tys[i],
                    typmod: typmods[i],
                    collation: collations[i],
                    dropped: !tys[i].is_valid(),
                })
                .collect()
        };
        let mut columns = match &rte.kind {
            RteKind::Relation { relid, .. } => match self.cat.relation(*relid)? {
                Some(relation) => Self::relation_columns(&relation),
                None => Vec::new(),
            },
            RteKind::Subquery { subquery, .. } => Self::query_columns(subquery),
            RteKind::Join { joinaliasvars, .. } => joinaliasvars
                .iter()
                .map(|e| Column {
                    name: String::new(),
                    ty: e.type_oid(),
                    typmod: e.typmod(),
                    collation: e.collation(),
                    dropped: false,
                })
                .collect(),
            RteKind::Values { coltypes, coltypmods, colcollations, .. }
            | RteKind::Cte { coltypes, coltypmods, colcollations, .. }
            | RteKind::NamedTuplestore { coltypes, coltypmods, colcollations, .. } => {
                described(coltypes, coltypmods, colcollations)
            }
            RteKind::Function { functions, funcordinality } => {
                let mut all = Vec::new();
                for function in functions {
                    all.extend(self.function_columns(function)?);
                }
                if *funcordinality {
                    all.push(ordinality_column());
                }
                all
            }
            RteKind::TableFunc(t) => {
                let all = t.columns.iter().map(|c| (c.typeid, c.typmod, c.collation));
                let (types, rest): (Vec<_>, Vec<_>) = all.map(|(t, m, c)| (t, (m, c))).unzip();
                let (typmods, collations): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
                described(&types, &typmods, &collations)
            }
            RteKind::Result => Vec::new(),
        };
        for (column, name) in columns.iter_mut().zip(&rte.eref.colnames) {
            column.name.clone_from(name);
        }
        Ok(columns)
    }
}

fn mark(level: &mut crate::state::Level, varno: i32, varattno: AttrNo) {
    let rte = level.rte_mut(varno);
    match &rte.kind {
        RteKind::Relation { .. } => {
            rte.required_perms |= acl::SELECT;
            if !rte.selected_cols.contains(&varattno) {
                rte.selected_cols.push(varattno);
            }
        }
        RteKind::Join { joinaliasvars, .. } => {
            // A column of a join refers to columns of its inputs.
            let mut below = Vec::new();
            let note = &mut |e: &Expr| {
                if let Expr::Var(v) = e {
                    below.push((v.varno, v.varattno));
                }
                false
            };
            if varattno == 0 {
                for e in joinaliasvars {
                    plan::walk::any(e, note);
                }
            } else if let Some(e) = joinaliasvars.get(varattno as usize - 1) {
                plan::walk::any(e, note);
            }
            for (varno, varattno) in below {
                mark(level, varno, varattno);
            }
        }
        _ => {}
    }
}

/// The column that WITH ORDINALITY adds.
pub fn ordinality_column() -> Column {
    Column {
        name: "ordinality".into(),
        ty: ty::INT8,
        typmod: -1,
        collation: Oid::INVALID,
        dropped: false,
    }
}

fn null_row() -> Expr {
    crate::coerce::null_const(ty::RECORD, -1, false)
}
