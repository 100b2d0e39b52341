//! Differential tests of psql: the same script is run on both servers, and its output is compared
//! statement by statement.

mod explain;
mod information;
mod plans;
mod privileges;
mod psql;

use crate::pair::Pair;
use std::process::Command;

/// Both servers.
pub struct Servers(Pair);

impl Servers {
    pub fn start(name: &str) -> Servers {
        Servers(Pair::start(name, "C", &[]))
    }

    /// The differences between the outputs of psql, including errors and notices: the line of the
    /// script, PostgreSQL's answer and Norsu's.
    pub fn differences(&self, script: &str) -> Vec<String> {
        self.differences_of(script, &|answer| answer)
    }

    /// As [`Servers::differences`], for the part of each answer that `part` returns.
    pub fn differences_of(&self, script: &str, part: &dyn Fn(String) -> String) -> Vec<String> {
        let lines: Vec<&str> = script.lines().filter(|l| !l.is_empty()).collect();
        assert!(!lines.is_empty());
        let mut marked = String::new();
        for (i, line) in lines.iter().enumerate() {
            marked.push_str(&format!("\\echo {MARK}{i}\n{line}\n"));
        }
        let path = self.0.dir().join("script.sql");
        std::fs::write(&path, marked).unwrap();
        let [ours, real] = [self.0.ours.client("psql"), self.0.real.client("psql")].map(|psql| {
            // The location of an error in PostgreSQL's source code has no counterpart.
            let text = unbuffered(psql, &path);
            let text: String =
                text.split_inclusive('\n').filter(|l| !l.starts_with("LOCATION: ")).collect();
            let parts = text.split(MARK).skip(1);
            parts
                .map(|p| part(p.split_once('\n').map_or("", |p| p.1).to_owned()))
                .collect::<Vec<_>>()
        });
        assert_eq!(ours.len(), lines.len(), "psql ended early: {:?}", ours.last());
        assert_eq!(real.len(), lines.len());
        let mut out = Vec::new();
        for ((line, ours), real) in lines.iter().zip(ours).zip(real) {
            if ours != real {
                out.push(format!("{line}\n--- real\n{real}--- ours\n{ours}"));
            }
        }
        out
    }
}

const MARK: &str = "@@@@ ";

/// The output of psql, with error messages in the order of the statements.
fn unbuffered(psql: Command, script: &std::path::Path) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", "exec stdbuf -o0 \"$@\" 2>&1", "sh"]);
    command.arg(psql.get_program()).args(psql.get_args());
    command.args(["-X", "-q", "-d", "postgres", "-f"]).arg(script);
    command.env("PGTZ", "UTC");
    let out = command.output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}
