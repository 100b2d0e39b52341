//! The control file in memory and on disk.
//!
//! Counterpart: `ControlFile`, `UpdateControlFile` in xlog.c.

use pgerror::{Result, Severity};
use sync::{Arc, Mutex, MutexGuard};
use vfs::{Clock, Disk, OpenMode, io_error};
use wal::ControlFile;
use wal::control::CONTROL_FILE;

/// The control file, shared by all threads.
pub struct Control {
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    file: Mutex<ControlFile>,
}

impl Control {
    /// Reads and checks `global/pg_control`.
    pub fn open(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Control> {
        let bytes =
            vfs::read_file(&*disk, CONTROL_FILE).map_err(|e| e.severity(Severity::Panic))?;
        let file = Mutex::new(ControlFile::decode(&bytes)?);
        Ok(Control { disk, clock, file })
    }

    /// Creates the file of a new cluster.
    pub fn create(disk: &dyn Disk, file: &ControlFile) -> Result<()> {
        vfs::write_file(disk, CONTROL_FILE, &file.encode())?;
        disk.sync_dir("global").map_err(|e| io_error("fsync file", "global", &e))
    }

    /// A copy of the fields.
    pub fn get(&self) -> ControlFile {
        self.lock().clone()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, ControlFile> {
        self.file.lock()
    }

    /// Changes fields, sets the time, and makes the file durable. Error: severity PANIC.
    pub fn update(&self, change: impl FnOnce(&mut ControlFile)) -> Result<()> {
        let mut file = self.lock();
        change(&mut file);
        file.time = self.clock.unix_seconds();
        self.write(&file).map_err(|e| e.severity(Severity::Panic))
    }

    fn write(&self, file: &ControlFile) -> Result<()> {
        // The file is overwritten in place: all fields are in one sector, whose write is atomic.
        let out = self
            .disk
            .open(CONTROL_FILE, OpenMode::ReadWrite)
            .map_err(|e| io_error("open file", CONTROL_FILE, &e))?;
        out.write_all_at(&file.encode(), 0)
            .map_err(|e| io_error("write file", CONTROL_FILE, &e))?;
        out.sync_all().map_err(|e| io_error("fsync file", CONTROL_FILE, &e))
    }
}
