//! The keys of a jsonpath in GIN indexes over jsonb: the operators `@?` and `@@`. Counterpart:
//! jsonb_gin.c (`extract_jsp_query`).
//!
//! A path is reduced to a condition on keys of the index that each matching row satisfies. Only
//! comparisons for equality with a literal, and filters with them, have keys.

use super::binary::Item as Json;
use super::gin::{KEY, STRING, mix, push_scalar, push_text};
use jsonpath::{Item, Kind, Path};
use pgerror::{PgError, Result};
use stdx::stack::deep;
use values::datum::Datum;
use values::gin::{Keys, Query, SearchMode, Ternary};

/// The operator class.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// `jsonb_ops`: keys and scalars.
    Parts,
    /// `jsonb_path_ops`: hashes of scalars with the keys of their paths.
    Hashes,
}

/// What a path must yield: `@?` or `@@`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Results,
    Truth,
}

/// A condition on keys, which have the numbers of the query's keys.
#[derive(Debug)]
pub(super) enum Condition {
    Key(usize),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Condition {
    /// Whether the condition holds for a row with some of the keys.
    pub fn holds(&self, present: &dyn Fn(usize) -> Ternary) -> Ternary {
        match self {
            Condition::Key(n) => present(*n),
            Condition::All(parts) => {
                let parts: Vec<_> = parts.iter().map(|p| deep(|| p.holds(present))).collect();
                values::gin::all(&parts)
            }
            Condition::Any(parts) => {
                values::gin::any(parts.iter().map(|p| deep(|| p.holds(present))))
            }
        }
    }
}

/// Sets the keys of a query and its condition; without one, all rows are candidates.
pub(super) fn extract(
    path: Path<'_>,
    class: Class,
    wanted: Wanted,
    query: &mut Query,
) -> Result<()> {
    let mut extractor = Extractor { class, lax: path.lax, keys: &mut query.keys, depth: 0 };
    let (root, start) = (path.root()?, Steps::default());
    let condition = match wanted {
        Wanted::Results => extractor.path(start, root, None)?,
        Wanted::Truth => extractor.predicate(start, root, false)?,
    };
    match condition {
        Some(condition) => query.extra = Some(std::sync::Arc::new(condition)),
        None => {
            query.keys.clear();
            query.mode = SearchMode::All;
        }
    }
    Ok(())
}

/// A literal of a comparison.
#[derive(Clone, Copy)]
enum Literal<'a> {
    Null,
    Bool(bool),
    Number(&'a [u8]),
    String(&'a [u8]),
}

impl<'a> Literal<'a> {
    fn of(item: Item<'a>) -> Result<Option<Literal<'a>>> {
        Ok(Some(match item.kind {
            Kind::Null => Literal::Null,
            Kind::Bool => Literal::Bool(item.bool()?),
            Kind::Numeric => Literal::Number(item.number()?),
            Kind::String => Literal::String(item.text()?),
            _ => return Ok(None),
        }))
    }

    fn json(self) -> Json<'a> {
        match self {
            Literal::Null => Json::Null,
            Literal::Bool(b) => Json::Bool(b),
            Literal::Number(n) => Json::Number(n),
            Literal::String(s) => Json::String(s),
        }
    }
}

/// The accessors from the root to the current item.
#[derive(Clone, Default)]
struct Steps<'a> {
    /// Keys, for `jsonb_ops`.
    keys: Vec<&'a [u8]>,
    /// The last accessor; `None` at the root.
    last: Option<Kind>,
    /// The hash of the keys, for `jsonb_path_ops`.
    hash: u32,
}

struct Extractor<'k> {
    class: Class,
    lax: bool,
    keys: &'k mut Keys,
    depth: u32,
}

/// Levels of a path; stored paths have fewer.
const DEPTH_MAX: u32 = 20_000;

