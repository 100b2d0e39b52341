//! Overload resolution among functions or operators of one name: which of them accept the
//! arguments, and which is the best match. Counterpart: parser/parse_func.c (`func_match_argtypes`,
//! `func_select_candidate`), catalog/namespace.c (`FuncnameGetCandidates`).

use crate::coerce::Context;
use crate::state::Analyzer;
use crate::ty;
use catalog::rows::PgProc;
use ids::Oid;
use ids::code::{ArgMode, TypCategory};
use pgerror::Result;

/// A candidate of overload resolution: a function or an operator.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Invalid if several functions match equally well after their defaults are added (ambiguous).
    pub oid: Oid,
    /// Types of the arguments in the order of the call.
    pub args: Vec<Oid>,
    /// Position of its schema in the search path.
    pub path: usize,
    /// Number of arguments that the variadic parameter takes, 0 if it is not expanded.
    pub variadic: usize,
    /// Number of arguments filled in by defaults.
    pub defaults: usize,
    /// Parameter of each argument, for calls with names.
    pub argnumbers: Option<Vec<usize>>,
}

impl Analyzer<'_> {
    /// Functions of a name that can take this number of arguments.
    #[allow(clippy::too_many_arguments)]
    pub fn function_candidates(
        &mut self,
        schema: Option<&str>,
        name: &str,
        nargs: usize,
        argnames: &[&str],
        expand_variadic: bool,
        expand_defaults: bool,
        proc_call: bool,
    ) -> Result<Vec<Candidate>> {
        let namespace = schema.map(|s| self.namespace(s)).transpose()?;
        let path = self.cat.search_path()?;
        let temp = self.cat.temp_namespace()?;
        let mut found: Vec<Candidate> = Vec::new();
        for proc in self.cat.procs_named(name)? {
            let path_position = match namespace {
                Some(namespace) if proc.pronamespace == namespace => 0,
                Some(_) => continue,
                // Functions of the temporary schema are found only by its name.
                None if temp.is_valid() && proc.pronamespace == temp => continue,
                None => match path.iter().position(|&n| n == proc.pronamespace) {
                    Some(path_position) => path_position,
                    None => continue,
                },
            };
            let all = proc_call.then(|| with_outputs(&proc)).flatten();
            let proc = all.as_ref().unwrap_or(&proc);
            let candidate =
                match_call(proc, path_position, nargs, argnames, expand_variadic, expand_defaults);
            if let Some(candidate) = candidate {
                add_candidate(&mut found, candidate);
            }
        }
        Ok(found)
    }

    /// The candidates to whose argument types the input types can be coerced implicitly.
    pub fn match_argtypes(
        &mut self,
        input: &[Oid],
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>> {
        let mut out = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            if self.can_coerce(input, &candidate.args[..input.len()], Context::Implicit)? {
                out.push(candidate);
            }
        }
        Ok(out)
    }

    /// The best of several candidates, by PostgreSQL's rules in their order; `None` if the rules do
    /// not decide.
    pub fn select_candidate(
        &mut self,
        input: &[Oid],
        mut candidates: Vec<Candidate>,
    ) -> Result<Option<Candidate>> {
        let nargs = input.len();
        let mut base = Vec::with_capacity(nargs);
        let mut unknowns = 0;
        for &ty in input {
            if ty == ty::UNKNOWN {
                unknowns += 1;
                base.push(ty);
            } else {
                base.push(self.base_type(ty)?);
            }
        }

        // Most exact matches.
        let exact = |c: &Candidate| {
            (0..nargs).filter(|&i| base[i] != ty::UNKNOWN && c.args[i] == base[i]).count()
        };
        keep_best(&mut candidates, |c| Ok(exact(c)))?;
        if candidates.len() == 1 {
            return Ok(candidates.pop());
        }

        // Most exact matches or preferred types of the argument's category.
        let mut categories = Vec::with_capacity(nargs);
        for &ty in &base {
            categories.push(self.category(ty)?.0);
        }
        keep_best(&mut candidates, |c| {
            let mut count = 0;
            for i in 0..nargs {
                if base[i] == ty::UNKNOWN {
                    continue;
                }
                if c.args[i] == base[i] || self.category(c.args[i])? == (categories[i], true) {
                    count += 1;
                }
            }
            Ok(count)
        })?;
        if candidates.len() == 1 {
            return Ok(candidates.pop());
        }
        if unknowns == 0 {
            return Ok(None);
        }

        if let Some(categories) = self.categories_of_unknowns(&base, &candidates)? {
            let mut kept = Vec::new();
            for candidate in &candidates {
                let mut keep = true;
                for (i, want) in categories.iter().enumerate() {
                    let Some((category, has_preferred)) = want else { continue };
                    let (have, preferred) = self.category(candidate.args[i])?;
                    keep &= have == *category && (preferred || !has_preferred);
                }
                if keep {
                    kept.push(candidate.clone());
                }
            }
            if !kept.is_empty() {
                candidates = kept;
            }
            if candidates.len() == 1 {
                return Ok(candidates.pop());
            }
        }

        // If all known arguments have one type, assume that type for the unknown literals too.
        if unknowns < nargs {
            let known = base.iter().copied().find(|&t| t != ty::UNKNOWN).unwrap_or_default();
            if base.iter().all(|&t| t == ty::UNKNOWN || t == known) {
                let input = vec![known; nargs];
                let mut fitting = self.match_argtypes(&input, candidates)?;
                if fitting.len() == 1 {
                    return Ok(fitting.pop());
                }
            }
        }
        Ok(None)
    }

    /// A type category for each unknown literal, and whether a candidate has its preferred type:
    /// string if any candidate takes one, else the category that all candidates agree on. `None` if
    /// they do not agree.
    fn categories_of_unknowns(
        &mut self,
        input: &[Oid],
        candidates: &[Candidate],
    ) -> Result<Option<Vec<Option<(TypCategory, bool)>>>> {
        let mut wanted: Vec<Option<(TypCategory, bool)>> = vec![None; input.len()];
        for i in (0..input.len()).filter(|&i| input[i] == ty::UNKNOWN) {
            let mut conflict = false;
            let mut slot: Option<(TypCategory, bool)> = None;
            for candidate in candidates {
                let (category, preferred) = self.category(candidate.args[i])?;
                match &mut slot {
                    None => slot = Some((category, preferred)),
                    Some((have, have_preferred)) if *have == category => {
                        *have_preferred |= preferred;
                    }
                    Some(have) if category == TypCategory::STRING => *have = (category, preferred),
                    Some((have, _)) => conflict |= *have != TypCategory::STRING,
                }
            }
            // A string candidate overrides an earlier conflict of categories.
            if conflict && slot.is_some_and(|s| s.0 != TypCategory::STRING) {
                return Ok(None);
            }
            wanted[i] = slot;
        }
        Ok(Some(wanted))
    }
}

