//! Checks on all table declarations.

use rowhouse_model::{ErrorKind, Result, TableDescriptor};

use super::schema::{INDEXES_ATTRIBUTE, IndexSchema};
use crate::columns::{COLUMNS_ATTRIBUTE, ColumnSchema};
use crate::key::{KEY_ATTRIBUTE, KeySchema};

/// Checks a table's declarations: the key template, the columns and the indexes, and that they fit
/// each other and the families. A template or columns in a newer language are left to those who
/// know it; indexes are not, since the store maintains them.
///
/// ```
/// use rowhouse_model::{FamilyDescriptor, TableDescriptor, TableName};
/// use rowhouse_schema::check_declarations;
///
/// let mail = TableDescriptor::new(TableName::parse("mail")?).family(FamilyDescriptor::new("d")?);
/// let with_key = |key: &'static str| mail.clone().attribute("rowhouse.key", key);
/// assert!(check_declarations(&with_key("1 [user string]")).is_ok());
/// assert!(check_declarations(&with_key("1 [user strin]")).is_err());
/// assert!(check_declarations(&with_key("[user string]")).is_err());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Errors
/// `InvalidRequest` for the first mistake; `Unsupported` for indexes in a newer language.
pub fn check_declarations(table: &TableDescriptor) -> Result<()> {
    let key = known(KeySchema::of_table(table))?;
    if let Some(columns) = known(ColumnSchema::of_table(table))? {
        columns.check_families(table)?;
        if let Some(key) = &key {
            columns.check_key(key)?;
        }
    }
    let Some(indexes) = IndexSchema::of_table(table)? else { return Ok(()) };
    indexes.check_families(table)
}

/// As [`check_declarations`], for a table that is altered. Declarations that stay as they are were
/// checked before, or are older than the check: the table can still be altered in other ways.
///
/// # Errors
/// As [`check_declarations`].
pub fn check_altered_declarations(before: &TableDescriptor, after: &TableDescriptor) -> Result<()> {
    let attributes = [KEY_ATTRIBUTE, COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE];
    let declared = |table: &TableDescriptor| {
        attributes.map(|name| table.attributes.get(name.as_bytes()).cloned())
    };
    let keeps_families =
        before.families().iter().all(|family| after.find_family(family.name()).is_ok());
    if keeps_families && declared(before) == declared(after) {
        Ok(())
    } else {
        check_declarations(after)
    }
}

/// Returns a declaration, or none if it is in a newer language.
fn known<T>(declared: Result<Option<T>>) -> Result<Option<T>> {
    match declared {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        declared => declared,
    }
}
