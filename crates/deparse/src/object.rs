//! Definitions of indexes, constraints, views, rules, triggers and statistics objects. The result
//! is `None` if there is no such object. Counterpart: ruleutils.c.

use crate::{Deparser, Style};
use analyze::session::{Host, SessionLookup};
use analyze::stored;
use analyze::stored::malformed;
use catalog::format_type::Quoting;
use catalog::rows::{PgConstraint, PgIndex, PgRewrite, Text, indexes};
use catalog::{CatCx, cache};
use ids::code::{ConType, FkAction, FkMatch};
use ids::{Oid, RelKind};
use pgerror::Result;
use plan::expr::{Expr, XmlOp};
use plan::query::{CmdType, JoinTreeNode, Query, RteKind};

const DESC: i16 = 1;
const NULLS_FIRST: i16 = 2;

/// The text of a stored expression over the columns of a relation. Counterpart: `pg_get_expr`.
pub fn stored_expr(
    host: &mut dyn Host,
    text: &str,
    relation: Oid,
    style: Style,
) -> Result<Option<String>> {
    let text = text.trim_start();
    if let Some(bound) = plan::nodetree::read_partition_bound(text)? {
        return crate::partition_text::partition_bound(host, &bound).map(Some);
    }
    let list = if text.starts_with('(') {
        stored::exprs(&mut SessionLookup::new(host), text)?
    } else {
        vec![stored::expr(&mut SessionLookup::new(host), text)?]
    };
    if relation.is_valid() && host.catalog().find_class(relation)?.is_none() {
        return Ok(None);
    }
    let mut parts = Vec::with_capacity(list.len());
    for e in &list {
        parts.push(expr_of(host, e, relation, style)?);
    }
    Ok(Some(parts.join(", ")))
}

pub(super) fn expr_of(
    host: &mut dyn Host,
    e: &Expr,
    relation: Oid,
    style: Style,
) -> Result<String> {
    let d = Deparser::new(host, style);
    match relation.valid() {
        Some(relation) => d.with_relation(relation)?.expression(e),
        None => d.expression(e),
    }
}

/// The parts of an index definition that are shown.
#[derive(Clone, Copy, Default)]
pub struct IndexParts {
    /// A single column (from 1); 0 for the whole definition.
    pub column: usize,
    /// As the body of an exclusion constraint, with its operators after the columns.
    pub exclusion: bool,
}

/// The key columns of an index as in error messages: `a, lower(b)`. Counterpart:
/// `pg_get_indexdef_columns`.
pub fn index_keys(host: &mut dyn Host, oid: Oid) -> Result<String> {
    let row = host.catalog().search::<PgIndex>(cache::INDEXRELID, &[oid.into()])?;
    let keys = row.map_or(0, |r| r.indnkeyatts as usize);
    let mut out = Vec::with_capacity(keys);
    for column in 1..=keys {
        let parts = IndexParts { column, exclusion: false };
        out.extend(index_def(host, oid, parts, true)?);
    }
    Ok(out.join(", "))
}

