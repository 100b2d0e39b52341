//! How the scripts of the extensions declare the functions of the linked-in libraries. A user can
//! declare a function of a library otherwise, so calls of it are checked against these.

use crate::EXTENSIONS;
use std::collections::HashMap;
use std::sync::LazyLock;
use values::builtin_types;
use values::fn_context::TypeInfo;
use values::oids;

/// A type in a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Declared {
    Builtin(ids::Oid),
    /// Of an extension, with its `typlen`.
    Extension(i16),
}

impl Declared {
    /// True if a value of any type may be passed.
    pub fn is_any(self) -> bool {
        let Declared::Builtin(ty) = self else { return false };
        matches!(
            ty,
            oids::ANY
                | oids::ANYELEMENT
                | oids::ANYNONARRAY
                | oids::ANYCOMPATIBLE
                | oids::ANYCOMPATIBLENONARRAY
        )
    }
}

/// A declaration of a function.
#[derive(Debug)]
pub struct Declaration {
    pub args: Vec<Declared>,
    /// The element type of the last parameter if that is variadic; of no function of a library.
    pub variadic: ids::Oid,
    pub result: Declared,
    pub returns_set: bool,
    pub strict: bool,
}

/// By library, then by symbol.
type Table = HashMap<&'static str, HashMap<&'static str, Vec<Declaration>>>;

static DECLARATIONS: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::new();
    for e in EXTENSIONS {
        let library = e.library.strip_prefix("$libdir/").unwrap_or(e.library);
        for script in e.scripts() {
            for statement in script.split("CREATE FUNCTION ").skip(1) {
                let end = statement.find(';').unwrap_or(statement.len());
                if let Some((symbol, declaration)) = declaration(script, &statement[..end]) {
                    table.entry(library).or_default().entry(symbol).or_default().push(declaration);
                }
            }
        }
    }
    table
});

/// The declarations of a symbol of a library; none if no script declares it.
pub fn of_symbol(library: &str, symbol: &str) -> &'static [Declaration] {
    DECLARATIONS.get(library).and_then(|l| l.get(symbol)).map_or(&[], Vec::as_slice)
}

/// Reads `name(types) RETURNS type LANGUAGE c … AS 'MODULE_PATHNAME', 'symbol'`.
fn declaration(script: &'static str, text: &'static str) -> Option<(&'static str, Declaration)> {
    let (head, file) = text.split_once("AS 'MODULE_PATHNAME'")?;
    let (signature, options) = head.split_once("LANGUAGE")?;
    let (name, rest) = signature.split_once('(')?;
    let (args, result) = rest.rsplit_once(")")?;
    let symbol = match file.split_once('\'') {
        Some((_, symbol)) => symbol.split('\'').next()?,
        None => name,
    };
    let result = result.trim().strip_prefix("RETURNS ")?.trim();
    let (result, returns_set) = match result.strip_prefix("SETOF ") {
        Some(result) => (result, true),
        None => (result, false),
    };
    let args = args.split(',').map(str::trim).filter(|a| !a.is_empty() && !a.starts_with("OUT "));
    let args = args.map(|a| a.strip_prefix("IN ").unwrap_or(a));
    let args = args.map(|a| declared(script, a.split(" DEFAULT ").next().unwrap_or(a)));
    Some((
        symbol,
        Declaration {
            args: args.collect(),
            variadic: ids::Oid::INVALID,
            result: declared(script, result),
            returns_set,
            strict: options.contains("STRICT"),
        },
    ))
}

/// The type with this name, which may follow the name of a parameter.
fn declared(script: &str, text: &str) -> Declared {
    let text = text.trim();
    let array = text.strip_suffix("[]");
    let (name, is_array) = (array.unwrap_or(text).trim_matches('"'), array.is_some());
    let builtin = |name: &str| builtin_types::by_name(name.trim_matches('"')).map(|t| t.info);
    let of_builtin = |info: TypeInfo| match is_array {
        true => Declared::Builtin(info.array),
        false => Declared::Builtin(info.oid),
    };
    if let Some(info) = builtin(name) {
        return of_builtin(info);
    }
    if let Some(info) = text.split_once(' ').and_then(|(_, name)| builtin(name)) {
        return of_builtin(info);
    }
    let length = script.split_once(&format!("CREATE TYPE {name} (INTERNALLENGTH = "));
    let length = length.and_then(|(_, rest)| rest.split(',').next()?.parse().ok());
    Declared::Extension(if is_array { -1 } else { length.unwrap_or(-1) })
}

#[cfg(test)]
mod tests {
    use super::{Declared, of_symbol};
    use crate::libraries::library;
    use ids::builtin::ty;

    #[test]
    fn declarations_are_read_from_the_scripts() {
        let [fetch] = of_symbol("hstore", "hstore_fetchval") else { panic!("one declaration") };
        assert_eq!(fetch.args, [Declared::Extension(-1), Declared::Builtin(ty::TEXT)]);
        assert_eq!(fetch.result, Declared::Builtin(ty::TEXT));
        assert!(fetch.strict && !fetch.returns_set);
        let [each] = of_symbol("hstore", "hstore_each") else { panic!("one declaration") };
        assert_eq!((each.args.len(), each.returns_set), (1, true));
        let [cmp] = of_symbol("seg", "seg_cmp") else { panic!("one declaration") };
        assert_eq!(cmp.args, [Declared::Extension(12), Declared::Extension(12)]);
        let [warm] = of_symbol("pg_prewarm", "pg_prewarm") else { panic!("one declaration") };
        assert_eq!(warm.args.len(), 5);
        assert!(warm.args.iter().all(|arg| matches!(arg, Declared::Builtin(_))));
        let [counted, ..] = of_symbol("pg_stat_statements", "pg_stat_statements_1_10") else {
            panic!("one declaration")
        };
        assert_eq!(counted.args, [Declared::Builtin(ty::BOOL)]);
        assert!(counted.returns_set);
    }

    /// Functions that no script declares cannot be called.
    #[test]
    fn functions_are_declared() {
        for e in crate::EXTENSIONS {
            let Some(library) = library(e.library) else { continue };
            for f in library.functions.iter().flat_map(|table| table.iter()) {
                let declared = !of_symbol(library.name, f.name).is_empty();
                assert!(declared, "{} of {}", f.name, library.name);
            }
        }
    }
}
