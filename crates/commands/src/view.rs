//! CREATE VIEW: columns, the rule, and replacement of a view.
//!
//! Counterpart: view.c, createas.c, rewriteDefine.c.

use crate::relation::{self, NewColumn, NewRelation};
use analyze::{Params, SessionLookup};
use catalog::rows::{Name, PgClass, PgRewrite, Text, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::creation;
use ids::code::{DepType, Firing};
use ids::{AttrNo, Oid, Persistence, RelKind};
use parse::ast::{self, Node, ViewCheckOption, ViewStmt};
use pgerror::{Result, bail, pg_err};
use plan::expr::TargetEntry;
use plan::query::{Alias, Query, RangeTblEntry, RteKind, SetOpNode};
use utility::host::{CommandHost, notice};
use utility::stored;
use utility::{class, names, query, reloptions};

/// The columns of a relation that stores the rows of a query with these targets; `names` override
/// the column names.
pub(crate) fn columns_of(
    host: &mut dyn CommandHost,
    list: &[TargetEntry],
    names: &[ast::Name],
) -> Result<Vec<NewColumn>> {
    let mut out = Vec::new();
    for (i, t) in list.iter().filter(|t| !t.resjunk).enumerate() {
        let name = match names.get(i) {
            Some(name) => name.to_string(),
            None => t.resname.clone().unwrap_or_default(),
        };
        let ty = t.expr.type_oid();
        let mut c = NewColumn::new(name, ty, t.expr.typmod(), t.expr.collation());
        if !c.collation.is_valid() {
            c.collation = Oid::INVALID;
        }
        let row = host.catalog().type_row(ty)?;
        if analyze::typename::is_true_array(&row) {
            c.ndims = 0;
        }
        out.push(c);
    }
    Ok(out)
}

/// CREATE VIEW.
pub fn create_view(host: &mut dyn CommandHost, stmt: &ViewStmt, sql: &str) -> Result<()> {
    if let Node::SelectStmt(s) = &stmt.query
        && query::has_into(s)
    {
        bail!(FEATURE_NOT_SUPPORTED, "views must not contain SELECT INTO");
    }
    let mut cat = SessionLookup::new(host);
    let mut query =
        analyze::ddl::inner_query(&mut cat, &stmt.query, sql, Params::Fixed(Vec::new()))?;
    if query.has_modifying_cte {
        bail!(FEATURE_NOT_SUPPORTED, "views must not contain data-modifying statements in WITH");
    }
    let visible = query.target_list.iter().filter(|t| !t.resjunk).count();
    if stmt.aliases.len() > visible {
        bail!(SYNTAX_ERROR, "CREATE VIEW specifies more column names than columns");
    }
    let shown = query.target_list.iter_mut().filter(|t| !t.resjunk);
    for (t, name) in shown.zip(&stmt.aliases) {
        t.resname = Some(name.to_string());
    }
    let mut view_options = stmt.options.clone();
    if stmt.with_check_option != ViewCheckOption::None {
        let word = match stmt.with_check_option {
            ViewCheckOption::Local => "local",
            _ => "cascaded",
        };
        view_options.push(ast::DefElem {
            defname: "check_option".into(),
            arg: Some(Node::String(word.into())),
            location: -1,
            ..ast::DefElem::default()
        });
    }
    let view_options = reloptions::view_options(&view_options)?;
    check_option_query(&query, view_options.as_deref())?;
    let mut target = stmt.view.clone();
    if target.relpersistence == Persistence::Permanent && uses_temporary(host, &query)? {
        target.relpersistence = Persistence::Temporary;
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "view \"{}\" will be a temporary view",
            target.relname
        )));
    }
    if target.relpersistence == Persistence::Unlogged {
        bail!(SYNTAX_ERROR, "views cannot be unlogged because they do not have storage");
    }
    let columns = columns_of(host, &query.target_list, &[])?;
    relation::check_collations(host, &columns, |name, _| {
        format!("could not determine which collation to use for view column \"{name}\"")
    })?;
    let (schema, persistence) = creation::creation_target(host, &target)?;
    let name = stdx::clip(&target.relname, 63).to_string();
    let old = if stmt.replace { lock_old(host, schema, &name)? } else { None };
    let oid = match old {
        Some(oid) => {
            let rel = host.catalog().relation(oid)?;
            if rel.kind() != RelKind::View {
                bail!(WRONG_OBJECT_TYPE, "\"{name}\" is not a view");
            }
            names::must_own_relation(host, &rel)?;
            replace(host, &rel, &columns, view_options)?;
            oid
        }
        None => {
            let owner = names::user(host);
            let spec = NewRelation {
                name: &name,
                namespace: schema,
                kind: RelKind::View,
                persistence,
                owner,
                tablespace: Oid::INVALID,
                access_method: Oid::INVALID,
                columns: &columns,
                options: view_options,
            };
            relation::create(host, &spec)?
        }
    };
    store_rule(host, oid, query)
}

