//! Comma-separated values.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rowhouse::{Error, Result};

use super::quotes::Quotes;
use super::{Next, ROW_LEN_MAX, Reading, Record, RecordPosition, unreadable};

/// A CSV file, open.
pub(super) struct CsvSource {
    path: PathBuf,
    names: Vec<String>,
    reader: csv::Reader<Limited>,
    /// The offset up to which `reader` may read before the current row is too long.
    limit: Rc<Cell<u64>>,
    reading: Reading,
    quote: u8,
    comment: Option<u8>,
    has_heading: bool,
    len: u64,
}

impl CsvSource {
    pub(super) fn open(path: &Path, file: File, reading: &Reading) -> Result<Self> {
        let len = file.metadata().map_err(|source| unreadable(path, source))?.len();
        let limit = Rc::new(Cell::new(ROW_LEN_MAX));
        let has_heading = reading.header.is_empty();
        let (quote, comment) = (reading.quote, reading.comment);
        let delimiter = reading.delimiter_of(path);
        let quotes = Quotes::new(delimiter, quote, comment);
        let limited = Limited { file, at: 0, limit: Rc::clone(&limit), quotes };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .quote(quote)
            .comment(comment)
            .has_headers(has_heading)
            .from_reader(limited);
        let names = match has_heading {
            true => reader.headers().map_err(unreadable_csv)?.iter().map(str::to_owned).collect(),
            false => reading.header.clone(),
        };
        let heading = 0..reader.position().byte();
        if reader.get_mut().quotes.is_wrong(heading) {
            let path = path.display();
            return Err(Error::invalid(format!(
                "{BEHIND_QUOTE}, in the line with the names: file={path}"
            )));
        }
        if names.is_empty() {
            return Err(Error::invalid(format!("the file is empty: file={}", path.display())));
        }
        let reading = reading.clone();
        Ok(Self {
            path: path.to_owned(),
            names,
            reader,
            limit,
            reading,
            quote,
            comment,
            has_heading,
            len,
        })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the first byte of comment lines, if comments are enabled.
    pub(super) fn comment(&self) -> Option<u8> {
        self.comment
    }

    /// Returns the position of the next row, or of comments and empty lines before it.
    pub(super) fn place(&self) -> RecordPosition {
        place_of(self.reader.position())
    }

    pub(super) fn seek(&mut self, place: &RecordPosition) -> Result<()> {
        let mut position = csv::Position::new();
        position.set_byte(place.byte).set_line(place.line).set_record(place.record);
        self.limit.set(place.byte + ROW_LEN_MAX);
        self.reader.seek(position).map_err(unreadable_csv)
    }

    pub(super) fn next(&mut self, record: &mut Record) -> Result<Next> {
        let before = self.place();
        self.limit.set(before.byte + ROW_LEN_MAX);
        record.data.clear();
        let place = match self.reader.read_record(&mut record.text) {
            Ok(false) => return Ok(Next::End),
            Ok(true) => record.text.position().map_or(before, place_of),
            Err(error) if error.is_io_error() => return Err(self.unreadable(error, &before)),
            Err(error) => {
                let place = error.position().map_or(before, place_of);
                return Ok(Next::Broken(place, unreadable_csv(error)));
            }
        };
        let row = place.byte..self.place().byte;
        if self.reader.get_mut().quotes.is_wrong(row) {
            return Ok(Next::Broken(place, Error::invalid(BEHIND_QUOTE)));
        }
        // Given names determine the number of values of a row, as a line of names does.
        if record.text.len() != self.names.len() {
            return Ok(Next::Broken(place, unequal(record.text.len(), self.names.len())));
        }
        if self.place().byte >= self.len && self.reader.get_ref().quotes.is_open() {
            let why = Error::invalid("a quote is not closed before the end of the file");
            return Ok(Next::Broken(place, why));
        }
        record.nulls.clear();
        record.nulls.extend(record.text.iter().map(|text| self.reading.is_null(text)));
        Ok(Next::Row(place))
    }

    /// Returns the line with the names, as it stands in the file.
    pub(super) fn heading(&self) -> Result<Option<Vec<u8>>> {
        if !self.has_heading {
            return Ok(None);
        }
        let mut line = csv::WriterBuilder::new();
        let mut line = line
            .delimiter(self.reading.delimiter_of(&self.path))
            .quote(self.quote)
            .from_writer(Vec::new());
        line.write_record(&self.names).map_err(unreadable_csv)?;
        let line = line.into_inner().map_err(|error| unreadable(&self.path, error.into_error()))?;
        Ok(Some(line))
    }

    fn unreadable(&self, error: csv::Error, before: &RecordPosition) -> Error {
        match error.into_kind() {
            csv::ErrorKind::Io(source) if source.kind() == io::ErrorKind::FileTooLarge => {
                Error::invalid(format!(
                    "a row is too long, or a quote is not closed: file={}, line={}, bytes_max={ROW_LEN_MAX}",
                    self.path.display(),
                    before.line
                ))
            }
            csv::ErrorKind::Io(source) => unreadable(&self.path, source),
            other => Error::invalid(format!("the file is not CSV: {other:?}")),
        }
    }
}

/// Converts an error of the CSV reader to our wording.
fn unreadable_csv(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::io("cannot read the input", source),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            unequal(len as usize, expected_len as usize)
        }
        csv::ErrorKind::Utf8 { err, .. } => {
            Error::invalid(format!("a record must be UTF-8: field={}", err.field() + 1))
        }
        other => Error::invalid(format!("the input is not CSV: {other:?}")),
    }
}

fn unequal(values: usize, names: usize) -> Error {
    Error::invalid(format!(
        "a record must have as many values as there are names: values={values}, names={names}"
    ))
}

/// The reason why `"x"y` is invalid.
const BEHIND_QUOTE: &str =
    "a value continues after its closing quote; a quote within quotes is written twice";

fn place_of(position: &csv::Position) -> RecordPosition {
    RecordPosition { byte: position.byte(), line: position.line(), record: position.record() }
}

/// A file that is read up to a limit, which moves with the rows. After a seek, reading starts at
/// the beginning of a row.
struct Limited {
    file: File,
    at: u64,
    limit: Rc<Cell<u64>>,
    quotes: Quotes,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.limit.get() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.file.read(buffer)?;
        self.at += read as u64;
        self.quotes.push(&buffer[..read]);
        Ok(read)
    }
}

impl Seek for Limited {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.file.seek(to)?;
        self.quotes.seek(self.at);
        Ok(self.at)
    }
}
