//! The table of limits: `tests/structure.tsv`.

use super::{Counts, MEASURES, Measure, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const HEADER: &str = "crate\tmeasure\tlimit\n";

type Limits = BTreeMap<(String, Measure), usize>;

fn parse(text: &str) -> Result<Limits> {
    let rows = text.strip_prefix(HEADER).ok_or("structure.tsv: unexpected header")?;
    let mut limits = Limits::new();
    for row in rows.lines() {
        let fault = || format!("structure.tsv: unexpected line: {row}");
        let fields: Vec<&str> = row.split('\t').collect();
        let [package, name, limit] = fields[..] else { return Err(fault()) };
        let measure = MEASURES.iter().find(|m| m.name() == name).ok_or_else(fault)?;
        let limit = limit.parse().map_err(|_| fault())?;
        if limits.insert((package.to_owned(), *measure), limit).is_some() {
            return Err(fault());
        }
    }
    Ok(limits)
}

/// The limits that `counts` needs: the numbers above the general limits.
fn needed(counts: &Counts) -> Limits {
    let limit = |((package, measure), number): (&(String, Measure), &usize)| {
        let limit = measure.limit_for(*number);
        let key = (package.clone(), *measure);
        (limit > measure.general_limit()).then_some((key, limit))
    };
    counts.numbers.iter().filter_map(limit).collect()
}

fn format(limits: &Limits) -> String {
    let row = |((package, measure), limit): (&(String, Measure), &usize)| {
        format!("{package}\t{}\t{limit}\n", measure.name())
    };
    HEADER.to_owned() + &limits.iter().map(row).collect::<String>()
}

/// A message for each number that is above its limit.
fn exceeded(counts: &Counts, limits: &Limits) -> Vec<String> {
    let mut faults = Vec::new();
    for ((package, measure), number) in &counts.numbers {
        let key = (package.clone(), *measure);
        let limit = *limits.get(&key).unwrap_or(&measure.general_limit());
        if *number > limit {
            let name = measure.name();
            faults.push(format!("{package}: {name} is {number}, the limit is {limit}"));
        }
    }
    faults
}

/// A message for each limit that is higher than needed, and for each exception that is not needed.
fn too_high(counts: &Counts, limits: &Limits) -> Vec<String> {
    let needed = needed(counts);
    let mut faults = Vec::new();
    for ((package, measure), limit) in limits {
        let name = measure.name();
        match needed.get(&(package.clone(), *measure)) {
            Some(number) if number < limit => {
                faults.push(format!("{package}: {name}: lower the limit to {number}"));
            }
            Some(_) => {}
            None => faults.push(format!(
                "{package}: {name}: lower the limit to {}, that is, remove the line",
                measure.general_limit()
            )),
        }
    }
    for name in &counts.unneeded_exceptions {
        faults.push(format!("{name}: remove the exception"));
    }
    faults
}

/// All differences between the numbers and a table of limits.
pub(super) fn check(counts: &Counts, table: &str) -> Result<Vec<String>> {
    let limits = parse(table)?;
    let mut faults = exceeded(counts, &limits);
    faults.extend(too_high(counts, &limits));
    Ok(faults)
}

/// The table with lower limits.
pub(super) fn lowered(counts: &Counts, table: &str) -> Result<String> {
    let faults = exceeded(counts, &parse(table)?);
    if faults.is_empty() {
        Ok(format(&needed(counts)))
    } else {
        Err(format!("limits are not raised:\n{}", faults.join("\n")))
    }
}

/// Lowers the limits in the file to the current numbers; creates the file if it does not exist.
pub(super) fn write(path: &Path, counts: &Counts) -> Result<()> {
    let error = |e: std::io::Error| format!("{}: {e}", path.display());
    let text = if path.exists() {
        lowered(counts, &fs::read_to_string(path).map_err(error)?)?
    } else {
        format(&needed(counts))
    };
    fs::write(path, text).map_err(error)
}
