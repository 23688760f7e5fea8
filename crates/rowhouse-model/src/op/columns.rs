//! A read's column selection.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use bytes::Bytes;

use crate::equal_bytes;

/// A column selection: all columns, or whole families and single columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns(Families);

/// Most reads select one column in one family; that case needs no map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Families {
    #[default]
    All,
    One(Bytes, Qualifiers),
    Many(BTreeMap<Bytes, Qualifiers>),
}

/// The selected columns in one family: all columns, or the named ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qualifiers(Named);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Named {
    #[default]
    All,
    One(Bytes),
    Many(BTreeSet<Bytes>),
}

impl Columns {
    /// Selects every column.
    pub fn all() -> Self {
        Self::default()
    }

    /// Selects a whole family; columns in it named earlier no longer narrow the selection.
    pub fn add_family(&mut self, family: impl Into<Bytes>) {
        *self.family_mut(family.into()) = Qualifiers::all();
    }

    /// Selects one column. If the whole family was selected, this narrows it to the columns named
    /// since, as in HBase.
    #[inline]
    pub fn add_column(&mut self, family: impl Into<Bytes>, qualifier: impl Into<Bytes>) {
        let family = family.into();
        let qualifier = qualifier.into();
        match self.0 {
            Families::All => self.0 = Families::One(family, Qualifiers(Named::One(qualifier))),
            _ => self.family_mut(family).add(qualifier),
        }
    }

    /// Selects the columns in `others` as well. Unlike [`Columns::add_column`], it never narrows
    /// the selection.
    ///
    /// ```
    /// use rowhouse_model::Columns;
    ///
    /// let (mut columns, mut others) = (Columns::all(), Columns::all());
    /// columns.add_family("f");
    /// others.add_column("f", "a");
    /// others.add_column("g", "b");
    /// columns.include(&others);
    /// assert!(columns.has_column(b"f", b"x") && columns.has_column(b"g", b"b"));
    /// assert!(!columns.has_column(b"g", b"x"));
    /// ```
    pub fn include(&mut self, others: &Self) {
        if self.is_all() || others.is_all() {
            *self = Self::all();
        }
        for (family, named) in others.families() {
            let is_whole = self.find(family).is_some_and(Qualifiers::is_all);
            match named.is_all() {
                _ if self.is_all() || is_whole => {}
                true => self.add_family(family.clone()),
                false => {
                    let named = named.named().cloned();
                    named.for_each(|qualifier| self.add_column(family.clone(), qualifier));
                }
            }
        }
    }

    /// Returns the selection for a family, adding the family if absent.
    fn family_mut(&mut self, family: Bytes) -> &mut Qualifiers {
        let families = &mut self.0;
        match families {
            Families::All => *families = Families::One(family.clone(), Qualifiers::all()),
            Families::One(only, qualifiers) if *only != family => {
                let first = (std::mem::take(only), std::mem::take(qualifiers));
                *families = Families::Many(BTreeMap::from([first]));
            }
            Families::One(..) | Families::Many(_) => {}
        }
        match families {
            Families::One(_, qualifiers) => qualifiers,
            Families::Many(families) => families.entry(family).or_default(),
            Families::All => unreachable!("a family was named"),
        }
    }

    /// Returns true if every column is selected.
    pub fn is_all(&self) -> bool {
        matches!(self.0, Families::All)
    }

    /// Returns true if no single column is named: every column is selected, or whole families are.
    pub fn has_whole_families(&self) -> bool {
        self.families().all(|(_, qualifiers)| qualifiers.is_all())
    }