impl Extractor<'_> {
    /// Adds an accessor; false if the class has no keys for what is behind it.
    fn add<'a>(&self, steps: &mut Steps<'a>, item: Item<'a>) -> Result<bool> {
        match (item.kind, self.class) {
            (Kind::Root, _) => *steps = Steps::default(),
            (Kind::Key, Class::Hashes) => {
                steps.hash = mix(steps.hash, Json::String(item.text()?));
            }
            (Kind::Key, Class::Parts) => steps.keys.push(item.text()?),
            (Kind::IndexArray | Kind::AnyArray, _) => {}
            (Kind::Any | Kind::AnyKey, Class::Parts) => {}
            _ => return Ok(false),
        }
        steps.last = Some(item.kind).filter(|kind| *kind != Kind::Root);
        Ok(true)
    }

    /// A key that `push` adds.
    fn key(&mut self, push: impl FnOnce(&mut Keys)) -> Condition {
        let n = self.keys.len();
        push(self.keys);
        Condition::Key(n)
    }

    /// The conditions of a path that leads to a literal; without one there are none.
    fn steps(&mut self, steps: &Steps<'_>, literal: Option<Literal<'_>>, out: &mut Vec<Condition>) {
        let Some(literal) = literal else { return };
        if self.class == Class::Hashes {
            let hash = mix(steps.hash, literal.json());
            out.push(self.key(|keys| keys.push(Datum::int4(hash as i32).as_ref())));
            return;
        }
        for key in steps.keys.iter().rev() {
            out.push(self.key(|keys| push_text(KEY, key, keys)));
        }
        // Strings in arrays are stored as keys, so the place of the string decides.
        let string_in_array = match (literal, steps.last) {
            (Literal::String(_), _) if self.lax => Ternary::Maybe,
            (Literal::String(_), Some(Kind::AnyArray | Kind::IndexArray)) => Ternary::True,
            (Literal::String(_), Some(Kind::Any)) => Ternary::Maybe,
            _ => Ternary::False,
        };
        let element = |e: &mut Self| e.key(|keys| push_scalar(literal.json(), KEY, keys));
        let member = |e: &mut Self| e.key(|keys| push_scalar(literal.json(), STRING, keys));
        out.push(match string_in_array {
            Ternary::True => element(self),
            Ternary::False => member(self),
            Ternary::Maybe => Condition::Any(vec![element(self), member(self)]),
        });
    }

    /// The condition of a path with results, or with one that equals a literal.
    fn path<'a>(
        &mut self,
        mut steps: Steps<'a>,
        first: Item<'a>,
        literal: Option<Literal<'_>>,
    ) -> Result<Option<Condition>> {
        let (mut conditions, mut item) = (Vec::new(), first);
        let mut supported = true;
        while supported {
            match item.kind {
                Kind::Current => {}
                Kind::Filter => {
                    conditions.extend(self.predicate(steps.clone(), item.inner()?, false)?);
                }
                _ => supported = self.add(&mut steps, item)?,
            }
            let Some(next) = item.next()? else { break };
            item = next;
        }
        if supported {
            self.steps(&steps, literal, &mut conditions);
        }
        Ok(match conditions.len() {
            0 | 1 => conditions.pop(),
            _ => Some(Condition::All(conditions)),
        })
    }

    /// The condition of a predicate; `not`: of its negation.
    fn predicate<'a>(
        &mut self,
        steps: Steps<'a>,
        item: Item<'a>,
        not: bool,
    ) -> Result<Option<Condition>> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(PgError::internal("jsonpath is nested too deeply"));
        }
        let condition = deep(|| self.predicate_at(steps, item, not));
        self.depth -= 1;
        condition
    }

    fn predicate_at<'a>(
        &mut self,
        steps: Steps<'a>,
        item: Item<'a>,
        not: bool,
    ) -> Result<Option<Condition>> {
        match item.kind {
            Kind::And | Kind::Or => {
                let left = self.predicate(steps.clone(), item.left()?, not)?;
                let right = self.predicate(steps, item.right()?, not)?;
                Ok(match (left, right) {
                    (Some(left), Some(right)) => Some(match not ^ (item.kind == Kind::And) {
                        true => Condition::All(vec![left, right]),
                        false => Condition::Any(vec![left, right]),
                    }),
                    _ if item.kind == Kind::Or => None,
                    (left, right) => left.or(right),
                })
            }
            Kind::Not => self.predicate(steps, item.inner()?, !not),
            Kind::Exists if !not => self.path(steps, item.inner()?, None),
            Kind::Equal if !not => {
                let (left, right) = (item.left()?, item.right()?);
                match (Literal::of(left)?, Literal::of(right)?) {
                    (Some(literal), _) => self.path(steps, right, Some(literal)),
                    (None, Some(literal)) => self.path(steps, left, Some(literal)),
                    (None, None) => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }
}
