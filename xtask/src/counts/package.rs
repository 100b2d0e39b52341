//! The Rust files and the manifest of a package.

use super::Result;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(super) struct Package {
    pub(super) name: String,
    /// The text of `Cargo.toml`.
    pub(super) manifest: String,
    /// The texts of all Rust files by path, relative to the package, with forward slashes.
    pub(super) files: BTreeMap<String, String>,
}

impl Package {
    /// The package in a directory, whose name is the package's.
    pub(super) fn load(directory: &Path) -> Result<Package> {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut package = Package {
            name,
            manifest: read(&directory.join("Cargo.toml"))?,
            files: BTreeMap::new(),
        };
        package.load_files(directory, "")?;
        Ok(package)
    }

    fn load_files(&mut self, directory: &Path, prefix: &str) -> Result<()> {
        let entries =
            fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if path.is_dir() {
                self.load_files(&path, &format!("{name}/"))?;
            } else if name.ends_with(".rs") {
                self.files.insert(name, read(&path)?);
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}
