//! Evaluation of a path. Counterpart: jsonpath_exec.c.
//!
//! An item is evaluated over one value, and each of its results is the value of the next item of
//! the chain. The results of the last item are collected, unless only their existence matters.
//! In lax mode, arrays are unwrapped where other values are expected, and the reverse, and
//! structural errors are ignored. Errors of values are raised, or end the evaluation with
//! [`Outcome::Error`] in silent mode and within predicates.

use super::method;
use super::predicate;
use super::regex::Patterns;
use super::value::{Bytes, Shape, Value};
use crate::json::binary::Container;
use jsonpath::{Item, Kind, Path, damaged};
use numeric::num::Num;
use pgerror::{PgError, Result, pg_err};
use stdx::stack::deep;
use values::datum::DatumRef;
use values::fn_context::{FnContext, InterruptChecker};
use values::memory;

/// The result of the evaluation of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// There is a result.
    Ok,
    NotFound,
    /// A value had an error, which is not raised.
    Error,
}

/// Where results are collected; `None` if only their existence matters.
pub(super) type Found<'f, 'a> = Option<&'f mut Vec<Value<'a>>>;

/// Levels of the recursion with the default of `max_stack_depth`.
const DEPTH_MAX: u32 = 15_000;
/// Distance of the ids of two base objects (`.keyvalue()`).
pub(super) const BASE_STRIDE: i64 = 10_000_000_000;

/// The object in which `.keyvalue()` measures the position of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Base {
    /// The address of its first byte.
    pub address: usize,
    pub id: i64,
}

/// What a path is evaluated over.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    pub path: Path<'a>,
    pub target: &'a [u8],
    /// The variables; `None` for the operators, which have none.
    pub variables: Option<&'a [u8]>,
    pub silent: bool,
    /// Comparisons may depend on the session's time zone.
    pub with_zone: bool,
}

/// An evaluation.
pub(super) struct Exec<'a, 'c> {
    pub cx: &'c dyn FnContext,
    pub interrupts: InterruptChecker<'c>,
    pub args: Arguments<'a>,
    pub patterns: &'c mut Patterns,
    root: Value<'a>,
    /// The value of `@`.
    pub current: Value<'a>,
    pub base: Base,
    /// The id of the next object that `.keyvalue()` makes.
    pub next_id: i64,
    /// Number of elements of the array whose subscripts are evaluated.
    array_size: Option<usize>,
    pub ignores_structure: bool,
    /// Errors of values are raised.
    pub raises: bool,
    depth: u32,
}

