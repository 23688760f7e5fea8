//! The directory `aside/`: files that nothing names, damaged index files, and log bytes cut off
//! after a power cut, retained for people to inspect. Each name begins with the time when the file
//! was moved, so that files expire.

use std::io;
use std::time::Duration;

use rowhouse_model::{Error, Result};

use crate::disk::Disk;
use crate::settings::Settings;

pub(crate) const DIR: &str = "aside";

/// A file in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AsideFile {
    name: String,
    /// When it was moved here; `None` for a name that older versions assigned.
    since_millis: Option<i64>,
    len: u64,
}

/// How many files the directory has, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AsideSize {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

pub(crate) fn create_dir(disk: &dyn Disk) -> io::Result<()> {
    disk.create_dir(DIR)
}

/// Returns an unused path in the directory; `name` describes the file.
pub(crate) fn free_path(disk: &dyn Disk, name: &str, now_millis: i64) -> io::Result<String> {
    let taken = disk.list(DIR)?;
    let mut aside = format!("{now_millis:013}-{name}");
    let mut copies = 1;
    while taken.contains(&aside) {
        copies += 1;
        aside = format!("{now_millis:013}-{name}.{copies}");
    }
    Ok(format!("{DIR}/{aside}"))
}

/// Moves a file to the directory.
pub(crate) fn move_aside(disk: &dyn Disk, path: &str, now_millis: i64) -> Result<()> {
    let name = path.rsplit('/').next().unwrap_or(path);
    free_path(disk, name, now_millis)
        .and_then(|aside| disk.rename(path, &aside))
        .map_err(|source| Error::io(format_args!("cannot move {path} aside"), source))
}

/// Counts the files in the directory.
pub(crate) fn size(disk: &dyn Disk) -> AsideSize {
    let files = list(disk).unwrap_or_default();
    AsideSize { files: files.len() as u64, bytes: files.iter().map(|file| file.len).sum() }
}

/// Removes files that are too old, and the oldest ones while the total is too large. Keeps the
/// files that were moved at this time. A failure is only logged.
pub(crate) fn trim(disk: &dyn Disk, settings: &Settings, now_millis: i64) {
    if let Err(error) = try_trim(disk, settings, now_millis) {
        tracing::warn!(%error, "old files in {DIR}/ could not be removed");
    }
}

fn try_trim(disk: &dyn Disk, settings: &Settings, now_millis: i64) -> io::Result<()> {
    let mut files = list(disk)?;
    for file in files.iter_mut().filter(|file| file.since_millis.is_none()) {
        let path = free_path(disk, &file.name, now_millis)?;
        disk.rename(&format!("{DIR}/{}", file.name), &path)?;
        file.name = path.rsplit('/').next().unwrap_or_default().to_owned();
        file.since_millis = Some(now_millis);
    }
    let age_max = settings.aside_age_max;
    let bytes_max = settings.aside_bytes_max;
    for AsideFile { name, len, .. } in surplus(files, now_millis, age_max, bytes_max) {
        let path = format!("{DIR}/{name}");
        disk.remove(&path)?;
        tracing::warn!(file = path, bytes = len, "a file that had been moved aside was removed");
    }
    Ok(())
}

/// Returns the files to remove.
fn surplus(
    mut files: Vec<AsideFile>,
    now_millis: i64,
    age_max: Duration,
    bytes_max: u64,
) -> Vec<AsideFile> {
    files.sort_by(|a, b| (a.since_millis, &a.name).cmp(&(b.since_millis, &b.name)));
    let mut bytes: u64 = files.iter().map(|file| file.len).sum();
    let age_max_millis = i64::try_from(age_max.as_millis()).unwrap_or(i64::MAX);
    files.retain(|file| {
        let age_millis = now_millis.saturating_sub(file.since_millis.unwrap_or(now_millis));
        let goes = age_millis > 0 && (age_millis > age_max_millis || bytes > bytes_max);
        if goes {
            bytes -= file.len;
        }
        goes
    });
    files
}

fn list(disk: &dyn Disk) -> io::Result<Vec<AsideFile>> {
    let mut files = Vec::new();
    for name in disk.list(DIR)? {
        // An entry that is not a file was not put here by a store, and stays.
        let Ok(len) = disk.open(&format!("{DIR}/{name}")).and_then(|file| file.len()) else {
            continue;
        };
        let since = name.split_once('-').filter(|(millis, _)| millis.len() == 13);
        let since_millis = since.and_then(|(millis, _)| millis.parse().ok());
        files.push(AsideFile { name, since_millis, len });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::simulated::SimulatedDisk;

    fn aside_file(name: &str, since_millis: i64, len: u64) -> AsideFile {
        AsideFile { name: name.to_owned(), since_millis: Some(since_millis), len }
    }

    fn going(files: &[AsideFile], now_millis: i64, age_millis: u64, bytes_max: u64) -> Vec<String> {
        let age_max = Duration::from_millis(age_millis);
        let going = surplus(files.to_vec(), now_millis, age_max, bytes_max);
        going.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn the_oldest_files_go_by_age_and_by_bytes_and_those_of_this_moment_stay() {
        let files =
            [aside_file("new", 100, 10), aside_file("old", 10, 10), aside_file("older", 5, 10)];
        assert_eq!(going(&files, 100, 1000, 1000), [""; 0]);
        assert_eq!(going(&files, 100, 92, 1000), ["older"]);
        assert_eq!(going(&files, 100, 1000, 29), ["older"]);
        assert_eq!(going(&files, 100, 1000, 15), ["older", "old"]);
        assert_eq!(going(&files, 100, 0, 0), ["older", "old"]);
        assert_eq!(going(&files, 101, 0, 0), ["older", "old", "new"]);
    }

    #[test]
    fn files_without_a_time_in_their_names_are_counted_from_now_on() {
        let disk = SimulatedDisk::default();
        disk.create("aside/0000000007.hfile").unwrap().write_all_at(b"bytes", 0).unwrap();
        let settings = Settings { aside_age_max: Duration::from_millis(9), ..Settings::default() };
        trim(&disk, &settings, 1000);
        assert_eq!(disk.list(DIR).unwrap(), ["0000000001000-0000000007.hfile"]);
        assert_eq!(size(&disk), AsideSize { files: 1, bytes: 5 });
        trim(&disk, &settings, 1009);
        assert_eq!(size(&disk).files, 1);
        trim(&disk, &settings, 1010);
        assert_eq!(size(&disk).files, 0);
    }

    #[test]
    fn files_of_equal_names_are_both_moved_aside() {
        let disk = SimulatedDisk::default();
        for bytes in [b"1", b"2"] {
            disk.create("files/x").unwrap().write_all_at(bytes, 0).unwrap();
            move_aside(&disk, "files/x", 5).unwrap();
        }
        assert_eq!(disk.list(DIR).unwrap(), ["0000000000005-x", "0000000000005-x.2"]);
    }
}
