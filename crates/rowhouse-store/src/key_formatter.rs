//! Formats rows in messages: the row bytes and, if the table declares a key, the fields.

use rowhouse_model::{RowRange, TableDescriptor, escape};
use rowhouse_schema::KeySchema;

/// The format for a table's rows.
pub(crate) struct KeyFormatter(Option<KeySchema>);

impl KeyFormatter {
    pub(crate) fn of(table: &TableDescriptor) -> Self {
        // A template from a newer version cannot be used here; readers of keys report it.
        Self(KeySchema::of_table(table).ok().flatten())
    }

    /// Formats a row.
    pub(crate) fn row(&self, row: &[u8]) -> String {
        match self.fields(row) {
            Some(fields) => format!("{} ({fields})", escape(row)),
            None => escape(row),
        }
    }

    /// Formats the fields of a row, or of the first part of a row; `None` if no key is declared.
    fn fields(&self, row: &[u8]) -> Option<String> {
        Some(self.0.as_ref()?.read_prefix(row).to_string())
    }

    /// Formats a row range as a suffix to the region's name; empty if no key is declared.
    pub(crate) fn range(&self, range: &RowRange) -> String {
        let end = |row: &[u8]| match row {
            [] => Some("the end".to_owned()),
            row => self.fields(row),
        };
        match (self.fields(&range.start), end(&range.stop)) {
            (Some(_), Some(stop)) if range.start.is_empty() => {
                format!(" (from the first to {stop})")
            }
            (Some(start), Some(stop)) => format!(" (from {start} to {stop})"),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, TableName};

    use super::*;

    fn keys(template: Option<&'static str>) -> KeyFormatter {
        let table = TableDescriptor::new(TableName::parse("t").unwrap());
        let table = table.family(FamilyDescriptor::new("f").unwrap());
        KeyFormatter::of(&match template {
            Some(template) => table.attribute("rowhouse.key", template),
            None => table,
        })
    }

    #[test]
    fn rows_and_ranges_are_shown_with_their_fields_where_the_key_is_declared() {
        let declared = keys(Some("1 [user text]#[day digits 4]"));
        assert_eq!(declared.row(b"bob#0007"), "bob#0007 (user='bob', day=7)");
        assert_eq!(declared.row(b"bob#"), "bob# (user='bob', …)");
        let range =
            |start: &'static str, stop: &'static str| declared.range(&RowRange::new(start, stop));
        assert_eq!(range("", ""), " (from the first to the end)");
        assert_eq!(range("bob#", ""), " (from user='bob', … to the end)");
        assert_eq!(range("bob#", "carl#0001"), " (from user='bob', … to user='carl', day=1)");
        let plain = keys(None);
        assert_eq!(plain.row(b"bob\x00"), "bob\\x00");
        assert_eq!(plain.range(&RowRange::new("a", "b")), "");
    }
}