/// Keeps the candidates with the highest score.
fn keep_best(
    candidates: &mut Vec<Candidate>,
    mut score: impl FnMut(&Candidate) -> Result<usize>,
) -> Result<()> {
    let mut scores = Vec::with_capacity(candidates.len());
    for candidate in candidates.iter() {
        scores.push(score(candidate)?);
    }
    let best = scores.iter().copied().max().unwrap_or(0);
    let mut scores = scores.into_iter();
    candidates.retain(|_| scores.next() == Some(best));
    Ok(())
}

/// A procedure with the parameters that CALL names, which include the output parameters. `None` if
/// there are no output parameters.
pub fn with_outputs(proc: &PgProc) -> Option<PgProc> {
    let all = proc.proallargtypes.as_ref()?;
    let mut out = proc.clone();
    out.pronargs = all.len() as i16;
    out.proargtypes = catalog::rows::OidVector(all.clone().into());
    out.proargmodes = None;
    Some(out)
}

/// The candidate, if the function accepts this number of arguments and these argument names.
fn match_call(
    proc: &PgProc,
    path: usize,
    nargs: usize,
    argnames: &[&str],
    expand_variadic: bool,
    expand_defaults: bool,
) -> Option<Candidate> {
    let pronargs = proc.pronargs as usize;
    let ndefaults = proc.pronargdefaults as usize;
    let is_variadic = proc.provariadic.is_valid() && expand_variadic;
    if !argnames.is_empty() {
        // Named notation matches a variadic function only if the array is given as one argument.
        if is_variadic || pronargs < nargs || (pronargs > nargs && !expand_defaults) {
            return None;
        }
        let argnumbers = match_names(proc, nargs, argnames)?;
        let args = argnumbers.iter().map(|&i| proc.proargtypes[i]).collect();
        return Some(Candidate {
            oid: proc.oid,
            args,
            path,
            variadic: 0,
            defaults: pronargs - nargs,
            argnumbers: Some(argnumbers),
        });
    }
    let variadic = is_variadic && pronargs <= nargs;
    let defaults = pronargs > nargs && expand_defaults;
    if defaults && nargs + ndefaults < pronargs {
        return None;
    }
    if pronargs != nargs && !variadic && !defaults {
        return None;
    }
    let mut args = proc.proargtypes.to_vec();
    let mut variadic_count = 0;
    if variadic {
        variadic_count = nargs - pronargs + 1;
        args.truncate(pronargs - 1);
        args.resize(nargs, proc.provariadic);
    }
    Some(Candidate {
        oid: proc.oid,
        args,
        path,
        variadic: variadic_count,
        defaults: pronargs.saturating_sub(nargs),
        argnumbers: None,
    })
}

