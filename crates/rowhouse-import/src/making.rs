//! Creates a missing table.

use std::collections::BTreeSet;

use rowhouse::schema::{COLUMNS_ATTRIBUTE, KEY_ATTRIBUTE, TableName};
use rowhouse::{Database, Error, ErrorKind, Result, Table, TableSpec};

use crate::targets::Targets;

/// A table's declarations, with which it is created if it is missing.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) targets: Targets,
    /// How many regions the table gets, if the key is distributed evenly.
    pub(crate) regions: Option<usize>,
}

/// The table that receives the rows.
pub(crate) enum Destination {
    /// An existing table.
    Existing(Table),
    /// A table that is created before the first row is written.
    ToCreate(Box<TableSpec>),
}

/// Finds the table, or determines how to create it, and returns the declarations.
///
/// # Errors
/// `TableNotFound`; `InvalidRequest` for invalid declarations, and if the table declares something
/// else.
pub(crate) async fn destination(
    declared: Option<&Declaration>,
    database: &Database,
    name: &TableName,
) -> Result<(Destination, Targets)> {
    let text = name.to_string();
    if database.table_exists(&text).await? {
        let table = database.table(&text).await?;
        let targets = Targets::of(&table)?;
        check_same(declared, &targets, name)?;
        return Ok((Destination::Existing(table), targets));
    }
    let Some(declared) = declared else {
        let message = format!("there is no table {text}: create it with --key and --columns");
        return Err(Error::new(ErrorKind::TableNotFound, message));
    };
    let spec = declared.spec(&text);
    spec.check()?;
    Ok((Destination::ToCreate(Box::new(spec)), declared.targets.clone()))
}

/// Checks that an existing table has the given declarations.
fn check_same(declared: Option<&Declaration>, there: &Targets, name: &TableName) -> Result<()> {
    match declared.map(|declared| &declared.targets) {
        Some(given) if given.key != there.key || given.columns != there.columns => {
            Err(Error::invalid(format!(
                "the table exists and declares another key or other columns: table={name}, \
                 key={}, columns={}",
                there.key, there.columns
            )))
        }
        _ => Ok(()),
    }
}

impl Declaration {
    fn spec(&self, name: &str) -> TableSpec {
        let Targets { key, columns } = &self.targets;
        let families = columns.columns().iter();
        let families: BTreeSet<_> = families.map(|column| column.family()).collect();
        let spec = families.into_iter().fold(TableSpec::new(name), |spec, family| {
            spec.family(&String::from_utf8_lossy(family))
        });
        let spec = spec
            .attribute(KEY_ATTRIBUTE, &key.to_stored())
            .attribute(COLUMNS_ATTRIBUTE, &columns.to_stored());
        match self.regions {
            Some(regions) => spec.regions(regions),
            None => spec,
        }
    }
}
