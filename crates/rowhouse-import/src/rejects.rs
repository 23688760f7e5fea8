//! Files with rejected rows.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rowhouse::{Error, Result};
use rowhouse_model::escape_line;

/// Writes rejected rows: for each input file to one with `.rejected` appended to the name, each row
/// as it stands in the input file, after a line with the position and the error.
///
/// ```text
/// carrier,flight,time_hour
/// # line 17: field `number`: expected a number from 0 to 65535: value=x
/// UA,x,2013-01-01T10:00:00Z
/// ```
///
/// Such a file can be corrected and imported with `--comment '#'`. It is created with the first
/// rejected row, and gets its name when it is complete. A user may be correcting the file from an
/// earlier import, so a number, from 2, is appended to a name that is taken. If the same rows were
/// rejected for the same reasons, the existing file remains.
pub(crate) struct Rejects {
    dir: PathBuf,
    /// The file being written, and the name that it will get if that is free.
    open: Option<(BufWriter<File>, PathBuf)>,
    made: Vec<PathBuf>,
    /// The first rejected row, and the reason.
    first: Option<String>,
    count: u64,
    count_max: u64,
}

impl Rejects {
    /// Creates the writer: rejected rows of `files` go to files in `dir`; more than `count_max`
    /// rows stop the import.
    ///
    /// # Errors
    /// `InvalidRequest` for two files with one name.
    pub(crate) fn new(dir: &Path, files: &[PathBuf], count_max: u64) -> Result<Self> {
        let mut names = BTreeSet::new();
        if let Some(twice) = files.iter().find(|file| !names.insert(name_of(file))) {
            return Err(Error::invalid(format!(
                "two files of the import have the same name, so their rejected rows would go to \
                 one file: file={}",
                twice.display()
            )));
        }
        let dir = dir.to_owned();
        Ok(Self { dir, open: None, made: Vec::new(), first: None, count: 0, count_max })
    }

    /// Returns the temporary file that holds a file's rejected rows while the file is being read.
    pub(crate) fn part_of(dir: &Path, file: &Path) -> PathBuf {
        part_of(&dir.join(name_of(file)))
    }

    /// Returns how many rows were rejected.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the first rejected row's place, and the reason.
    pub(crate) fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// Returns the files that were written.
    pub(crate) fn made(&self) -> &[PathBuf] {
        &self.made
    }

    /// Adds a row from `file`.
    ///
    /// # Errors
    /// `Io`; `InvalidRequest` if it exceeds the limit.
    pub(crate) fn push(&mut self, file: &Path, why: &Error, row: &Original) -> Result<()> {
        let why = escape_line(why.message().lines().next().unwrap_or_default());
        let path = self.dir.join(name_of(file));
        self.write(&path, &why, row).map_err(|source| io("write", &path, source))?;
        self.first.get_or_insert_with(|| format!("{}, line {}: {why}", file.display(), row.line));
        self.count += 1;
        if self.count > self.count_max {
            self.finish_file()?;
            let rejects_file = self.made.last().unwrap_or(&path);
            return Err(Error::invalid(format!(
                "too many rows are rejected, nothing was written; they are in {}: max={}, file={}, line={}: {why}",
                rejects_file.display(),
                self.count_max,
                file.display(),
                row.line
            )));
        }
        Ok(())
    }

    /// Gives the file being written, if there is one, the final name. There must be no more rows
    /// from the input file.
    pub(crate) fn finish_file(&mut self) -> Result<()> {
        let Some((out, path)) = self.open.take() else { return Ok(()) };
        let name = || {
            out.into_inner().map_err(io::IntoInnerError::into_error)?;
            named(&part_of(&path), &path)
        };
        self.made.push(name().map_err(|source| io("write", &path, source))?);
        Ok(())
    }

    fn write(&mut self, path: &Path, why: &str, row: &Original) -> io::Result<()> {
        let out = match &mut self.open {
            Some((out, _)) => out,
            None => {
                let mut out = BufWriter::new(File::create(part_of(path))?);
                out.write_all(&row.heading)?;
                &mut self.open.insert((out, path.to_owned())).0
            }
        };
        writeln!(out, "# line {}: {why}", row.line)?;
        out.write_all(&row.row)?;
        out.write_all(b"\n")
    }
}

/// A row as it stands in the file.
#[derive(Debug, Default)]
pub(crate) struct Original {
    /// The line with the names, with the line end; empty in files without one.
    pub(crate) heading: Vec<u8>,
    /// The line, or the row number in a Parquet file, from 1.
    pub(crate) line: u64,
    /// The row, without the line end.
    pub(crate) row: Vec<u8>,
}

fn name_of(file: &Path) -> OsString {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".rejected");
    name
}

fn part_of(path: &Path) -> PathBuf {
    with_end(path, ".part")
}

/// Renames a file to the first free name from `path`, `path.2`, `path.3` and so on. An earlier file
/// with the same content remains instead. Returns the name.
fn named(part: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut name = path.to_owned();
    let mut number = 1_u64;
    while fs::exists(&name)? {
        if name.is_file() && is_same(part, &name)? {
            fs::remove_file(part)?;
            return Ok(name);
        }
        number += 1;
        name = with_end(path, &format!(".{number}"));
    }
    fs::rename(part, &name)?;
    Ok(name)
}

/// Returns true if two files have the same content.
fn is_same(a: &Path, b: &Path) -> io::Result<bool> {
    let a = File::open(a)?;
    let b = File::open(b)?;
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let mut a = BufReader::new(a);
    let mut b = BufReader::new(b);
    loop {
        let read = a.fill_buf()?;
        let other = b.fill_buf()?;
        let len = read.len().min(other.len());
        if read[..len] != other[..len] {
            return Ok(false);
        }
        if len == 0 {
            // Both have the same length, so both have ended.
            return Ok(true);
        }
        a.consume(len);
        b.consume(len);
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

fn io(doing: &str, path: &Path, source: io::Error) -> Error {
    Error::io(format_args!("cannot {doing} rejected rows, {}", path.display()), source)
}
