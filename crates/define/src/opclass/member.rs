//! The operators and support functions of operator families: checks, rows, dependencies.
//!
//! A member that an operator class needs is a part of the class (a hard dependency); others are
//! loose members of the family, which can be added and dropped. Each access method decides which
//! of its members are which. Counterpart: `assignOperTypes`, `assignProcTypes`, `storeOperators`,
//! `storeProcedures`, `amadjustmembers`.

use super::{AccessMethod, invalid};
use crate::deletion;
use crate::routine::lookup::shown;
use catalog::depend::{DropBehavior, is_pinned};
use catalog::rows::{
    CatalogRow, PgAmop, PgAmproc, PgOpclass, PgOperator, PgOpfamily, PgProc, PgType, indexes,
};
use catalog::{CatCx, ObjectAddress};
use ids::code::{AmopPurpose, DepType, OprKind};
use ids::{Oid, StrategyNumber};
use parse::ast;
use pgerror::{Result, bail};
use types::oids;
use utility::host::CommandHost;

/// An operator or a support function.
pub(super) struct Member {
    is_function: bool,
    number: i32,
    object: Oid,
    left: Oid,
    right: Oid,
    sort_family: Oid,
    /// The types of the operands or arguments of the object itself.
    inputs: Vec<Oid>,
}

/// The family and the operator class that members are added to.
pub(super) struct Owner<'a> {
    pub family: Oid,
    /// The operator class and its input type.
    pub class: Option<(Oid, Oid)>,
    /// The name of the family in messages.
    pub shown: &'a [ast::Name],
}

/// The members of one statement.
#[derive(Default)]
pub(super) struct Members {
    operators: Vec<Member>,
    functions: Vec<Member>,
}

impl Member {
    pub(super) fn operator(
        host: &mut dyn CommandHost,
        method: &AccessMethod,
        number: i32,
        object: Oid,
        sort_family: Oid,
    ) -> Result<Member> {
        let row = host.catalog().operator(object)?;
        if row.oprkind != OprKind::Binary {
            return Err(invalid("index operators must be binary".to_owned()));
        }
        if sort_family.is_valid() {
            if !method.method.info.capabilities.ordered_by_operator {
                return Err(invalid(format!(
                    "access method \"{}\" does not support ordering operators",
                    method.name
                )));
            }
        } else if row.oprresult != oids::BOOL {
            return Err(invalid("index search operators must return boolean".to_owned()));
        }
        let (left, right) = (row.oprleft, row.oprright);
        let inputs = vec![left, right];
        Ok(Member { is_function: false, number, object, left, right, sort_family, inputs })
    }

    pub(super) fn function(
        host: &mut dyn CommandHost,
        method: &AccessMethod,
        (number, object): (i32, Oid),
        types: (Oid, Oid),
        input: Option<Oid>,
    ) -> Result<Member> {
        let row = host.catalog().function(object)?;
        let mut m = Member {
            is_function: true,
            number,
            object,
            left: types.0,
            right: types.1,
            sort_family: Oid::INVALID,
            inputs: row.proargtypes.0.to_vec(),
        };
        if number == method.options_function {
            m.check_options_function(&row, input)?;
        } else {
            match method.name {
                "btree" => m.check_btree(&row)?,
                "hash" => m.check_hash(&row)?,
                _ => {}
            }
        }
        let default = input.unwrap_or_default();
        m.left = m.left.valid().unwrap_or(default);
        m.right = m.right.valid().unwrap_or(default);
        if !m.left.is_valid() || !m.right.is_valid() {
            return Err(invalid(
                "associated data types must be specified for index support function".to_owned(),
            ));
        }
        Ok(m)
    }

    fn check_options_function(&self, row: &PgProc, input: Option<Oid>) -> Result<()> {
        let differs = |ty: Oid| ty.is_valid() && Some(ty) != input;
        if input.is_some() && (differs(self.left) || differs(self.right)) {
            return Err(invalid(
                "associated data types for operator class options parsing functions must match \
                 opclass input type"
                    .to_owned(),
            ));
        }
        if input.is_none() && self.left != self.right {
            return Err(invalid(
                "left and right associated data types for operator class options parsing \
                 functions must match"
                    .to_owned(),
            ));
        }
        if row.prorettype != oids::VOID || *row.proargtypes.0 != [oids::INTERNAL] {
            return Err(invalid("invalid operator class options parsing function".to_owned())
                .hint(
                    "Valid signature of operator class options parsing function is (internal) \
                     RETURNS void.",
                ));
        }
        Ok(())
    }

    /// Types that were not given are those of these arguments.
    fn infer(&mut self, left: usize, right: usize) {
        if !self.left.is_valid() {
            self.left = self.inputs.get(left).copied().unwrap_or_default();
        }
        if !self.right.is_valid() {
            self.right = self.inputs.get(right).copied().unwrap_or_default();
        }
    }