/// `CREATE INDEX …`, or one of its columns. Counterpart: `pg_get_indexdef`.
pub fn index_def(
    host: &mut dyn Host,
    oid: Oid,
    parts: IndexParts,
    pretty: bool,
) -> Result<Option<String>> {
    let Some(row) = host.catalog().search(cache::INDEXRELID, &[oid.into()])? else {
        return Ok(None);
    };
    let style = Style::indented(pretty);
    let mut cat = host.catalog();
    let class = cat.class(oid)?;
    let am = cat.access_method_name(class.relam)?;
    let exprs = match &row.indexprs {
        Some(text) => stored::exprs(&mut SessionLookup::new(host), text.as_str())?,
        None => Vec::new(),
    };
    let mut exprs = exprs.iter();
    let operators = match parts.exclusion {
        true => exclusion_operators(host, oid)?,
        false => Vec::new(),
    };
    let quoting = host.catalog().session.quoting;
    let mut out = String::new();
    let names_only = parts.column != 0;
    if !names_only {
        if parts.exclusion {
            out.push_str(&format!("EXCLUDE USING {} (", quoting.identifier(&am)));
        } else {
            let mut d = Deparser::new(host, Style::PLAIN);
            let table = match pretty {
                true => d.relation_name(row.indrelid)?,
                false => d.qualified_relation_name(row.indrelid)?,
            };
            out.push_str(&format!(
                "CREATE {}INDEX {} ON {}{table} USING {} (",
                if row.indisunique { "UNIQUE " } else { "" },
                quoting.identifier(class.relname.as_str()),
                if class.relkind == RelKind::PartitionedIndex { "ONLY " } else { "" },
                quoting.identifier(&am),
            ));
        }
    }
    let keys = row.indnkeyatts as usize;
    for (i, &attno) in row.indkey.iter().enumerate() {
        let expr = if attno == 0 { exprs.next() } else { None };
        if names_only && i + 1 != parts.column {
            continue;
        }
        if !names_only && i > 0 {
            out.push_str(if i == keys { ") INCLUDE (" } else { ", " });
        }
        let (ty, collation) = match expr {
            None => {
                let a = host.catalog().attribute(row.indrelid, attno)?.ok_or_else(malformed)?;
                out.push_str(&quoting.identifier(a.attname.as_str()));
                (a.atttypid, a.attcollation)
            }
            Some(e) => {
                let text = expr_of(host, e, row.indrelid, style)?;
                if looks_like_function(e) {
                    out.push_str(&text);
                } else {
                    out.push_str(&format!("({text})"));
                }
                (e.type_oid(), e.collation())
            }
        };
        if names_only || i >= keys {
            continue;
        }
        out.push_str(&key_options(host, &row, i, (ty, collation), am == "btree")?);
        if let Some(&op) = operators.get(i) {
            let name = Deparser::new(host, Style::PLAIN).operator_name(op)?;
            out.push_str(&format!(" WITH {name}"));
        }
    }
    if names_only {
        return Ok(Some(out));
    }
    out.push(')');
    if row.indnullsnotdistinct {
        out.push_str(" NULLS NOT DISTINCT");
    }
    if let Some(options) = &class.reloptions {
        out.push_str(&format!(" WITH ({})", options_text(quoting, options)));
    }
    if let Some(text) = &row.indpred
        && let Some(text) = stored_expr(host, text.as_str(), row.indrelid, style)?
    {
        out.push_str(&match parts.exclusion {
            true => format!(" WHERE ({text})"),
            false => format!(" WHERE {text}"),
        });
    }
    Ok(Some(out))
}

/// The clauses after a key column or expression of this type and collation: collation, operator
/// class and order. `i`: the column's index.
fn key_options(
    host: &mut dyn Host,
    row: &PgIndex,
    i: usize,
    (ty, collation): (Oid, Oid),
    is_btree: bool,
) -> Result<String> {
    let mut out = String::new();
    let wanted = row.indcollation.get(i).copied().unwrap_or_default();
    if wanted.is_valid() && wanted != collation {
        let name = Deparser::new(host, Style::PLAIN).collation_name(wanted)?;
        out.push_str(&format!(" COLLATE {name}"));
    }
    if let Some(&class) = row.indclass.get(i) {
        out.push_str(&class_with_options(&mut host.catalog(), row, i, (class, ty))?);
    }
    let option = row.indoption.get(i).copied().unwrap_or(0);
    if is_btree {
        if option & DESC != 0 {
            out.push_str(" DESC");
            if option & NULLS_FIRST == 0 {
                out.push_str(" NULLS LAST");
            }
        } else if option & NULLS_FIRST != 0 {
            out.push_str(" NULLS FIRST");
        }
    }
    Ok(out)
}

fn exclusion_operators(host: &mut dyn Host, index: Oid) -> Result<Vec<Oid>> {
    let mut cat = host.catalog();
    let table = cat
        .search(cache::INDEXRELID, &[index.into()])?
        .map(|r| r.indrelid)
        .ok_or_else(malformed)?;
    let rows = cat.scan(indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX, &[table.into()])?;
    let found = rows.iter().find(|c| c.conindid == index && c.contype == ConType::Exclusion);
    Ok(found.and_then(|c| c.conexclop.clone()).unwrap_or_default())
}

