//! HBase's split restrictions, which keep rows with a common prefix in one region. Split policies
//! determine when a region is split.

use bytes::Bytes;

use crate::{Error, Result, TableDescriptor, escape};

const TYPE: &str = "hbase.regionserver.region.split_restriction.type";
const PREFIX_LENGTH: &str = "hbase.regionserver.region.split_restriction.prefix_length";
const DELIMITER: &str = "hbase.regionserver.region.split_restriction.delimiter";

/// The restriction that a table declares on split rows, for automatic and requested splits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SplitRestriction {
    /// Splits between any two rows.
    #[default]
    None,
    /// Never splits between rows that share a prefix of this many bytes.
    KeyPrefix(usize),
    /// Never splits between rows that are equal up to where this delimiter first occurs.
    DelimitedKeyPrefix(Bytes),
}

impl SplitRestriction {
    /// Returns the restriction that a table declares, as an attribute or in the configuration.
    ///
    /// # Errors
    /// `Unsupported` for another kind; `InvalidRequest` for a prefix restriction without length or
    /// delimiter, with which HBase would restrict nothing.
    pub(crate) fn of(table: &TableDescriptor) -> Result<Self> {
        match table.value(TYPE).as_deref() {
            None | Some("None") => Ok(Self::None),
            Some("KeyPrefix") => prefix_length(table, &[PREFIX_LENGTH]).map(Self::KeyPrefix),
            Some("DelimitedKeyPrefix") => delimiter(table, DELIMITER).map(Self::DelimitedKeyPrefix),
            Some(other) => Err(Error::unsupported(format!(
                "{TYPE} {} of table {} is not supported: supported=None, KeyPrefix, DelimitedKeyPrefix",
                escape(other.as_bytes()),
                table.name()
            ))),
        }
    }

    /// Returns the split row to use instead of `row`.
    #[must_use]
    pub fn split_row(&self, row: &Bytes) -> Bytes {
        match self {
            Self::None => row.clone(),
            Self::KeyPrefix(len) => first_bytes(row, *len),
            Self::DelimitedKeyPrefix(delimiter) => prefix_before(row, delimiter),
        }
    }
}

/// Returns a row's first `len` bytes, or a whole shorter row.
pub(crate) fn first_bytes(row: &Bytes, len: usize) -> Bytes {
    row.slice(..len.min(row.len()))
}

/// Returns the row part before the first `delimiter`; the whole row without one.
pub(crate) fn prefix_before(row: &Bytes, delimiter: &[u8]) -> Bytes {
    let position = row.windows(delimiter.len()).position(|part| part == delimiter);
    row.slice(..position.unwrap_or(row.len()))
}

/// Returns the prefix length that a table declares under the first name in the list that is set.
pub(crate) fn prefix_length(table: &TableDescriptor, names: &[&str]) -> Result<usize> {
    let declared = names.iter().find_map(|name| table.value(name)).unwrap_or_default();
    declared.parse().ok().filter(|len| *len > 0).ok_or_else(|| {
        Error::invalid(format!(
            "{} of table {} must be a number, 1 or more: {}",
            names[0],
            table.name(),
            escape(declared.as_bytes())
        ))
    })
}

/// Returns the delimiter that a table declares under this name.
pub(crate) fn delimiter(table: &TableDescriptor, name: &str) -> Result<Bytes> {
    let declared = table.value(name).filter(|delimiter| !delimiter.is_empty());
    declared
        .map(Bytes::from)
        .ok_or_else(|| Error::invalid(format!("{name} of table {} must be given", table.name())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, TableName};

    /// Parses a restriction from settings, set as attributes if `attributes` is true, otherwise in
    /// the configuration.
    fn of(values: &[(&'static str, &'static str)], attributes: bool) -> Result<SplitRestriction> {
        let mut table = TableDescriptor::new(TableName::parse("t").unwrap());
        for &(name, value) in values {
            if attributes {
                table = table.attribute(name, value);
            } else {
                table.configuration.insert(name.to_owned(), value.to_owned());
            }
        }
        SplitRestriction::of(&table)
    }

    #[test]
    fn restrictions_have_hbases_names() {
        for attributes in [false, true] {
            let of = |values: &[_]| of(values, attributes);
            assert_eq!(of(&[]).unwrap(), SplitRestriction::None);
            assert_eq!(of(&[(TYPE, "None")]).unwrap(), SplitRestriction::None);
            let prefix = of(&[(TYPE, "KeyPrefix"), (PREFIX_LENGTH, "2")]).unwrap();
            assert_eq!(prefix, SplitRestriction::KeyPrefix(2));
            let delimited = of(&[(TYPE, "DelimitedKeyPrefix"), (DELIMITER, ",")]).unwrap();
            assert_eq!(delimited, SplitRestriction::DelimitedKeyPrefix(Bytes::from_static(b",")));
            // A length without a type restricts nothing.
            assert_eq!(of(&[(PREFIX_LENGTH, "2")]).unwrap(), SplitRestriction::None);
            for (refused, kind) in [
                (of(&[(TYPE, "keyprefix")]), ErrorKind::Unsupported),
                (of(&[(TYPE, "KeyPrefix")]), ErrorKind::InvalidRequest),
                (of(&[(TYPE, "KeyPrefix"), (PREFIX_LENGTH, "0")]), ErrorKind::InvalidRequest),
                (of(&[(TYPE, "KeyPrefix"), (PREFIX_LENGTH, "two")]), ErrorKind::InvalidRequest),
                (of(&[(TYPE, "DelimitedKeyPrefix")]), ErrorKind::InvalidRequest),
            ] {
                assert_eq!(refused.unwrap_err().kind(), kind);
            }
        }
    }

    #[test]
    fn rows_that_belong_together_are_not_split() {
        let row = Bytes::from_static(b"user,42,7");
        let at = |restriction: SplitRestriction| restriction.split_row(&row);
        assert_eq!(at(SplitRestriction::None), row);
        assert_eq!(at(SplitRestriction::KeyPrefix(2)), "us");
        assert_eq!(at(SplitRestriction::KeyPrefix(20)), row);
        assert_eq!(at(SplitRestriction::DelimitedKeyPrefix(Bytes::from_static(b","))), "user");
        assert_eq!(at(SplitRestriction::DelimitedKeyPrefix(Bytes::from_static(b"#"))), row);
    }
}
