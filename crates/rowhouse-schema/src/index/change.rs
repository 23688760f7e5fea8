//! Which row cells decide how a change to some columns changes the row's entries.
//!
//! A row can have as many entries as it has cells, if an index names qualifier fields. Writing one
//! cell must not read them all.

use rowhouse_model::{Bytes, Columns};

use super::declaration::Index;
use super::full_form::FullForm;
use super::names::Source;
use crate::columns::{Column, ColumnSchema};
use crate::computed::Computed;

/// What has to be read from a row, before and after a change, to find the entries that it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeReads {
    /// Nothing: no entry changes.
    Nothing,
    /// These columns. Their cells' entries are the entries that may change.
    Columns(Columns),
    /// These columns, and whether the row has any cell: a row without any such column can have an
    /// entry.
    ColumnsAndExistence(Columns),
    /// [`Index::columns`].
    Whole,
}

/// An index's columns, by what their cells decide.
pub(super) struct Parts {
    /// Single columns, each deciding all entries of a row; none if they have no cell to name.
    fixed: Vec<(Bytes, Bytes)>,
    /// The family for the columns with a qualifier template, and the bytes with which their
    /// qualifiers begin.
    templated: Option<(Bytes, Vec<u8>)>,
    /// True if every cell with a template qualifier has a separate entry.
    is_by_cell: bool,
}

impl Parts {
    pub(super) fn new<'c>(
        full: &FullForm,
        others: impl Iterator<Item = &'c Column>,
        columns: Option<&'c ColumnSchema>,
    ) -> Self {
        let column_at = |at: usize| columns.map(|columns| &columns.columns()[at]);
        let by_source = |source: &Source| match source {
            Source::Row | Source::Key(_) => None,
            Source::Column(at) | Source::Qualifier { column: at, .. } => column_at(*at),
        };
        let sources = full.sources.iter().filter_map(by_source);
        let mut fixed = Vec::new();
        let mut templated = None;
        for column in sources.chain(others) {
            match (column.qualifier(), column.template()) {
                (Some(qualifier), _) => {
                    fixed.push((column.family.clone(), Bytes::copy_from_slice(qualifier)));
                }
                (None, Some(template)) => templated = Some((column, template)),
                (None, None) => {}
            }
        }
        let holds_slot = |slot: usize| {
            let mut sources = full.sources.iter().enumerate();
            sources.any(|(at, source)| {
                matches!(source, Source::Qualifier { slot: of, .. } if *of == slot)
                    && !full.template.codec(at).is_lossy()
            })
        };
        let is_by_cell = templated.is_some_and(|(_, template)| {
            (0..template.fields().len()).all(holds_slot)
                && !template.fields().iter().any(|field| field.codec.is_lossy())
                && !template.computed().iter().any(Computed::is_random)
        });
        let templated =
            templated.map(|(column, _)| (column.family.clone(), column.lead().to_vec()));
        Self { fixed, templated, is_by_cell }
    }

    fn is_fixed(&self, family: &[u8], qualifier: &[u8]) -> bool {
        self.fixed.iter().any(|fixed| fixed.0 == family && fixed.1 == qualifier)
    }

    fn is_templated(&self, family: &[u8], qualifier: &[u8]) -> bool {
        let fits = |(of, lead): &(Bytes, Vec<u8>)| of == family && qualifier.starts_with(lead);
        self.templated.as_ref().is_some_and(fits)
    }

    /// Returns the single columns and these ones.
    fn fixed_and<'c>(&self, others: impl Iterator<Item = (&'c [u8], &'c [u8])>) -> Columns {
        let mut columns = Columns::all();
        for (family, qualifier) in &self.fixed {
            columns.add_column(family.clone(), qualifier.clone());
        }
        for (family, qualifier) in others {
            columns.add_column(Bytes::copy_from_slice(family), Bytes::copy_from_slice(qualifier));
        }
        columns
    }
}

impl Index {
    /// Returns what decides the entries that a row gains, loses or changes if only cells in these
    /// columns, given by family and qualifier, change. Changing a whole family needs
    /// [`Index::columns`].
    ///
    /// The cells in one column with a qualifier template have separate entries if the index names
    /// all qualifier fields, whole: then a change to one cell does not read the others.
    ///
    /// ```
    /// use rowhouse_schema::{ChangeReads, ColumnSchema, IndexSchema, KeySchema};
    ///
    /// let key = KeySchema::parse("[user string]")?;
    /// let columns = ColumnSchema::parse("t:[tag string] tagged blob; d:n name string")?;
    /// let indexes = IndexSchema::parse("by_tag [tagged.tag][name]", Some(&key), Some(&columns))?;
    /// let index = indexes.index("by_tag")?;
    /// let reads = |family: &'static str, qualifier: &'static str| {
    ///     index.reads_of_change([(family.as_bytes(), qualifier.as_bytes())])
    /// };
    /// let ChangeReads::Columns(read) = reads("t", "rust") else { panic!("one cell changed") };
    /// assert!(read.has_column(b"t", b"rust") && read.has_column(b"d", b"n"));
    /// assert!(!read.has_column(b"t", b"java"));
    /// assert_eq!(reads("d", "n"), ChangeReads::Whole);
    /// assert_eq!(reads("d", "other"), ChangeReads::Nothing);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn reads_of_change<'c, C>(&self, changed: C) -> ChangeReads
    where
        C: IntoIterator<Item = (&'c [u8], &'c [u8])>,
        C::IntoIter: Clone,
    {
        let parts = &self.declaration.parts;
        let changed = changed.into_iter();
        if self.columns().is_all() {
            return ChangeReads::ColumnsAndExistence(parts.fixed_and(changed));
        }
        let mut fixed = changed.clone();
        let is_fixed_changed = fixed.any(|(family, name)| parts.is_fixed(family, name));
        let of_cells = changed.filter(|(family, name)| parts.is_templated(family, name));
        match (is_fixed_changed, of_cells.clone().next()) {
            (false, None) => ChangeReads::Nothing,
            (false, Some(_)) if parts.is_by_cell => ChangeReads::Columns(parts.fixed_and(of_cells)),
            _ => ChangeReads::Whole,
        }
    }

    /// Returns true if each cell in a column with a qualifier template has a separate entry, which
    /// this cell and the columns with one qualifier decide.
    pub fn is_by_cell(&self) -> bool {
        self.declaration.parts.is_by_cell
    }

    /// Returns the columns with one qualifier that decide all entries of a row or are covered, and
    /// these columns in a family.
    pub fn single_columns_and<'c>(
        &self,
        family: &'c [u8],
        qualifiers: impl IntoIterator<Item = &'c [u8]>,
    ) -> Columns {
        let others = qualifiers.into_iter().map(|qualifier| (family, qualifier));
        self.declaration.parts.fixed_and(others)
    }

    /// Returns the family that holds the column with a qualifier template whose fields the index
    /// names.
    pub fn templated_family(&self) -> Option<&Bytes> {
        self.declaration.parts.templated.as_ref().map(|(family, _)| family)
    }
}