/// The operator class of a column of an index and its parameters; nothing if it is the default one
/// without parameters.
fn class_with_options(
    cat: &mut CatCx<'_>,
    row: &PgIndex,
    i: usize,
    (class, ty): (Oid, Oid),
) -> Result<String> {
    let index = cat.relation(row.indexrelid)?;
    let options = index.attributes.get(i).and_then(|a| a.attoptions.as_deref());
    let Some(options) = options.filter(|list| !list.is_empty()) else {
        return opclass_suffix(cat, class, ty);
    };
    let name = class_name(cat, class)?;
    Ok(format!("{name} ({})", options_text(cat.session.quoting, options)))
}

pub(super) fn opclass_suffix(cat: &mut CatCx<'_>, class: Oid, ty: Oid) -> Result<String> {
    let row = cat.opclass(class)?;
    if cat.default_opclass(ty, row.opcmethod)? == Some(class) {
        return Ok(String::new());
    }
    class_name(cat, class)
}

/// A blank and the name of an operator class, with its schema if that is needed.
fn class_name(cat: &mut CatCx<'_>, class: Oid) -> Result<String> {
    let row = cat.opclass(class)?;
    let visible = cat.find_opclass(row.opcmethod, None, row.opcname.as_str())? == Some(class);
    let schema = if visible { None } else { cat.namespace_name_or_temp(row.opcnamespace)? };
    let schema = schema.as_ref().map(|s| s.as_str());
    Ok(format!(" {}", cat.session.quoting.qualified(schema, row.opcname.as_str())))
}

/// Whether the expression can be in an index's column list without parentheses.
pub(super) fn looks_like_function(e: &Expr) -> bool {
    use plan::expr::CoercionForm;
    match e {
        Expr::FuncExpr(f) => {
            matches!(f.funcformat, CoercionForm::ExplicitCall | CoercionForm::SqlSyntax)
        }
        Expr::Coalesce(_) | Expr::MinMax(_) | Expr::NullIf(_) | Expr::SqlValue(_) => true,
        Expr::Xml(x) => x.op != XmlOp::IsDocument,
        _ => false,
    }
}

/// Storage parameters as `name=value, …` for a WITH list.
pub fn options_text(quoting: Quoting, options: &[Text]) -> String {
    let mut parts = Vec::with_capacity(options.len());
    for option in options {
        let (name, value) = option.as_str().split_once('=').unwrap_or((option.as_str(), ""));
        // Plain words and numbers are not quoted.
        let word = quoting.identifier(value) == value;
        let value = if word { value.to_owned() } else { quoting.literal(value) };
        parts.push(format!("{}={value}", quoting.identifier(name)));
    }
    parts.join(", ")
}

/// The body of a constraint. Counterpart: `pg_get_constraintdef`.
pub fn constraint_def(host: &mut dyn Host, oid: Oid, pretty: bool) -> Result<Option<String>> {
    let Some(row) = host.catalog().constraint(oid)? else { return Ok(None) };
    let mut out = match row.contype {
        ConType::ForeignKey => foreign_key(host, &row)?,
        ConType::PrimaryKey | ConType::Unique => unique(host, &row)?,
        ConType::Check => {
            let text = row.conbin.as_ref().ok_or_else(malformed)?;
            let text = stored_expr(host, text.as_str(), row.conrelid, Style::indented(pretty))?;
            let tail = if row.connoinherit { " NO INHERIT" } else { "" };
            format!("CHECK ({}){tail}", text.unwrap_or_default())
        }
        ConType::Trigger => "TRIGGER".to_owned(),
        ConType::Exclusion => {
            let parts = IndexParts { column: 0, exclusion: true };
            index_def(host, row.conindid, parts, pretty)?.unwrap_or_default()
        }
    };
    if row.condeferrable {
        out.push_str(" DEFERRABLE");
    }
    if row.condeferred {
        out.push_str(" INITIALLY DEFERRED");
    }
    if !row.convalidated {
        out.push_str(" NOT VALID");
    }
    Ok(Some(out))
}

fn column_list(host: &mut dyn Host, relation: Oid, columns: &[i16]) -> Result<String> {
    let mut names = Vec::with_capacity(columns.len());
    for &c in columns {
        names.push(Deparser::new(host, Style::PLAIN).column_name(relation, c)?);
    }
    Ok(names.join(", "))
}

