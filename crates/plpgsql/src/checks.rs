//! The settings `plpgsql.extra_warnings` and `plpgsql.extra_errors`.

use crate::tree::Checks;

/// The checks that a value of a setting enables, or what is wrong with it. Counterpart:
/// `plpgsql_extra_checks_check_hook`.
pub fn checks(list: &str) -> Result<Checks, String> {
    let mut checks = Checks::default();
    let is = |word: &str, name: &str| word.eq_ignore_ascii_case(name);
    if is(list, "none") {
        return Ok(checks);
    }
    let all = is(list, "all");
    let Some(words) = catalog::namespace::split_identifiers(list) else {
        return Err("List syntax is invalid.".to_owned());
    };
    for word in words {
        match &*word {
            _ if all => {}
            w if is(w, "shadowed_variables") => checks.shadowed_variables = true,
            w if is(w, "too_many_rows") => checks.too_many_rows = true,
            w if is(w, "strict_multi_assignment") => checks.strict_multi_assignment = true,
            w if is(w, "all") || is(w, "none") => {
                return Err(format!("Key word \"{w}\" cannot be combined with other key words."));
            }
            w => return Err(format!("Unrecognized key word: \"{w}\".")),
        }
    }
    if all {
        checks =
            Checks { shadowed_variables: true, too_many_rows: true, strict_multi_assignment: true };
    }
    Ok(checks)
}
