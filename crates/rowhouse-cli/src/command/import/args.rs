//! The arguments of `rowhouse import`.

use std::path::PathBuf;

use rowhouse::key::KeySchema;
use rowhouse::schema::{ColumnSchema, TableName};
use rowhouse::{Database, Error, Result};
use rowhouse_import::{Duplicates, Encoding, Format, Import, Reading, TimeForm, check_set};

use crate::command::{DATA_DIR, argument};

/// Arguments of `rowhouse import`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rowhouse import [OPTIONS] TABLE FILE...\n       rowhouse import TABLE --hfiles DIR [--data DIR]"
)]
pub(crate) struct ImportArgs {
    /// The table, such as blog or news:blog
    #[arg(value_name = "TABLE", value_parser = TableName::parse)]
    pub(super) table: TableName,
    /// Files of rows: CSV, JSON lines, Parquet; text may be compressed by gzip or zstd
    #[arg(value_name = "FILE", required_unless_present = "hfiles")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) rows: RowArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    mapping: MappingArgs,
    #[command(flatten)]
    making: CreateTableArgs,
    /// HFiles, in a folder for each family; the table has these families, and no server may have
    /// the data directory open
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "RowArgs", "ReadingArgs", "MappingArgs", "CreateTableArgs", "connect"])]
    pub(super) hfiles: Option<PathBuf>,
    /// The data directory; a server that holds it is connected to
    #[arg(long, value_name = "DIR", default_value = DATA_DIR, conflicts_with = "connect")]
    pub(super) data: PathBuf,
    /// The database, by URL: hbase://HOST:PORT, hbase+zk://HOST:PORT/ZNODE, hbase+tls://HOST:PORT,
    /// or a path; an hbase-site.xml names a cluster by HBase's own settings
    #[arg(long, value_name = "URL", value_parser = argument::url)]
    pub(super) connect: Option<String>,
}

/// Arguments for the treatment of rows.
#[derive(Debug, clap::Args)]
pub(super) struct RowArgs {
    /// The treatment of rows that have the key of another, in the files or in the table
    #[arg(long, value_name = "HOW", default_value = "refuse")]
    duplicates: DuplicatesArg,
    /// Check all rows, and write none
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Sort the rows and write them to files of the table's regions, atomically, instead of as
    /// puts; no server may have the data directory open
    #[arg(long, conflicts_with = "connect")]
    pub(super) sorted: bool,
    /// The directory for rejected rows, for each FILE in FILE.rejected
    #[arg(long, value_name = "DIR", default_value = ".")]
    rejects: PathBuf,
    /// Stop before anything is written if more rows than this are rejected
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    rejects_max: u64,
    /// The progress file of the import, with which the same command resumes after an interruption
    /// [default: FILE.progress of the first FILE, in this directory]
    #[arg(long, value_name = "FILE")]
    progress: Option<PathBuf>,
    /// The number of rows written at once
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch_rows: u32,
    /// The megabytes of keys, and with --sorted of rows, that are sorted in memory, before
    /// temporary files are used
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    memory: u32,
    /// Print a JSON document instead of text
    #[arg(long)]
    pub(super) json: bool,
}

/// The treatment of rows that have the key of another.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum DuplicatesArg {
    /// Write nothing, and report the rows
    Refuse,
    /// Columns of later rows replace the same ones of earlier rows; columns that only one of them
    /// has are all kept
    Merge,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatArg {
    /// Comma-separated values, with the names of the fields in the first line
    Csv,
    /// A JSON object in each line
    Jsonl,
    /// Apache Parquet
    Parquet,
}

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EncodingArg {
    /// UTF-8
    #[value(name = "utf-8")]
    Utf8,
    /// UTF-16, the low byte first
    #[value(name = "utf-16le")]
    Utf16Le,
    /// UTF-16, the high byte first
    #[value(name = "utf-16be")]
    Utf16Be,
}

/// Arguments for reading files.
#[derive(Clone, Debug, clap::Args)]
struct ReadingArgs {
    /// The format of files whose names do not end in .csv, .tsv, .tab, .jsonl, .ndjson or .parquet,
    /// with or without .gz or .zst
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatArg>,
    /// CSV and JSON lines: the encoding of files without a byte order mark [default: utf-8]
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<EncodingArg>,
    /// CSV: the delimiter (\t for a tab, the default in files that end in .tsv or .tab)
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// CSV: the quote around values that contain a delimiter or a line end
    #[arg(long, value_name = "CHARACTER", default_value = "\"", value_parser = one_character)]
    quote: u8,
    /// CSV: within quotes, makes the next character part of the value, as in "a\"b"; without it, a
    /// quote is written twice
    #[arg(long, value_name = "CHARACTER", value_parser = one_character)]
    escape: Option<u8>,
    /// CSV: the names of the fields, for files that do not begin with them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    header: Vec<String>,
    /// CSV: accept rows with fewer values than there are names: those at the end are missing
    #[arg(long)]
    short_rows: bool,
    /// CSV: a text that means a missing value; if given, an empty text is an empty value
    #[arg(long = "null", value_name = "TEXT")]
    nulls: Vec<String>,
    /// CSV: the decimal mark of numbers
    #[arg(long, value_name = "CHARACTER", default_value = ".")]
    decimal_mark: char,
    /// CSV: the mark between groups of three digits of numbers, as in 1,234,567
    #[arg(long, value_name = "CHARACTER")]
    thousands: Option<char>,
    /// CSV and JSON lines: skip lines that begin with this
    #[arg(long, value_name = "CHARACTER", value_parser = one_character)]
    comment: Option<u8>,
}