pub(crate) fn uses_temporary(host: &mut dyn CommandHost, query: &Query) -> Result<bool> {
    let mut list = Vec::new();
    stored::range_table_relations(query, &mut list);
    for relation in list {
        let class = host.catalog().find_class(relation)?;
        if class.is_some_and(|c| c.relpersistence == Persistence::Temporary) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Replaces a view. Its existing columns must remain; new ones may be appended. Counterpart:
/// `checkViewTupleDesc`.
fn replace(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    columns: &[NewColumn],
    options: Option<Vec<Text>>,
) -> Result<()> {
    if columns.len() < rel.attributes.len() {
        bail!(INVALID_TABLE_DEFINITION, "cannot drop columns from view");
    }
    for (old, new) in rel.attributes.iter().zip(columns) {
        if old.attname.as_str() != new.name {
            return Err(pg_err!(
                INVALID_TABLE_DEFINITION,
                "cannot change name of view column \"{}\" to \"{}\"",
                old.attname,
                new.name
            )
            .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead."));
        }
        if old.atttypid != new.ty || old.atttypmod != new.typmod {
            let was = host.catalog().format_type_mod(old.atttypid, old.atttypmod)?;
            let is = host.catalog().format_type_mod(new.ty, new.typmod)?;
            bail!(
                INVALID_TABLE_DEFINITION,
                "cannot change data type of view column \"{}\" from {was} to {is}",
                old.attname
            );
        }
        if old.attcollation != new.collation {
            let mut name = |oid: Oid| -> Result<String> {
                Ok(host.catalog().collation(oid)?.collname.to_string())
            };
            let (was, is) = (name(old.attcollation)?, name(new.collation)?);
            bail!(
                INVALID_TABLE_DEFINITION,
                "cannot change collation of view column \"{}\" from \"{was}\" to \"{is}\"",
                old.attname
            );
        }
    }
    let oid = rel.oid();
    for (i, c) in columns.iter().enumerate().skip(rel.attributes.len()) {
        let row = relation::attribute_row(host, oid, i as AttrNo + 1, c)?;
        let row = relation::with_version(host, &rel.attributes, row);
        host.catalog().insert(&row)?;
        relation::record_column_type(host, oid, &row)?;
    }
    let mut cat = host.catalog();
    let row = class::row(&mut cat, oid)?;
    let relnatts = columns.len() as i16;
    cat.update(&row, &PgClass { relnatts, reloptions: options, ..row.row.clone() })?;
    cat.increment_command_counter()
}

/// Locks the relation that OR REPLACE replaces, if there is one.
fn lock_old(host: &mut dyn CommandHost, schema: Oid, name: &str) -> Result<Option<Oid>> {
    let mut found = host.catalog().relation_in(schema, name)?;
    while let Some(oid) = found {
        host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
        // The name may now refer to another relation, or to none.
        let again = host.catalog().relation_in(schema, name)?;
        if again == found {
            break;
        }
        found = again;
    }
    Ok(found)
}

/// Stores the query as the view's rule, with the range-table entries OLD and NEW prepended.
pub(crate) fn store_rule(host: &mut dyn CommandHost, view: Oid, mut query: Query) -> Result<()> {
    let rel = host.catalog().relation(view)?;
    let mut needs = Vec::new();
    stored::query_references(&query, &mut needs);
    stored::normalize_references(host, &mut needs)?;
    planner::offset_query(&mut query, 2);
    if let Some(ops) = &mut query.set_operations {
        offset_set_operations(ops, 2);
    }
    let entry = |name: &str| RangeTblEntry {
        kind: RteKind::Relation {
            relid: view,
            relkind: rel.kind(),
            rellockmode: names::mode::ACCESS_SHARE,
            tablesample: None,
        },
        alias: Some(Alias { aliasname: name.to_string(), colnames: Vec::new() }),
        eref: Alias {
            aliasname: name.to_string(),
            colnames: rel.attributes.iter().map(|a| a.attname.to_string()).collect(),
        },
        lateral: false,
        inh: false,
        in_from_cl: false,
        required_perms: 0,
        check_as_user: Oid::INVALID,
        selected_cols: Vec::new(),
        inserted_cols: Vec::new(),
        updated_cols: Vec::new(),
        security_quals: Vec::new(),
    };
    query.rtable.splice(0..0, [entry("old"), entry("new")]);
    let mut cat = host.catalog();
    let old = cat.scan(indexes::PG_REWRITE_REL_RULENAME_INDEX, &[view.into()])?;
    let old = old.into_iter().find(|r| r.ev_type == b'1');
    let oid = match &old {
        Some(row) => row.oid,
        None => cat.new_oid(indexes::PG_REWRITE_OID_INDEX)?,
    };
    let row = PgRewrite {
        oid,
        rulename: Name::new("_RETURN"),
        ev_class: view,
        ev_type: b'1',
        ev_enabled: Firing::Origin,
        is_instead: true,
        ev_qual: Text::from("<>"),
        ev_action: Text::from(plan::nodetree::write_queries(std::slice::from_ref(&query))),
    };
    let this = ObjectAddress::of::<PgRewrite>(oid);
    match &old {
        Some(old) => {
            cat.update(old, &row)?;
            cat.delete_dependencies(this, true)?;
        }
        None => {
            cat.insert(&row)?;
        }
    }
    // The rule is an internal part of the view and depends on the objects of the query.
    cat.record_dependency(this, ObjectAddress::relation(view), DepType::Internal)?;
    needs.push(ObjectAddress::relation(view));
    for object in needs {
        cat.record_dependency(this, object, DepType::Normal)?;
    }
    let class = class::row(&mut cat, view)?;
    if !class.relhasrules {
        cat.update(&class, &PgClass { relhasrules: true, ..class.row.clone() })?;
    }
    cat.invalidate_relation(view, false);
    cat.increment_command_counter()
}

fn offset_set_operations(node: &mut SetOpNode, by: i32) {
    match node {
        SetOpNode::Leaf(rti) => *rti += by,
        SetOpNode::Op(op) => {
            offset_set_operations(&mut op.larg, by);
            offset_set_operations(&mut op.rarg, by);
        }
    }
}

/// Error 0A000 if WITH CHECK OPTION is set on a view that is not updatable.
fn check_option_query(query: &Query, options: Option<&[Text]>) -> Result<()> {
    let wanted = options.unwrap_or_default().iter();
    if !wanted.clone().any(|o| o.as_str().starts_with("check_option=")) {
        return Ok(());
    }
    match analyze::updatable::not_updatable(query, true) {
        None => Ok(()),
        Some(reason) => Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "WITH CHECK OPTION is supported only on automatically updatable views"
        )
        .hint(reason)),
    }
}

/// As [`check_option_query`], for an existing view.
pub fn check_view_option(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    options: Option<&[Text]>,
) -> Result<()> {
    let Some(rule) = rel.rules.iter().find(|r| r.ev_type == b'1') else { return Ok(()) };
    let text = rule.ev_action.as_str();
    match analyze::stored::queries(&mut SessionLookup::new(host), text)?.first() {
        Some(query) => check_option_query(query, options),
        None => Ok(()),
    }
}
