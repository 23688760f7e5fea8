//! Table names.

use std::fmt;

use crate::namespace::check_namespace;
use crate::{Error, Result};

/// A table name: `qualifier` in the default namespace, `namespace:qualifier` elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    namespace: String,
    qualifier: String,
}

impl TableName {
    /// The namespace for table names without one.
    pub const DEFAULT_NAMESPACE: &str = "default";
    /// The namespace for HBase's own tables.
    pub const SYSTEM_NAMESPACE: &str = "hbase";

    /// Parses `qualifier` or `namespace:qualifier`.
    ///
    /// # Errors
    /// `InvalidRequest` if the name violates HBase's rules: letters and digits in any script and
    /// `_` in both parts, `-` and `.` also in the qualifier but not first, neither part empty or
    /// `zookeeper`.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once(':') {
            Some((namespace, qualifier)) => Self::new(namespace, qualifier),
            None => Self::new(Self::DEFAULT_NAMESPACE, text),
        }
    }

    /// Creates a name from the parts; errors as [`TableName::parse`].
    pub fn new(namespace: &str, qualifier: &str) -> Result<Self> {
        check_namespace(namespace)?;
        let refused = |what: String| {
            Err(Error::invalid(format!("illegal table name: {what}, name={qualifier}")))
        };
        if qualifier.is_empty() {
            return refused("qualifier must not be empty".into());
        }
        if qualifier.starts_with(['.', '-']) {
            return refused("must begin with a letter, a digit or _".into());
        }
        if qualifier == "zookeeper" {
            return refused("reserved".into());
        }
        if let Some(c) = qualifier.chars().find(|c| !c.is_alphanumeric() && !"_-.".contains(*c)) {
            return refused(format!("only letters, digits and _ - . are allowed, not {c:?}"));
        }
        Ok(Self { namespace: namespace.to_owned(), qualifier: qualifier.to_owned() })
    }

    /// Returns `hbase:meta`, the table with all regions.
    pub fn meta() -> Self {
        Self::system("meta")
    }

    /// Returns `hbase:namespace`, the table with all namespaces.
    pub fn namespace_table() -> Self {
        Self::system("namespace")
    }

    fn system(qualifier: &str) -> Self {
        Self { namespace: Self::SYSTEM_NAMESPACE.into(), qualifier: qualifier.into() }
    }

    /// Returns the namespace; `default` if the name shows none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the name within the namespace.
    pub fn qualifier(&self) -> &str {
        &self.qualifier
    }

    /// Returns true if the table is a system table in HBase.
    pub fn is_system(&self) -> bool {
        self.namespace == Self::SYSTEM_NAMESPACE
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace == Self::DEFAULT_NAMESPACE {
            f.write_str(&self.qualifier)
        } else {
            write!(f, "{}:{}", self.namespace, self.qualifier)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_names_follow_hbases_rules() {
        for good in ["t", "ns:t", "a-b.c_d", "表", "_x", "9"] {
            assert_eq!(TableName::parse(good).unwrap().to_string(), good);
        }
        for bad in ["", ":t", "ns:", "-t", ".t", "a b", "a:b:c", "n-s:t", "zookeeper", "a/b"] {
            assert!(TableName::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(TableName::parse("default:t").unwrap().to_string(), "t");
    }
}