fn foreign_key(host: &mut dyn Host, row: &PgConstraint) -> Result<String> {
    let own = column_list(host, row.conrelid, row.conkey.as_deref().unwrap_or_default())?;
    let other = column_list(host, row.confrelid, row.confkey.as_deref().unwrap_or_default())?;
    let table = Deparser::new(host, Style::PLAIN).relation_name(row.confrelid)?;
    let mut out = format!("FOREIGN KEY ({own}) REFERENCES {table}({other})");
    if row.confmatchtype == FkMatch::Full {
        out.push_str(" MATCH FULL");
    }
    let action = |action: FkAction| match action {
        FkAction::Unset | FkAction::NoAction => None,
        FkAction::Restrict => Some("RESTRICT"),
        FkAction::Cascade => Some("CASCADE"),
        FkAction::SetNull => Some("SET NULL"),
        FkAction::SetDefault => Some("SET DEFAULT"),
    };
    if let Some(a) = action(row.confupdtype) {
        out.push_str(&format!(" ON UPDATE {a}"));
    }
    if let Some(a) = action(row.confdeltype) {
        out.push_str(&format!(" ON DELETE {a}"));
    }
    if let Some(columns) = &row.confdelsetcols {
        out.push_str(&format!(" ({})", column_list(host, row.conrelid, columns)?));
    }
    Ok(out)
}

fn unique(host: &mut dyn Host, row: &PgConstraint) -> Result<String> {
    let index =
        host.catalog().search(cache::INDEXRELID, &[row.conindid.into()])?.ok_or_else(malformed)?;
    let mut out =
        String::from(if row.contype == ConType::PrimaryKey { "PRIMARY KEY " } else { "UNIQUE " });
    if index.indnullsnotdistinct {
        out.push_str("NULLS NOT DISTINCT ");
    }
    let keys = row.conkey.as_deref().unwrap_or_default();
    out.push_str(&format!("({})", column_list(host, row.conrelid, keys)?));
    if let Some(included) = index.indkey.get(keys.len()..)
        && !included.is_empty()
    {
        out.push_str(&format!(" INCLUDE ({})", column_list(host, row.conrelid, included)?));
    }
    Ok(out)
}

fn rule_queries(host: &mut dyn Host, rule: &PgRewrite) -> Result<Vec<Query>> {
    stored::queries(&mut SessionLookup::new(host), rule.ev_action.as_str())
}

fn column_names(host: &mut dyn Host, relation: Oid) -> Result<Vec<String>> {
    let desc = host.catalog().relation(relation)?;
    let live = desc.attributes.iter().filter(|a| !a.attisdropped);
    Ok(live.map(|a| a.attname.as_str().to_owned()).collect())
}

/// The query of a view, with a semicolon. Counterpart: `pg_get_viewdef`.
pub fn view_def(host: &mut dyn Host, oid: Oid, pretty: bool, wrap: i32) -> Result<Option<String>> {
    let Some(desc) = host.catalog().try_relation(oid)? else { return Ok(None) };
    let Some(rule) = desc.rules.iter().find(|r| r.rulename == "_RETURN" && r.ev_type == b'1')
    else {
        return Ok(None);
    };
    let queries = rule_queries(host, rule)?;
    let query = queries.first().ok_or_else(malformed)?;
    let columns = column_names(host, oid)?;
    let mut d = Deparser::new(host, Style::indented(pretty));
    d.wrap = wrap;
    Ok(Some(d.statement(query, Some(&columns), true)? + ";"))
}

/// The query of a rule's action whose range table begins with OLD and NEW: in INSERT … SELECT it is
/// the SELECT.
/// Counterpart: `getInsertSelectQuery`.
fn old_and_new_of(action: &Query) -> &Query {
    let has = |q: &Query| {
        matches!(&q.rtable[..], [old, new, ..]
            if old.eref.aliasname == "old" && new.eref.aliasname == "new")
    };
    if action.command_type != CmdType::Insert || has(action) {
        return action;
    }
    match &action.jointree.fromlist[..] {
        [JoinTreeNode::Rtr(rti)] => match &action.rte(*rti).kind {
            RteKind::Subquery { subquery, .. } if has(subquery) => subquery,
            _ => action,
        },
        _ => action,
    }
}

