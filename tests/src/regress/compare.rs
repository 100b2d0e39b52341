//! Comparison of the outputs: which statements agree, and which features the others require.

use super::consequence::Consequences;
use super::split::Script;
use std::collections::BTreeMap;

/// The result of a file.
#[derive(Default)]
pub(super) struct Tally {
    pub total: usize,
    pub agreeing: usize,
    /// Statements refused because of a missing feature, by the feature in the message.
    pub missing: BTreeMap<String, usize>,
    /// Statements that fail because an earlier one failed: on missing objects, or in an aborted
    /// transaction.
    pub follow: usize,
    /// Statements for which EXPLAIN shows another plan.
    pub plans: usize,
    /// Statements whose rows have another order.
    pub orders: usize,
    /// Statements that may answer otherwise because of an earlier refused one.
    pub consequences: usize,
    pub other: usize,
    /// The statements that no missing feature explains for certain, each with both answers and the
    /// kind of the difference.
    pub differences: String,
}

/// Why a statement does not agree.
#[derive(Clone, PartialEq, Debug)]
enum Kind {
    Refused(String),
    Follows,
    Plan,
    Order,
    Consequence,
    Other,
}

impl Kind {
    fn of(statement: &str, ours: &[String], theirs: &[String], refused: &Consequences) -> Kind {
        if let Some(feature) = missing_feature(ours, theirs) {
            return Kind::Refused(feature);
        }
        let follows = |line: &String| {
            line.contains("does not exist") || line.contains("current transaction is aborted")
        };
        if ours.iter().any(|l| follows(l) && !theirs.contains(l)) {
            return Kind::Follows;
        }
        let is_plan = |lines: &[String]| lines.iter().any(|l| l.trim() == "QUERY PLAN");
        if sorted(ours) == sorted(theirs) {
            Kind::Order
        } else if refused.explain(statement) {
            Kind::Consequence
        } else if is_plan(ours) && is_plan(theirs) {
            Kind::Plan
        } else {
            Kind::Other
        }
    }
}

impl Tally {
    /// The missing features, most frequent first.
    pub(super) fn reason(&self) -> String {
        let mut features: Vec<_> = self.missing.iter().collect();
        features.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        const SHOWN: usize = 4;
        let mut shown: Vec<String> =
            features.iter().take(SHOWN).map(|(name, count)| format!("{name} {count}")).collect();
        if features.len() > SHOWN {
            let rest: usize = features[SHOWN..].iter().map(|f| f.1).sum();
            shown.push(format!("others {rest}"));
        }
        shown.join(", ")
    }

    fn add(
        &mut self,
        statement: &str,
        ours: &[String],
        theirs: &[String],
        refused: &mut Consequences,
    ) {
        self.total += 1;
        if agree(statement, ours, theirs) {
            self.agreeing += 1;
            return;
        }
        let kind = Kind::of(statement, ours, theirs, refused);
        if matches!(kind, Kind::Refused(_) | Kind::Follows | Kind::Consequence) {
            refused.note(statement);
        }
        match &kind {
            Kind::Refused(feature) => *self.missing.entry(feature.clone()).or_default() += 1,
            Kind::Follows => self.follow += 1,
            Kind::Plan => self.plans += 1,
            Kind::Order => self.orders += 1,
            Kind::Consequence => self.consequences += 1,
            Kind::Other => self.other += 1,
        }
        if matches!(kind, Kind::Refused(_) | Kind::Follows) {
            return;
        }
        let text = |lines: &[String]| lines.join("\n");
        self.differences.push_str(&format!(
            "-- {kind:?}\n{statement}\n-- norsu:\n{}\n-- postgresql:\n{}\n\n",
            text(ours),
            text(theirs)
        ));
    }
}

/// True if the answers are equal, as sets if the statement has no ORDER BY.
fn agree(statement: &str, ours: &[String], theirs: &[String]) -> bool {
    if ours == theirs {
        return true;
    }
    if statement.to_ascii_lowercase().contains("order by") {
        return false;
    }
    sorted(ours) == sorted(theirs)
}

fn sorted(lines: &[String]) -> Vec<&String> {
    let mut lines: Vec<&String> = lines.iter().collect();
    lines.sort();
    lines
}

/// The missing feature, if Norsu's answer names one, or PostgreSQL's answer depends on one.
fn missing_feature(ours: &[String], theirs: &[String]) -> Option<String> {
    const SERIALIZATION: &str = "read/write dependencies among transactions";
    if theirs.iter().any(|l| l.contains(SERIALIZATION)) {
        return Some("SERIALIZABLE".to_owned());
    }
    ours.iter().find_map(|line| feature_of(line))
}