/// Parameter numbers of the arguments, those left to defaults at the end. Counterpart:
/// `MatchNamedCall`.
fn match_names(proc: &PgProc, nargs: usize, argnames: &[&str]) -> Option<Vec<usize>> {
    let pronargs = proc.pronargs as usize;
    let names = proc.proargnames.as_ref()?;
    let positional = nargs - argnames.len();
    let mut given = vec![false; pronargs];
    let mut numbers = Vec::with_capacity(pronargs);
    for (i, slot) in given.iter_mut().enumerate().take(positional) {
        *slot = true;
        numbers.push(i);
    }
    for name in argnames {
        // Only input parameters count.
        let mut index = 0;
        let mut hit = None;
        for (i, parameter) in names.iter().enumerate() {
            let mode = proc.proargmodes.as_ref().map_or(ArgMode::In, |m| m[i]);
            if !mode.is_input() {
                continue;
            }
            if *parameter == *name {
                hit = Some(index);
                break;
            }
            index += 1;
        }
        let hit = hit?;
        if given[hit] {
            return None;
        }
        given[hit] = true;
        numbers.push(hit);
    }
    let first_default = pronargs - proc.pronargdefaults as usize;
    for (i, given) in given.iter().enumerate() {
        if !given {
            if i < first_default {
                return None;
            }
            numbers.push(i);
        }
    }
    Some(numbers)
}

/// Adds a candidate. Of two candidates with the same argument types, the one that is earlier in the
/// search path is kept.
fn add_candidate(found: &mut Vec<Candidate>, new: Candidate) {
    let significant = new.args.len() - new.defaults;
    let same = found.iter().position(|old| {
        old.args.len() - old.defaults == significant
            && old.args[..significant] == new.args[..significant]
    });
    let Some(at) = same else {
        found.push(new);
        return;
    };
    let old = &mut found[at];
    if new.path != old.path {
        if new.path < old.path {
            *old = new;
        }
        return;
    }
    match (old.variadic > 0, new.variadic > 0) {
        (true, false) => *old = new,
        (false, true) => {}
        // The one whose variadic parameter takes fewer arguments is preferred.
        (true, true) if old.variadic != new.variadic => {
            if new.variadic < old.variadic {
                *old = new;
            }
        }
        // Ambiguous, even if one of them needs no defaults.
        _ => old.oid = Oid::INVALID,
    }
}