    /// Iterates over the named families in order, each with the selection; empty if every column is
    /// selected.
    pub fn families(&self) -> impl Iterator<Item = (&Bytes, &Qualifiers)> {
        let (one, many) = match &self.0 {
            Families::All => (None, None),
            Families::One(family, qualifiers) => (Some((family, qualifiers)), None),
            Families::Many(families) => (None, Some(families)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// Returns true if any column in `family` is selected.
    pub fn selects_family(&self, family: &[u8]) -> bool {
        self.is_all() || self.find(family).is_some()
    }

    /// Returns true if the column is selected.
    pub fn has_column(&self, family: &[u8], qualifier: &[u8]) -> bool {
        self.is_all() || self.find(family).is_some_and(|named| named.contains(qualifier))
    }

    /// Returns the columns named in `family`; `None` if all columns in it are selected or the
    /// family is not.
    pub fn qualifiers(&self, family: &[u8]) -> Option<&Qualifiers> {
        self.find(family).filter(|qualifiers| !qualifiers.is_all())
    }

    fn find(&self, family: &[u8]) -> Option<&Qualifiers> {
        match &self.0 {
            Families::All => None,
            Families::One(only, qualifiers) => equal_bytes(only, family).then_some(qualifiers),
            Families::Many(families) => families.get(family),
        }
    }
}

impl Qualifiers {
    /// Selects all columns in the family.
    pub fn all() -> Self {
        Self::default()
    }

    /// Returns true if all columns in the family are selected.
    pub fn is_all(&self) -> bool {
        matches!(self.0, Named::All)
    }

    /// Returns true if the column is selected.
    pub fn contains(&self, qualifier: &[u8]) -> bool {
        match &self.0 {
            Named::All => true,
            Named::One(only) => only == qualifier,
            Named::Many(named) => named.contains(qualifier),
        }
    }

    /// Iterates over the named columns in order; empty if all are selected.
    pub fn named(&self) -> impl Iterator<Item = &Bytes> {
        let (one, many) = match &self.0 {
            Named::All => (None, None),
            Named::One(only) => (Some(only), None),
            Named::Many(named) => (None, Some(named)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// Returns the named column if there is exactly one.
    pub fn only(&self) -> Option<&Bytes> {
        match &self.0 {
            Named::One(only) => Some(only),
            Named::Many(named) if named.len() == 1 => named.first(),
            Named::All | Named::Many(_) => None,
        }
    }

    /// Returns the first named column after `qualifier`.
    pub fn next_named(&self, qualifier: &[u8]) -> Option<&Bytes> {
        match &self.0 {
            Named::All => None,
            Named::One(only) => Some(only).filter(|only| only[..] > *qualifier),
            Named::Many(named) => {
                let after = (Bound::Excluded(qualifier), Bound::Unbounded);
                named.range::<[u8], _>(after).next()
            }
        }
    }

    fn add(&mut self, qualifier: Bytes) {
        match &mut self.0 {
            Named::All => self.0 = Named::One(qualifier),
            Named::One(only) => {
                let first = std::mem::take(only);
                self.0 = Named::Many(BTreeSet::from([first, qualifier]));
            }
            Named::Many(named) => {
                named.insert(qualifier);
            }
        }
    }
}

impl<T: Into<Bytes>> FromIterator<T> for Qualifiers {
    /// Selects the given columns; all if there are none.
    fn from_iter<I: IntoIterator<Item = T>>(named: I) -> Self {
        let mut qualifiers = Self::all();
        named.into_iter().for_each(|qualifier| qualifiers.add(qualifier.into()));
        qualifiers
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
        assert!(!columns.selects_family(b"x"));
        columns.add_column("a", "q");
        assert!(!columns.has_column(b"a", b"anything"));
        columns.add_family("b");
        assert!(columns.has_column(b"b", b"r"));
    }

    #[test]
    fn next_named_returns_the_column_after_a_qualifier() {
        let next = |named: &[&'static str], qualifier: &str| {
            let qualifiers: Qualifiers = named.iter().copied().collect();
            assert_eq!(qualifiers.named().count(), named.len());
            qualifiers.next_named(qualifier.as_bytes()).cloned()
        };
        assert_eq!(next(&[], "a"), None);
        assert_eq!(next(&["b"], "a"), Some("b".into()));
        assert_eq!(next(&["b"], "b"), None);
        assert_eq!(next(&["d", "b", "c"], "b"), Some("c".into()));
        assert_eq!(next(&["d", "b", "c"], "d"), None);
    }
}
