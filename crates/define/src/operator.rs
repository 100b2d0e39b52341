//! CREATE OPERATOR, ALTER OPERATOR … SET, and the links between operators.
//!
//! An operator may name a commutator or a negator that does not exist yet. Then a row without a
//! function, a shell, is created for it, which its own CREATE OPERATOR completes.
//!
//! Counterpart: operatorcmds.c, pg_operator.c.

use crate::creation;
use crate::operator_links::link_back;
use crate::routine::lookup::{check_execute, exact, shown, type_of};
use crate::typerow::new_name;
use catalog::rows::{Name, PgNamespace, PgOperator, PgProc, PgType, indexes};
use catalog::{CatCx, ObjectAddress, Row};
use ids::Oid;
use ids::code::{DepType, OprKind};
use parse::ast::{self, AlterOperatorStmt, DefElem, DefineStmt, Node, ObjectType};
use pgerror::{PgError, Result, Severity, SqlState, bail, pg_err};
use types::oids;
use utility::host::CommandHost;
use utility::{names, options};

fn invalid(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)
}

/// The attributes of the statement.
#[derive(Default)]
struct Attributes {
    left: Option<ast::TypeName>,
    right: Option<ast::TypeName>,
    function: Vec<ast::Name>,
    commutator: Vec<ast::Name>,
    negator: Vec<ast::Name>,
    restriction: Vec<ast::Name>,
    join: Vec<ast::Name>,
    hashes: bool,
    merges: bool,
}

fn operand(d: &DefElem) -> Result<Option<ast::TypeName>> {
    let name = options::type_name(d)?;
    if name.setof {
        return Err(invalid("SETOF type not allowed for operator argument"));
    }
    Ok(Some(name))
}

impl Attributes {
    fn read(host: &mut dyn CommandHost, defs: &[DefElem]) -> Result<Attributes> {
        let mut a = Attributes::default();
        for d in defs {
            match &*d.defname {
                "leftarg" => a.left = operand(d)?,
                "rightarg" => a.right = operand(d)?,
                "function" | "procedure" => a.function = options::qualified(d)?,
                "commutator" => a.commutator = options::qualified(d)?,
                "negator" => a.negator = options::qualified(d)?,
                "restrict" => a.restriction = options::qualified(d)?,
                "join" => a.join = options::qualified(d)?,
                "hashes" => a.hashes = options::boolean(d)?,
                "merges" => a.merges = options::boolean(d)?,
                "sort1" | "sort2" | "ltcmp" | "gtcmp" => a.merges = true,
                other => host.notice(
                    pg_err!(SYNTAX_ERROR, "operator attribute \"{other}\" not recognized")
                        .severity(Severity::Warning),
                ),
            }
        }
        Ok(a)
    }
}

/// The estimator functions of an operator.
struct Estimators {
    restriction: Oid,
    join: Oid,
}

/// Arguments of a restriction estimator.
const RESTRICTION: &[Oid] = &[oids::INTERNAL, oids::OID, oids::INTERNAL, oids::INT4];
/// Arguments of a join estimator, in the present form; an older one has only the first four.
const JOIN: &[Oid] = &[oids::INTERNAL, oids::OID, oids::INTERNAL, oids::INT2, oids::INTERNAL];

/// Counterpart: `ValidateRestrictionEstimator`, `ValidateJoinEstimator`.
fn estimator(host: &mut dyn CommandHost, names: &[ast::Name], is_join: bool) -> Result<Oid> {
    if names.is_empty() {
        return Ok(Oid::INVALID);
    }
    let what = if is_join { "join" } else { "restriction" };
    let row = match is_join {
        false => exact(host, names, RESTRICTION)?,
        true => join_estimator(host, names)?,
    };
    let name = shown(names);
    if row.prorettype != oids::FLOAT8 {
        bail!(
            INVALID_OBJECT_DEFINITION,
            "{what} estimator function {name} must return type float8"
        );
    }
    if row.oid < Oid::FIRST_GENBKI {
        check_execute(host, &row, &name)?;
    } else if !names::is_superuser(host)? {
        bail!(
            INSUFFICIENT_PRIVILEGE,
            "must be superuser to specify a non-built-in {what} estimator function"
        );
    }
    Ok(row.oid)
}

