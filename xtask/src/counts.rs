//! `xtask counts`: the parts of the code's structure that exceed the limits of the style, for each
//! crate of `crates/`. The measures are those of [`Measure`].
//!
//! Each measure has a general limit. `tests/structure.tsv` lists the crates that exceed one, with
//! the limit that applies to them: the current number. The test `numbers_equal_their_limits` fails
//! if a number is above its limit, and also if it is below, so that limits can only be lowered. The
//! limit of a crate's lines is rounded up to a multiple of 500. When code is moved to another
//! crate, its share of the limits is moved in the table by hand.
//!
//! Code is parsed with `syn`, so items that a macro defines are not counted. Paths in the arguments
//! of macros are.
//!
//! Reading order: `package` (files and manifest), `scan` (one pass over the syntax trees),
//! `imports` and `dependencies` (what the paths refer to), `limits`.

mod dependencies;
mod flat;
mod imports;
mod limits;
mod package;
mod scan;
#[cfg(test)]
mod tests;

use imports::Edge;
use package::Package;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, String>;

/// The packages outside `crates/`, in which only the width of lines is measured.
const OTHER_PACKAGES: &[&str] = &["bench", "testkit", "tests", "xtask"];

const LIMITS_FILE: &str = "tests/structure.tsv";

const USAGE: &str = "usage: cargo run -p xtask -- counts [--items | --edges CRATE | --write]
  (no option)    prints the table of counts, and how it differs from tests/structure.tsv
  --items        prints each item that is counted, the largest first
  --edges CRATE  prints the imports within the crate's largest cycle
  --write        lowers the limits in tests/structure.tsv to today's numbers; raises none";

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Measure {
    /// Files in the largest import cycle, that is, in the largest strongly connected component of
    /// the graph of imports between files, without tests. An import is a path of a `use` item, or
    /// any path that begins with `crate`, `self`, `super` or a child module. It refers to the file
    /// of the deepest module in the path. `mod` declarations are not imports. 0 if there is no
    /// cycle.
    ImportCycle,
    /// Traits with more than 15 methods.
    LargeTraits,
    /// Structs with more than 25 fields.
    LargeStructs,
    /// Functions whose body has more than 100 lines, except flat tables (`flat`).
    LongFunctions,
    /// Functions with more than 7 parameters, `self` not counted.
    ManyParameters,
    /// Glob imports, also those of an enum's variants, outside tests and modules named `prelude`,
    /// and not of a module named `prelude`.
    Globs,
    /// Dependencies in `Cargo.toml` that no source file names; `[dependencies]` must be named
    /// outside tests.
    UnusedDependencies,
    /// Lines of Rust of more than 100 columns.
    WideLines,
    /// Lines of Rust, tests included.
    Lines,
}

const MEASURES: &[Measure] = &[
    Measure::ImportCycle,
    Measure::LargeTraits,
    Measure::LargeStructs,
    Measure::LongFunctions,
    Measure::ManyParameters,
    Measure::Globs,
    Measure::UnusedDependencies,
    Measure::WideLines,
    Measure::Lines,
];

const METHODS_MAX: usize = 15;
const FIELDS_MAX: usize = 25;
const FUNCTION_LINES_MAX: usize = 100;
const PARAMETERS_MAX: usize = 7;
const COLUMNS_MAX: usize = 100;

/// Items that are not counted: measure, crate, name, reason.
const EXCEPTIONS: &[(Measure, &str, &str, &str)] = &[
    (
        Measure::UnusedDependencies,
        "types",
        "digest",
        "fixes the features of a crate that sha2 depends on (docs/dependencies.md)",
    ),
    (
        Measure::LargeStructs,
        "parse",
        "Constraint",
        "the fields of the grammar's node, which parse::ffi translates one by one",
    ),
    (
        Measure::LargeStructs,
        "plan",
        "Query",
        "the fields of PostgreSQL's node, which pg_node_tree stores in this order",
    ),
];

