//! Compares a table that is maintained by hand as an index with what a declared index would hold.

use std::collections::BTreeSet;

use rowhouse_model::{Bytes, Error, Filter, Get, Result, Row, Scan, TableDescriptor};
use rowhouse_schema::{ColumnSchema, Index, IndexSchema, KeySchema, Value, Values};

use super::Admin;
use crate::table::Table;

/// How many keys a comparison names for each kind.
const NAMED_MAX: usize = 10;

/// The rows that are read at once.
const ROWS_AT_ONCE: usize = 500;

/// How a table's keys differ from the keys that an index would have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexComparison {
    /// Rows that were read from the base table.
    pub rows: u64,
    /// Rows among them whose keys do not fit the template: they have no entries.
    pub unfit_rows: u64,
    /// Rows in the table that is maintained by hand.
    pub entries: u64,
    /// Entries that are not in it.
    pub missing: u64,
    /// Rows in it that are no entry for any row.
    pub stale: u64,
    /// The keys for the first ten missing entries, and the keys for their rows.
    pub first_missing: Vec<(Bytes, Bytes)>,
    /// The keys for the first ten stale rows.
    pub first_stale: Vec<Bytes>,
}

impl IndexComparison {
    /// Whether the table has the keys that the index would have.
    pub fn is_same(&self) -> bool {
        self.missing == 0 && self.stale == 0
    }
}

