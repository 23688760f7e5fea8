//! HBase's split policies, which determine the size at which a region is split, and the split row.

use bytes::Bytes;

use crate::split_restriction::{delimiter, first_bytes, prefix_before, prefix_length};
use crate::{Error, Result, TableDescriptor, escape};

/// The Java package with HBase's policy classes.
const PACKAGE: &str = "org.apache.hadoop.hbase.regionserver.";
/// The setting that can name the policy, besides the attribute.
const CONFIGURATION: &str = "hbase.regionserver.region.split.policy";
const PREFIX_LENGTH: [&str; 2] =
    ["KeyPrefixRegionSplitPolicy.prefix_length", "prefix_split_key_policy.prefix_length"];
const DELIMITER: &str = "DelimitedKeyPrefixRegionSplitPolicy.delimiter";

/// A table's SPLIT_POLICY.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SplitPolicy {
    /// Regions are not split automatically.
    Disabled,
    /// Regions are split at the size that the table or store declares.
    ConstantSize,
    /// Regions are split earlier while the table has few regions: at the initial size times the
    /// cubed region count.
    IncreasingToUpperBound,
    /// A table's only region is split earlier, at the initial size. HBase's default.
    #[default]
    Stepping,
    /// As `IncreasingToUpperBound`, but never between rows that share a prefix of this many bytes.
    KeyPrefix(usize),
    /// As `IncreasingToUpperBound`, but never between rows that are equal up to this delimiter.
    DelimitedKeyPrefix(Bytes),
}

impl SplitPolicy {
    /// Returns the policy that a table declares.
    ///
    /// # Errors
    /// `Unsupported` for another class; `InvalidRequest` for a prefix policy without length or
    /// delimiter, with which HBase would split between any rows.
    pub(crate) fn of(table: &TableDescriptor) -> Result<Self> {
        let Some(class) = table.value("SPLIT_POLICY").or_else(|| table.value(CONFIGURATION)) else {
            return Ok(Self::default());
        };
        match class.strip_prefix(PACKAGE).unwrap_or("") {
            "DisabledRegionSplitPolicy" => Ok(Self::Disabled),
            "ConstantSizeRegionSplitPolicy" => Ok(Self::ConstantSize),
            "IncreasingToUpperBoundRegionSplitPolicy" => Ok(Self::IncreasingToUpperBound),
            "SteppingSplitPolicy" => Ok(Self::Stepping),
            "KeyPrefixRegionSplitPolicy" => {
                prefix_length(table, &PREFIX_LENGTH).map(Self::KeyPrefix)
            }
            "DelimitedKeyPrefixRegionSplitPolicy" => {
                delimiter(table, DELIMITER).map(Self::DelimitedKeyPrefix)
            }
            _ => Err(Error::unsupported(format!(
                "SPLIT_POLICY {} of table {} is not supported: supported={PACKAGE}{{{}}}",
                escape(class.as_bytes()),
                table.name(),
                SUPPORTED.join(", ")
            ))),
        }
    }

    /// Returns the split row for a region with `row` in the middle: a prefix of `row` that keeps
    /// related rows together.
    #[must_use]
    pub fn split_row(&self, row: &Bytes) -> Bytes {
        match self {
            Self::KeyPrefix(len) => first_bytes(row, *len),
            Self::DelimitedKeyPrefix(delimiter) => prefix_before(row, delimiter),
            Self::Disabled | Self::ConstantSize | Self::IncreasingToUpperBound | Self::Stepping => {
                row.clone()
            }
        }
    }
}

const SUPPORTED: [&str; 6] = [
    "SteppingSplitPolicy",
    "IncreasingToUpperBoundRegionSplitPolicy",
    "ConstantSizeRegionSplitPolicy",
    "KeyPrefixRegionSplitPolicy",
    "DelimitedKeyPrefixRegionSplitPolicy",
    "DisabledRegionSplitPolicy",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, TableName};

    fn table(attributes: &[(&'static str, &str)]) -> TableDescriptor {
        let table = TableDescriptor::new(TableName::parse("t").unwrap());
        attributes.iter().fold(table, |table, (name, value)| {
            table.attribute(*name, Bytes::from((*value).to_owned()))
        })
    }

    fn with(class: &str, attribute: Option<(&'static str, &str)>) -> Result<SplitPolicy> {
        let class = format!("{PACKAGE}{class}");
        let attributes: Vec<_> = [("SPLIT_POLICY", &*class)].into_iter().chain(attribute).collect();
        SplitPolicy::of(&table(&attributes))
    }

    #[test]
    fn policies_have_hbases_class_names() {
        assert_eq!(SplitPolicy::of(&table(&[])).unwrap(), SplitPolicy::Stepping);
        assert_eq!(with("ConstantSizeRegionSplitPolicy", None).unwrap(), SplitPolicy::ConstantSize);
        let len = Some((PREFIX_LENGTH[1], "3"));
        assert_eq!(with("KeyPrefixRegionSplitPolicy", len).unwrap(), SplitPolicy::KeyPrefix(3));
        let mut configured = table(&[]);
        let class = format!("{PACKAGE}DisabledRegionSplitPolicy");
        configured.configuration.insert(CONFIGURATION.into(), class);
        assert_eq!(SplitPolicy::of(&configured).unwrap(), SplitPolicy::Disabled);
        for (refused, kind) in [
            (with("BusyRegionSplitPolicy", None), ErrorKind::Unsupported),
            (SplitPolicy::of(&table(&[("SPLIT_POLICY", "mine")])), ErrorKind::Unsupported),
            (with("KeyPrefixRegionSplitPolicy", None), ErrorKind::InvalidRequest),
            (with("DelimitedKeyPrefixRegionSplitPolicy", None), ErrorKind::InvalidRequest),
        ] {
            assert_eq!(refused.unwrap_err().kind(), kind);
        }
    }

    #[test]
    fn rows_that_belong_together_are_not_split() {
        let row = Bytes::from_static(b"user#42");
        let at = |policy: SplitPolicy| policy.split_row(&row);
        assert_eq!(at(SplitPolicy::Stepping), row);
        assert_eq!(at(SplitPolicy::KeyPrefix(2)), "us");
        assert_eq!(at(SplitPolicy::KeyPrefix(20)), row);
        assert_eq!(at(SplitPolicy::DelimitedKeyPrefix(Bytes::from_static(b"#"))), "user");
        assert_eq!(at(SplitPolicy::DelimitedKeyPrefix(Bytes::from_static(b"::"))), row);
    }
}
