//! The time zone files of the machine (TZif, RFC 8536). Counterpart: pgtz.c (`pg_open_tzfile`).

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The directory that PostgreSQL's packages use too (`--with-system-tzdata`).
const DIRECTORY: &str = "/usr/share/zoneinfo";
const MAGIC: &[u8; 4] = b"TZif";
/// No zone has a file of this size.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Directories below [`DIRECTORY`] are not nested deeper.
const DEPTH_MAX: usize = 8;

/// The file of a zone, by its name in any case, and the name as the directory spells it. `None` if
/// there is no such file.
pub fn read(name: &str) -> Option<(String, Vec<u8>)> {
    let mut path = PathBuf::from(DIRECTORY);
    let mut spelled = String::new();
    for part in name.split('/') {
        let part = entry_named(&path, part)?;
        if !spelled.is_empty() {
            spelled.push('/');
        }
        spelled.push_str(&part);
        path.push(part);
    }
    let mut bytes = Vec::new();
    fs::File::open(&path).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(MAGIC).then_some((spelled, bytes))
}

/// The entry of a directory with this name, in this case or else in another one.
fn entry_named(directory: &Path, name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with('.') {
        return None;
    }
    if directory.join(name).exists() {
        return Some(name.to_owned());
    }
    let entries = fs::read_dir(directory).ok()?.flatten();
    let mut names = entries.filter_map(|e| e.file_name().into_string().ok());
    names.find(|found| found.eq_ignore_ascii_case(name))
}

/// The names of all zones with a file, sorted.
pub fn names() -> Vec<String> {
    let mut out = Vec::new();
    collect(Path::new(DIRECTORY), "", 0, &mut out);
    out.sort_unstable();
    out
}

fn collect(directory: &Path, prefix: &str, depth: usize, out: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        let path = entry.path();
        if path.is_dir() {
            if depth < DEPTH_MAX {
                collect(&path, &format!("{prefix}{name}/"), depth + 1, out);
            }
        } else if is_zone_file(&path) {
            out.push(format!("{prefix}{name}"));
        }
    }
}

fn is_zone_file(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *MAGIC
}
