//! jsonpath: input and output, and the functions and operators that evaluate paths over jsonb.
//! Counterpart: jsonpath.c, jsonpath_exec.c.
//!
//! Reading order: `value`, `exec` (the accessors), `predicate`, `method`, `regex`. The text and the
//! stored form of paths are in the crate `jsonpath`.

mod exec;
mod method;
mod predicate;
mod regex;
mod value;

use super::encode::Json;
use exec::{Arguments, Exec, Found, Outcome, path_of};
use jsonpath::{Input, text_of};
use pgerror::{Result, pg_err};
use regex::Patterns;
use value::Value;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::function::{SetSource, VecSource};
use values::memory;
use values::type_io::Reader;

/// The version byte of jsonpath's binary form.
const VERSION: u8 = 1;

fn input(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let input = Input {
        interrupts: &InterruptChecker::new(cx),
        encoding: cx.settings().encoding,
        check_pattern: &|pattern, flags| regex::check(cx, pattern, flags),
    };
    jsonpath::parse(text, input).map(Datum::bytes)
}

fn receive(cx: &dyn FnContext, message: &[u8]) -> Result<Datum> {
    let version = Reader::new(message).u8()?;
    if version != VERSION {
        return Err(pg_err!(INTERNAL_ERROR, "unsupported jsonpath version number: {version}"));
    }
    input(cx, &values::text::from_client(cx, &message[1..])?)
}

fn output(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Vec<u8>> {
    text_of(path_of(d)?, &InterruptChecker::new(cx))
}

/// A function that evaluates a path.
#[derive(Clone, Copy)]
struct Call {
    /// Its name ends with `_tz`.
    with_zone: bool,
}

const PLAIN: Call = Call { with_zone: false };
const ZONED: Call = Call { with_zone: true };

impl Call {
    /// Evaluates the path of a call. The operators have no variables and are silent.
    fn run<'a>(
        self,
        cx: &mut dyn FnContext,
        a: &[DatumRef<'a>],
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let args = Arguments {
            path: path_of(a[1])?,
            target: a[0].as_bytes(),
            variables: a.get(2).map(|v| v.as_bytes()),
            silent: a.get(3).is_none_or(|s| s.as_bool()),
            with_zone: self.with_zone,
        };
        let kept = cx.extra().take().and_then(|e| e.downcast::<Patterns>().ok());
        let mut patterns = kept.map_or_else(Patterns::default, |kept| *kept);
        let outcome = Exec::new(cx, args, &mut patterns)?.run(found);
        if !patterns.is_empty() {
            *cx.extra() = Some(Box::new(patterns));
        }
        outcome
    }

    /// All results.
    fn results<'a>(self, cx: &mut dyn FnContext, a: &[DatumRef<'a>]) -> Result<Vec<Value<'a>>> {
        let mut results = Vec::new();
        self.run(cx, a, Some(&mut results))?;
        Ok(results)
    }

    fn exists(self, cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
        Ok(match self.run(cx, a, None)? {
            Outcome::Error => Datum::Null,
            outcome => Datum::bool(outcome == Outcome::Ok),
        })
    }

    /// The result of a path that is a predicate.
    fn matches(self, cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
        match &self.results(cx, a)?[..] {
            [Value::Bool(truth)] => Ok(Datum::bool(*truth)),
            [Value::Null] => Ok(Datum::Null),
            _ if a.get(3).is_some_and(|silent| !silent.as_bool()) => {
                Err(pg_err!(SINGLETON_SQL_JSON_ITEM_REQUIRED, "single boolean result is expected"))
            }
            _ => Ok(Datum::Null),
        }
    }

    fn rows(self, cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Box<dyn SetSource>> {
        let results = self.results(cx, a)?;
        let interrupts = InterruptChecker::new(cx);
        let mut rows = memory::with_capacity(results.len())?;
        for result in &results {
            interrupts.tick()?;
            memory::admit(result.bytes())?;
            rows.push(result.datum());
        }
        Ok(VecSource::boxed(rows))
    }

    fn array(self, cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
        let results = self.results(cx, a)?;
        let interrupts = &InterruptChecker::new(cx);
        let mut elements = memory::with_capacity(results.len())?;
        for result in &results {
            elements.push(result.json(interrupts)?);
        }
        Json::Array(elements).datum(interrupts)
    }

    fn first(self, cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
        Ok(self.results(cx, a)?.first().map_or(Datum::Null, Value::datum))
    }
}

scalars! { FNS;
    "jsonpath_in" => |cx, a| input(cx, a[0].as_bytes()),
    "jsonpath_recv" => |cx, a| receive(cx, a[0].as_bytes()),
    "jsonpath_out" => |cx, a| output(cx, a[0]).map(Datum::bytes),
    "jsonpath_send" => |cx, a| {
        let mut out = vec![VERSION];
        let text = output(cx, a[0])?;
        out.extend_from_slice(&values::text::for_client(cx, &text)?);
        Ok(Datum::bytes(out))
    },
    "jsonb_path_exists" => |cx, a| PLAIN.exists(cx, a),
    "jsonb_path_exists_tz" => |cx, a| ZONED.exists(cx, a),
    "jsonb_path_exists_opr" => |cx, a| PLAIN.exists(cx, a),
    "jsonb_path_match" => |cx, a| PLAIN.matches(cx, a),
    "jsonb_path_match_tz" => |cx, a| ZONED.matches(cx, a),
    "jsonb_path_match_opr" => |cx, a| PLAIN.matches(cx, a),
    "jsonb_path_query_array" => |cx, a| PLAIN.array(cx, a),
    "jsonb_path_query_array_tz" => |cx, a| ZONED.array(cx, a),
    "jsonb_path_query_first" => |cx, a| PLAIN.first(cx, a),
    "jsonb_path_query_first_tz" => |cx, a| ZONED.first(cx, a),
}

builtins! { SETS;
    "jsonb_path_query" => Srf(|cx, a| PLAIN.rows(cx, a)),
    "jsonb_path_query_tz" => Srf(|cx, a| ZONED.rows(cx, a)),
}

#[cfg(test)]
mod tests;
