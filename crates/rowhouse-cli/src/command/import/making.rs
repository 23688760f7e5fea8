//! A table that is made when it is not there.

use std::collections::BTreeSet;

use rowhouse::{
    COLUMNS_ATTRIBUTE, ColumnSchema, Database, Error, ErrorKind, KEY_ATTRIBUTE, KeySchema, Result,
    Table, TableName, TableSpec,
};

use super::targets::Targets;

/// What the table declares.
#[derive(Debug, clap::Args)]
pub(super) struct MakingArgs {
    /// Make the table if it is not there: the template of its key, such as '[user string][at millis desc]'
    #[arg(long, value_name = "TEMPLATE", requires = "columns", value_parser = KeySchema::parse)]
    key: Option<KeySchema>,
    /// The columns of the table that is made, such as 'd:n count u32; d:s subject string'; it has their families
    #[arg(long, value_name = "DECLARATIONS", requires = "key", value_parser = ColumnSchema::parse)]
    columns: Option<ColumnSchema>,
    /// The regions of the table that is made, where its key is spread evenly
    #[arg(long, value_name = "N", requires = "key")]
    regions: Option<usize>,
}

/// The table that rows go to.
pub(super) enum Destination {
    /// It is there.
    There(Table),
    /// It is to be made before the first row is written.
    ToMake(Box<TableSpec>),
}

impl MakingArgs {
    /// Finds the table, or says how it is to be made, and what it declares.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for declarations that cannot be read, and where the table declares something else.
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
            return Ok((Destination::There(table), targets));
        };
        let spec = self.spec(&text, &targets);
        spec.check()?;
        Ok((Destination::ToMake(Box::new(spec)), targets))
    }

    fn given(&self) -> Option<Targets> {
        Some(Targets { key: self.key.clone()?, columns: self.columns.clone()? })
    }

    /// Whether a table that is there is the one that would be made.
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
