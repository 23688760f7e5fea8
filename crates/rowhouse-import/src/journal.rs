//! An import's progress file, from which the same command resumes after an interruption.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rowhouse::key::{escape, unescape};
use rowhouse::{Bytes, Error, Result};
use serde_json::{Map, Value as Json, json};

use crate::lanes::Part;
use crate::rows::InputPosition;
use crate::source::RecordPosition;
use crate::survey::Counts;

/// An import's progress file. It exists only while rows are being written.
pub(crate) struct ProgressFile {
    path: PathBuf,
    /// The import's identity: database, table, files with their lengths and times, and how they are
    /// read.
    import: Json,
}

/// The point from which an import resumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Progress {
    /// The survey's counts.
    pub(crate) counts: Counts,
    /// The files' remaining parts: they contain all rows that may not be written yet.
    pub(crate) parts: Vec<Part>,
    /// How many rows are certainly written.
    pub(crate) written: u64,
    /// The key in each part's last written row.
    pub(crate) last: Vec<Bytes>,
    /// The files with rejected rows.
    pub(crate) rejects: Vec<PathBuf>,
}

impl ProgressFile {
    pub(crate) fn new(path: &Path, import: Json) -> Self {
        Self { path: path.to_owned(), import }
    }

    /// Returns how far an earlier, unfinished import came.
    ///
    /// # Errors
    /// `InvalidRequest` for another import's file, and for an unreadable one; `Io`.
    pub(crate) fn reached(&self) -> Result<Option<Progress>> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.io("read", source)),
        };
        let unread = || {
            Error::invalid(format!("the progress file is unreadable: file={}", self.path.display()))
        };
        let stored: Map<String, Json> = serde_json::from_str(&text).map_err(|_| unread())?;
        if stored.get("import") != Some(&self.import) {
            return Err(Error::invalid(format!(
                "the progress file is of another import, or its files have changed: name another \
                 progress file (--progress FILE), or remove this one to start again, which keeps \
                 the rows written so far: file={}",
                self.path.display()
            )));
        }
        reached_of(&stored).map(Some).ok_or_else(unread)
    }

    /// Records the progress: all rows before it must be on the disk.
    pub(crate) fn note(&self, reached: &Progress) -> Result<()> {
        let Progress { counts, parts, written, last, rejects } = reached;
        let parts = parts.iter().map(|part| {
            json!({"start": spot_json(&part.start), "end": part.end.as_ref().map(spot_json)})
        });
        let stored = json!({
            "import": self.import,
            "rows": counts.rows,
            "rejected": counts.rejected,
            "same_key": counts.same_key,
            "in_table": counts.in_table,
            "written": written,
            "parts": parts.collect::<Vec<_>>(),
            "last": last.iter().map(|key| escape(key)).collect::<Vec<_>>(),
            "rejects": rejects.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        });
        let mut part = self.path.as_os_str().to_owned();
        part.push(".part");
        let write = || {
            let mut file = File::create(&part)?;
            writeln!(file, "{stored}")?;
            // Otherwise a power cut could leave the name without the contents.
            file.sync_all()?;
            fs::rename(&part, &self.path)
        };
        write().map_err(|source| self.io("write", source))
    }

    /// Removes the file after the import has finished.
    pub(crate) fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(self.io("remove", source))
            }
            _ => Ok(()),
        }
    }

    fn io(&self, doing: &str, source: io::Error) -> Error {
        Error::io(format_args!("cannot {doing} {}", self.path.display()), source)
    }
}

fn reached_of(stored: &Map<String, Json>) -> Option<Progress> {
    let number = |name: &str| stored.get(name)?.as_u64();
    let counts = Counts {
        rows: number("rows")?,
        rejected: number("rejected")?,
        same_key: number("same_key")?,
        in_table: number("in_table")?,
    };
    let part = |part: &Json| {
        let end = match part.get("end")? {
            Json::Null => None,
            end => Some(spot_of(end)?),
        };
        Some(Part { start: spot_of(part.get("start")?)?, end })
    };
    let parts = stored.get("parts")?.as_array()?.iter().map(part).collect::<Option<_>>()?;
    // Files from older versions do not have it.
    let last = stored.get("last").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let key = |key: &Json| Some(Bytes::from(unescape(key.as_str()?).ok()?));
    let last = last.iter().map(key).collect::<Option<_>>()?;
    let rejects = stored.get("rejects").and_then(Json::as_array);
    let rejects = rejects.into_iter().flatten().map(|path| Some(path.as_str()?.into()));
    let rejects = rejects.collect::<Option<_>>()?;
    Some(Progress { counts, parts, written: number("written")?, last, rejects })
}

fn spot_json(spot: &InputPosition) -> Json {
    let InputPosition { file, place: RecordPosition { byte, line, record } } = spot;
    json!({"file": file, "byte": byte, "line": line, "record": record})
}

fn spot_of(json: &Json) -> Option<InputPosition> {
    let number = |name: &str| json.get(name)?.as_u64();
    let place =
        RecordPosition { byte: number("byte")?, line: number("line")?, record: number("record")? };
    Some(InputPosition { file: usize::try_from(number("file")?).ok()?, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_file_is_read_only_by_the_same_import() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv.progress");
        let journal = ProgressFile::new(&path, json!({"table": "a"}));
        assert_eq!(journal.reached().unwrap(), None);
        let place = RecordPosition { byte: u64::MAX, line: 7, record: 6 };
        let counts = Counts { rows: 9, rejected: 1, same_key: 2, in_table: 3 };
        let spot = InputPosition { file: 1, place };
        let parts = vec![
            Part { start: InputPosition::default(), end: Some(spot) },
            Part { start: spot, end: None },
        ];
        let last = vec![Bytes::from_static(b"a\x00\\x"), Bytes::from_static(b"\xFF")];
        let rejects = vec!["out/a.csv.rejected.2".into()];
        let reached = Progress { counts, parts, written: 5, last, rejects };
        journal.note(&reached).unwrap();
        assert_eq!(journal.reached().unwrap(), Some(reached));
        let other = ProgressFile::new(&path, json!({"table": "b"})).reached().unwrap_err();
        assert!(other.message().contains("of another import"), "{other}");
        fs::write(&path, "{\"import\":").unwrap();
        assert!(journal.reached().unwrap_err().message().contains("unreadable"));
        journal.remove().unwrap();
        journal.remove().unwrap();
        assert_eq!(journal.reached().unwrap(), None);
    }
}