/// A function of either form; an error if both exist.
fn join_estimator(host: &mut dyn CommandHost, names: &[ast::Name]) -> Result<Row<PgProc>> {
    use crate::routine::lookup::find_exact;
    let full = find_exact(host, names, JOIN)?;
    match (full, find_exact(host, names, &JOIN[..4])?) {
        (Some(_), Some(_)) => {
            let name = shown(names);
            bail!(AMBIGUOUS_FUNCTION, "join estimator function {name} has multiple matches")
        }
        (Some(row), None) | (None, Some(row)) => Ok(row),
        (None, None) => exact(host, names, JOIN),
    }
}

/// What only binary operators, and only operators that return boolean, can have.
fn check_kind(row: &PgOperator, commutator: bool, negator: bool) -> Result<()> {
    let given = [
        (commutator, "have commutators", true, false),
        (negator, "have negators", false, true),
        (row.oprrest.is_valid(), "have restriction selectivity", false, true),
        (row.oprjoin.is_valid(), "have join selectivity", true, true),
        (row.oprcanmerge, "merge join", true, true),
        (row.oprcanhash, "hash", true, true),
    ];
    let binary = row.oprleft.is_valid() && row.oprright.is_valid();
    if !binary && let Some(g) = given.iter().find(|g| g.0 && g.2) {
        return Err(invalid(&format!("only binary operators can {}", g.1)));
    }
    if row.oprresult != oids::BOOL
        && let Some(g) = given.iter().find(|g| g.0 && g.3)
    {
        return Err(invalid(&format!("only boolean operators can {}", g.1)));
    }
    Ok(())
}

/// Counterpart: `validOperatorName`.
fn is_valid_name(name: &str) -> bool {
    const CHARACTERS: &str = "~!@#^&|`?+-*/%<>=";
    const FREE: &str = "~!@#^&|`?%";
    !name.is_empty()
        && name.len() < 64
        && name.chars().all(|c| CHARACTERS.contains(c))
        && !name.contains("/*")
        && !name.contains("--")
        && (name.len() == 1
            || !name.ends_with(['+', '-'])
            || name.chars().any(|c| FREE.contains(c)))
        && name != "=>"
}

/// The new row, without links to other operators.
fn row_of(
    host: &mut dyn CommandHost,
    (schema, name): (Oid, &str),
    (left, right): (Oid, Oid),
) -> Result<PgOperator> {
    if !is_valid_name(name) {
        bail!(INVALID_NAME, "\"{name}\" is not a valid operator name");
    }
    Ok(PgOperator {
        oid: Oid::INVALID,
        oprname: Name::new(name),
        oprnamespace: schema,
        oprowner: names::user(host),
        oprkind: if left.is_valid() { OprKind::Binary } else { OprKind::Prefix },
        oprcanmerge: false,
        oprcanhash: false,
        oprleft: left,
        oprright: right,
        oprresult: Oid::INVALID,
        oprcom: Oid::INVALID,
        oprnegate: Oid::INVALID,
        oprcode: Oid::INVALID,
        oprrest: Oid::INVALID,
        oprjoin: Oid::INVALID,
    })
}

/// The operator with this name in the schema.
fn existing(
    cat: &mut CatCx<'_>,
    schema: Oid,
    name: &str,
    (left, right): (Oid, Oid),
) -> Result<Option<Row<PgOperator>>> {
    let keys = [name.into(), left.into(), right.into(), schema.into()];
    Ok(cat.scan(indexes::PG_OPERATOR_OPRNAME_L_R_N_INDEX, &keys)?.pop())
}

fn must_own(host: &mut dyn CommandHost, row: &PgOperator, shown: &str) -> Result<()> {
    if !names::is_owner(host, row.oprowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of operator {shown}");
    }
    Ok(())
}

