//! The files of dictionaries. They are searched in the directory `tsearch_data` of the data
//! directory, and in that of an installed PostgreSQL 15. The lists of stop words of the Snowball
//! project are built in.

use std::sync::Arc;
use types::textsearch::dict::File;
use vfs::{Disk, OpenMode};

/// Where packages of PostgreSQL 15 have the files. Messages name this directory.
const INSTALLED: &str = "/usr/share/postgresql/15/tsearch_data";

/// In the data directory.
const OWN: &str = "tsearch_data";

macro_rules! stop_words {
    ($($language:literal)*) => {
        const STOP_WORDS: &[(&str, &str)] =
            &[$(($language, include_str!(concat!("../data/stop/", $language, ".stop")))),*];
    };
}

stop_words! {
    "danish" "dutch" "english" "finnish" "french" "german" "hungarian" "italian" "nepali"
    "norwegian" "portuguese" "russian" "spanish" "swedish" "turkish"
}

fn read_from(disk: &dyn Disk, path: &str) -> std::io::Result<Vec<u8>> {
    let file = disk.open(path, OpenMode::Read)?;
    let mut out = vec![0; file.len()? as usize];
    let mut at = 0;
    while at < out.len() {
        match file.read_at(&mut out[at..], at as u64)? {
            0 => break,
            n => at += n,
        }
    }
    out.truncate(at);
    Ok(out)
}

fn text_of(path: String, bytes: Vec<u8>) -> Result<File, (String, String)> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(File { path, text }),
        Err(_) => Err((path, "invalid byte sequence for encoding \"UTF8\"".to_owned())),
    }
}

/// Reads the file `name.extension`, or the path that it should have and why it cannot be read.
pub(crate) fn read(
    disk: &Arc<dyn Disk>,
    name: &str,
    extension: &str,
) -> Result<File, (String, String)> {
    let installed = format!("{INSTALLED}/{name}.{extension}");
    for path in [format!("{OWN}/{name}.{extension}"), installed.clone()] {
        match read_from(disk.as_ref(), &path) {
            Ok(bytes) => return text_of(path, bytes),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err((path, vfs::strerror(&e))),
        }
    }
    let built_in = STOP_WORDS.iter().find(|(language, _)| *language == name);
    match built_in.filter(|_| extension == "stop") {
        Some((_, text)) => Ok(File { path: installed, text: (*text).to_owned() }),
        None => Err((installed, "No such file or directory".to_owned())),
    }
}