/// `CREATE RULE …`. Counterpart: `pg_get_ruledef`.
pub fn rule_def(host: &mut dyn Host, oid: Oid, pretty: bool) -> Result<Option<String>> {
    let rows = host.catalog().scan(indexes::PG_REWRITE_OID_INDEX, &[oid.into()])?;
    let Some(rule) = rows.first() else { return Ok(None) };
    let queries = rule_queries(host, rule)?;
    let mut d = Deparser::new(host, Style::PLAIN);
    let table = match pretty {
        true => d.relation_name(rule.ev_class)?,
        false => d.qualified_relation_name(rule.ev_class)?,
    };
    let event = match rule.ev_type {
        b'1' => "SELECT",
        b'2' => "UPDATE",
        b'3' => "INSERT",
        b'4' => "DELETE",
        _ => return Err(malformed()),
    };
    let name = host.catalog().session.quoting.identifier(rule.rulename.as_str());
    let mut out = format!("CREATE RULE {name} AS\n    ON {event} TO {table}");
    let style = Style::indented(pretty);
    let qual = rule.ev_qual.as_str();
    if !matches!(qual, "" | "<>") {
        let e = stored::expr(&mut SessionLookup::new(host), qual)?;
        let action = old_and_new_of(queries.first().ok_or_else(malformed)?);
        let text = Deparser::new(host, style).with_query(action)?.expression(&e)?;
        out.push_str(&format!("\n   WHERE {text}"));
    }
    out.push_str(" DO ");
    if rule.is_instead {
        out.push_str("INSTEAD ");
    }
    let columns = match rule.ev_type {
        b'1' => Some(column_names(host, rule.ev_class)?),
        _ => None,
    };
    let many = queries.len() > 1;
    if many {
        out.push('(');
    }
    for query in &queries {
        let mut d = Deparser::new(host, style);
        d.wrap = 0;
        let text = d.statement(query, columns.as_deref(), true)?;
        if text.starts_with('\n') {
            out.truncate(out.trim_end_matches(' ').len());
        }
        out.push_str(&text);
        if many {
            out.push_str(";\n");
        }
    }
    out.push_str(match (many, queries.is_empty()) {
        (true, _) => ");",
        (false, true) => "NOTHING;",
        (false, false) => ";",
    });
    Ok(Some(out))
}

/// `CREATE TRIGGER …`. Counterpart: `pg_get_triggerdef`.
pub fn trigger_def(host: &mut dyn Host, oid: Oid, pretty: bool) -> Result<Option<String>> {
    let rows = host.catalog().scan(indexes::PG_TRIGGER_OID_INDEX, &[oid.into()])?;
    let Some(t) = rows.first() else { return Ok(None) };
    let has = |bit: i16| t.tgtype & bit != 0;
    let quoting = host.catalog().session.quoting;
    let mut out = String::from("CREATE ");
    if t.tgconstraint.is_valid() {
        out.push_str("CONSTRAINT ");
    }
    out.push_str(&format!("TRIGGER {} ", quoting.identifier(t.tgname.as_str())));
    out.push_str(match (has(64), has(2)) {
        (true, _) => "INSTEAD OF",
        (_, true) => "BEFORE",
        _ => "AFTER",
    });
    let mut events = Vec::new();
    for (bit, word) in [(4, " INSERT"), (8, " DELETE"), (16, " UPDATE"), (32, " TRUNCATE")] {
        if !has(bit) {
            continue;
        }
        let mut event = word.to_owned();
        if bit == 16 && !t.tgattr.is_empty() {
            event.push_str(&format!(" OF {}", column_list(host, t.tgrelid, &t.tgattr)?));
        }
        events.push(event);
    }
    out.push_str(&events.join(" OR"));
    let mut d = Deparser::new(host, Style::PLAIN);
    let table = match pretty {
        true => d.relation_name(t.tgrelid)?,
        false => d.qualified_relation_name(t.tgrelid)?,
    };
    out.push_str(&format!(" ON {table} "));
    if t.tgconstraint.is_valid() {
        if t.tgconstrrelid.is_valid() {
            out.push_str(&format!("FROM {} ", d.relation_name(t.tgconstrrelid)?));
        }
        if !t.tgdeferrable {
            out.push_str("NOT ");
        }
        out.push_str("DEFERRABLE INITIALLY ");
        out.push_str(if t.tginitdeferred { "DEFERRED " } else { "IMMEDIATE " });
    }
    if t.tgoldtable.is_some() || t.tgnewtable.is_some() {
        out.push_str("REFERENCING ");
        for (word, name) in [("OLD", &t.tgoldtable), ("NEW", &t.tgnewtable)] {
            if let Some(name) = name {
                out.push_str(&format!("{word} TABLE AS {} ", quoting.identifier(name.as_str())));
            }
        }
    }
    out.push_str(if has(1) { "FOR EACH ROW " } else { "FOR EACH STATEMENT " });
    if let Some(qual) = &t.tgqual {
        let e = stored::expr(&mut SessionLookup::new(host), qual.as_str())?;
        let relations = [(Some("old"), t.tgrelid), (Some("new"), t.tgrelid)];
        let style = Style::indented(pretty);
        let text = Deparser::new(host, style).with_relations(&relations)?.expression(&e)?;
        out.push_str(&format!("WHEN ({text}) "));
    }
    let (name, _) = Deparser::new(host, Style::PLAIN).function_name(t.tgfoid, false)?;
    // The arguments are zero-terminated strings.
    let args: Vec<String> = t
        .tgargs
        .split(|b| *b == 0)
        .take(t.tgnargs.max(0) as usize)
        .map(|a| quoting.literal(&String::from_utf8_lossy(a)))
        .collect();
    out.push_str(&format!("EXECUTE FUNCTION {name}({})", args.join(", ")));
    Ok(Some(out))
}