impl<'a, 'c> Exec<'a, 'c> {
    /// 22023 if the variables are no object.
    pub fn new(
        cx: &'c dyn FnContext,
        args: Arguments<'a>,
        patterns: &'c mut Patterns,
    ) -> Result<Exec<'a, 'c>> {
        if args.variables.is_some_and(|v| !Container::new(v).is_object()) {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "\"vars\" argument is not an object")
                .detail(
                    "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.",
                ));
        }
        let root = Value::of_payload(args.target);
        Ok(Exec {
            cx,
            interrupts: InterruptChecker::new(cx),
            args,
            patterns,
            current: root.clone(),
            root,
            base: Base::default(),
            next_id: if args.variables.is_some() { 2 } else { 1 },
            array_size: None,
            ignores_structure: args.path.lax,
            raises: !args.silent,
            depth: 0,
        })
    }

    pub fn lax(&self) -> bool {
        self.args.path.lax
    }

    /// Evaluates the path. In strict mode all results are needed to know that there is no error.
    pub fn run(&mut self, found: Found<'_, 'a>) -> Result<Outcome> {
        let (first, root) = (self.args.path.root()?, self.root.clone());
        if self.lax() || found.is_some() {
            return self.item(first, &root, found);
        }
        let mut all = Vec::new();
        Ok(match self.item(first, &root, Some(&mut all))? {
            Outcome::Error => Outcome::Error,
            _ if all.is_empty() => Outcome::NotFound,
            _ => Outcome::Ok,
        })
    }

    /// An error of a value: raised or not.
    pub fn fail(&self, error: impl FnOnce() -> PgError) -> Result<Outcome> {
        if self.raises { Err(error()) } else { Ok(Outcome::Error) }
    }

    /// An error of the structure, which may be ignored.
    fn mismatch(&self, error: impl FnOnce() -> PgError) -> Result<Outcome> {
        if self.ignores_structure { Ok(Outcome::NotFound) } else { self.fail(error) }
    }

    /// Evaluates an item; arrays are unwrapped in lax mode.
    pub fn item(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let unwrap = self.lax();
        self.step(item, value, found, unwrap)
    }

    /// Evaluates an item. `unwrap`: over the elements of an array.
    pub fn step(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        found: Found<'_, 'a>,
        unwrap: bool,
    ) -> Result<Outcome> {
        self.depth += 1;
        if !self.interrupts.allows_depth(self.depth, DEPTH_MAX) {
            return Err(self.interrupts.too_deep());
        }
        self.interrupts.tick()?;
        let outcome = deep(|| self.dispatch(item, value, found, unwrap));
        self.depth -= 1;
        outcome
    }

    fn dispatch(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        found: Found<'_, 'a>,
        unwrap: bool,
    ) -> Result<Outcome> {
        match item.kind {
            Kind::Root => {
                let root = self.root.clone();
                let address = root.container().map_or(0, Bytes::address);
                self.with_base(Base { address, id: 0 }, |e| e.next(item, &root, found))
            }
            Kind::Current => {
                let current = self.current.clone();
                self.next(item, &current, found)
            }
            Kind::Key => self.key(item, value, found, unwrap),
            Kind::AnyKey => self.any_key(item, value, found, unwrap),
            Kind::AnyArray => self.any_array(item, value, found),
            Kind::IndexArray => self.subscripts(item, value, found),
            Kind::Last => self.last(item, found),
            Kind::Any => self.any(item, value, found),
            Kind::Filter => self.filter(item, value, found, unwrap),
            Kind::Null | Kind::Bool | Kind::Numeric | Kind::String | Kind::Variable => {
                self.literal(item, found)
            }
            Kind::Subscript => Err(damaged()),
            kind if predicate::is_predicate(kind) => {
                let truth = predicate::evaluate(self, item, value)?;
                if found.is_none() && item.next()?.is_none() {
                    return Ok(Outcome::Ok);
                }
                let truth = truth.map_or(Value::Null, Value::Bool);
                self.next(item, &truth, found)
            }
            _ => method::evaluate(self, item, value, found, unwrap),
        }
    }

    /// Evaluates the rest of the chain over a result of an item, or collects it.
    pub fn next(
        &mut self,
        item: Item<'a>,
        result: &Value<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let next = item.next()?;
        self.next_or_found(next, result, found)
    }

    fn next_or_found(
        &mut self,
        next: Option<Item<'a>>,
        result: &Value<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        match next {
            Some(next) => self.item(next, result, found),
            None => {
                if let Some(found) = found {
                    memory::reserve(found, 1)?;
                    found.push(result.clone());
                }
                Ok(Outcome::Ok)
            }
        }
    }

    /// Runs `f` with another base object.
    pub fn with_base<T>(
        &mut self,
        base: Base,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.base, base);
        let done = f(self);
        self.base = before;
        done
    }

    /// Evaluates an item over the elements of an array, or collects them.
    pub fn over_elements(
        &mut self,
        item: Option<Item<'a>>,
        array: &Value<'a>,
        found: Found<'_, 'a>,
        unwrap: bool,
    ) -> Result<Outcome> {
        let container = array.container().ok_or_else(damaged)?;
        let levels = Levels { first: 1, last: 1, ignores_structure: false, unwrap };
        self.members(item, container, found, 1, levels)
    }

    fn key(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        found: Found<'_, 'a>,
        unwrap: bool,
    ) -> Result<Outcome> {
        match value.shape() {
            Shape::Object => {
                let container = value.container().ok_or_else(damaged)?;
                let key = item.text()?;
                match Container::new(container.get()).get(key) {
                    Some(member) => self.next(item, &Value::of_item(container, member), found),
                    None => self.mismatch(|| {
                        let key = String::from_utf8_lossy(key);
                        pg_err!(
                            SQL_JSON_MEMBER_NOT_FOUND,
                            "JSON object does not contain key \"{key}\""
                        )
                    }),
                }
            }
            Shape::Array if unwrap => self.over_elements(Some(item), value, found, false),
            _ => self.mismatch(|| {
                pg_err!(
                    SQL_JSON_MEMBER_NOT_FOUND,
                    "jsonpath member accessor can only be applied to an object"
                )
            }),
        }
    }

    fn any_key(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        found: Found<'_, 'a>,
        unwrap: bool,
    ) -> Result<Outcome> {
        match value.shape() {
            Shape::Object => {
                let (next, lax) = (item.next()?, self.lax());
                self.over_elements(next, value, found, lax)
            }
            Shape::Array if unwrap => self.over_elements(Some(item), value, found, false),
            _ => self.mismatch(|| {
                pg_err!(
                    SQL_JSON_OBJECT_NOT_FOUND,
                    "jsonpath wildcard member accessor can only be applied to an object"
                )
            }),
        }
    }

    fn any_array(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        if value.shape() == Shape::Array {
            let (next, lax) = (item.next()?, self.lax());
            return self.over_elements(next, value, found, lax);
        }
        if self.lax() {
            return self.next(item, value, found);
        }
        self.mismatch(|| {
            pg_err!(
                SQL_JSON_ARRAY_NOT_FOUND,
                "jsonpath wildcard array accessor can only be applied to an array"
            )
        })
    }

    /// `[…]`
    fn subscripts(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        mut found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let elements = value.elements();
        if elements.is_none() && !self.lax() {
            return self.mismatch(|| {
                pg_err!(
                    SQL_JSON_ARRAY_NOT_FOUND,
                    "jsonpath array accessor can only be applied to an array"
                )
            });
        }
        // Another value counts as an array with one element.
        let before = self.array_size.replace(elements.unwrap_or(1));
        let mut outcome = Outcome::NotFound;
        for i in 0..item.subscripts()? {
            outcome = self.subscript(item, i, value, found.as_deref_mut())?;
            if outcome == Outcome::Error || (outcome == Outcome::Ok && found.is_none()) {
                break;
            }
        }
        self.array_size = before;
        Ok(outcome)
    }

    /// The `i`th subscript or range.
    fn subscript(
        &mut self,
        item: Item<'a>,
        i: usize,
        value: &Value<'a>,
        mut found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let (from, to) = item.subscript(i)?;
        let Some(first) = self.index(from, value)? else { return Ok(Outcome::Error) };
        let last = match to {
            None => first,
            Some(to) => match self.index(to, value)? {
                Some(last) => last,
                None => return Ok(Outcome::Error),
            },
        };
        let size = self.array_size.unwrap_or(0) as i64;
        if !self.ignores_structure && (first < 0 || first > last || last >= size) {
            return self.fail(|| {
                pg_err!(INVALID_SQL_JSON_SUBSCRIPT, "jsonpath array subscript is out of bounds")
            });
        }
        let mut outcome = Outcome::NotFound;
        for index in first.max(0)..=last.min(size - 1) {
            let element = match value.container().filter(|_| value.shape() == Shape::Array) {
                None => value.clone(),
                Some(array) => {
                    Value::of_item(array, Container::new(array.get()).element(index as usize))
                }
            };
            outcome = self.next(item, &element, found.as_deref_mut())?;
            if outcome == Outcome::Error || (outcome == Outcome::Ok && found.is_none()) {
                break;
            }
        }
        Ok(outcome)
    }

    /// The value of a subscript; `None` if it has an error.
    fn index(&mut self, item: Item<'a>, value: &Value<'a>) -> Result<Option<i64>> {
        let mut results = Vec::new();
        if self.item(item, value, Some(&mut results))? == Outcome::Error {
            return Ok(None);
        }
        let [Value::Number(number)] = &results[..] else {
            self.fail(|| {
                pg_err!(
                    INVALID_SQL_JSON_SUBSCRIPT,
                    "jsonpath array subscript is not a single numeric value"
                )
            })?;
            return Ok(None);
        };
        let mut number = Num::from_payload(number.get());
        if number.is_finite() {
            number.truncate(0);
        }
        let index = number.to_i64().filter(|n| i32::try_from(*n).is_ok());
        if index.is_none() {
            self.fail(|| {
                pg_err!(
                    INVALID_SQL_JSON_SUBSCRIPT,
                    "jsonpath array subscript is out of integer range"
                )
            })?;
        }
        Ok(index)
    }

    fn last(&mut self, item: Item<'a>, found: Found<'_, 'a>) -> Result<Outcome> {
        let size = self.array_size.ok_or_else(|| {
            PgError::internal("evaluating jsonpath LAST outside of array subscript")
        })?;
        self.next(item, &Value::integer(size as i64 - 1)?, found)
    }

    fn filter(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        found: Found<'_, 'a>,
        unwrap: bool,
    ) -> Result<Outcome> {
        if unwrap && value.shape() == Shape::Array {
            return self.over_elements(Some(item), value, found, false);
        }
        let before = std::mem::replace(&mut self.current, value.clone());
        let truth = predicate::evaluate(self, item.inner()?, value);
        self.current = before;
        match truth? {
            Some(true) => self.next(item, value, found),
            _ => Ok(Outcome::NotFound),
        }
    }

    /// `**`
    fn any(
        &mut self,
        item: Item<'a>,
        value: &Value<'a>,
        mut found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let (first, last) = item.levels()?;
        let mut outcome = Outcome::NotFound;
        if first == 0 {
            let before = std::mem::replace(&mut self.ignores_structure, true);
            let done = self.next(item, value, found.as_deref_mut());
            self.ignores_structure = before;
            outcome = done?;
            if outcome == Outcome::Ok && found.is_none() {
                return Ok(outcome);
            }
        }
        let Some(container) = value.container() else { return Ok(outcome) };
        let levels = Levels { first, last, ignores_structure: true, unwrap: self.lax() };
        self.members(item.next()?, container, found, 1, levels)
    }

    /// Evaluates an item over the elements or values of a container, and those below, or collects
    /// them. `level` is that of the elements.
    fn members(
        &mut self,
        item: Option<Item<'a>>,
        container: &Bytes<'a>,
        mut found: Found<'_, 'a>,
        level: u32,
        levels: Levels,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::NotFound;
        if level > levels.last {
            return Ok(outcome);
        }
        let all = Container::new(container.get());
        for i in 0..all.len() {
            self.interrupts.tick()?;
            let member = if all.is_object() { all.value(i) } else { all.element(i) };
            let member = Value::of_item(container, member);
            if levels.include(level, &member) {
                outcome = match item {
                    Some(item) => self.member(item, &member, found.as_deref_mut(), levels)?,
                    None => self.next_or_found(None, &member, found.as_deref_mut())?,
                };
                if outcome == Outcome::Error || (outcome == Outcome::Ok && found.is_none()) {
                    break;
                }
            }
            if level < levels.last
                && let Some(inner) = member.container()
            {
                let below = found.as_deref_mut();
                outcome = deep(|| self.members(item, inner, below, level + 1, levels))?;
                if outcome == Outcome::Error || (outcome == Outcome::Ok && found.is_none()) {
                    break;
                }
            }
        }
        Ok(outcome)
    }

    fn member(
        &mut self,
        item: Item<'a>,
        member: &Value<'a>,
        found: Found<'_, 'a>,
        levels: Levels,
    ) -> Result<Outcome> {
        let ignores = self.ignores_structure || levels.ignores_structure;
        let before = std::mem::replace(&mut self.ignores_structure, ignores);
        let outcome = self.step(item, member, found, levels.unwrap);
        self.ignores_structure = before;
        outcome
    }

    fn literal(&mut self, item: Item<'a>, found: Found<'_, 'a>) -> Result<Outcome> {
        let value = match item.kind {
            Kind::Variable => return self.variable(item, found),
            _ if found.is_none() && item.next()?.is_none() => return Ok(Outcome::Ok),
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(item.bool()?),
            Kind::Numeric => Value::Number(Bytes::Given(item.number()?)),
            _ => Value::String(Bytes::Given(item.text()?)),
        };
        self.next(item, &value, found)
    }

    fn variable(&mut self, item: Item<'a>, found: Found<'_, 'a>) -> Result<Outcome> {
        let name = item.text()?;
        let variables = self.args.variables.unwrap_or_default();
        let Some(value) = Container::new(variables).get(name) else {
            let name = String::from_utf8_lossy(name);
            return Err(pg_err!(UNDEFINED_OBJECT, "could not find jsonpath variable \"{name}\""));
        };
        let owner = Bytes::Given(variables);
        let base = Base { address: owner.address(), id: 1 };
        self.with_base(base, |e| e.next(item, &Value::of_item(&owner, value), found))
    }
}

/// Which levels below a value are visited, and how.
#[derive(Clone, Copy)]
struct Levels {
    first: u32,
    last: u32,
    ignores_structure: bool,
    /// Arrays among them are unwrapped.
    unwrap: bool,
}

impl Levels {
    fn include(self, level: u32, member: &Value<'_>) -> bool {
        // `**{last}` is the values without elements.
        let innermost = self.first == u32::MAX && self.last == u32::MAX;
        level >= self.first || (innermost && member.container().is_none())
    }
}

/// The payload of a jsonpath argument.
pub(super) fn path_of(d: DatumRef<'_>) -> Result<Path<'_>> {
    Path::new(d.as_bytes())
}
