//! `amvalidate`: whether an operator class and its family have what their access method needs.
//! Each fault is reported as a message of level INFO.
//!
//! Reading order: `rules` (what the methods need), this file (members of a family one by one),
//! `groups` (the members for each pair of types).
//!
//! Counterpart: access/index/amvalidate.c, nbtvalidate.c, hashvalidate.c, ginvalidate.c,
//! gistvalidate.c, spgvalidate.c, brin_validate.c, contrib/bloom/blvalidate.c.

mod groups;
mod rules;

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::rows::{PgAmop, PgAmproc, PgOpclass, indexes};
use catalog::{Row, cache};
use groups::Groups;
use ids::Oid;
use ids::code::{AmopPurpose, OprKind};
use pgerror::{PgError, Result, Severity, pg_err};
use rules::{METHODS, Rules, Support, Type};
use types::{Datum, DatumRef, oids};

pub(super) const FNS: &[SysFn] = &[SysFn { name: "amvalidate", call: SysCall::One(validate) }];

/// Strategies above this one are not counted.
const STRATEGY_COUNTED_MAX: u16 = 63;

fn validate(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let oid = args[0].as_oid();
    let class = core.catalog().search(cache::CLAOID, &[oid.into()])?.ok_or_else(|| {
        PgError::internal(format!("cache lookup failed for operator class {oid}"))
    })?;
    let method = core.catalog().access_method(class.opcmethod)?;
    let name = method.map_or("", |m| m.info.name);
    let rules = METHODS.iter().find(|rules| rules.name == name).ok_or_else(|| {
        let am = class.opcmethod;
        let text = format!("function amvalidate is not defined for index access method {am}");
        PgError::internal(text)
    })?;
    let family = core.catalog().opfamily(class.opcfamily)?.opfname.to_string();
    let mut check = Check { core, rules, class, family, valid: true };
    check.run()?;
    Ok(Datum::bool(check.valid))
}

/// The check of an operator class.
struct Check<'a> {
    core: &'a mut dyn SystemHost,
    rules: &'static Rules,
    class: Row<PgOpclass>,
    /// The name of the operator family.
    family: String,
    /// No fault has been found.
    valid: bool,
}