impl Admin<'_> {
    /// Compares the keys in a table that programs maintain as an index, `by_hand`, with the keys
    /// that an index on table `name` would have. `index` is the index declaration, or a declared
    /// index's name. The table that is maintained by hand declares a key with the index fields, in
    /// the layout that the programs use. Without a declared key, its keys are compared with entry
    /// keys byte by byte. Cells are not compared. Rows that are written meanwhile may count as
    /// different.
    ///
    /// ```
    /// use rowhouse::{Put, TableSpec};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let spec = TableSpec::new("follow").family("d").key("[fan text]:[star text]");
    /// let follow = database.create_table(spec).await?;
    /// follow.row(&[("fan", "ann".into()), ("star", "bob".into())]).set("d", "q", "").put().await?;
    ///
    /// // A program writes the other direction, and has forgotten a row.
    /// let spec = TableSpec::new("fans").family("d").key("[star text]:[fan text]");
    /// let fans = database.create_table(spec).await?;
    /// fans.put(Put::new("bob:eve")?.add("d", "q", "")?).await?;
    ///
    /// let admin = database.admin();
    /// let compared = admin.compare_index("follow", "by_star [star][fan]", "fans").await?;
    /// assert_eq!((compared.missing, compared.stale), (1, 1));
    /// assert_eq!(compared.first_missing[0], ("bob:ann".into(), "ann:bob".into()));
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` for a mistake in the declaration, a
    /// full-text index, a row that cannot be indexed, and a key that has other fields than the
    /// index.
    pub async fn compare_index(
        self,
        name: &str,
        index: &str,
        by_hand: &str,
    ) -> Result<IndexComparison> {
        let keys = Keys {
            index: index_of(&self.describe(name).await?, index)?,
            by_hand: KeySchema::of_table(&self.describe(by_hand).await?)?,
        };
        keys.check()?;
        let index = &keys.index;
        let base = self.database.table(name).await?;
        let by_hand = self.database.table(by_hand).await?;
        let mut compared = IndexComparison::default();
        let mut rows = base.scan(Scan { columns: index.columns().clone(), ..Scan::all() }).await?;
        let mut expected = Vec::new();
        while let Some(row) = rows.next().await? {
            compared.rows += 1;
            if !index.fits(row.key()) {
                compared.unfit_rows += 1;
                continue;
            }
            for entry in entries(index, &row)? {
                expected.push((keys.of_entry(&entry)?, Bytes::copy_from_slice(row.key())));
            }
            if expected.len() >= ROWS_AT_ONCE {
                compared.look_for(std::mem::take(&mut expected), &by_hand).await?;
            }
        }
        compared.look_for(expected, &by_hand).await?;
        let mut rows = by_hand.scan(keys_only()).await?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().await? {
            compared.entries += 1;
            found.push(Bytes::copy_from_slice(row.key()));
            if found.len() >= ROWS_AT_ONCE {
                compared.judge(std::mem::take(&mut found), &keys, &base).await?;
            }
        }
        compared.judge(found, &keys, &base).await?;
        Ok(compared)
    }
}

impl IndexComparison {
    /// Counts the entries that a table does not have.
    async fn look_for(&mut self, expected: Vec<(Bytes, Bytes)>, by_hand: &Table) -> Result<()> {
        let get = |(entry, _): &(Bytes, Bytes)| -> Result<Get> {
            let mut get = Get::new(entry.clone())?;
            get.filter = Some(Box::new(Filter::FirstKeyOnly));
            Ok(get)
        };
        let gets = expected.iter().map(get).collect::<Result<_>>()?;
        for (row, expected) in by_hand.get_many(gets).await.into_iter().zip(expected) {
            if row?.is_empty() {
                self.missing += 1;
                if self.first_missing.len() < NAMED_MAX {
                    self.first_missing.push(expected);
                }
            }
        }
        Ok(())
    }

    /// Counts the keys that are no entry for any row.
    async fn judge(&mut self, found: Vec<Bytes>, keys: &Keys, base: &Table) -> Result<()> {
        let index = &keys.index;
        let mut gets = Vec::new();
        let mut of_rows = Vec::new();
        for key in found {
            let entry = keys.to_entry(&key);
            let Some((entry, row)) =
                entry.and_then(|it| Some((it.clone(), index.row_key(&it).ok()?)))
            else {
                self.add_stale(key);
                continue;
            };
            let mut get = Get::new(row)?;
            get.columns = index.columns().clone();
            gets.push(get);
            of_rows.push((key, entry));
        }
        for (row, (key, entry)) in base.get_many(gets).await.into_iter().zip(of_rows) {
            let row = row?;
            if row.is_empty() || !entries(index, &row)?.contains(&entry) {
                self.add_stale(key);
            }
        }
        Ok(())
    }

    fn add_stale(&mut self, key: Bytes) {
        self.stale += 1;
        if self.first_stale.len() < NAMED_MAX {
            self.first_stale.push(key);
        }
    }
}

/// The keys in an index, and in a table that is maintained by hand instead.
struct Keys {
    index: Index,
    /// `None` if the table has the entry keys.
    by_hand: Option<KeySchema>,
}

impl Keys {
    /// Checks that both keys have the same fields.
    fn check(&self) -> Result<()> {
        let Some(by_hand) = &self.by_hand else { return Ok(()) };
        let names = |key: &KeySchema| -> BTreeSet<String> {
            key.fields().iter().map(|field| field.name().to_owned()).collect()
        };
        let of_index = names(self.index.template());
        let by_hand = names(by_hand);
        match of_index.symmetric_difference(&by_hand).next() {
            None => Ok(()),
            Some(name) => Err(Error::invalid(format!(
                "the key of the table has other fields than the index: field={name}, index={}",
                self.index.template()
            ))),
        }
    }

    /// Returns the key that the table has for an entry.
    fn of_entry(&self, entry: &Bytes) -> Result<Bytes> {
        let Some(by_hand) = &self.by_hand else { return Ok(entry.clone()) };
        let values = self.index.template().decode(entry)?;
        by_hand.encode(&fields_of(by_hand, &values))
    }

    /// Returns the entry that a key in the table stands for; `None` if it does not fit.
    fn to_entry(&self, key: &Bytes) -> Option<Bytes> {
        let Some(by_hand) = &self.by_hand else { return Some(key.clone()) };
        let values = by_hand.decode(key).ok()?;
        let template = self.index.template();
        template.encode(&fields_of(template, &values)).ok()
    }
}

/// Returns the values for a template's fields.
fn fields_of(template: &KeySchema, values: &Values) -> Vec<(String, Value)> {
    let names: BTreeSet<&str> = template.fields().iter().map(|field| field.name()).collect();
    let value = |name: &str| Some((name.to_owned(), values.get(name)?.clone()));
    names.into_iter().filter_map(value).collect()
}

/// Returns the keys for a row's entries.
fn entries(index: &Index, row: &Row) -> Result<BTreeSet<Bytes>> {
    let entries = index.entries(row.key(), row)?;
    Ok(entries.into_iter().map(|entry| entry.key).collect())
}

fn keys_only() -> Scan {
    Scan { filter: Some(Box::new(Filter::FirstKeyOnly)), ..Scan::all() }
}

/// Returns the index that a text declares, or that the table declares under this name.
fn index_of(table: &TableDescriptor, text: &str) -> Result<Index> {
    let declared = IndexSchema::of_table(table)?;
    let named = declared.as_ref().and_then(|indexes| indexes.index(text.trim()).ok());
    let index = match named {
        Some(index) => index.clone(),
        None => {
            let key = KeySchema::of_table(table)?;
            let columns = ColumnSchema::of_table(table)?;
            let indexes = IndexSchema::parse(text, key.as_ref(), columns.as_ref())?;
            match indexes.indexes() {
                [index] => index.clone(),
                _ => return Err(Error::invalid("a comparison is with one index")),
            }
        }
    };
    match index.search() {
        None => Ok(index),
        Some(_) => Err(Error::invalid(format!(
            "`{}` is a full-text index, which has no entries to compare with",
            index.name()
        ))),
    }
}
