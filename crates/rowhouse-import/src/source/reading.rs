//! How files are read.

use std::path::Path;

use rowhouse::{Error, Result};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated values, with the names of the fields in the first line.
    Csv,
    /// A JSON object in each line.
    JsonLines,
    /// Apache Parquet (feature `parquet`).
    Parquet,
}

/// How files are read. Characters are single ASCII characters.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The format of files whose names do not end in .csv, .tsv, .jsonl, .ndjson or .parquet.
    pub format: Option<Format>,
    /// CSV: the delimiter; by default a tab in files that end in .tsv, a comma in others.
    pub delimiter: Option<u8>,
    /// CSV: the quote around values that contain a delimiter or a line end; `"` by default.
    pub quote: u8,
    /// CSV: the names of the fields, for files that do not begin with them.
    pub header: Vec<String>,
    /// CSV: the texts that mean a missing value. If there are none, an empty text does.
    pub nulls: Vec<String>,
    /// CSV and JSON lines: skip lines that begin with this.
    pub comment: Option<u8>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            format: None,
            delimiter: None,
            quote: b'"',
            header: Vec::new(),
            nulls: Vec::new(),
            comment: None,
        }
    }
}

impl Reading {
    /// Refuses characters that are not ASCII: they would be parts of others.
    pub(crate) fn check(&self) -> Result<()> {
        for (what, byte) in
            [("delimiter", self.delimiter), ("quote", Some(self.quote)), ("comment", self.comment)]
        {
            if let Some(byte) = byte.filter(|byte| !byte.is_ascii()) {
                let message = format!("expected one ASCII character: {what}=0x{byte:02x}");
                return Err(Error::invalid(message));
            }
        }
        Ok(())
    }

    /// Returns the format of `path`, as declared or by its name.
    pub(super) fn format_of(&self, path: &Path) -> Result<Format> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        match extension(path).as_str() {
            "csv" | "tsv" => Ok(Format::Csv),
            "jsonl" | "ndjson" => Ok(Format::JsonLines),
            "parquet" => Ok(Format::Parquet),
            _ => Err(Error::invalid(format!(
                "unknown file format: give --format csv, jsonl or parquet: file={}",
                path.display()
            ))),
        }
    }

    pub(super) fn delimiter_of(&self, path: &Path) -> u8 {
        let by_name = if extension(path) == "tsv" { b'\t' } else { b',' };
        self.delimiter.unwrap_or(by_name)
    }

    /// Returns whether a value of a CSV file means a missing one.
    pub(super) fn is_null(&self, text: &str) -> bool {
        match self.nulls.is_empty() {
            true => text.is_empty(),
            false => self.nulls.iter().any(|null| null == text),
        }
    }
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
