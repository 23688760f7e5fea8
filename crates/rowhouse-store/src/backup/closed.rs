//! Copies a store that is not open to another directory, byte for byte.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{Error, Result};

use super::target::Target;
use super::{CopyReport, whole};
use crate::check::{Progress, check, check_disk};
use crate::directory::{self, ReadOnlyDirectory};
use crate::disk::{Disk, RealDisk};
use crate::layout::{WAL_DIR, file_path};
use crate::manifest;
use crate::wal;

/// Copies the store in `from`, which must not be open, to `into`, which must not exist: the
/// manifest, the HFiles for tables and snapshots, and the log. Reads and checks everything before
/// the copy, and reads back and checks the copy.
///
/// # Errors
/// As [`check`](crate::check); `Corruption` if the store or the copy is damaged; `InvalidRequest`
/// if `into` exists; `Io`.
pub fn copy_store(
    from: impl AsRef<Path>,
    into: impl AsRef<Path>,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<CopyReport> {
    let from = from.as_ref();
    let into = into.as_ref();
    // Holds the store's lock, if it has one, so that no other process opens it during the copy.
    let held = ReadOnlyDirectory::at(from)?;
    let target = Target::create(into)?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::read_only(from));
    let mut total = 0;
    let checked = check_disk(&disk, directory::boot_id(), |checked| {
        // Each byte is read, written, and read back.
        total = checked.bytes_total * 3;
        progress(Progress::new(checked.file, checked.bytes_done, total));
    })?;
    let checked = whole(checked, "the store")?;
    let mut done = total / 3;
    let mut report = CopyReport {
        tables: checked.tables,
        snapshots: checked.snapshots,
        ..CopyReport::default()
    };
    let state = manifest::read(&*disk, directory::boot_id())?
        .ok_or_else(|| Error::corruption("MANIFEST is missing"))?
        .state;
    let files: BTreeSet<u64> = state.all_files().map(|named| named.meta.file_id).collect();
    for id in files {
        let path = file_path(id);
        report.files += 1;
        report.file_bytes += target.copy(&from.join(&path), &path, |bytes| {
            done += bytes;
            progress(Progress::new(&path, done, total));
            Ok(())
        })?;
    }
    let names = disk.list(WAL_DIR);
    let names = names.map_err(|source| Error::io(format_args!("cannot list {WAL_DIR}"), source))?;
    for name in names.iter().filter(|name| wal::is_part(name)) {
        let path = format!("{WAL_DIR}/{name}");
        report.log_bytes += target.copy(&from.join(&path), &path, |_| Ok(()))?;
    }
    for path in [manifest::PATH, manifest::COPY_PATH] {
        if from.join(path).exists() {
            target.copy(&from.join(path), path, |_| Ok(()))?;
        }
    }
    drop(held);
    target.sync()?;
    let read_back = check(target.dir(), |checked| {
        progress(Progress::new(checked.file, done + checked.bytes_done, total));
    })?;
    whole(read_back, "the copy")?;
    target.finish()?;
    Ok(report)
}
