//! The values that the first field has in a table's keys, if there are few. A server that measures
//! no finer than regions does not show them.

use std::fmt;

use rowhouse::filter::Filter;
use rowhouse::query::Predicate;
use rowhouse::{Result, RowRange, Scan, Table};
use rowhouse_model::escape_controls;

/// So few values cannot be spread over a growing table's regions.
const VALUES_FEW: usize = 8;

/// All values that the first field has in a table's keys.
pub(crate) struct FewFirstValues {
    field: String,
    values: Vec<String>,
}

impl FewFirstValues {
    /// Reads one row for each value, up to one more than few; `None` if there are more, if the
    /// table is empty, and if the key does not begin with a field value.
    pub(crate) async fn find(table: &Table) -> Result<Option<Self>> {
        let Ok(schema) = table.key_schema() else { return Ok(None) };
        let (true, Some(field)) = (schema.computed().is_empty(), schema.fields().first()) else {
            return Ok(None);
        };
        let mut few = Self { field: field.name().to_owned(), values: Vec::new() };
        let mut start = rowhouse::Bytes::new();
        loop {
            let scan = Scan::new(RowRange::new(start, "")).limit(1).filter(Filter::FirstKeyOnly);
            let Some(row) = table.scan(scan).await?.next().await? else { break };
            let Ok(values) = schema.decode(row.key()) else { return Ok(None) };
            let Some((_, value)) = values.iter().next() else { return Ok(None) };
            if few.values.len() == VALUES_FEW {
                return Ok(None);
            }
            few.values.push(escape_controls(&value.to_string()));
            // The rows with the value are one range, since the field comes first.
            let plan =
                table.query_where(Predicate::all().eq(field.name(), value.clone())).explain()?;
            let [range] = plan.ranges() else { return Ok(None) };
            if range.stop.is_empty() {
                break;
            }
            start = range.stop.clone();
        }
        Ok((!few.values.is_empty()).then_some(few))
    }
}

impl fmt::Display for FewFirstValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.values.len();
        write!(
            f,
            "first field: all keys begin with {count} value{} of `{}`: {}. If what follows grows, \
             the writes of a moment go to no more regions; put a bucket or another field before it.",
            if count == 1 { "" } else { "s" },
            self.field,
            self.values.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use rowhouse::TableSpec;

    use super::*;

    #[tokio::test]
    async fn few_first_values_are_listed_and_many_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let database = rowhouse::open(dir.path().to_string_lossy()).await.unwrap();
        let few = async |name: &str, key: &str, values: u32| {
            let table = TableSpec::new(name).key(key).family("d");
            let table = database.create_table(table).await.unwrap();
            for n in 0..200_u32 {
                let row = table.row(&[("a", (n % values).into()), ("n", n.into())]);
                row.set("d", "q", "v").put().await.unwrap();
            }
            FewFirstValues::find(&table).await.unwrap().map(|few| few.to_string())
        };
        let text = few("t3", "[a u32][n u32]", 3).await.unwrap();
        assert!(text.contains("all keys begin with 3 values of `a`: 0, 1, 2."), "{text}");
        assert!(
            few("t8", "[a u32 desc][n u32]", 8).await.unwrap().contains("8 values of `a`: 7, 6")
        );
        assert_eq!(few("t9", "[a u32][n u32]", 9).await, None);
        assert_eq!(few("b", "[bucket 4 of n][a u32][n u32]", 3).await, None, "a bucket is first");
        database.close().await.unwrap();
    }
}
