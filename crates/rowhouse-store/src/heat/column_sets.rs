//! The columns that reads ask for together.

use rowhouse_model::{Bytes, Columns, HotColumns};

use super::hot_rows::{HotRows, ROW_BYTES_MAX};

/// A sketch of the column sets that reads in the last minutes named, by family. It has the same
/// bounds as [`HotRows`].
#[derive(Debug)]
pub(super) struct ColumnSets {
    /// The sets are the rows in it, as [`encode`] writes them.
    sets: HotRows,
    /// Reused for a set.
    set: Vec<u8>,
}

impl ColumnSets {
    pub(super) fn new(sets_max: usize) -> Self {
        Self { sets: HotRows::new(sets_max), set: Vec::new() }
    }

    /// Adds reads that name the same columns.
    pub(super) fn add(&mut self, columns: &Columns, reads: u64, now_millis: i64) {
        if columns.is_all() {
            self.sets.add(&[], reads, 0, now_millis);
        }
        for (family, qualifiers) in columns.families() {
            encode(family, qualifiers.named(), &mut self.set);
            if self.set.len() > ROW_BYTES_MAX {
                // So many columns are as good as the family.
                encode(family, std::iter::empty(), &mut self.set);
            }
            self.sets.add(&self.set, reads, 0, now_millis);
        }
    }

    /// Returns the sets, the most frequent first.
    pub(super) fn report(&mut self, now_millis: i64) -> Vec<HotColumns> {
        let sets = self.sets.rows(now_millis).into_iter();
        sets.map(|set| {
            let mut parts = decode(&set.row);
            HotColumns {
                family: parts.next().unwrap_or_default(),
                qualifiers: parts.collect(),
                reads: set.reads,
                overestimate: set.overestimate,
            }
        })
        .collect()
    }

    pub(super) fn set_sets_max(&mut self, sets_max: usize) {
        self.sets.set_rows_max(sets_max);
    }

    /// Returns the bytes it has allocated.
    pub(super) fn bytes(&self) -> usize {
        self.sets.bytes() + self.set.capacity()
    }
}

/// Writes a family and qualifiers, each after a two-byte length.
fn encode<'q>(family: &'q Bytes, qualifiers: impl Iterator<Item = &'q Bytes>, set: &mut Vec<u8>) {
    set.clear();
    for name in std::iter::once(family).chain(qualifiers) {
        // A name that is longer than a set may be is cut there.
        let name = &name[..name.len().min(ROW_BYTES_MAX)];
        set.extend_from_slice(&(name.len() as u16).to_le_bytes());
        set.extend_from_slice(name);
    }
}

fn decode(mut set: &[u8]) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let (len, rest) = set.split_first_chunk::<2>()?;
        let (name, rest) = rest.split_at_checked(u16::from_le_bytes(*len).into())?;
        set = rest;
        Some(Bytes::copy_from_slice(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_counted_by_family_and_many_columns_are_the_family() {
        let mut sets = ColumnSets::new(8);
        let mut two = Columns::all();
        two.add_column("d", "subject");
        two.add_column("d", "");
        two.add_family("e");
        let mut many = Columns::all();
        (0..200).for_each(|nth| many.add_column("d", format!("column{nth}")));
        sets.add(&two, 5, 0);
        sets.add(&two, 1, 0);
        sets.add(&many, 3, 0);
        sets.add(&Columns::all(), 2, 0);
        let set = |family: &'static str, qualifiers: &[&'static str], reads| HotColumns {
            family: family.into(),
            qualifiers: qualifiers.iter().map(|it| Bytes::from_static(it.as_bytes())).collect(),
            reads,
            overestimate: 0,
        };
        let expected =
            [set("d", &["", "subject"], 6), set("e", &[], 6), set("d", &[], 3), set("", &[], 2)];
        assert_eq!(sets.report(0), expected);
    }
}
