//! How files are read.

use std::path::Path;

use rowhouse::{Error, Result};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated values, with the field names in the first line.
    Csv,
    /// A JSON object in each line.
    JsonLines,
    /// Apache Parquet (feature `parquet`).
    Parquet,
}

/// A text file's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, each unit's low byte first.
    Utf16Le,
    /// UTF-16, each unit's high byte first.
    Utf16Be,
}

impl Encoding {
    /// Returns the encoding for a text with these first bytes: the one that the byte order mark
    /// names, or else the declared one, or else UTF-8; `None` if nothing is declared and the text
    /// looks like UTF-16.
    pub(super) fn of(head: &[u8], declared: Option<Self>) -> Option<Self> {
        match (head, declared) {
            ([0xFF, 0xFE, ..], _) => Some(Self::Utf16Le),
            ([0xFE, 0xFF, ..], _) => Some(Self::Utf16Be),
            (_, Some(declared)) => Some(declared),
            // ASCII text in UTF-16 has a zero in every other byte.
            (head, None) => {
                let zeros: Vec<_> = head.iter().take(4).map(|byte| *byte == 0).collect();
                let is_utf16 =
                    zeros == [false, true, false, true] || zeros == [true, false, true, false];
                (!is_utf16).then_some(Self::Utf8)
            }
        }
    }
}

/// How files are read. Characters that are bytes are single ASCII characters.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The format for files whose names do not end in .csv, .tsv, .tab, .jsonl, .ndjson or
    /// .parquet, apart from .gz or .zst after it.
    pub format: Option<Format>,
    /// CSV and JSON lines: the encoding for files without a byte order mark; UTF-8 by default.
    pub encoding: Option<Encoding>,
    /// CSV: the delimiter; by default a tab in files that end in .tsv or .tab, a comma in others.
    pub delimiter: Option<u8>,
    /// CSV: the quote around values that contain a delimiter or a line end; `"` by default.
    pub quote: u8,
    /// CSV: the character that, within quotes, makes the next one part of the value; none by
    /// default, and then a quote within quotes is written twice.
    pub escape: Option<u8>,
    /// CSV: the field names, for files that do not begin with them.
    pub header: Vec<String>,
    /// CSV: accept rows with fewer values than there are names; those at the end are missing.
    pub short_rows: bool,
    /// CSV: the texts that mean a missing value. If there are none, an empty text does.
    pub nulls: Vec<String>,
    /// CSV: the decimal mark in numbers, which is not a digit or sign; a point by default.
    pub decimal_mark: char,
    /// CSV: the mark between three-digit groups in numbers; none by default.
    pub thousands: Option<char>,
    /// CSV and JSON lines: skip lines that begin with this.
    pub comment: Option<u8>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            format: None,
            encoding: None,
            delimiter: None,
            quote: b'"',
            escape: None,
            header: Vec::new(),
            short_rows: false,
            nulls: Vec::new(),
            decimal_mark: '.',
            thousands: None,
            comment: None,
        }
    }
}

impl Reading {
    /// Refuses characters that are not ASCII: they would be parts of others.
    pub(crate) fn check(&self) -> Result<()> {
        for (what, byte) in [
            ("delimiter", self.delimiter),
            ("quote", Some(self.quote)),
            ("escape", self.escape),
            ("comment", self.comment),
        ] {
            if let Some(byte) = byte.filter(|byte| !byte.is_ascii()) {
                let message = format!("expected one ASCII character: {what}=0x{byte:02x}");
                return Err(Error::invalid(message));
            }
        }
        let is_mark = |mark: char| !mark.is_ascii_alphanumeric() && !matches!(mark, '-' | '+');
        let marks = [Some(self.decimal_mark), self.thousands];
        if let Some(mark) = marks.into_iter().flatten().find(|mark| !is_mark(*mark)) {
            let message = format!("a mark in numbers is no letter, digit or sign: mark={mark}");
            return Err(Error::invalid(message));
        }
        if self.thousands == Some(self.decimal_mark) {
            return Err(Error::invalid(format!(
                "the decimal mark does not separate thousands, too: mark={}",
                self.decimal_mark
            )));
        }
        Ok(())
    }

    /// Returns the format of `path`, as declared or by its name.
    pub(super) fn format_of(&self, path: &Path) -> Result<Format> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        match extension(path).as_str() {
            "csv" | "tsv" | "tab" => Ok(Format::Csv),
            "jsonl" | "ndjson" => Ok(Format::JsonLines),
            "parquet" => Ok(Format::Parquet),
            _ => Err(Error::invalid(format!(
                "unknown file format: give --format csv, jsonl or parquet: file={}",
                path.display()
            ))),
        }
    }

    pub(super) fn delimiter_of(&self, path: &Path) -> u8 {
        let by_name = match extension(path).as_str() {
            "tsv" | "tab" => b'\t',
            _ => b',',
        };
        self.delimiter.unwrap_or(by_name)
    }

    /// Returns true if a value in a CSV file means a missing one.
    pub(super) fn is_null(&self, text: &str) -> bool {
        if self.nulls.is_empty() {
            text.is_empty()
        } else {
            self.nulls.iter().any(|null| null == text)
        }
    }
}

/// Returns the name extension that determines the format: for a compressed file, the extension
/// before the compression's.
fn extension(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = COMPRESSED.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    Path::new(name).extension().unwrap_or_default().to_string_lossy().into_owned()
}

/// Name extensions for compressed files. Whether files are compressed is read from their first
/// bytes.
const COMPRESSED: [&str; 4] = [".gz", ".gzip", ".zst", ".zstd"];
