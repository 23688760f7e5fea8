//! Apache Parquet.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Once;

use parquet::basic::{Compression, LogicalType, TimeUnit as ParquetUnit};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use rowhouse::key::{Time, TimeUnit};
use rowhouse::{Error, Result};

use super::record::{Datum, Next, Record, RecordPosition};

/// A Parquet file, open.
pub(super) struct ParquetSource {
    path: PathBuf,
    file: SerializedFileReader<File>,
    names: Vec<String>,
    /// Columns with nanoseconds since 1970, which the reader returns as plain numbers.
    are_nanos: Vec<bool>,
    rows: u64,
    /// The row group after the one that is being read.
    next_group: usize,
    group: Option<ReaderIter>,
    place: RecordPosition,
}

impl ParquetSource {
    pub(super) fn open(path: &Path, file: File) -> Result<Self> {
        let file = catch_panics(path, || SerializedFileReader::new(file))?;
        let metadata = file.metadata().file_metadata();
        let rows = u64::try_from(metadata.num_rows()).map_err(|_| {
            corrupt(path, format_args!("negative number of rows: {}", metadata.num_rows()))
        })?;
        check_codecs(path, file.metadata())?;
        let fields = metadata.schema().get_fields();
        let names = fields.iter().map(|field| field.name().to_owned()).collect();
        let are_nanos = fields.iter().map(|field| {
            let logical = field.get_basic_info().logical_type_ref();
            matches!(logical, Some(LogicalType::Timestamp(stamp)) if stamp.unit == ParquetUnit::NANOS)
        });
        let are_nanos = are_nanos.collect();
        let place = START;
        let path = path.to_owned();
        Ok(Self { path, file, names, are_nanos, rows, next_group: 0, group: None, place })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn place(&self) -> RecordPosition {
        self.place
    }

    /// Seeks to a row without reading the row groups before it.
    pub(super) fn seek(&mut self, place: &RecordPosition) -> Result<()> {
        (self.next_group, self.group, self.place) = (0, None, START);
        for group in self.file.metadata().row_groups() {
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            if self.place.line + rows > place.line {
                break;
            }
            self.place.line += rows;
            self.next_group += 1;
        }
        while self.place.line < place.line && self.row()?.is_some() {}
        Ok(())
    }

    pub(super) fn next(&mut self, record: &mut Record) -> Result<Next> {
        let place = self.place;
        let Some(row) = self.row()? else { return Ok(Next::End) };
        let are_nanos = &self.are_nanos;
        let data = catch_panics(&self.path, || {
            let fields = row.into_columns().into_iter().enumerate();
            Ok(fields
                .map(|(at, (_, field))| datum(field, are_nanos.get(at) == Some(&true)))
                .collect())
        });
        record.data = data?;
        Ok(Next::Row(place))
    }

    /// Returns the file's next row. Errors have the row number.
    fn row(&mut self) -> Result<Option<Row>> {
        let row = self.place.line;
        self.row_of_any_group().map_err(|error| {
            let message = format!("{error}, row={row}");
            error.with_message(message)
        })
    }

    fn row_of_any_group(&mut self) -> Result<Option<Row>> {
        loop {
            let path = &self.path;
            if let Some(group) = &mut self.group
                && let Some(row) = catch_panics(path, || group.next().transpose())?
            {
                self.place.line += 1;
                return Ok(Some(row));
            }
            if self.next_group >= self.file.num_row_groups() {
                return if self.place.line - START.line == self.rows {
                    Ok(None)
                } else {
                    Err(corrupt(
                        path,
                        format_args!(
                            "want={} rows, have={}",
                            self.rows,
                            self.place.line - START.line
                        ),
                    ))
                };
            }
            let file = &self.file;
            let at = self.next_group;
            self.group = Some(catch_panics(path, || {
                let descriptor = file.metadata().file_metadata().schema_descr_ptr();
                let group = file.get_row_group(at)?;
                TreeBuilder::new().as_iter(descriptor, &*group)
            })?);
            self.next_group += 1;
        }
    }
}

/// Refuses files with a codec that is not supported, before a row is read.
fn check_codecs(path: &Path, metadata: &ParquetMetaData) -> Result<()> {
    let mut columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    let refused = columns.find_map(|column| Some((column, unsupported(column.compression())?)));
    match refused {
        None => Ok(()),
        Some((column, codec)) => Err(Error::unsupported(format!(
            "{codec} in Parquet is not supported; DuckDB writes the file with a codec that is: \
             duckdb -c \"COPY (FROM '{path}') TO 'NEW.parquet' (COMPRESSION snappy)\": \
             file={path}, column={column}",
            path = path.display(),
            column = column.column_path()
        ))),
    }
}

/// Returns the name for a codec that is not supported.
fn unsupported(codec: Compression) -> Option<&'static str> {
    match codec {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::LZ4
        | Compression::LZ4_RAW => None,
        // The crate's codec is C.
        Compression::ZSTD(_) => Some("ZSTD"),
        Compression::BROTLI(_) => Some("BROTLI"),
        Compression::LZO => Some("LZO"),
    }
}

