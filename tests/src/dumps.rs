//! PostgreSQL's own client programs, unmodified, on Norsu and on PostgreSQL with the same objects:
//! their output must be equal byte for byte, and so must be their effects. A dump that is restored
//! into an empty cluster of Norsu and dumped again must not change.

mod programs;

use crate::pair::Pair;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::chown_to_server_user;

const GLOBALS: &str = include_str!("dumps/globals.sql");
const OBJECTS: &str = include_str!("dumps/objects.sql");

/// One of the servers, with a directory for tablespaces and for the files of programs.
struct Side<'a> {
    client: Box<dyn Fn(&str) -> Command + 'a>,
    sockets: PathBuf,
    dir: TempDir,
}

impl<'a> Side<'a> {
    fn new(sockets: &Path, client: impl Fn(&str) -> Command + 'a) -> Side<'a> {
        let dir = TempDir::new("dumps");
        std::fs::create_dir(dir.path().join("space")).expect("a new directory");
        chown_to_server_user(dir.path());
        Side { client: Box::new(client), sockets: sockets.to_owned(), dir }
    }

    fn of_norsu(server: &'a Norsu) -> Side<'a> {
        Side::new(server.sockets(), |name| server.client(name))
    }

    fn both(pair: &'a Pair) -> [Side<'a>; 2] {
        [Side::new(pair.real.sockets(), |name| pair.real.client(name)), Side::of_norsu(&pair.ours)]
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// Exit status and output of a program with these arguments, in which `@` is replaced by the
    /// side's directory.
    fn call(&self, line: &[&str]) -> (i32, Vec<u8>) {
        let dir = self.dir.path().display().to_string();
        let mut command = (self.client)(line[0]);
        command.args(line[1..].iter().map(|w| w.replace('@', &dir)));
        command.env("PGTZ", "UTC").stdin(Stdio::null());
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(command.get_program());
        shell.args(command.get_args()).env("PGTZ", "UTC").stdin(Stdio::null());
        let out = shell.output().expect("a shell");
        (out.status.code().unwrap_or(-1), out.stdout)
    }

    /// As [`Side::call`], without the parts that always differ.
    fn comparable_output(&self, line: &[&str]) -> String {
        let (status, out) = self.call(line);
        format!("{}exit status {status}\n", self.plain(&out))
    }

    fn plain(&self, text: &[u8]) -> String {
        let text = String::from_utf8_lossy(text);
        let text = text.replace(&self.dir.path().display().to_string(), "@");
        let text = text.replace(&self.sockets.display().to_string(), "SOCKETS");
        // Keys are random, versions differ, and psql prints the location of an error in the
        // server's source code.
        let random = ["\\restrict ", "\\unrestrict ", "-- Dumped from database version "];
        let lines = text.split_inclusive('\n').map(|l| {
            random.iter().find(|r| l.starts_with(**r)).map_or(l.to_owned(), |r| format!("{r}\n"))
        });
        let never = ["LOCATION: ", "DETAIL:  CPU: ", "CPU: "];
        lines.filter(|l| !never.iter().any(|n| l.starts_with(n))).collect()
    }

    /// Writes a file for programs to read; returns its name for [`Side::call`].
    fn write(&self, name: &str, text: &[u8]) {
        std::fs::write(self.path(name), text).expect("a file can be written");
        chown_to_server_user(self.dir.path());
    }

    /// Creates the roles, databases and objects of the scripts; returns psql's output.
    fn fill(&self) -> String {
        let space = "CREATE TABLESPACE space OWNER maker LOCATION '@/space' \
                     WITH (seq_page_cost = 2);\n\
             CREATE TABLESPACE \"Odd Space\" LOCATION '@/space2';\n\
             COMMENT ON TABLESPACE space IS 'elsewhere';\n\
             GRANT CREATE ON TABLESPACE space TO plain;\n\
             CREATE DATABASE spaced TABLESPACE space;\n";
        std::fs::create_dir(self.path("space2")).expect("a new directory");
        let space = space.replace('@', &self.dir.path().display().to_string());
        self.write("globals.sql", format!("{GLOBALS}{space}").as_bytes());
        self.write("objects.sql", OBJECTS.as_bytes());
        let psql = ["psql", "-X", "-a", "-v", "VERBOSITY=verbose"];
        let output =
            ["postgres", "odd"].into_iter().zip(["globals", "objects"]).map(|(base, file)| {
                self.comparable_output(
                    &[&psql[..], &["-d", base, "-f", &format!("@/{file}.sql")]].concat(),
                )
            });
        output.collect()
    }
}

/// True for the long form of the test.
fn long() -> bool {
    std::env::var_os("NORSU_TEST_LONG").is_some()
}

/// The first lines at which two texts differ.
fn first_difference(real: &str, ours: &str) -> Option<String> {
    if real == ours {
        return None;
    }
    let at = real.lines().zip(ours.lines()).take_while(|(a, b)| a == b).count();
    let part =
        |text: &str| text.lines().skip(at.saturating_sub(3)).take(9).collect::<Vec<_>>().join("\n");
    Some(format!("line {}:\n-- wanted\n{}\n-- had\n{}", at + 1, part(real), part(ours)))
}

/// Calls each line on both sides and returns the differences. The output lines of a call with the
/// prefix `~` are compared as a set.
fn differences(sides: &[Side<'_>; 2], lines: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.trim_start_matches('~').split(' ').collect();
        let [real, ours] = sides.each_ref().map(|s| {
            let text = s.comparable_output(&words);
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            if line.starts_with('~') {
                lines.sort_unstable();
            }
            lines.concat()
        });
        if let Some(where_) = first_difference(&real, &ours) {
            out.push(format!("{line}: {where_}"));
        }
    }
    out
}

/// Calls of programs that write a dump to standard output.
const DUMPS: &[&str] = &[
    "pg_dumpall",
    "pg_dump -C postgres",
    "pg_dump -C -c --if-exists -s odd",
    "pg_dump --inserts odd",
    "pg_dump -t s1.* -t par* -T s1.self odd",
    "pg_dump -t nosuch odd",
    "pg_dump --role=grp -a -t child odd",
    "pg_dump closed",
];

/// Additional calls in the long form.
const MORE_DUMPS: &[&str] = &[
    "pg_dumpall --globals-only",
    "pg_dumpall --roles-only",
    "pg_dumpall --tablespaces-only",
    "pg_dumpall --schema-only --clean --if-exists",
    "pg_dumpall --data-only --exclude-database=odd",
    "pg_dump odd",
    "pg_dump -C template1",
    "pg_dump -C -s odd",
    "pg_dump -c --if-exists -s odd",
    "pg_dump -C spaced",
    "pg_dump --schema-only odd",
    "pg_dump --data-only odd",
    "pg_dump --data-only --disable-triggers odd",
    "pg_dump -a --column-inserts --rows-per-insert=2 --on-conflict-do-nothing odd",
    "pg_dump -s -O -x --no-comments --no-tablespaces --no-toast-compression odd",
    "pg_dump --section=pre-data odd",
    "pg_dump --section=data odd",
    "pg_dump --section=post-data odd",
    "pg_dump -t parent odd",
    "pg_dump -t simple -t mat -t seq odd",
    "pg_dump -n s1 odd",
    "pg_dump -n s* -N s3 odd",
    "pg_dump --exclude-table-data=t* --no-unlogged-table-data odd",
    "pg_dump --strict-names -t nosuch odd",
    "pg_dump --extra-float-digits=0 -t types odd",
    "pg_dump --role=plain -s odd",
    "pg_dump --role=sub -a -t simple odd",
    "pg_dump --use-set-session-authorization -s odd",
    "pg_dump --lock-wait-timeout=1s -s odd",
    "pg_dump --enable-row-security -s odd",
    "pg_dump --disable-dollar-quoting -s odd",
    "pg_dump -b -s odd",
    "pg_dump -e pg_prewarm odd",
    "pg_dump nosuch",
];

/// Dumps to archives, output of their contents, and restores into empty databases.
const ARCHIVES: &[&str] = &[
    "pg_dump -Fc -f @/custom odd",
    "pg_restore -f - @/custom",
    "createdb copy",
    "pg_restore -e -d copy @/custom",
    "pg_dump copy",
];

/// Archives of other formats, partial restores, and restores over existing objects.
const MORE_ARCHIVES: &[&str] = &[
    "pg_dump -Ft -f @/tar odd",
    "pg_dump -Fd -j 2 -f @/directory odd",
    "pg_restore -s -f - @/custom",
    "pg_restore -a -f - @/tar",
    "pg_restore -f - @/directory",
    "pg_restore -t parent -f - @/custom",
    "pg_restore -n s1 -f - @/tar",
    "pg_restore -P add(int,int) -f - @/custom",
    "pg_restore -I parent_expr -f - @/directory",
    "pg_restore -c --if-exists -d copy @/tar",
    "pg_dump copy",
    "pg_restore -c -C -d postgres @/custom",
    "pg_dump -C odd",
];

#[test]
fn dumps_equal_those_of_postgres() {
    let pair = Pair::start("dumps", "C", &[]);
    let sides = Side::both(&pair);
    let [real, ours] = sides.each_ref().map(Side::fill);
    assert_eq!(first_difference(&real, &ours), None);
    let mut lists = vec![DUMPS, ARCHIVES];
    if long() {
        lists.extend([MORE_DUMPS, MORE_ARCHIVES]);
    }
    let wrong: Vec<String> = lists.iter().flat_map(|l| differences(&sides, l)).collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_restored_dump_gives_the_same_dump() {
    let dir = TempDir::new("restored");
    chown_to_server_user(dir.path());
    let [first, second] = ["first", "second"].map(|name| {
        let data = dir.path().join(name);
        norsu::init_with(&data, &["--locale=C"]);
        Norsu::start(&data, &[])
    });
    let (a, b) = (Side::of_norsu(&first), Side::of_norsu(&second));
    a.fill();
    // The complete cluster. The superuser and the initial databases exist in every cluster.
    let (status, all) = a.call(&["pg_dumpall"]);
    assert_eq!(status, 0, "{}", String::from_utf8_lossy(&all));
    let here = String::from_utf8_lossy(&all).replace(&a.path("space"), &b.path("space"));
    std::fs::create_dir(b.path("space2")).expect("a new directory");
    b.write("all.sql", here.as_bytes());
    let output = b.comparable_output(&["psql", "-X", "-q", "-d", "postgres", "-f", "@/all.sql"]);
    let expected = "ERROR:  role \"postgres\" already exists\n";
    let errors: Vec<&str> = output.lines().filter(|l| l.contains("ERROR")).collect();
    assert!(errors.len() == 1 && errors[0].ends_with(expected.trim_end()), "{output}");
    let (_, again) = b.call(&["pg_dumpall"]);
    let (first_dump, second_dump) = (a.plain(&all), b.plain(&again));
    assert_eq!(first_difference(&first_dump, &second_dump), None);
    // One database from its archives.
    let wanted = a.comparable_output(&["pg_dump", "odd"]);
    let forms = [("-Fd", &["-j", "2"][..]), ("-Fc", &["-1"])];
    let forms = if long() { &forms[..] } else { &forms[..1] };
    for (n, (format, options)) in forms.iter().enumerate() {
        let archive = a.path(&format!("archive{n}"));
        assert_eq!(
            a.comparable_output(&["pg_dump", format, "-f", &archive, "odd"]),
            "exit status 0\n"
        );
        chown_to_server_user(a.dir.path());
        let base = format!("copy{n}");
        assert_eq!(b.comparable_output(&["createdb", &base]), "exit status 0\n");
        let restore = [&["pg_restore"], *options, &["-d", &base, &archive]].concat();
        assert_eq!(b.comparable_output(&restore), "exit status 0\n", "{format}");
        let had = b.comparable_output(&["pg_dump", &base]);
        assert_eq!(first_difference(&wanted, &had), None, "{format}");
    }
    for server in [&first, &second] {
        assert!(!server.log().contains("panicked"), "{}", server.log());
    }
}
