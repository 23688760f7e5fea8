//! The workload for a table that exists: the declarations, a row sample, and the rates from the
//! table's heat.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use rowhouse_model::{Error, Result, Row, Scan};
use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema, Value, Workload};

use crate::database::Database;
use crate::table::Table;

/// Rows that are read, from the beginning of each region.
const SAMPLED: usize = 20_000;
/// Questions per second, if the table's heat has no reads.
const ASKED_PER_SECOND: f64 = 1.0;

/// Describes a table as a workload: with the key, indexes and declared columns, up to 20,000 rows
/// as a sample, and the rates from the table's heat. `questions` are queries with `?`, as in
/// workloads; questions without a rate share the read rate.
///
/// Rows are read from the beginning of each region, and put into the order in which they were
/// written, by their cell timestamps. Columns whose qualifiers have a template are left out.
///
/// ```
/// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
/// use rowhouse::advise::{advise, workload_of};
///
/// let questions = ["sender = ?", "user = ? newest 20 : 5/s"];
/// let workload = workload_of(&database, "mail", &questions).await?;
/// let mut advice = advise(&workload, std::path::Path::new("/tmp")).await?;
/// advice.fit_to(&database).await?;
/// println!("{}", advice.reasons.join("\n"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `InvalidRequest` if the table has no template, no rows, or a key that holds only a hash or a
/// step of a value, and for a mistake in a question; as [`Table::query`].
pub async fn workload_of<Q: AsRef<str>>(
    database: &Database,
    table: &str,
    questions: &[Q],
) -> Result<Workload> {
    let table = database.table(table).await?;
    let key = table.key_schema()?;
    if let Some(field) = key.fields().iter().find(|it| it.is_hashed() || it.is_floored()) {
        return Err(Error::invalid(format!(
            "the key holds only a part of the values of `{}`, so rows cannot be given other keys",
            field.name()
        )));
    }
    let columns = columns_of(&table);
    let (writes, reads) = rates(database, &table).await?;
    let declared = database.admin().describe(&table.name().to_string()).await?;
    let declared = IndexSchema::of_table(&declared)?;
    let indexes = declared.iter().flat_map(IndexSchema::indexes);
    let indexes: Vec<String> =
        indexes.filter(|index| index.search().is_none()).map(ToString::to_string).collect();
    let text = text(key, &columns, &indexes, questions, (writes, reads))?;
    let workload = Workload::parse(&text)?;
    let names: Vec<String> = workload.names().map(str::to_owned).collect();
    let rows = sample(&table, &names).await?;
    if rows.is_empty() {
        return Err(Error::invalid(format!("the table has no rows: table={}", table.name())));
    }
    workload.with_sample(&names, rows)
}

/// Returns the declarations for the columns with one qualifier.
fn columns_of(table: &Table) -> Vec<String> {
    let columns = table.column_schema().map(ColumnSchema::columns).unwrap_or_default();
    let single = columns.iter().filter(|column| column.template().is_none());
    single.map(ToString::to_string).collect()
}

/// Returns the workload as text.
fn text<Q: AsRef<str>>(
    key: &KeySchema,
    columns: &[String],
    indexes: &[String],
    questions: &[Q],
    (writes, reads): (Option<f64>, Option<f64>),
) -> Result<String> {
    let mut text = String::new();
    let mut line = |line: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    };
    let each = reads.map_or(ASKED_PER_SECOND, |reads| reads / questions.len().max(1) as f64);
    // Questions come first: a line number in an error is the question's number.
    for question in questions {
        let question = question.as_ref();
        if question.contains('\n') {
            return Err(Error::invalid(format!("a question has one line: {question}")));
        }
        let has_rate = question.rsplit_once(':').is_some_and(|(_, rate)| rate.contains('/'));
        if has_rate {
            line(format!("ask {question}"));
        } else {
            line(format!("ask {question} : {each}/s"));
        }
    }
    line(format!("key {key}"));
    indexes.iter().for_each(|index| line(format!("index {index}")));
    for field in key.fields() {
        line(format!("field {} {}", field.name(), field.field_type()));
    }
    columns.iter().for_each(|column| line(format!("column {column}")));
    if let Some(writes) = writes {
        line(format!("write {writes}/s"));
    }
    Ok(text)
}

/// Returns the writes and the reads per second from the table's heat, if it has any.
async fn rates(database: &Database, table: &Table) -> Result<(Option<f64>, Option<f64>)> {
    let name = table.name().to_string();
    let heat = database.admin().heat(&name, i64::MIN, i64::MAX).await?;
    let millis: i64 = heat.columns.iter().map(|column| column.length_millis).sum();
    let buckets = || heat.columns.iter().flat_map(|column| &column.buckets);
    let rate = |requests: u64| {
        (requests > 0 && millis > 0).then(|| requests as f64 * 1000.0 / millis as f64)
    };
    let writes = buckets().map(|bucket| bucket.writes).sum();
    let reads = buckets().map(|bucket| bucket.reads).sum();
    Ok((rate(writes), rate(reads)))
}

/// Reads rows from the beginning of each region; returns them in the order in which they were
/// written. Rows whose keys do not fit the template are left out.
async fn sample(table: &Table, names: &[String]) -> Result<Vec<Vec<Value>>> {
    let key = table.key_schema()?;
    let columns = table.column_schema().ok();
    let regions = table.regions().await?;
    let of_region = SAMPLED.div_ceil(regions.len().max(1));
    let mut sampled = Vec::new();
    for region in regions {
        let mut rows = table.scan(Scan::new(region.range).limit(of_region as u64)).await?;
        while let Some(row) = rows.next().await? {
            if let Ok(fields) = key.decode(row.key()) {
                let values = names.iter().map(|name| match fields.get(name) {
                    Some(value) => value.clone(),
                    None => columns.map_or(Value::Null, |columns| column_of(columns, name, &row)),
                });
                sampled.push((written(&row), values.collect()));
            }
        }
    }
    sampled.sort_by_key(|(written, _)| *written);
    Ok(sampled.into_iter().map(|(_, values)| values).collect())
}

/// Returns when a row was written; rows from the same time are in no order.
fn written(row: &Row) -> (i64, u64) {
    let first = row.cells().map(|cell| cell.timestamp().as_millis()).min();
    let mut hasher = DefaultHasher::new();
    row.key().hash(&mut hasher);
    (first.unwrap_or(0), hasher.finish())
}

/// Returns a column's value; null if there is none, or if it does not fit the column type.
fn column_of(columns: &ColumnSchema, name: &str, row: &Row) -> Value {
    let value = || {
        let column = columns.column(name).ok()?;
        let bytes = row.value(column.family(), column.qualifier()?)?;
        column.decode_value(&bytes).ok()
    };
    value().unwrap_or(Value::Null)
}
