//! A table's targets for imported values: key fields, columns, and fields in their qualifiers.

use rowhouse::key::KeySchema;
use rowhouse::schema::ColumnSchema;
use rowhouse::{Error, Result, Table};

/// A table's declarations.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    pub(crate) key: KeySchema,
    pub(crate) columns: ColumnSchema,
}

impl Targets {
    /// Returns the declarations for a table that declares key and columns.
    pub(crate) fn of(table: &Table) -> Result<Self> {
        let key = table.key_schema()?.clone();
        let columns = table.column_schema()?.clone();
        Ok(Self { key, columns })
    }

    /// Returns the names that a file field can have, each once.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let key = self.key.fields().iter().map(|field| field.name());
        let columns = self.columns.columns().iter().flat_map(|column| {
            let fields = column.template().map(KeySchema::fields).unwrap_or_default();
            fields.iter().map(|field| field.name()).chain([column.name()])
        });
        for name in key.chain(columns) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Refuses a name that the table does not have.
    pub(crate) fn check_name(&self, name: &str) -> Result<()> {
        let names = self.names();
        if names.iter().any(|known| known == name) {
            Ok(())
        } else {
            Err(Error::invalid(format!(
                "the table declares no field or column `{name}`; it declares: {}",
                names.join(", ")
            )))
        }
    }
}