impl Measure {
    pub fn name(self) -> &'static str {
        match self {
            Measure::ImportCycle => "import_cycle",
            Measure::LargeTraits => "large_traits",
            Measure::LargeStructs => "large_structs",
            Measure::LongFunctions => "long_functions",
            Measure::ManyParameters => "many_parameters",
            Measure::Globs => "globs",
            Measure::UnusedDependencies => "unused_dependencies",
            Measure::WideLines => "wide_lines",
            Measure::Lines => "lines",
        }
    }

    /// The limit of crates that the table of limits does not list.
    fn general_limit(self) -> usize {
        match self {
            Measure::ImportCycle => 8,
            Measure::Lines => 20_000,
            _ => 0,
        }
    }

    /// Limits are multiples of this number, so that small changes of a crate that is too long do
    /// not change its limit.
    fn step(self) -> usize {
        if self == Measure::Lines { 500 } else { 1 }
    }

    /// The limit in the table if the current number is `number`.
    fn limit_for(self, number: usize) -> usize {
        number.next_multiple_of(self.step()).max(self.general_limit())
    }
}

/// A counted item.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Item {
    measure: Measure,
    package: String,
    /// Relative to the package.
    file: String,
    line: usize,
    name: String,
    /// In the unit of the measure: files, methods, fields, lines, parameters, columns; 1 for globs
    /// and dependencies.
    size: usize,
}

/// All numbers of the workspace, and the items behind them.
#[derive(Default)]
pub struct Counts {
    numbers: BTreeMap<(String, Measure), usize>,
    items: Vec<Item>,
    /// The imports within the largest cycle of each crate.
    cycles: BTreeMap<String, Vec<Edge>>,
    /// Exceptions that do not apply to any item.
    unneeded_exceptions: Vec<&'static str>,
}

impl Counts {
    /// The counts of the workspace at `root`.
    pub fn of_workspace(root: &Path) -> Result<Counts> {
        let mut counts = Counts::default();
        let crates = root.join("crates");
        let entries = fs::read_dir(&crates).map_err(|e| format!("{}: {e}", crates.display()))?;
        let mut directories: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        directories.sort();
        for directory in directories {
            counts.add_crate(&Package::load(&directory)?)?;
        }
        for name in OTHER_PACKAGES {
            counts.add_lines(&Package::load(&root.join(name))?);
        }
        counts.apply_exceptions();
        Ok(counts)
    }

    fn number(&self, package: &str, measure: Measure) -> usize {
        self.numbers.get(&(package.to_owned(), measure)).copied().unwrap_or(0)
    }

    /// Counts an item.
    fn add(&mut self, item: Item) {
        *self.numbers.entry((item.package.clone(), item.measure)).or_insert(0) += 1;
        self.items.push(item);
    }

    /// Sets the number of a measure that has one value for each crate.
    fn set(&mut self, item: Item) {
        self.numbers.insert((item.package.clone(), item.measure), item.size);
        self.items.push(item);
    }

    fn add_crate(&mut self, package: &Package) -> Result<()> {
        let scan = scan::scan(package)?;
        for item in &scan.items {
            self.add(item.clone());
        }
        for item in dependencies::unused(package, &scan) {
            self.add(item);
        }
        let cycle = imports::largest_cycle(&scan);
        self.set(Item {
            measure: Measure::ImportCycle,
            package: package.name.clone(),
            file: cycle.files.first().cloned().unwrap_or_default(),
            line: 1,
            name: cycle.files.join(" "),
            size: cycle.files.len(),
        });
        self.cycles.insert(package.name.clone(), cycle.edges);
        self.add_lines(package);
        let lines = package.files.values().map(|text| text.lines().count()).sum();
        self.set(Item {
            measure: Measure::Lines,
            package: package.name.clone(),
            file: "src".to_owned(),
            line: 1,
            name: String::new(),
            size: lines,
        });
        Ok(())
    }

    /// Counts the lines that are too wide.
    fn add_lines(&mut self, package: &Package) {
        for (file, text) in &package.files {
            for (index, line) in text.lines().enumerate() {
                let columns = line.chars().count();
                if columns > COLUMNS_MAX {
                    self.add(Item {
                        measure: Measure::WideLines,
                        package: package.name.clone(),
                        file: file.clone(),
                        line: index + 1,
                        name: String::new(),
                        size: columns,
                    });
                }
            }
        }
    }

