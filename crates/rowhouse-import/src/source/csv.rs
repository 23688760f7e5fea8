//! Comma-separated values.

use std::path::{Path, PathBuf};

use rowhouse::{Error, Result};

use crate::numbers::NumberMarks;

use super::csv_input::CsvInput;
use super::lines::{unreadable, without_line_end};
use super::reading::Reading;
use super::record::{Next, Record, RecordPosition};
use super::text::TextInput;

/// A CSV file, open.
pub(super) struct CsvSource {
    path: PathBuf,
    names: Vec<String>,
    /// The line with the names; `None` if they are given.
    heading_line: Option<u64>,
    reader: csv::Reader<CsvInput>,
    reading: Reading,
    delimiter: u8,
}

impl CsvSource {
    pub(super) fn open(path: &Path, text: TextInput, reading: &Reading) -> Result<Self> {
        let has_heading = reading.header.is_empty();
        let delimiter = reading.delimiter_of(path);
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .quote(reading.quote)
            .escape(reading.escape)
            .comment(reading.comment)
            .has_headers(has_heading)
            // Rows are compared with the names below, not with the first row.
            .flexible(true)
            .from_reader(CsvInput::new(text, delimiter, reading));
        let mut names = reading.header.clone();
        let mut heading_line = None;
        if has_heading {
            let heading = reader.headers().map_err(|error| unreadable_csv(path, 1, error))?;
            names = heading.iter().map(str::to_owned).collect();
            let heading = 0..reader.position().byte();
            let (_, lines) = reader.get_ref().skipped(heading.clone());
            heading_line = Some(1 + lines);
            if reader.get_mut().is_wrong(heading) {
                return Err(Error::invalid(format!(
                    "{TEXT_AFTER_QUOTE}, in the line with the names: file={}, line={}",
                    path.display(),
                    1 + lines
                )));
            }
        }
        if names.is_empty() {
            return Err(Error::invalid(format!("the file is empty: file={}", path.display())));
        }
        let path = path.to_owned();
        let reading = reading.clone();
        Ok(Self { path, names, heading_line, reader, reading, delimiter })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the line with the names, if the file has one.
    pub(super) fn heading_line(&self) -> Option<u64> {
        self.heading_line
    }

    pub(super) fn number_marks(&self) -> NumberMarks {
        let Reading { decimal_mark, thousands, .. } = self.reading;
        NumberMarks { decimal: decimal_mark, thousands }
    }

    pub(super) fn is_seekable(&self) -> bool {
        self.reader.get_ref().text().is_seekable()
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.reader.get_ref().text().bytes_read()
    }

    /// Returns the next row's position, or the position of comments and line ends before it.
    pub(super) fn place(&self) -> RecordPosition {
        place_of(self.reader.position())
    }

    pub(super) fn seek(&mut self, place: &RecordPosition) -> Result<()> {
        let mut position = csv::Position::new();
        position.set_byte(place.byte).set_line(place.line).set_record(place.record);
        self.reader.seek(position).map_err(|error| unreadable_csv(&self.path, place.line, error))
    }

    pub(super) fn next(&mut self, record: &mut Record) -> Result<Next> {
        let before = self.place();
        self.reader.get_mut().begin_row(before.byte);
        record.data.clear();
        let is_read = self.reader.read_record(&mut record.text);
        let (bytes, lines) = self.reader.get_ref().skipped(before.byte..self.place().byte);
        let place = RecordPosition {
            byte: before.byte + bytes,
            line: before.line + lines,
            record: before.record,
        };
        match is_read.map_err(csv::Error::into_kind) {
            Ok(false) => return Ok(Next::End),
            Ok(true) => {}
            Err(csv::ErrorKind::Utf8 { err, .. }) => {
                return Ok(Next::Broken(place, not_utf8(err.field())));
            }
            Err(csv::ErrorKind::Io(source)) => {
                return Err(unreadable(&self.path, before.line, source));
            }
            Err(other) => return Err(not_csv(&self.path, before.line, &other)),
        }
        let row = place.byte..self.place().byte;
        if self.reader.get_mut().is_wrong(row) {
            return Ok(Next::Broken(place, Error::invalid(TEXT_AFTER_QUOTE)));
        }
        if self.reader.get_ref().is_open_at_end() {
            let why = Error::invalid("a quote is not closed before the end of the file");
            return Ok(Next::Broken(place, why));
        }
        if place.record == 0 && record.text == self.names {
            return Err(Error::invalid(format!(
                "the first row is the names that --header gives: omit --header: file={}, line={}",
                self.path.display(),
                place.line
            )));
        }
        let values = record.text.len();
        let names = self.names.len();
        if values > names || (values < names && !self.reading.short_rows) {
            return Ok(Next::Broken(place, self.unequal(&record.text)));
        }
        record.nulls.clear();
        record.nulls.extend(record.text.iter().map(|text| self.reading.is_null(text)));
        Ok(Next::Row(place))
    }

    /// Returns the row at `place`, the last that was read, as it stands in the file.
    pub(super) fn original(&self, place: &RecordPosition) -> Vec<u8> {
        let row = self.reader.get_ref().row(place.byte..self.place().byte);
        without_line_end(row).to_vec()
    }

    /// Returns the line with the names, as CSV.
    pub(super) fn heading(&self) -> Result<Option<Vec<u8>>> {
        if self.heading_line.is_none() {
            return Ok(None);
        }
        let mut line = csv::WriterBuilder::new();
        let mut line =
            line.delimiter(self.delimiter).quote(self.reading.quote).from_writer(Vec::new());
        let unwritten = |error| unreadable_csv(&self.path, 1, error);
        line.write_record(&self.names).map_err(unwritten)?;
        line.into_inner().map(Some).map_err(|error| unwritten(error.into_error().into()))
    }

    /// Returns the advice for a file whose names are all missing from the table.
    pub(super) fn advice(&self) -> Option<String> {
        self.heading_line?;
        Some(match (&self.names[..], self.other_delimiter(&self.names.join(","))) {
            ([_], Some(other)) => format!(
                "the line with the names has no {}: give --delimiter {}",
                shown(self.delimiter),
                shown(other)
            ),
            _ => "no name of the first line is one of the table; if the line is a row, give the names \
                  with --header"
                .to_owned(),
        })
    }

    fn unequal(&self, row: &csv::StringRecord) -> Error {
        let values = row.len();
        let names = self.names.len();
        let other = row.get(0).filter(|_| values == 1).and_then(|row| self.other_delimiter(row));
        let why = match other {
            Some(other) if names > 1 => &*format!(
                "the row has no {}, give --delimiter {}",
                shown(self.delimiter),
                shown(other)
            ),
            _ if values < names => {
                "a record has fewer values than there are names; --short-rows accepts it"
            }
            _ => "a record has more values than there are names",
        };
        Error::invalid(format!("{why}: values={values}, names={names}"))
    }

    /// Returns the delimiter that a text without delimiters seems to have.
    fn other_delimiter(&self, text: &str) -> Option<u8> {
        let count = |delimiter: u8| text.bytes().filter(|byte| *byte == delimiter).count();
        let others = DELIMITERS.into_iter().filter(|other| *other != self.delimiter);
        others.filter(|other| count(*other) > 0).max_by_key(|other| count(*other))
    }
}

/// Returns a delimiter as a command line argument.
fn shown(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "'\\t'".to_owned(),
        other => format!("'{}'", char::from(other)),
    }
}

fn not_utf8(field: usize) -> Error {
    Error::invalid(format!(
        "a record must be UTF-8; iconv converts a file, as in iconv -f GB18030 -t UTF-8: field={}",
        field + 1
    ))
}

/// Converts a CSV reader or writer error to our wording.
fn unreadable_csv(path: &Path, line: u64, error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => unreadable(path, line, source),
        csv::ErrorKind::Utf8 { err, .. } => {
            let why = not_utf8(err.field());
            let message = format!("{why}, file={}, line={line}", path.display());
            why.with_message(message)
        }
        other => not_csv(path, line, &other),
    }
}

fn not_csv(path: &Path, line: u64, why: &csv::ErrorKind) -> Error {
    Error::invalid(format!("the file is not CSV: {why:?}: file={}, line={line}", path.display()))
}

/// The reason why `"x"y` is invalid.
const TEXT_AFTER_QUOTE: &str = "a value continues after its closing quote; a quote within quotes is \
     written twice, or with --escape after a backslash";

/// The delimiters in most files.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

fn place_of(position: &csv::Position) -> RecordPosition {
    RecordPosition { byte: position.byte(), line: position.line(), record: position.record() }
}
