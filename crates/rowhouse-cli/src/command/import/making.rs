//! Creation of a missing table.

use std::collections::BTreeSet;

use rowhouse::key::KeySchema;
use rowhouse::schema::{COLUMNS_ATTRIBUTE, ColumnSchema, KEY_ATTRIBUTE, TableName};
use rowhouse::{Database, Error, ErrorKind, Result, Table, TableSpec};

use super::targets::Targets;

/// Arguments that declare the table.
#[derive(Debug, clap::Args)]
pub(super) struct CreateTableArgs {
    /// Create the table if it is missing: the template of its key, such as '[user string][at millis
    /// desc]'
    #[arg(long, value_name = "TEMPLATE", requires = "columns", value_parser = KeySchema::parse)]
    key: Option<KeySchema>,
    /// The columns of a table that is created, such as 'd:n count u32; d:s subject string'; it gets
    /// their families
    #[arg(long, value_name = "DECLARATIONS", requires = "key", value_parser = ColumnSchema::parse)]
    columns: Option<ColumnSchema>,
    /// The number of regions of a table that is created, if its key is distributed evenly
    #[arg(long, value_name = "N", requires = "key")]
    regions: Option<usize>,
}

/// The table that receives the rows.
pub(super) enum Destination {
    /// An existing table.
    Existing(Table),
    /// A table that is created before the first row is written.
    ToCreate(Box<TableSpec>),
}

impl CreateTableArgs {
    /// Finds the table, or determines how to create it, and returns its declarations.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for invalid declarations, and if the table declares
    /// something else.
    pub(super) async fn destination(
        &self,
        database: &Database,
        name: &TableName,
    ) -> Result<(Destination, Targets)> {
        let text = name.to_string();
        let given = self.given();
        let is_there = database.table_exists(&text).await?;
        let Some(targets) = given.filter(|_| !is_there) else {
            if !is_there {
                let message =
                    format!("there is no table {text}: --key and --columns say how it is made");
                return Err(Error::new(ErrorKind::TableNotFound, message));
            }
            let table = database.table(&text).await?;
            let targets = Targets::of(&table)?;
            self.check_same(&targets, name)?;
            return Ok((Destination::Existing(table), targets));
        };
        let spec = self.spec(&text, &targets);
        spec.check()?;
        Ok((Destination::ToCreate(Box::new(spec)), targets))
    }

    fn given(&self) -> Option<Targets> {
        Some(Targets { key: self.key.clone()?, columns: self.columns.clone()? })
    }

    /// Checks that an existing table has the declarations given in the arguments.
    fn check_same(&self, there: &Targets, name: &TableName) -> Result<()> {
        match self.given() {
            Some(given) if given.key != there.key || given.columns != there.columns => {
                Err(Error::invalid(format!(
                    "the table is there and declares another key or other columns: table={name}, key={}, columns={}",
                    there.key, there.columns
                )))
            }
            _ => Ok(()),
        }
    }

    fn spec(&self, name: &str, targets: &Targets) -> TableSpec {
        let families = targets.columns.columns().iter();
        let families: BTreeSet<_> = families.map(|column| column.family()).collect();
        let spec = families.into_iter().fold(TableSpec::new(name), |spec, family| {
            spec.family(&String::from_utf8_lossy(family))
        });
        let spec = spec
            .attribute(KEY_ATTRIBUTE, &targets.key.to_stored())
            .attribute(COLUMNS_ATTRIBUTE, &targets.columns.to_stored());
        match self.regions {
            Some(regions) => spec.regions(regions),
            None => spec,
        }
    }
}
