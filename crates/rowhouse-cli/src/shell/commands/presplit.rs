//! Region boundaries for a new table: by rows, by the lines in a file, or by a number and a split
//! algorithm from HBase.

use rowhouse::Bytes;
use rowhouse::key::unescape;

use crate::shell::argument;
use crate::shell::failure::{Failure, Result, usage_error};
use crate::shell::grammar::Value;
use crate::shell::options::Options;

/// The most regions created by number.
const REGIONS_MAX: i64 = 100_000;

/// Takes SPLITS, SPLITS_FILE, or NUMREGIONS with SPLITALGO: the first row for each region but the
/// first.
pub(super) fn take(options: &mut Options) -> Result<Vec<Bytes>> {
    let file = options.take_text("SPLITS_FILE")?;
    let rows = options.take_list("SPLITS");
    let regions = options.take_integer("NUMREGIONS")?;
    let algorithm = options.take_text("SPLITALGO")?;
    let ways = [file.is_some(), !rows.is_empty(), regions.is_some() || algorithm.is_some()];
    if ways.into_iter().filter(|given| *given).count() > 1 {
        return usage_error(
            "only one of SPLITS, SPLITS_FILE, and NUMREGIONS with SPLITALGO can be given",
        );
    }
    if let Some(path) = file {
        return of_file(&path);
    }
    match (regions, algorithm) {
        (None, None) => rows.iter().map(of_value).collect(),
        (None, Some(_)) => usage_error("Number of regions must be specified"),
        (Some(_), None) => usage_error("Split algorithm must be specified"),
        (Some(regions), Some(algorithm)) => by_number(regions, &algorithm),
    }
}

fn by_number(regions: i64, algorithm: &str) -> Result<Vec<Bytes>> {
    if regions < 2 {
        return usage_error("Number of regions must be greater than 1");
    }
    if regions > REGIONS_MAX {
        return usage_error(format!("too many regions: NUMREGIONS={regions}, max={REGIONS_MAX}"));
    }
    match Algorithm::from_name(algorithm) {
        Some(algorithm) => Ok(algorithm.splits(regions.unsigned_abs())),
        None => usage_error(format!(
            "SPLITALGO must be one of {}: {algorithm}",
            Algorithm::ALL.map(Algorithm::name).join(", ")
        )),
    }
}

/// HBase's algorithms to divide keys evenly (`RegionSplitter`).
#[derive(Clone, Copy, Debug)]
enum Algorithm {
    /// Keys begin with eight hex digits in lower case.
    HexString,
    /// Keys begin with eight decimal digits.
    DecimalString,
    /// Keys are any bytes.
    Uniform,
}

impl Algorithm {
    const ALL: [Self; 3] = [Self::HexString, Self::DecimalString, Self::Uniform];

    /// Returns the name in HBase.
    fn name(self) -> &'static str {
        match self {
            Self::HexString => "HexStringSplit",
            Self::DecimalString => "DecimalStringSplit",
            Self::Uniform => "UniformSplit",
        }
    }

    /// Returns the one with that name, or with that Java class.
    fn from_name(name: &str) -> Option<Self> {
        let prefix = "org.apache.hadoop.hbase.util.RegionSplitter$";
        let name = name.strip_prefix(prefix).unwrap_or(name);
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Returns the first row for each of `regions` regions but the first; `regions` is 2 or more.
    /// Each has equally many keys, and the last one also the remainder.
    fn splits(self, regions: u64) -> Vec<Bytes> {
        let starts = |keys: u128| {
            let step = (keys / u128::from(regions)) as u64;
            (1..regions).map(move |at| step * at)
        };
        match self {
            Self::HexString => starts(1 << 32).map(|at| format!("{at:08x}").into()).collect(),
            Self::DecimalString => {
                starts(100_000_000).map(|at| format!("{at:08}").into()).collect()
            }
            Self::Uniform => {
                starts(1 << 64).map(|at| Bytes::copy_from_slice(&at.to_be_bytes())).collect()
            }
        }
    }
}

/// Reads a file whose lines are rows.
fn of_file(path: &str) -> Result<Vec<Bytes>> {
    match std::fs::read_to_string(path) {
        Ok(text) => text.lines().map(of_text).collect(),
        Err(error) => usage_error(format!("Splits file {path} cannot be read: {error}")),
    }
}

fn of_value(value: &Value) -> Result<Bytes> {
    let bytes = argument::bytes("SPLITS", value)?;
    match std::str::from_utf8(&bytes) {
        Err(_) => Ok(bytes),
        Ok(text) => of_text(text),
    }
}

/// Parses a split row: HBase reads `\xHH` in both kinds of quotes.
fn of_text(text: &str) -> Result<Bytes> {
    match unescape(text) {
        Ok(bytes) => Ok(bytes.into()),
        Err(error) => Err(Failure::Usage(error.message().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use rowhouse::key::escape;

    use super::*;

    #[test]
    fn regions_begin_where_apache_hbase_has_them_begin() {
        // Printed by HBase itself: compat/splits/run.sh.
        for line in include_str!("golden/splits.txt").lines() {
            let (arguments, rows) = line.split_once(':').unwrap();
            let (name, regions) = arguments.split_once(' ').unwrap();
            let splits = Algorithm::from_name(name).unwrap().splits(regions.parse().unwrap());
            let splits: Vec<_> = splits.iter().map(|row| escape(row)).collect();
            assert_eq!(splits.join(" "), rows[1..], "{arguments}");
        }
    }

    #[test]
    fn classes_of_hbase_are_known_too() {
        let class = "org.apache.hadoop.hbase.util.RegionSplitter$UniformSplit";
        assert!(matches!(Algorithm::from_name(class), Some(Algorithm::Uniform)));
        assert!(Algorithm::from_name("org.example.UniformSplit").is_none());
    }
}