/// Arguments for fields whose names differ from the table's.
#[derive(Clone, Debug, Default, clap::Args)]
struct MappingArgs {
    /// Write a field of the file to the field or column of that name
    #[arg(long = "map", value_name = "NAME=FIELD", value_parser = argument::pair)]
    maps: Vec<(String, String)>,
    /// Compose a field or column from fields of the file, {NAME:02} with leading zeros, {NAME:.14}
    /// cut after that many characters: --set 'at={day}T{hour:02}:{minute:02}'
    #[arg(long = "set", value_name = "FIELD=TEXT", value_parser = set)]
    sets: Vec<(String, String)>,
    /// Leave out a field of the file
    #[arg(long = "skip", value_name = "NAME")]
    skips: Vec<String>,
    /// Leave out all fields of the file that the table does not have
    #[arg(long)]
    skip_unknown: bool,
    /// The form of a field's or column's times: iso (2022-12-01T08:00), ymd (20221201), ymdhm,
    /// ymdhms, a count of its own units, or of seconds, millis, micros or nanos, or a pattern such
    /// as '%d/%m/%Y %H:%M' [default: recognized from all values of a file]
    #[arg(long = "times", value_name = "NAME=FORM", value_parser = times)]
    times: Vec<(String, TimeForm)>,
}

/// Arguments that declare the table.
#[derive(Debug, clap::Args)]
struct CreateTableArgs {
    /// Create the table if it is missing: the template of its key, such as '[user string][at millis
    /// desc]'
    #[arg(long, value_name = "TEMPLATE", requires = "columns", value_parser = KeySchema::parse)]
    key: Option<KeySchema>,
    /// The columns of a table that is created, such as 'd:n count u32; d:s subject string'; it gets
    /// their families
    #[arg(long, value_name = "DECLARATIONS", requires = "key", value_parser = ColumnSchema::parse)]
    columns: Option<ColumnSchema>,
    /// The number of regions of a table that is created, if its key is distributed evenly
    #[arg(long, value_name = "N", requires = "key")]
    regions: Option<usize>,
}

impl ImportArgs {
    /// Returns the import that the arguments describe.
    pub(super) fn import(&self, database: &Database) -> Import {
        let RowArgs { rejects, rejects_max, batch_rows, memory, .. } = &self.rows;
        let mut import = Import::new(database, self.table.clone())
            .files(&self.files)
            .reading(self.reading.reading())
            .duplicates(match self.rows.duplicates {
                DuplicatesArg::Refuse => Duplicates::Refuse,
                DuplicatesArg::Merge => Duplicates::Merge,
            })
            .rejects(rejects)
            .rejects_max(*rejects_max)
            .batch_rows(*batch_rows as usize)
            .memory_bytes(*memory as usize * 1_000_000);
        if let Some(file) = &self.rows.progress {
            import = import.progress(file);
        }
        if let CreateTableArgs { key: Some(key), columns: Some(columns), regions } = &self.making {
            import = import.declare(key.clone(), columns.clone(), *regions);
        }
        self.mapping.add_to(import)
    }
}

impl ReadingArgs {
    fn reading(&self) -> Reading {
        let format = self.format.map(|format| match format {
            FormatArg::Csv => Format::Csv,
            FormatArg::Jsonl => Format::JsonLines,
            FormatArg::Parquet => Format::Parquet,
        });
        let encoding = self.encoding.map(|encoding| match encoding {
            EncodingArg::Utf8 => Encoding::Utf8,
            EncodingArg::Utf16Le => Encoding::Utf16Le,
            EncodingArg::Utf16Be => Encoding::Utf16Be,
        });
        Reading {
            format,
            encoding,
            delimiter: self.delimiter,
            quote: self.quote,
            escape: self.escape,
            header: self.header.clone(),
            short_rows: self.short_rows,
            nulls: self.nulls.clone(),
            decimal_mark: self.decimal_mark,
            thousands: self.thousands,
            comment: self.comment,
        }
    }
}

impl MappingArgs {
    fn add_to(&self, mut import: Import) -> Import {
        for (from, to) in &self.maps {
            import = import.map(from, to);
        }
        for (to, text) in &self.sets {
            import = import.set(to, text);
        }
        for name in &self.skips {
            import = import.skip(name);
        }
        for (name, form) in &self.times {
            import = import.times(name, form.clone());
        }
        if self.skip_unknown { import.skip_unknown() } else { import }
    }
}

/// Parses the argument of `--delimiter`.
fn delimiter(text: &str) -> Result<u8> {
    if text == "\\t" { Ok(b'\t') } else { one_character(text) }
}

/// Parses the other arguments of one character.
fn one_character(text: &str) -> Result<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err(Error::invalid(format!("expected one ASCII character: character={text}"))),
    }
}

/// Parses a FIELD=TEXT whose text is a valid composition.
fn set(text: &str) -> Result<(String, String)> {
    let (field, text) = argument::pair(text)?;
    check_set(&text)?;
    Ok((field, text))
}

/// Parses a NAME=FORM.
fn times(text: &str) -> Result<(String, TimeForm)> {
    let (name, form) = argument::pair(text)?;
    Ok((name, TimeForm::parse(&form)?))
}
