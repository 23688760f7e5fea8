//! A table as a handle knows it.

use std::ops::Deref;

use rowhouse_model::{Bytes, Error, ErrorKind, Result, TableDescriptor, TableName};
use rowhouse_schema::layout_of;

/// A table name, and the layout for which a handle encodes its keys.
#[derive(Clone, Debug)]
pub(crate) struct TableId {
    name: TableName,
    /// `None` for reads in whichever layout the table has.
    layout: Option<Layout>,
}

/// As [`layout_of`] returns it.
type Layout = Option<Bytes>;

impl TableId {
    /// Returns the table in the layout that its descriptor has.
    pub(crate) fn of(table: &TableDescriptor) -> Self {
        Self { name: table.name().clone(), layout: Some(layout_of(table).cloned()) }
    }

    /// Returns the table in any layout.
    pub(crate) fn any_layout(name: TableName) -> Self {
        Self { name, layout: None }
    }

    /// Checks that the table still has the layout.
    ///
    /// # Errors
    /// `LayoutChanged`.
    pub(crate) fn check(&self, now: &TableDescriptor) -> Result<()> {
        if self.layout.as_ref().is_none_or(|known| known.as_ref() == layout_of(now)) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::LayoutChanged,
            format!(
                "the table got another key since this handle was made, by a promoted index or a new \
                 search copy: get it from the database again: table={}",
                self.name
            ),
        ))
    }
}

impl Deref for TableId {
    type Target = TableName;

    fn deref(&self) -> &TableName {
        &self.name
    }
}