impl Check<'_> {
    fn run(&mut self) -> Result<()> {
        let family = self.class.opcfamily;
        let mut operators =
            self.core.catalog().scan(indexes::PG_AMOP_FAM_STRAT_INDEX, &[family.into()])?;
        operators.sort_by_key(|o| (o.amoplefttype, o.amoprighttype, o.amopstrategy.0));
        let mut functions =
            self.core.catalog().scan(indexes::PG_AMPROC_FAM_PROC_INDEX, &[family.into()])?;
        functions.sort_by_key(|f| (f.amproclefttype, f.amprocrighttype, f.amprocnum));
        let mut groups = Groups::new(&operators, &functions);
        let mut hashable = Vec::new();
        for function in &functions {
            self.function(function, &mut groups, &mut hashable)?;
        }
        for operator in &operators {
            self.operator(operator, &hashable)?;
        }
        self.groups(&groups, hashable.len())
    }

    /// Reports a fault.
    fn fault(&mut self, text: String) {
        self.valid = false;
        let fault = pg_err!(INVALID_OBJECT_DEFINITION, "{text}");
        self.core.notice(fault.severity(Severity::Info));
    }

    /// Reports a fault of the family; `text` follows its name.
    fn family_fault(&mut self, text: &str) {
        let (family, method) = (&self.family, self.rules.name);
        self.fault(match method {
            "bloom" => format!("bloom opfamily {family} {text}"),
            _ => format!("operator family \"{family}\" of access method {method} {text}"),
        });
    }

    /// Reports a fault of the operator class; `text` follows its name.
    fn class_fault(&mut self, text: &str) {
        let (class, method) = (&self.class.opcname, self.rules.name);
        self.fault(match method {
            "bloom" => format!("bloom opclass {class} {text}"),
            _ => format!("operator class \"{class}\" of access method {method} {text}"),
        });
    }

    /// Checks a support function; adds its type to `hashable` if it hashes that type.
    fn function(
        &mut self,
        row: &PgAmproc,
        groups: &mut Groups,
        hashable: &mut Vec<Oid>,
    ) -> Result<()> {
        let name = self.core.catalog().format_function(row.amproc)?;
        let (left, right, number) = (row.amproclefttype, row.amprocrighttype, row.amprocnum);
        if self.rules.same_types && left != right {
            self.family_fault(&match self.rules.name {
                "bloom" => {
                    format!("contains support procedure {name} with cross-type registration")
                }
                _ => format!(
                    "contains support function {name} with different left and right input types"
                ),
            });
        }
        if self.rules.own_signatures && left != self.class.opcintype {
            return Ok(());
        }
        let Some(rule) = self.rules.support.iter().find(|rule| rule.number == number) else {
            if !self.rules.other_support.contains(&number) {
                let text = format!("contains function {name} with invalid support number {number}");
                self.family_fault(&text);
                return Ok(());
            }
            groups.seen(number);
            return Ok(());
        };
        groups.seen(number);
        if self.rules.name == "spgist" && number == rules::SPGIST_CONFIG {
            // Without another type in the leaves there is nothing to compress.
            let leaf = self.class.opckeytype.valid().unwrap_or(left);
            if leaf == left {
                groups.add_function(left, right, rules::SPGIST_COMPRESS);
            }
        }
        if self.has_signature(row.amproc, rule, (left, right))? {
            if self.rules.hashes && number != rules::HASH_OPTIONS && !hashable.contains(&left) {
                hashable.push(left);
            }
            return Ok(());
        }
        let text = format!("contains function {name} with wrong signature for support number");
        match self.rules.name {
            // The text names the other method in PostgreSQL too.
            "bloom" => self.fault(format!("gist opfamily {} {text} {number}", self.family)),
            _ => self.family_fault(&format!("{text} {number}")),
        }
        Ok(())
    }

    /// Whether a function has the arguments and the result of a rule.
    fn has_signature(&mut self, function: Oid, rule: &Support, of: (Oid, Oid)) -> Result<bool> {
        let row = self.core.catalog().function(function)?;
        let key = self.class.opckeytype.valid().unwrap_or(self.class.opcintype);
        let actual = |ty: Type| match ty {
            Type::Is(ty) => ty,
            Type::Left => of.0,
            Type::Right => of.1,
            Type::Input => self.class.opcintype,
            Type::Key => key,
        };
        let result = actual(rule.result);
        let expected: Vec<Oid> = rule.args.iter().map(|ty| actual(*ty)).collect();
        let count = row.proargtypes.len();
        if row.prorettype != result
            || row.proretset
            || count < rule.args_min
            || count > expected.len()
        {
            return Ok(false);
        }
        for (expected, declared) in expected.into_iter().zip(row.proargtypes.iter()) {
            let fits = match rule.exact {
                true => expected == *declared,
                false => self.core.catalog().is_binary_coercible(expected, *declared)?,
            };
            let hashes = self.rules.hashes && rules::hashes_alike(row.prosrc.as_str(), expected);
            if !fits && !hashes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn operator(&mut self, row: &PgAmop, hashable: &[Oid]) -> Result<()> {
        let name = self.core.catalog().format_operator(row.amopopr)?;
        let strategy = row.amopstrategy.0;
        if strategy < 1 || strategy > self.rules.strategy_max {
            let text = format!("contains operator {name} with invalid strategy number {strategy}");
            self.family_fault(&text);
        }
        let operator = self.core.catalog().operator(row.amopopr)?;
        let searches = row.amoppurpose == AmopPurpose::Search;
        if !self.rules.ordering && (!searches || row.amopsortfamily.is_valid()) {
            self.family_fault(&format!(
                "contains invalid ORDER BY specification for operator {name}"
            ));
        }
        if self.rules.ordering && !searches {
            self.ordering(row, operator.oprresult, &name)?;
        }
        let ordering = self.rules.ordering && !searches;
        let result = if ordering { operator.oprresult } else { oids::BOOL };
        let types = (operator.oprleft, operator.oprright);
        if operator.oprresult != result
            || operator.oprkind != OprKind::Binary
            || types != (row.amoplefttype, row.amoprighttype)
        {
            self.family_fault(&format!("contains operator {name} with wrong signature"));
        }
        let is_hashed = [row.amoplefttype, row.amoprighttype].iter().all(|t| hashable.contains(t));
        if self.rules.hashes && !is_hashed {
            self.family_fault(&format!("lacks support function for operator {name}"));
        }
        Ok(())
    }

    /// Checks an operator by whose result a scan can be ordered.
    fn ordering(&mut self, row: &PgAmop, result: Oid, name: &str) -> Result<()> {
        let gist = self.rules.name == "gist";
        let (family, left) = (row.amopfamily, row.amoplefttype);
        let mut cat = self.core.catalog();
        let distance = cat.family_proc(family, left, left, rules::GIST_DISTANCE)?;
        let btree = ids::builtin::am::BTREE;
        let classes = cat.list(cache::CLAAMNAMENSP, &[btree.into()])?;
        let sorts =
            classes.iter().any(|c| c.opcfamily == row.amopsortfamily && c.opcintype == result);
        if gist && distance.is_none() {
            self.family_fault(&format!(
                "contains unsupported ORDER BY specification for operator {name}"
            ));
        }
        if !sorts {
            self.family_fault(&match gist {
                true => format!(
                    "contains incorrect ORDER BY opfamily specification for operator {name}"
                ),
                false => format!("contains invalid ORDER BY specification for operator {name}"),
            });
        }
        Ok(())
    }
}
