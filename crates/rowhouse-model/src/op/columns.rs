//! Which columns a read wants.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

/// A choice of columns: all of them, or whole families and single columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Per family, the qualifiers; an empty set is the whole family.
    families: BTreeMap<Bytes, BTreeSet<Bytes>>,
}

impl Columns {
    /// Every column.
    pub fn all() -> Self {
        Self::default()
    }

    /// Adds a whole family; single columns of it named before no longer narrow it.
    pub fn add_family(&mut self, family: impl Into<Bytes>) {
        self.families.insert(family.into(), BTreeSet::new());
    }

    /// Adds one column. After its whole family was added it narrows the family to the columns
    /// named since, as in HBase.
    pub fn add_column(&mut self, family: impl Into<Bytes>, qualifier: impl Into<Bytes>) {
        self.families.entry(family.into()).or_default().insert(qualifier.into());
    }

    /// Whether every column is wanted.
    pub fn is_all(&self) -> bool {
        self.families.is_empty()
    }

    /// The families named, each with its qualifiers (none: the whole family); nothing when every
    /// column is wanted.
    pub fn families(&self) -> impl Iterator<Item = (&Bytes, &BTreeSet<Bytes>)> {
        self.families.iter()
    }

    /// Whether any column of `family` is wanted.
    pub fn has_family(&self, family: &[u8]) -> bool {
        self.is_all() || self.families.contains_key(family)
    }

    /// Whether the column is wanted.
    pub fn has_column(&self, family: &[u8], qualifier: &[u8]) -> bool {
        self.is_all()
            || self
                .families
                .get(family)
                .is_some_and(|qualifiers| qualifiers.is_empty() || qualifiers.contains(qualifier))
    }

    /// The single columns wanted of `family`, or `None` when all of its columns are.
    pub fn qualifiers(&self, family: &[u8]) -> Option<&BTreeSet<Bytes>> {
        self.families.get(family).filter(|qualifiers| !qualifiers.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_and_columns_narrow_as_in_hbase() {
        let mut columns = Columns::all();
        assert!(columns.has_column(b"x", b"y"));
        columns.add_family("a");
        columns.add_column("b", "q");
        assert!(columns.has_column(b"a", b"anything"));
        assert!(columns.has_column(b"b", b"q"));
        assert!(!columns.has_column(b"b", b"r"));
        assert!(!columns.has_family(b"x"));
    }
}
