//! Checks on all table declarations.

use rowhouse_model::{Columns, Error, ErrorKind, Result, TableDescriptor, escape};

use super::declaration::Index;
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
    indexes.check_families(table)?;
    indexes.indexes().iter().try_for_each(|index| check_buffered(table, index))
}

/// Refuses an index over columns in a family whose increments are BUFFERED: the entries would be in
/// the log, and after a crash the counters would not.
fn check_buffered(table: &TableDescriptor, index: &Index) -> Result<()> {
    let what = if index.is_copy() { "copy" } else { "index" };
    let reader = format!("{what} `{}`", index.name());
    check_buffered_columns(table, index.columns(), &reader)
}

/// Checks that none of these columns, which `reader` derives something from, is in a family whose
/// increments are BUFFERED.
///
/// ```
/// use rowhouse_model::{Columns, FamilyDescriptor, TableDescriptor, TableName};
/// use rowhouse_schema::check_buffered_columns;
///
/// let counters = FamilyDescriptor::new("n")?.attribute("BUFFERED", "1s");
/// let blog = TableDescriptor::new(TableName::parse("blog")?).family(counters);
/// let refused = check_buffered_columns(&blog, &Columns::all(), "observer `audit`").unwrap_err();
/// assert_eq!(
///     refused.message(),
///     "family n is BUFFERED, so observer `audit` cannot read its columns: column=n:*"
/// );
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Errors
/// `InvalidRequest` that names the reader and a column.
pub fn check_buffered_columns(
    table: &TableDescriptor,
    columns: &Columns,
    reader: &str,
) -> Result<()> {
    let buffered = table.families().iter().filter(|family| family.buffered().is_some());
    let Some(family) = buffered.map(|it| it.name()).find(|name| columns.selects_family(name))
    else {
        return Ok(());
    };
    let named = columns.families().find(|(name, _)| *name == family);
    let qualifier = named.and_then(|(_, qualifiers)| qualifiers.named().next());
    let qualifier = qualifier.map_or_else(|| "*".to_owned(), |qualifier| escape(qualifier));
    let family = escape(family);
    Err(Error::invalid(format!(
        "family {family} is BUFFERED, so {reader} cannot read its columns: \
         column={family}:{qualifier}"
    )))
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
    let buffered = |table: &TableDescriptor| -> Vec<_> {
        let families = table.families().iter().filter(|family| family.buffered().is_some());
        families.map(|family| family.name().clone()).collect()
    };
    let keeps_buffered = buffered(before) == buffered(after);
    if keeps_families && keeps_buffered && declared(before) == declared(after) {
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