    fn apply_exceptions(&mut self) {
        for (measure, package, name, _) in EXCEPTIONS {
            let excepted =
                |i: &Item| i.measure == *measure && i.package == *package && i.name == *name;
            match self.items.iter().position(excepted) {
                Some(index) => {
                    self.items.remove(index);
                    *self.numbers.entry((package.to_string(), *measure)).or_insert(1) -= 1;
                }
                None => self.unneeded_exceptions.push(name),
            }
        }
    }

    /// The table of counts: a line for each package, and the general limits.
    fn table(&self) -> String {
        let mut rows = vec![vec!["crate".to_owned()], vec!["limit".to_owned()]];
        rows[0].extend(MEASURES.iter().map(|m| m.name().replace('_', " ")));
        rows[1].extend(MEASURES.iter().map(|m| m.general_limit().to_string()));
        let crates = self.numbers.keys().filter(|k| k.1 == Measure::Lines).map(|k| k.0.as_str());
        for name in crates {
            let mut row = vec![name.to_owned()];
            row.extend(MEASURES.iter().map(|m| self.number(name, *m).to_string()));
            rows.push(row);
        }
        for name in OTHER_PACKAGES {
            let mut row = vec![name.to_string()];
            row.extend(MEASURES.iter().map(|m| match m {
                Measure::WideLines => self.number(name, *m).to_string(),
                _ => "-".to_owned(),
            }));
            rows.push(row);
        }
        let total = |measure: Measure| {
            let numbers = self.numbers.iter().filter(|((_, m), _)| *m == measure);
            numbers.map(|(_, number)| number).sum::<usize>()
        };
        let mut row = vec!["total".to_owned()];
        row.extend(MEASURES.iter().map(|m| match m {
            Measure::ImportCycle => "-".to_owned(),
            _ => total(*m).to_string(),
        }));
        rows.push(row);
        let widths: Vec<usize> = (0..=MEASURES.len())
            .map(|column| rows.iter().map(|r| r[column].len()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in rows {
            let _ = write!(text, "{:<1$}", row[0], widths[0]);
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                let _ = write!(text, "  {cell:>width$}");
            }
            text.push('\n');
        }
        text
    }

    /// All items, by measure, the largest first.
    fn list(&self) -> String {
        let mut text = String::new();
        for measure in MEASURES {
            let _ = writeln!(text, "{}:", measure.name());
            let mut items: Vec<&Item> =
                self.items.iter().filter(|i| i.measure == *measure).collect();
            items.sort_by_key(|i| std::cmp::Reverse(i.size));
            for i in items {
                let _ = writeln!(
                    text,
                    "{:>6}  {}:{} {}",
                    i.size,
                    workspace_path(&i.package, &i.file),
                    i.line,
                    i.name
                );
            }
        }
        text
    }
}

/// The path of a package's file, relative to the root of the workspace.
fn workspace_path(package: &str, file: &str) -> String {
    if OTHER_PACKAGES.contains(&package) {
        format!("{package}/{file}")
    } else {
        format!("crates/{package}/{file}")
    }
}

/// The command: see [`USAGE`].
pub fn run(arguments: &[String]) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => {
            let counts = Counts::of_workspace(&root)?;
            print!("{}", counts.table());
            let limits = root.join(LIMITS_FILE);
            let limits =
                fs::read_to_string(&limits).map_err(|e| format!("{}: {e}", limits.display()))?;
            for difference in limits::check(&counts, &limits)? {
                println!("{difference}");
            }
        }
        ["--items"] => print!("{}", Counts::of_workspace(&root)?.list()),
        ["--edges", name] => {
            let counts = Counts::of_workspace(&root)?;
            let edges = counts.cycles.get(name).ok_or_else(|| format!("no crate {name}"))?;
            for edge in edges {
                println!("crates/{name}/{}:{} imports {}", edge.from, edge.line, edge.to);
            }
        }
        ["--write"] => limits::write(&root.join(LIMITS_FILE), &Counts::of_workspace(&root)?)?,
        _ => return Err(USAGE.to_owned()),
    }
    Ok(())
}
