//! Rows, columns and timestamps in a path.

use std::collections::BTreeSet;

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use rowhouse_model::{Columns, Error, Get, Result, RowRange, Scan, TimeRange, Timestamp};

use super::model::Column;

/// Base64 as Java decodes it: with or without padding.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
pub(super) const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// What a path selects:
///
/// ```text
/// ROW[*|,END]/COLUMN[,COLUMN]…/[FROM,]TO
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowSpec {
    pub(super) row: Bytes,
    /// The row before which a range ends; empty for the table's end.
    pub(super) end: Option<Bytes>,
    /// Families and columns, in the order of their bytes.
    pub(super) columns: BTreeSet<Bytes>,
    pub(super) from: i64,
    /// Exclusive, except in deletes.
    pub(super) to: i64,
    pub(super) versions: u32,
    /// Whether blocks are cached.
    pub(super) caches: bool,
}

/// How keys and columns in a path are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyEncoding {
    Text,
    Base64Url,
    Base64,
}

impl KeyEncoding {
    /// Returns the encoding that the header `Encoding`, or the parameter `e`, names.
    ///
    /// # Errors
    /// `InvalidRequest` for an unknown name.
    pub(super) fn parse(name: Option<&str>) -> Result<Self> {
        match name {
            None => Ok(Self::Text),
            Some("b64" | "base64" | "b64url" | "base64url") => Ok(Self::Base64Url),
            Some("b64basic" | "base64basic") => Ok(Self::Base64),
            Some(other) => Err(Error::invalid(format!("unknown key encoding '{other}'"))),
        }
    }

    fn decode(self, text: Bytes) -> Result<Bytes> {
        let decoded = match self {
            Self::Text => return Ok(text),
            Self::Base64Url => BASE64_URL.decode(&text),
            Self::Base64 => BASE64.decode(&text),
        };
        decoded.map(Bytes::from).map_err(|error| Error::invalid(format!("not Base64: {error}")))
    }
}

impl RowSpec {
    /// Parses the part of a path after the table, which is escaped as in the address.
    ///
    /// # Errors
    /// `InvalidRequest`.
    pub(super) fn parse(path: &str, encoding: KeyEncoding) -> Result<Self> {
        let mut parts = path.trim_start_matches('/').split('/');
        let rows = parts.next().unwrap_or_default();
        let (start, end) = match rows.split_once(',') {
            Some((start, end)) => (unescaped(start)?, Some(unescaped(end)?)),
            None => (unescaped(rows)?, None),
        };
        if start.is_empty() {
            return Err(Error::invalid("the path has no row"));
        }
        let (row, end) = match (start.strip_suffix(b"*"), end) {
            (Some(_), Some(_)) => {
                return Err(Error::invalid("invalid path: start row specified with wildcard"));
            }
            // HBase's end of a glob: rows that go on with the byte 255 are not found.
            (Some(prefix), None) => (prefix.to_vec(), Some([prefix, &[0xff]].concat())),
            (None, end) => (start, end),
        };
        let mut columns = BTreeSet::new();
        let names = parts.next().unwrap_or_default();
        let (names, last) = names.rsplit_once(',').map_or((None, names), |(a, b)| (Some(a), b));
        for name in names.into_iter().flat_map(|names| names.split(',')) {
            if name.is_empty() {
                return Err(Error::invalid("invalid path: a column without a name"));
            }
            columns.insert(Bytes::from(unescaped(name)?));
        }
        if !last.is_empty() {
            columns.insert(Bytes::from(unescaped(last)?));
        }
        let (from, to) = match parts.next().filter(|times| !times.is_empty()) {
            Some(times) => parse_times(times)?,
            None => (0, i64::MAX),
        };
        let decode = |text: Vec<u8>| encoding.decode(Bytes::from(text));
        let columns = columns.into_iter().map(|column| encoding.decode(column));
        Ok(Self {
            row: decode(row)?,
            end: end.map(decode).transpose()?,
            columns: columns.collect::<Result<_>>()?,
            from,
            to,
            versions: 1,
            caches: true,
        })
    }

    /// Returns true for a path with one timestamp.
    pub(super) fn timestamp(&self) -> Option<i64> {
        (self.from == 0 && self.to != i64::MAX).then_some(self.to)
    }

    /// Returns the columns for a read.
    ///
    /// # Errors
    /// As [`Column::parse`].
    pub(super) fn selected(&self) -> Result<Columns> {
        selected(&self.columns)
    }

    /// Returns the read of one row.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid row, column or range of times.
    pub(super) fn to_get(&self) -> Result<Get> {
        let mut get = Get::new(self.row.clone())?.versions(versions(self.versions)?);
        get.columns = self.selected()?;
        get.time_range = time_range(self.from, self.to)?;
        get.cache_blocks = self.caches;
        Ok(get)
    }

