//! File rows as values, for a workload that declares no distributions.

use std::path::Path;

use rowhouse::{Error, Result, Value};

use crate::source::{Datum, Next, Reading, Record, Source};

/// File rows, in file order.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSample {
    /// The requested names that the file has.
    pub names: Vec<String>,
    /// Up to as many rows as are requested, each with the names' values; a missing value is null.
    pub rows: Vec<Vec<Value>>,
}

/// Reads the first `rows_max` rows of a CSV, JSON lines or Parquet file. `read` makes a value for
/// the field with a name from the text. Names in the file that are not requested are ignored.
///
/// ```
/// use rowhouse_import::{Reading, read_sample};
///
/// # let dir = tempfile::tempdir().unwrap();
/// let file = dir.path().join("mail.csv");
/// std::fs::write(&file, "user,sender,size\nbob,eve,7\nann,,8\n").unwrap();
/// let names = ["user".to_owned(), "sender".to_owned()];
/// let sample = read_sample(&file, &Reading::default(), &names, 100, |_, text| Ok(text.into()))?;
/// assert_eq!(sample.names, ["user", "sender"]);
/// assert_eq!(sample.rows[0], ["bob".into(), "eve".into()]);
/// assert!(sample.rows[1][1].is_null());
/// # Ok::<(), rowhouse::Error>(())
/// ```
///
/// # Errors
/// `Io`; `InvalidRequest` with the line number for the first row that is no row or has a value that
/// `read` refuses.
pub fn read_sample(
    path: &Path,
    reading: &Reading,
    selected: &[String],
    rows_max: usize,
    read: impl Fn(&str, &str) -> Result<Value>,
) -> Result<FileSample> {
    reading.check()?;
    let mut source = Source::open(path, reading, selected)?;
    source.ignore_names(None);
    let places: Vec<(String, usize)> = selected
        .iter()
        .filter_map(|name| {
            let place = source.names().iter().position(|other| other == name);
            place.map(|place| (name.clone(), place))
        })
        .collect();
    let mut record = Record::default();
    let mut rows = Vec::new();
    while rows.len() < rows_max {
        let at_line = |error: Error, line: u64| {
            error.with_context(format_args!("{}, line {line}", path.display()))
        };
        match source.next(&mut record)? {
            Next::End => break,
            Next::Broken(position, error) => return Err(at_line(error, position.line)),
            Next::Row(position) => {
                let values = places.iter().map(|(name, place)| {
                    value(record.datum(*place), name, &read)
                        .map_err(|error| at_line(error, position.line))
                });
                rows.push(values.collect::<Result<_>>()?);
            }
        }
    }
    let names = places.into_iter().map(|(name, _)| name).collect();
    Ok(FileSample { names, rows })
}

fn value(
    datum: Datum<'_>,
    name: &str,
    read: impl Fn(&str, &str) -> Result<Value>,
) -> Result<Value> {
    match datum {
        Datum::Null => Ok(Value::Null),
        Datum::Text(text) => read(name, &text),
        Datum::List(value) => Ok(value),
        Datum::Bytes(bytes) => Ok(bytes.into_owned().into()),
        Datum::Foreign { what, shown } => Err(Error::invalid(format!(
            "`{name}` is {what}, which no field can hold: value={shown}"
        ))),
    }
}
