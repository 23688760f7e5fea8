//! Namespaces as they are declared.

use std::collections::BTreeMap;

use crate::{Error, Result, TableName};

/// A namespace and its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    name: String,
    /// Settings, kept and returned.
    pub configuration: BTreeMap<String, String>,
}

impl Namespace {
    /// A namespace without settings.
    ///
    /// # Errors
    /// HBase's rules for the name: letters and digits of any script and `_`, not empty, not
    /// `zookeeper`.
    pub fn new(name: &str) -> Result<Self> {
        check_namespace(name)?;
        Ok(Self { name: name.to_owned(), configuration: BTreeMap::new() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether HBase itself makes it: such a namespace is never dropped.
    pub fn is_reserved(&self) -> bool {
        [TableName::DEFAULT_NAMESPACE, TableName::SYSTEM_NAMESPACE].contains(&&*self.name)
    }

    /// Checks that a store can keep this namespace as declared.
    ///
    /// # Errors
    /// `Unsupported` for quotas, which would silently have no effect.
    pub fn check(&self) -> Result<()> {
        let quota =
            self.configuration.keys().find(|name| name.starts_with("hbase.namespace.quota."));
        quota.map_or(Ok(()), |name| {
            Err(Error::unsupported(format!(
                "quotas are not supported: namespace={}, setting={name}",
                self.name
            )))
        })
    }
}

/// Checks the name of a namespace, by itself or in front of a table's.
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
    use crate::ErrorKind;

    #[test]
    fn settings_without_effect_are_refused() {
        let mut namespace = Namespace::new("ns").unwrap();
        namespace.configuration.insert("owner".into(), "x".into());
        assert!(namespace.check().is_ok());
        namespace.configuration.insert("hbase.namespace.quota.maxtables".into(), "5".into());
        assert_eq!(namespace.check().unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