    /// Returns the scan of a range.
    ///
    /// # Errors
    /// As [`RowSpec::to_get`].
    pub(super) fn to_scan(&self) -> Result<Scan> {
        let end = self.end.clone().unwrap_or_default();
        let mut scan = Scan::new(RowRange::new(self.row.clone(), end));
        scan.columns = self.selected()?;
        scan.time_range = time_range(self.from, self.to)?;
        scan.cache_blocks = self.caches;
        Ok(scan.versions(versions(self.versions)?))
    }
}

/// Returns a number of versions that HBase accepts.
///
/// # Errors
/// `InvalidRequest` for 0.
pub(super) fn versions(versions: u32) -> Result<u32> {
    if versions == 0 {
        return Err(Error::invalid("maxVersions must be positive"));
    }
    Ok(versions)
}

/// Returns the columns that a list of `family` and `family:qualifier` selects.
pub(super) fn selected<'c>(columns: impl IntoIterator<Item = &'c Bytes>) -> Result<Columns> {
    let mut selected = Columns::all();
    for column in columns {
        let column = Column::parse(column);
        match column.qualifier {
            None => selected.add_family(column.family),
            Some(qualifier) => selected.add_column(column.family, qualifier),
        }
    }
    Ok(selected)
}

/// Returns a range of times.
///
/// # Errors
/// `InvalidRequest` for negative times, and an end before the start.
pub(super) fn time_range(from: i64, to: i64) -> Result<TimeRange> {
    TimeRange::new(Timestamp::from_millis(from)?, Timestamp::from_millis(to)?)
}

fn parse_times(text: &str) -> Result<(i64, i64)> {
    let number = |text: &str| {
        let text = String::from_utf8(unescaped(text)?).unwrap_or_default();
        text.parse::<i64>().map_err(|_| Error::invalid(format!("not a timestamp: {text:?}")))
    };
    match text.split_once(',') {
        None => Ok((0, number(text)?)),
        Some((from, to)) => match (number(from)?, number(to)?) {
            // As HBase reads an end of 0.
            (from, 0) => Ok((0, from)),
            times => Ok(times),
        },
    }
}

/// Decodes `%HH`, and `+` for a blank as Java does.
///
/// # Errors
/// `InvalidRequest` for a `%` without two hexadecimal digits.
pub(super) fn unescaped(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => (high * 16 + low) as u8,
                    _ => return Err(Error::invalid(format!("`%` without two digits: {text}"))),
                }
            }
            byte => byte,
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(path: &str) -> RowSpec {
        RowSpec::parse(path, KeyEncoding::Text).unwrap()
    }

    fn columns(spec: &RowSpec) -> Vec<&[u8]> {
        spec.columns.iter().map(|column| &column[..]).collect()
    }

    #[test]
    fn a_path_selects_rows_columns_and_times() {
        let one = spec("/row%2F1");
        assert_eq!((&one.row[..], &one.end, one.to), (&b"row/1"[..], &None, i64::MAX));
        let range = spec("a,b+c/f:q,e/5");
        assert_eq!((&range.row[..], range.end.as_deref()), (&b"a"[..], Some(&b"b c"[..])));
        assert_eq!(columns(&range), [&b"e"[..], b"f:q"]);
        assert_eq!((range.timestamp(), range.from), (Some(5), 0));
        let glob = spec("row*/f:/3,9/more");
        assert_eq!((&glob.row[..], glob.end.as_deref()), (&b"row"[..], Some(&b"row\xff"[..])));
        assert_eq!(columns(&glob), [b"f:"]);
        assert_eq!((glob.from, glob.to, glob.timestamp()), (3, 9, None));
        assert_eq!(spec("a,").end.as_deref(), Some(&b""[..]));
        assert_eq!((spec("a//7,0").from, spec("a//7,0").to), (0, 7));
        // Only an unescaped comma separates.
        assert_eq!(&spec("a%2Cb").row[..], b"a,b");
    }

    #[test]
    fn keys_in_base64_are_decoded() {
        let spec = RowSpec::parse("YS1i/Zjpx", KeyEncoding::Base64Url).unwrap();
        assert_eq!((&spec.row[..], columns(&spec)), (&b"a-b"[..], vec![&b"f:q"[..]]));
        assert_eq!(&RowSpec::parse("__8", KeyEncoding::Base64Url).unwrap().row[..], b"\xff\xff");
        assert!(RowSpec::parse("__8", KeyEncoding::Base64).is_err());
        assert_eq!(KeyEncoding::parse(Some("b64basic")).unwrap(), KeyEncoding::Base64);
        assert!(KeyEncoding::parse(Some("hex")).is_err());
    }

    #[test]
    fn paths_without_a_row_and_damaged_ones_are_refused() {
        for path in ["", "/", "a*,b", "a/f:q,,g", "a/,f", "a/f/x", "a/f/1,x", "a%4"] {
            assert!(RowSpec::parse(path, KeyEncoding::Text).is_err(), "{path}");
        }
    }
}
