//! The column declarations in a table's descriptor.

use rowhouse_model::{Error, Result, TableDescriptor, TableName};
use rowhouse_schema::{ColumnSchema, KeySchema, Plan, Predicate, TimeZone};

/// The columns that a table declares, if any.
#[derive(Debug)]
pub(crate) struct DeclaredColumns {
    table: TableName,
    /// An error if a newer version declared them; it fails only calls that need columns.
    declared: Result<Option<ColumnSchema>>,
}

impl DeclaredColumns {
    pub(crate) fn of(table: &TableDescriptor) -> Self {
        Self { table: table.name().clone(), declared: ColumnSchema::of_table(table) }
    }

    /// Returns the columns for a table that declares none.
    pub(crate) fn none(table: &TableName) -> Self {
        Self { table: table.clone(), declared: Ok(None) }
    }

    /// Returns the columns if the table declares some that this version can parse.
    pub(crate) fn declared(&self) -> Option<&ColumnSchema> {
        self.declared.as_ref().ok()?.as_ref()
    }

    pub(crate) fn schema(&self) -> Result<&ColumnSchema> {
        match &self.declared {
            Ok(Some(schema)) => Ok(schema),
            Ok(None) => Err(Error::invalid(format!(
                "table {name} declares no columns; declare them when it is created: \
                 TableSpec::new(\"{name}\").columns(\"d:n count u64\"), or in the shell: alter \
                 '{name}', COLUMNS => 'd:n count u64'",
                name = self.table
            ))),
            Err(error) => {
                Err(error.clone().with_context(format_args!("columns of table {}", self.table)))
            }
        }
    }

    /// Plans a query; conditions may name declared columns.
    pub(crate) fn plan(&self, key: &KeySchema, asked: &Predicate, zone: &TimeZone) -> Result<Plan> {
        match &self.declared {
            Ok(Some(columns)) => key.plan_with_columns(columns, asked, zone),
            Ok(None) => key.plan_in(asked, zone),
            // A name that is not a key field may be a column's.
            Err(unread) => key.plan_in(asked, zone).map_err(|error| {
                let message = format!(
                    "{}\n  and the columns of table {} cannot be read: {}",
                    error.message(),
                    self.table,
                    unread.message()
                );
                error.with_message(message)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::ErrorKind;
    use rowhouse_schema::COLUMNS_ATTRIBUTE;

    use super::*;

    #[test]
    fn columns_of_a_newer_version_are_refused_where_they_are_needed() {
        let table = TableDescriptor::new(TableName::parse("t").unwrap());
        let columns = DeclaredColumns::of(&table.attribute(COLUMNS_ATTRIBUTE, "2 d:n count u64"));
        assert_eq!(columns.schema().unwrap_err().kind(), ErrorKind::Unsupported);
        let key = KeySchema::parse("[user string]").unwrap();
        let plan = |query| {
            let asked = Predicate::parse(query).unwrap();
            columns.plan(&key, &asked, &TimeZone::UTC)
        };
        assert!(plan("user = 'bob'").is_ok());
        let error = plan("count = 5").unwrap_err();
        assert!(error.message().contains("columns of table t cannot be read"), "{error}");
    }
}