/// Records what the operator depends on. Counterpart: `makeOperatorDependencies`.
fn record_dependencies(cat: &mut CatCx<'_>, row: &PgOperator, replaced: bool) -> Result<()> {
    let this = ObjectAddress::of::<PgOperator>(row.oid);
    if replaced {
        cat.delete_dependencies(this, true)?;
        cat.delete_shared_dependencies(this)?;
    }
    let types = [row.oprleft, row.oprright, row.oprresult];
    let functions = [row.oprcode, row.oprrest, row.oprjoin];
    let mut objects = vec![ObjectAddress::of::<PgNamespace>(row.oprnamespace)];
    objects.extend(types.iter().filter(|t| t.is_valid()).map(|t| ObjectAddress::of::<PgType>(*t)));
    let functions = functions.iter().filter(|f| f.is_valid());
    objects.extend(functions.map(|f| ObjectAddress::of::<PgProc>(*f)));
    cat.record_dependencies(this, &objects, DepType::Normal)?;
    cat.record_owner(this, row.oprowner)
}

fn schema_and_name(names: &[ast::Name]) -> Result<(Option<&str>, &str)> {
    match names {
        [.., schema, name] => Ok((Some(&**schema), &**name)),
        [name] => Ok((None, &**name)),
        [] => Err(PgError::internal("operator without a name")),
    }
}

/// Whether the name of another operator, which does not exist, denotes the new one.
fn is_same(
    host: &mut dyn CommandHost,
    names: &[ast::Name],
    operands: (Oid, Oid),
    new: &PgOperator,
) -> Result<bool> {
    let (schema, name) = schema_and_name(names)?;
    let schema = host.catalog().creation_namespace(schema)?;
    let same = new.oprname == *name && new.oprnamespace == schema;
    Ok(same && operands == (new.oprleft, new.oprright))
}

/// The commutator or negator; a shell is created if it does not exist. `None` if it is the new
/// operator itself. Counterpart: `get_other_operator`.
fn other_operator(
    host: &mut dyn CommandHost,
    names: &[ast::Name],
    operands: (Oid, Oid),
    new: &PgOperator,
) -> Result<Option<Oid>> {
    let (schema, name) = schema_and_name(names)?;
    let (left, right) = operands;
    if let Some(found) = host.catalog().find_operator(schema, name, left, right)? {
        let row = host.catalog().operator(found)?;
        must_own(host, &row, &shown(names))?;
        return Ok(Some(found));
    }
    if is_same(host, names, operands, new)? {
        return Ok(None);
    }
    let schema = host.catalog().creation_namespace(schema)?;
    creation::may_create_in(host, schema)?;
    let mut shell = row_of(host, (schema, name), operands)?;
    let mut cat = host.catalog();
    shell.oid = cat.new_oid(indexes::PG_OPERATOR_OID_INDEX)?;
    cat.insert(&shell)?;
    record_dependencies(&mut cat, &shell, false)?;
    cat.increment_command_counter()?;
    Ok(Some(shell.oid))
}

/// The operand types, which must exist and be usable.
fn operands(host: &mut dyn CommandHost, a: &Attributes) -> Result<(Oid, Oid)> {
    let mut types = [Oid::INVALID; 2];
    for (slot, name) in types.iter_mut().zip([&a.left, &a.right]) {
        if let Some(name) = name {
            *slot = type_of(host, name)?;
        }
    }
    let [left, right] = types;
    if !left.is_valid() && !right.is_valid() {
        return Err(invalid("operator argument types must be specified"));
    }
    if !right.is_valid() {
        return Err(invalid("operator right argument type must be specified")
            .detail("Postfix operators are not supported."));
    }
    for ty in types.into_iter().filter(|ty| ty.is_valid()) {
        names::check_type_privilege(host, ty)?;
    }
    Ok((left, right))
}