/// `CREATE STATISTICS …`, or only its columns. Counterpart: `pg_get_statisticsobjdef`.
pub fn statistics_def(host: &mut dyn Host, oid: Oid, columns_only: bool) -> Result<Option<String>> {
    let Some(row) = host.catalog().search(cache::STATEXTOID, &[oid.into()])? else {
        return Ok(None);
    };
    let exprs = match &row.stxexprs {
        Some(text) => stored::exprs(&mut SessionLookup::new(host), text.as_str())?,
        None => Vec::new(),
    };
    let mut parts = Vec::new();
    for &key in row.stxkeys.iter() {
        parts.push(Deparser::new(host, Style::PLAIN).column_name(row.stxrelid, key)?);
    }
    for e in &exprs {
        let text = expr_of(host, e, row.stxrelid, Style { pretty: true, indent: false })?;
        let bare = looks_like_function(e);
        parts.push(if bare { text } else { format!("({text})") });
    }
    let columns = parts.join(", ");
    if columns_only {
        return Ok(Some(columns));
    }
    let mut cat = host.catalog();
    let schema = cat.namespace_name_or_temp(row.stxnamespace)?;
    let schema = schema.as_ref().map(|s| s.as_str());
    let name = cat.session.quoting.qualified(schema, row.stxname.as_str());
    let mut kinds = Vec::new();
    for (kind, word) in [(b'd', "ndistinct"), (b'f', "dependencies"), (b'm', "mcv")] {
        if row.stxkind.contains(&kind) {
            kinds.push(word);
        }
    }
    let all = kinds.len() == 3 || parts.len() < 2;
    let kinds = if all { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let table = Deparser::new(host, Style::PLAIN).relation_name(row.stxrelid)?;
    Ok(Some(format!("CREATE STATISTICS {name}{kinds} ON {columns} FROM {table}")))
}

/// The texts of a statistics object's expressions.
pub fn statistics_expressions(host: &mut dyn Host, oid: Oid) -> Result<Option<Vec<String>>> {
    let row = host.catalog().search(cache::STATEXTOID, &[oid.into()])?;
    let Some((row, text)) = row.and_then(|r| r.stxexprs.clone().map(|t| (r, t))) else {
        return Ok(None);
    };
    let mut out = Vec::new();
    for e in &stored::exprs(&mut SessionLookup::new(host), text.as_str())? {
        out.push(expr_of(host, e, row.stxrelid, Style { pretty: false, indent: true })?);
    }
    Ok(Some(out))
}
