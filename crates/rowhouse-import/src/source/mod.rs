//! Readers for row files: [`csv`] and [`json_lines`] are [`text`], which may be compressed or in
//! UTF-16, [`parquet`] is not.

mod compression;
mod csv;
mod csv_input;
mod json_lines;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod quotes;
mod reading;
mod record;
mod text;
mod utf16;

use std::fs::File;
use std::path::Path;

use rowhouse::{Error, Result};

use crate::numbers::NumberMarks;
use compression::Compression;
use csv::CsvSource;
use json_lines::JsonLinesSource;
use lines::unreadable;
use parquet::ParquetSource;
pub use reading::{Encoding, Format, Reading};
pub(crate) use record::{Datum, Next, Record, RecordPosition};
use text::TextInput;

/// An open file with a position.
pub(crate) struct Source {
    len: u64,
    reader: SourceReader,
}

enum SourceReader {
    Csv(Box<CsvSource>),
    JsonLines(Box<JsonLinesSource>),
    Parquet(Box<ParquetSource>),
}

impl Source {
    /// Opens a file at the beginning. `expected_names` are the names to look for in files that have
    /// no name list.
    pub(crate) fn open(path: &Path, reading: &Reading, expected_names: &[String]) -> Result<Self> {
        let format = reading.format_of(path)?;
        let metadata = path.metadata().map_err(|source| unreadable(path, 1, source))?;
        if !metadata.is_file() {
            return Err(Error::invalid(format!(
                "rows are read twice, first to check their keys, so they must be in a file: \
                 path={}",
                path.display()
            )));
        }
        let text = || TextInput::open(path, reading.encoding);
        let reader = match format {
            Format::Csv => SourceReader::Csv(Box::new(CsvSource::open(path, text()?, reading)?)),
            Format::JsonLines => {
                let lines = JsonLinesSource::open(path, text()?, reading, expected_names)?;
                SourceReader::JsonLines(Box::new(lines))
            }
            Format::Parquet => {
                let file = parquet_file(path)?;
                SourceReader::Parquet(Box::new(ParquetSource::open(path, file)?))
            }
        };
        Ok(Self { len: metadata.len(), reader })
    }

    /// Returns the file size in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the field names, in the same order as a record's data.
    pub(crate) fn names(&self) -> &[String] {
        match &self.reader {
            SourceReader::Csv(csv) => csv.names(),
            SourceReader::JsonLines(lines) => lines.names(),
            SourceReader::Parquet(parquet) => parquet.names(),
        }
    }

    /// Returns true if rows may have fields that are not among [`Source::names`]: such rows are
    /// invalid, unless [`Source::ignore_names`] was called.
    pub(crate) fn allows_unknown_names(&self) -> bool {
        matches!(self.reader, SourceReader::JsonLines(_))
    }

    /// Ignores fields with these names in rows, or with any unknown name if there is no list.
    pub(crate) fn ignore_names(&mut self, names: Option<Vec<String>>) {
        if let SourceReader::JsonLines(lines) = &mut self.reader {
            lines.ignore_names(names);
        }
    }

    /// Returns true if [`Source::seek`] does not read what comes before the place.
    pub(crate) fn is_seekable(&self) -> bool {
        match &self.reader {
            SourceReader::Csv(csv) => csv.is_seekable(),
            SourceReader::JsonLines(lines) => lines.is_seekable(),
            SourceReader::Parquet(_) => true,
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
    /// `Io`, and `Corruption` for a file that cannot be read any further.
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

    /// Returns about how many file bytes have been read.
    pub(crate) fn bytes_done(&self) -> u64 {
        match &self.reader {
            SourceReader::Csv(csv) => csv.bytes_read(),
            SourceReader::JsonLines(lines) => lines.bytes_read(),
            SourceReader::Parquet(parquet) => {
                let done = parquet.place().line;
                let all = parquet.rows().max(1);
                (self.len as f64 * (done as f64 / all as f64)) as u64
            }
        }
    }

    /// Returns the last item that was read as it stands in the file's text; for a Parquet file,
    /// whose rows have no text, as a JSON line.
    pub(crate) fn original(&self, place: &RecordPosition, record: &Record) -> Vec<u8> {
        match &self.reader {
            SourceReader::Csv(csv) => csv.original(place),
            SourceReader::JsonLines(lines) => lines.original(),
            SourceReader::Parquet(_) => record.to_json(self.names()).into_bytes(),
        }
    }

    /// Returns the marks in the file's numbers.
    pub(crate) fn number_marks(&self) -> NumberMarks {
        match &self.reader {
            SourceReader::Csv(csv) => csv.number_marks(),
            // These formats have their own numbers.
            SourceReader::JsonLines(_) | SourceReader::Parquet(_) => NumberMarks::default(),
        }
    }

    /// Returns the line with the names, if the file has one.
    pub(crate) fn heading_line(&self) -> Option<u64> {
        match &self.reader {
            SourceReader::Csv(csv) => csv.heading_line(),
            SourceReader::JsonLines(_) | SourceReader::Parquet(_) => None,
        }
    }

    /// Returns the advice for a file whose names are all missing from the table.
    pub(crate) fn advice(&self) -> Option<String> {
        match &self.reader {
            SourceReader::Csv(csv) => csv.advice(),
            SourceReader::JsonLines(_) | SourceReader::Parquet(_) => None,
        }
    }

    /// Returns the text in the line with the names, if the file has one.
    pub(crate) fn heading(&self) -> Result<Option<Vec<u8>>> {
        match &self.reader {
            SourceReader::Csv(csv) => csv.heading(),
            SourceReader::JsonLines(_) | SourceReader::Parquet(_) => Ok(None),
        }
    }
}

/// Opens a Parquet file, which is read from the end and therefore not compressed as a whole.
fn parquet_file(path: &Path) -> Result<File> {
    let failed = |source| unreadable(path, 1, source);
    let mut file = File::open(path).map_err(failed)?;
    let head = text::head_of(&mut file).map_err(failed)?;
    match Compression::of(&head) {
        Ok(None) => Ok(file),
        Ok(Some(_)) | Err(_) => Err(Error::unsupported(format!(
            "a Parquet file is read from its end: decompress it: file={}",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests;