/// The missing feature in a message, without names of objects.
fn feature_of(line: &str) -> Option<String> {
    let (_, message) = line.split_once("ERROR:  ")?;
    match message {
        "unsupported XML feature" => return Some("XML".to_owned()),
        // The client shows the SQLSTATE only.
        "0A000" => return Some("not shown".to_owned()),
        _ => {}
    }
    let (feature, _) = message.split_once(" is not supported")?;
    let mut out = String::new();
    for (i, part) in feature.split('"').enumerate() {
        // Names of access methods and languages are features, those of tables and triggers are not.
        let kept = i % 2 == 0 || feature.starts_with("access method");
        out.push_str(if kept { part } else { "…" });
    }
    let words: Vec<&str> = out.split_whitespace().filter(|w| *w != "…").collect();
    Some(words.join(" "))
}

/// Compares two outputs. Statements that PostgreSQL's client skips (`\if`, `\quit`) are not
/// counted. `refused` is what earlier files leave behind.
pub(super) fn regression(
    script: &Script,
    ours: &str,
    theirs: &str,
    refused: &mut Consequences,
) -> Tally {
    let (ours, theirs) = (script.answers(ours), script.answers(theirs));
    let mut tally = Tally::default();
    for ((statement, ours), theirs) in script.statements.iter().zip(ours).zip(theirs) {
        let Some(theirs) = theirs else { continue };
        let ours = ours.unwrap_or_else(|| vec!["(not reached)".to_owned()]);
        tally.add(statement, &ours, &theirs, refused);
    }
    tally
}

/// Compares two outputs of a specification, in which each permutation counts as a statement. The
/// output before the first one is part of it.
pub(super) fn isolation(ours: &str, theirs: &str) -> Tally {
    let permutations = |said: &str| -> BTreeMap<String, Vec<String>> {
        let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut current = String::new();
        for line in said.lines() {
            if let Some(steps) = line.strip_prefix("starting permutation: ") {
                current = steps.to_owned();
            }
            out.entry(current.clone()).or_default().push(line.to_owned());
        }
        out
    };
    let (ours, theirs) = (permutations(ours), permutations(theirs));
    // The tester ends if the setup of a permutation fails. This error is then the answer to all
    // remaining permutations.
    let end: Vec<String> =
        ours.values().flatten().filter(|l| l.contains("ERROR:  ")).cloned().collect();
    let mut tally = Tally::default();
    let mut refused = Consequences::default();
    for (steps, theirs) in theirs.iter().filter(|(steps, _)| !steps.is_empty()) {
        let mine = ours.get(steps).unwrap_or(&end);
        // Steps are ordered regardless of the statements.
        let statement = format!("-- order by permutation: {steps}");
        tally.add(&statement, mine, theirs, &mut refused);
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_reasons() {
        let script = Script::new(
            "SELECT 1;\nCREATE TRIGGER t;\nSELECT 3;\nSELECT 4;\nSELECT 5 ORDER BY 1;\n\
             SELECT 6 FROM t;\nEXPLAIN SELECT 7;\nSELECT 8;\n",
        );
        let said = |answers: &[&str]| {
            let marked = answers.iter().enumerate().map(|(n, a)| format!("{a}#answered {n}\n"));
            marked.collect::<String>()
        };
        let ours = said(&[
            "b\na\n",
            "ERROR:  trigger \"t\" is not supported\n",
            "ERROR:  relation \"x\" does not exist\n",
            "5\n",
            "b\na\n",
            "6\n",
            " QUERY PLAN\n a\n",
        ]);
        let theirs = said(&["a\nb\n", "2\n", "3\n", "4\n", "a\nb\n", "7\n", " QUERY PLAN\n", ""]);
        let tally = regression(&script, &ours, &theirs, &mut Consequences::default());
        assert_eq!((tally.total, tally.agreeing, tally.follow, tally.other), (8, 1, 1, 2));
        assert_eq!((tally.plans, tally.orders, tally.consequences), (1, 1, 1));
        assert_eq!(tally.reason(), "trigger 1");
        let differences = &tally.differences;
        assert!(differences.starts_with("-- Other\nSELECT 4;\n-- norsu:\n5\n-- postgresql:\n4\n"));
        assert!(differences.contains("-- Other\nSELECT 8;\n-- norsu:\n(not reached)\n"));
    }

    #[test]
    fn permutations_are_distinguished() {
        let theirs = "Parsed test spec with 2 sessions\n\nstarting permutation: a b\nx\n\n\
                      starting permutation: b a\ny\n";
        let ours = theirs.replace('y', "z");
        let tally = isolation(&ours, theirs);
        assert_eq!((tally.total, tally.agreeing, tally.other), (2, 1, 1));
        let tally = isolation("setup failed: ERROR:  partitioned tables is not supported", theirs);
        assert_eq!((tally.agreeing, tally.reason().as_str()), (0, "partitioned tables 2"));
        let theirs = theirs.replace(
            'y',
            "ERROR:  could not serialize access due to read/write dependencies among transactions",
        );
        assert_eq!(isolation(&ours, &theirs).reason(), "SERIALIZABLE 1");
    }
}
