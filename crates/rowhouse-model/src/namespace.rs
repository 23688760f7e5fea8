//! Namespace declarations.

use std::collections::BTreeMap;

use crate::{Error, ErrorKind, Result, TableName};

/// A namespace and the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    name: String,
    /// Settings, stored and returned as given.
    pub configuration: BTreeMap<String, String>,
}

impl Namespace {
    /// Creates a namespace without settings.
    ///
    /// # Errors
    /// `InvalidRequest` if the name violates HBase's rules: letters and digits in any script and
    /// `_`, not empty, not `zookeeper`.
    pub fn new(name: &str) -> Result<Self> {
        check_namespace(name)?;
        Ok(Self { name: name.to_owned(), configuration: BTreeMap::new() })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if HBase creates the namespace itself; such a namespace cannot be dropped.
    pub fn is_reserved(&self) -> bool {
        [TableName::DEFAULT_NAMESPACE, TableName::SYSTEM_NAMESPACE].contains(&&*self.name)
    }

    /// Returns the most tables it may hold (`hbase.namespace.quota.maxtables`); `u64::MAX` by
    /// default.
    ///
    /// # Errors
    /// `InvalidRequest` if the setting is not a number; `NamespaceConstraint` if it is below 1.
    pub fn tables_max(&self) -> Result<u64> {
        self.quota(TABLES_MAX, "tables")
    }

    /// Returns the most regions its tables may have in total (`hbase.namespace.quota.maxregions`);
    /// `u64::MAX` by default.
    ///
    /// # Errors
    /// As [`Namespace::tables_max`].
    pub fn regions_max(&self) -> Result<u64> {
        self.quota(REGIONS_MAX, "region")
    }

    fn quota(&self, name: &str, what: &str) -> Result<u64> {
        let value = self.configuration.get(name).filter(|value| !value.is_empty());
        let Some(value) = value else { return Ok(u64::MAX) };
        let number: i64 = value.parse().map_err(|_| {
            Error::invalid(format!(
                "a quota of a namespace is not a number: namespace={}, setting={name}, \
                 value={value}",
                self.name
            ))
        })?;
        u64::try_from(number).ok().filter(|&number| number > 0).ok_or_else(|| {
            let name = &self.name;
            let message = format!("The max {what} quota for {name} is less than or equal to zero.");
            Error::new(ErrorKind::NamespaceConstraint, message)
        })
    }

    /// Checks that a store can hold this namespace as declared.
    ///
    /// # Errors
    /// As [`Namespace::tables_max`]; `Unsupported` for other quotas, which would silently have no
    /// effect.
    pub fn check(&self) -> Result<()> {
        self.regions_max()?;
        self.tables_max()?;
        let is_unknown = |name: &&String| {
            name.starts_with("hbase.namespace.quota.")
                && ![TABLES_MAX, REGIONS_MAX].contains(&name.as_str())
        };
        self.configuration.keys().find(is_unknown).map_or(Ok(()), |name| {
            Err(Error::unsupported(format!(
                "unknown quota: namespace={}, setting={name}",
                self.name
            )))
        })
    }
}

const TABLES_MAX: &str = "hbase.namespace.quota.maxtables";
const REGIONS_MAX: &str = "hbase.namespace.quota.maxregions";

/// Checks a namespace name, alone or as a table name's prefix.
pub(crate) fn check_namespace(name: &str) -> Result<()> {
    let refused =
        |what: String| Err(Error::invalid(format!("illegal namespace: {what}, name={name}")));
    if name.is_empty() {
        return refused("must not be empty".into());
    }
    if name == "zookeeper" {
        return refused("reserved".into());
    }
    if let Some(c) = name.chars().find(|c| !c.is_alphanumeric() && *c != '_') {
        return refused(format!("only letters, digits and _ are allowed, not {c:?}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(setting: &str, value: &str) -> Namespace {
        let mut namespace = Namespace::new("ns").unwrap();
        namespace.configuration.insert(setting.into(), value.into());
        namespace
    }

    #[test]
    fn quotas_of_tables_and_regions_are_read_and_others_refused() {
        assert!(with("owner", "x").check().is_ok());
        assert_eq!(with(TABLES_MAX, "5").tables_max().unwrap(), 5);
        assert_eq!(with(TABLES_MAX, "").tables_max().unwrap(), u64::MAX);
        assert_eq!(with(REGIONS_MAX, "7").regions_max().unwrap(), 7);
        let kind = |setting, value| with(setting, value).check().unwrap_err().kind();
        assert_eq!(kind(TABLES_MAX, "0"), ErrorKind::NamespaceConstraint);
        assert_eq!(kind(REGIONS_MAX, "-3"), ErrorKind::NamespaceConstraint);
        assert_eq!(kind(REGIONS_MAX, "many"), ErrorKind::InvalidRequest);
        assert_eq!(kind("hbase.namespace.quota.maxcells", "5"), ErrorKind::Unsupported);
    }
}