/// CREATE OPERATOR.
pub fn create(host: &mut dyn CommandHost, stmt: &DefineStmt) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.defnames)?;
    let a = Attributes::read(host, &stmt.definition)?;
    if a.function.is_empty() {
        return Err(invalid("operator function must be specified"));
    }
    let types = operands(host, &a)?;
    let list = [types.0, types.1];
    let args = if types.0.is_valid() { &list[..] } else { &list[1..] };
    let function = exact(host, &a.function, args)?;
    check_execute(host, &function, &shown(&a.function))?;
    names::check_type_privilege(host, function.prorettype)?;
    let estimators = Estimators {
        restriction: estimator(host, &a.restriction, false)?,
        join: estimator(host, &a.join, true)?,
    };
    let mut new = PgOperator {
        oprcanmerge: a.merges,
        oprcanhash: a.hashes,
        oprresult: function.prorettype,
        oprcode: function.oid,
        oprrest: estimators.restriction,
        oprjoin: estimators.join,
        ..row_of(host, (schema, &name), types)?
    };
    if !a.negator.is_empty() && is_same(host, &a.negator, types, &new)? {
        return Err(invalid("operator cannot be its own negator"));
    }
    check_kind(&new, !a.commutator.is_empty(), !a.negator.is_empty())?;
    let shell = existing(&mut host.catalog(), schema, &name, types)?;
    if let Some(shell) = &shell {
        if shell.oprcode.is_valid() {
            bail!(DUPLICATE_FUNCTION, "operator {name} already exists");
        }
        must_own(host, shell, &name)?;
    }
    let mut is_own_commutator = false;
    if !a.commutator.is_empty() {
        let reversed = (types.1, types.0);
        match other_operator(host, &a.commutator, reversed, &new)? {
            Some(oid) => new.oprcom = oid,
            None => is_own_commutator = true,
        }
    }
    if !a.negator.is_empty() {
        let negator = other_operator(host, &a.negator, types, &new)?;
        new.oprnegate = negator.unwrap_or_default();
    }
    let mut cat = host.catalog();
    match &shell {
        Some(shell) => {
            new.oid = shell.oid;
            // Another row of the statement may have been linked to the shell.
            let now = cat.operator(shell.oid)?;
            cat.update(&now, &new)?;
        }
        None => {
            new.oid = cat.new_oid(indexes::PG_OPERATOR_OID_INDEX)?;
            cat.insert(&new)?;
        }
    }
    record_dependencies(&mut cat, &new, shell.is_some())?;
    let commutator = if is_own_commutator { new.oid } else { new.oprcom };
    link_back(&mut cat, new.oid, commutator, new.oprnegate)
}

/// ALTER OPERATOR … SET.
pub fn alter(host: &mut dyn CommandHost, stmt: &AlterOperatorStmt) -> Result<()> {
    let node = Node::ObjectWithArgs(Box::new(stmt.opername.clone()));
    let found = crate::object::address::resolve(host, ObjectType::Operator, &node, false)?;
    let oid = found.ok_or_else(|| PgError::internal("operator was not found"))?.object;
    let row = host.catalog().operator(oid)?;
    let (mut restriction, mut join) = (None, None);
    for d in &stmt.options {
        let names = match &d.arg {
            None => Vec::new(),
            Some(_) => options::qualified(d)?,
        };
        match &*d.defname {
            "restrict" => restriction = Some(names),
            "join" => join = Some(names),
            "leftarg" | "rightarg" | "function" | "procedure" | "commutator" | "negator"
            | "hashes" | "merges" => {
                bail!(SYNTAX_ERROR, "operator attribute \"{}\" cannot be changed", d.defname)
            }
            other => bail!(SYNTAX_ERROR, "operator attribute \"{other}\" not recognized"),
        }
    }
    must_own(host, &row, row.oprname.as_str())?;
    let mut new = row.row.clone();
    if let Some(names) = &restriction {
        new.oprrest = estimator(host, names, false)?;
    }
    if let Some(names) = &join {
        new.oprjoin = estimator(host, names, true)?;
    }
    let given = PgOperator {
        oprcanmerge: false,
        oprcanhash: false,
        oprrest: if restriction.is_some() { new.oprrest } else { Oid::INVALID },
        oprjoin: if join.is_some() { new.oprjoin } else { Oid::INVALID },
        ..new.clone()
    };
    check_kind(&given, false, false)?;
    let mut cat = host.catalog();
    cat.update(&row, &new)?;
    record_dependencies(&mut cat, &new, true)?;
    cat.increment_command_counter()
}

#[cfg(test)]
mod tests {
    use super::is_valid_name;

    #[test]
    fn names_of_operators_follow_the_rules_of_the_scanner() {
        for name in ["=", "<>", "-", "+-@", "@-", "|/", "!=#"] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "a", "=>", "+-", "--", "/*", "*-", "a+"] {
            assert!(!is_valid_name(name), "{name}");
        }
    }
}