/// Converts a column's value.
fn datum(field: Field, is_nanos: bool) -> Datum<'static> {
    let text = |text: String| Datum::Text(Cow::Owned(text));
    let foreign = |what| Datum::Foreign { what, shown: Cow::Owned(field.to_string()) };
    match &field {
        Field::Null => Datum::Null,
        Field::Long(nanos) if is_nanos => text(Time::new(*nanos, TimeUnit::Nanos).to_string()),
        Field::Bool(value) => text(value.to_string()),
        Field::Byte(value) => text(value.to_string()),
        Field::Short(value) => text(value.to_string()),
        Field::Int(value) => text(value.to_string()),
        Field::Long(value) => text(value.to_string()),
        Field::UByte(value) => text(value.to_string()),
        Field::UShort(value) => text(value.to_string()),
        Field::UInt(value) => text(value.to_string()),
        Field::ULong(value) => text(value.to_string()),
        Field::Float16(value) => text(value.to_string()),
        Field::Float(value) => text(value.to_string()),
        Field::Double(value) => text(value.to_string()),
        // Without digits after the point, it is still printed with the point.
        Field::Decimal(_) => text(field.to_string().trim_end_matches('.').to_owned()),
        Field::Str(value) => text(value.clone()),
        Field::Bytes(bytes) => Datum::Bytes(Cow::Owned(bytes.data().to_vec())),
        Field::Date(days) => {
            let midnight = i64::from(*days) * SECONDS_PER_DAY;
            let day = Time::new(midnight, TimeUnit::Seconds).to_string();
            text(day.split('T').next().unwrap_or_default().to_owned())
        }
        Field::TimestampMillis(millis) => text(Time::from_millis(*millis).to_string()),
        Field::TimestampMicros(micros) => text(Time::new(*micros, TimeUnit::Micros).to_string()),
        Field::TimeMillis(_) | Field::TimeMicros(_) => foreign("a time of day"),
        Field::Group(_) => foreign("a group of fields"),
        Field::ListInternal(_) => foreign("a list"),
        Field::MapInternal(_) => foreign("a map"),
    }
}

/// Runs a function on the file. Parquet's reader trusts the file, and panics if that is damaged;
/// this returns an error instead.
fn catch_panics<T>(path: &Path, run: impl FnOnce() -> Result<T, ParquetError>) -> Result<T> {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let previous_hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                previous_hook(info);
            }
        }));
    });
    let was = IS_GUARDED.replace(true);
    let ran = panic::catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(was);
    match ran {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(ParquetError::NYI(what))) => Err(Error::unsupported(format!(
            "the Parquet file has an unsupported part: {what}: file={}",
            path.display()
        ))),
        Ok(Err(error)) => Err(corrupt(path, format_args!("{error}"))),
        Err(_) => Err(corrupt(path, format_args!("its parts are inconsistent"))),
    }
}

fn corrupt(path: &Path, why: std::fmt::Arguments<'_>) -> Error {
    Error::corruption(format!(
        "the file is not Parquet, or damaged: {why}: file={}",
        path.display()
    ))
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

const START: RecordPosition = RecordPosition { byte: 0, line: 1, record: 0 };
const SECONDS_PER_DAY: i64 = 86_400;