    fn check_btree(&mut self, row: &PgProc) -> Result<()> {
        let args = self.inputs.len();
        let check = |ok: bool, message: &str| match ok {
            true => Ok(()),
            false => Err(invalid(format!("btree {message}"))),
        };
        match self.number {
            1 => {
                check(args == 2, "comparison functions must have two arguments")?;
                let result = row.prorettype;
                check(result == oids::INT4, "comparison functions must return integer")?;
                self.infer(0, 1);
            }
            2 => {
                let internal = self.inputs == [oids::INTERNAL];
                check(internal, "sort support functions must accept type \"internal\"")?;
                let result = row.prorettype;
                check(result == oids::VOID, "sort support functions must return void")?;
            }
            3 => {
                check(args == 5, "in_range functions must have five arguments")?;
                let result = row.prorettype;
                check(result == oids::BOOL, "in_range functions must return boolean")?;
                self.infer(0, 2);
            }
            4 => {
                check(args == 1, "equal image functions must have one argument")?;
                let result = row.prorettype;
                check(result == oids::BOOL, "equal image functions must return boolean")?;
                check(self.left == self.right, "equal image functions must not be cross-type")?;
            }
            _ => {}
        }
        Ok(())
    }

    fn check_hash(&mut self, row: &PgProc) -> Result<()> {
        let args = self.inputs.len();
        let (count, counted, result, named) = match self.number {
            1 => (1, "one argument", oids::INT4, "integer"),
            2 => (2, "two arguments", oids::INT8, "bigint"),
            _ => return Ok(()),
        };
        let n = self.number;
        if args != count {
            return Err(invalid(format!("hash function {n} must have {counted}")));
        }
        if row.prorettype != result {
            return Err(invalid(format!("hash function {n} must return {named}")));
        }
        self.infer(0, 0);
        Ok(())
    }

    /// Whether the operator class needs the member.
    fn is_hard(&self, method: &str, class: bool) -> bool {
        let same = self.left == self.right;
        match (method, self.is_function) {
            ("btree" | "hash", false) => same && class,
            ("btree" | "hash", true) => self.number == 1 && same && class,
            ("gist", true) => matches!(self.number, 1 | 2 | 5 | 6 | 7),
            ("gin", true) => matches!(self.number, 2 | 3),
            ("spgist", true) => matches!(self.number, 1..=5),
            ("gist" | "gin" | "spgist", false) => false,
            _ => class,
        }
    }

    /// The class that the member is a part of. For a member that is added to a family, it is the
    /// class of the family for the member's type. Counterpart: `btadjustmembers` and others.
    fn class(
        &self,
        cat: &mut CatCx<'_>,
        method: &AccessMethod,
        of: &Owner<'_>,
    ) -> Result<Option<Oid>> {
        if !self.is_hard(method.name, true) {
            return Ok(None);
        }
        if let Some((class, input)) = of.class
            && (input == self.left || !matches!(method.name, "btree" | "hash"))
        {
            return Ok(Some(class));
        }
        if !matches!(method.name, "btree" | "hash") {
            return Ok(None);
        }
        let rows = cat.scan(indexes::PG_OPCLASS_AM_NAME_NSP_INDEX, &[method.oid.into()])?;
        let fits = |c: &PgOpclass| c.opcfamily == of.family && c.opcintype == self.left;
        Ok(rows.iter().find(|c| fits(c)).map(|c| c.oid))
    }

    fn store(
        &self,
        host: &mut dyn CommandHost,
        method: &AccessMethod,
        of: &Owner<'_>,
    ) -> Result<()> {
        if of.class.is_none() && find(&mut host.catalog(), of.family, self)?.is_some() {
            let what = if self.is_function { "function" } else { "operator" };
            let pair = self.types(host)?;
            bail!(
                DUPLICATE_OBJECT,
                "{what} {}{pair} already exists in operator family \"{}\"",
                self.number,
                shown(of.shown)
            );
        }
        let mut cat = host.catalog();
        let (this, object) = self.insert(&mut cat, method, of.family)?;
        let class = self.class(&mut cat, method, of)?;
        let (kind, part) = match class {
            Some(_) => (DepType::Normal, DepType::Internal),
            None => (DepType::Auto, DepType::Auto),
        };
        cat.record_dependency(this, object, kind)?;
        let whole = match class {
            Some(class) => ObjectAddress::of::<PgOpclass>(class),
            None => ObjectAddress::of::<PgOpfamily>(of.family),
        };
        cat.record_dependency(this, whole, part)?;
        let types = [self.left, self.right];
        let types = &types[..if self.left == self.right { 1 } else { 2 }];
        for ty in types.iter().filter(|ty| self.needs_type(**ty)) {
            cat.record_dependency(this, ObjectAddress::of::<PgType>(*ty), kind)?;
        }
        if let Some(sort) = self.sort_family.valid() {
            cat.record_dependency(this, ObjectAddress::of::<PgOpfamily>(sort), kind)?;
        }
        cat.increment_command_counter()
    }

