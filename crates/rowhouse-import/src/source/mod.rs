//! Readers for files of rows: [`csv`] and [`json_lines`] are text, [`parquet`] is not.

mod csv;
mod json_lines;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod quotes;
mod reading;
mod record;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rowhouse::{Error, Result};

use csv::CsvSource;
use json_lines::JsonLinesSource;
use parquet::ParquetSource;
pub use reading::{Format, Reading};
pub(crate) use record::{Datum, Record, RecordPosition};

/// The next item of a file.
pub(crate) enum Next {
    /// A row, stored in the caller's record.
    Row(RecordPosition),
    /// An invalid row, and the reason.
    Broken(RecordPosition, Error),
    End,
}

/// An open file with a position.
pub(crate) struct Source {
    path: PathBuf,
    len: u64,
    reader: SourceReader,
}

enum SourceReader {
    Csv(Box<CsvSource>),
    JsonLines(JsonLinesSource),
    Parquet(Box<ParquetSource>),
}

impl Source {
    /// Opens a file at its beginning. `wanted` are the names to look for in files that have no list
    /// of names.
    pub(crate) fn open(path: &Path, reading: &Reading, wanted: &[String]) -> Result<Self> {
        let format = reading.format_of(path)?;
        let file = File::open(path).map_err(|source| unreadable(path, source))?;
        let metadata = file.metadata().map_err(|source| unreadable(path, source))?;
        if !metadata.is_file() {
            return Err(Error::invalid(format!(
                "rows are read twice, first to check their keys, so they must be in a file: \
                 path={}",
                path.display()
            )));
        }
        let reader = match format {
            Format::Csv => SourceReader::Csv(Box::new(CsvSource::open(path, file, reading)?)),
            Format::JsonLines => {
                SourceReader::JsonLines(JsonLinesSource::open(path, file, reading, wanted)?)
            }
            Format::Parquet => SourceReader::Parquet(Box::new(ParquetSource::open(path, file)?)),
        };
        Ok(Self { path: path.to_owned(), len: metadata.len(), reader })
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the names of the fields, in the order of a record's data.
    pub(crate) fn names(&self) -> &[String] {
        match &self.reader {
            SourceReader::Csv(csv) => csv.names(),
            SourceReader::JsonLines(lines) => lines.names(),
            SourceReader::Parquet(parquet) => parquet.names(),
        }
    }

    /// Returns whether rows may have fields that are not among [`Source::names`]: such rows are
    /// invalid, unless [`Source::ignore_names`] was called.
    pub(crate) fn allows_unknown_names(&self) -> bool {
        matches!(self.reader, SourceReader::JsonLines(_))
    }

    /// Ignores fields of these names in rows, or of any unknown name if there is no list.
    pub(crate) fn ignore_names(&mut self, names: Option<Vec<String>>) {
        if let SourceReader::JsonLines(lines) = &mut self.reader {
            lines.ignore_names(names);
        }
    }

    /// Continues at `place`, which this source returned before.
    pub(crate) fn seek(&mut self, place: &RecordPosition) -> Result<()> {
        match &mut self.reader {
            SourceReader::Csv(csv) => csv.seek(place),
            SourceReader::JsonLines(lines) => lines.seek(place),
            SourceReader::Parquet(parquet) => parquet.seek(place),
        }
    }

    /// Reads the next row into `record`.
    ///
    /// # Errors
    /// `Io`, and `Corruption` of a file that cannot be read any further.
    pub(crate) fn next(&mut self, record: &mut Record) -> Result<Next> {
        match &mut self.reader {
            SourceReader::Csv(csv) => csv.next(record),
            SourceReader::JsonLines(lines) => lines.next(record),
            SourceReader::Parquet(parquet) => parquet.next(record),
        }
    }

    /// Returns the position after the last item that was read.
    pub(crate) fn place(&self) -> RecordPosition {
        match &self.reader {
            SourceReader::Csv(csv) => csv.place(),
            SourceReader::JsonLines(lines) => lines.place(),
            SourceReader::Parquet(parquet) => parquet.place(),
        }
    }

    /// Returns about how many bytes of the file have been read.
    pub(crate) fn bytes_done(&self) -> u64 {
        match &self.reader {
            SourceReader::Csv(csv) => csv.place().byte,
            SourceReader::JsonLines(lines) => lines.place().byte,
            SourceReader::Parquet(parquet) => {
                let (done, all) = (parquet.place().line, parquet.rows().max(1));
                (self.len as f64 * (done as f64 / all as f64)) as u64
            }
        }
    }

    /// Returns the last item that was read as it stands in the file, and its line; for a Parquet
    /// file, whose rows have no text, as a line of JSON.
    pub(crate) fn original(
        &self,
        place: &RecordPosition,
        record: &Record,
    ) -> Result<(u64, Vec<u8>)> {
        let comment = match &self.reader {
            SourceReader::Parquet(_) => {
                return Ok((place.line, record.to_json(self.names()).into_bytes()));
            }
            SourceReader::Csv(csv) => csv.comment(),
            // Its positions are after skipped lines.
            SourceReader::JsonLines(_) => None,
        };
        let bytes = bytes_of(&self.path, place.byte, self.place().byte)?;
        let (mut line, mut rest) = (place.line, &bytes[..]);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let first = &rest[..end];
            if !first.trim_ascii().is_empty()
                && (comment.is_none() || first.first() != comment.as_ref())
            {
                break;
            }
            (line, rest) = (line + 1, &rest[end + 1..]);
        }
        Ok((line, rest.trim_ascii_end().to_vec()))
    }

    /// Returns the line with the names, if the file has one.
    pub(crate) fn heading(&self) -> Result<Option<Vec<u8>>> {
        match &self.reader {
            SourceReader::Csv(csv) => csv.heading(),
            SourceReader::JsonLines(_) | SourceReader::Parquet(_) => Ok(None),
        }
    }
}

/// Returns the bytes of a file between two offsets.
fn bytes_of(path: &Path, start: u64, end: u64) -> Result<Vec<u8>> {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(end.saturating_sub(start)).read_to_end(&mut bytes).map(|_| bytes)
    };
    read().map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: std::io::Error) -> Error {
    Error::io(format_args!("cannot read {}", path.display()), source)
}

/// The longest row of a text file, in bytes: a quote that is never closed would take the rest of
/// the file.
const ROW_LEN_MAX: u64 = 64 << 20;

#[cfg(test)]
mod tests;