    /// Whether the member depends on the type other than through its operator or function.
    fn needs_type(&self, ty: Oid) -> bool {
        !is_pinned(PgType::RELATION, ty) && !self.inputs.contains(&ty)
    }

    fn insert(
        &self,
        cat: &mut CatCx<'_>,
        method: &AccessMethod,
        family: Oid,
    ) -> Result<(ObjectAddress, ObjectAddress)> {
        if self.is_function {
            let oid = cat.new_oid(indexes::PG_AMPROC_OID_INDEX)?;
            cat.insert(&PgAmproc {
                oid,
                amprocfamily: family,
                amproclefttype: self.left,
                amprocrighttype: self.right,
                amprocnum: self.number as i16,
                amproc: self.object,
            })?;
            let object = ObjectAddress::of::<PgProc>(self.object);
            return Ok((ObjectAddress::of::<PgAmproc>(oid), object));
        }
        let oid = cat.new_oid(indexes::PG_AMOP_OID_INDEX)?;
        let purpose = match self.sort_family.is_valid() {
            true => AmopPurpose::OrderBy,
            false => AmopPurpose::Search,
        };
        cat.insert(&PgAmop {
            oid,
            amopfamily: family,
            amoplefttype: self.left,
            amoprighttype: self.right,
            amopstrategy: StrategyNumber(self.number as u16),
            amoppurpose: purpose,
            amopopr: self.object,
            amopmethod: method.oid,
            amopsortfamily: self.sort_family,
        })?;
        let object = ObjectAddress::of::<PgOperator>(self.object);
        Ok((ObjectAddress::of::<PgAmop>(oid), object))
    }

    /// `(left,right)` in messages.
    fn types(&self, host: &mut dyn CommandHost) -> Result<String> {
        let mut cat = host.catalog();
        Ok(format!("({},{})", cat.format_type(self.left)?, cat.format_type(self.right)?))
    }
}

impl Members {
    pub(super) fn add_operator(&mut self, host: &mut dyn CommandHost, m: Member) -> Result<()> {
        add(host, &mut self.operators, m)
    }

    pub(super) fn add_function(&mut self, host: &mut dyn CommandHost, m: Member) -> Result<()> {
        add(host, &mut self.functions, m)
    }

    pub(super) fn store(
        &self,
        host: &mut dyn CommandHost,
        method: &AccessMethod,
        of: &Owner<'_>,
    ) -> Result<()> {
        for m in self.operators.iter().chain(&self.functions) {
            m.store(host, method, of)?;
        }
        Ok(())
    }
}

/// Error 42P17 if the list has a member with the same number and types.
fn add(host: &mut dyn CommandHost, list: &mut Vec<Member>, m: Member) -> Result<()> {
    let same = |o: &Member| (o.number, o.left, o.right) == (m.number, m.left, m.right);
    if list.iter().any(same) {
        let what = if m.is_function { "function" } else { "operator" };
        let (number, types) = (m.number, m.types(host)?);
        return Err(invalid(format!("{what} number {number} for {types} appears more than once")));
    }
    list.push(m);
    Ok(())
}

/// The row of the family with the number and types of the member.
fn find(cat: &mut CatCx<'_>, family: Oid, m: &Member) -> Result<Option<ObjectAddress>> {
    let (left, right, number) = (m.left.into(), m.right.into(), (m.number as i16).into());
    let keys = [family.into(), left, right, number];
    Ok(match m.is_function {
        true => {
            let row = cat.scan(indexes::PG_AMPROC_FAM_PROC_INDEX, &keys)?.pop();
            row.map(|row| ObjectAddress::of::<PgAmproc>(row.oid))
        }
        false => {
            let row = cat.scan(indexes::PG_AMOP_FAM_STRAT_INDEX, &keys)?.pop();
            row.map(|row| ObjectAddress::of::<PgAmop>(row.oid))
        }
    })
}

/// ALTER OPERATOR FAMILY … DROP of one member.
pub(super) fn drop_member(
    host: &mut dyn CommandHost,
    of: &Owner<'_>,
    is_function: bool,
    number: i32,
    (left, right): (Oid, Oid),
) -> Result<()> {
    let (object, sort_family, inputs) = (Oid::INVALID, Oid::INVALID, Vec::new());
    let m = Member { is_function, number, object, left, right, sort_family, inputs };
    let found = find(&mut host.catalog(), of.family, &m)?;
    match found {
        Some(found) => deletion::drop_objects(host, &[found], DropBehavior::Restrict, false),
        None => {
            let what = if is_function { "function" } else { "operator" };
            let types = m.types(host)?;
            bail!(
                UNDEFINED_OBJECT,
                "{what} {number}{types} does not exist in operator family \"{}\"",
                shown(of.shown)
            )
        }
    }
}
