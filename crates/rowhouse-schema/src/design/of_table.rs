//! The workload for a table that exists: the declarations, rates from the heat, and rows.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use rowhouse_model::{Error, HeatReport, Result, Row, TableDescriptor};

use super::workload::Workload;
use crate::columns::ColumnSchema;
use crate::index::IndexSchema;
use crate::key::KeySchema;
use crate::value::Value;

/// Questions per second, if the table's heat has no reads.
const ASKED_PER_SECOND: f64 = 1.0;

impl Workload {
    /// Describes a table as a workload's text: with the key, indexes and declared columns, and the
    /// rates of reads and writes in the heat. Fields and columns have no distributions: their
    /// values come from a [`RowSample`]. `questions` are queries with `?`; those without a rate
    /// share the read rate.
    ///
    /// Columns whose qualifiers have a template and full-text indexes are left out.
    ///
    /// ```
    /// use rowhouse_model::{FamilyDescriptor, HeatReport, TableDescriptor, TableName};
    /// use rowhouse_schema::{KEY_ATTRIBUTE, KeySchema, Workload};
    ///
    /// let table = TableDescriptor::new(TableName::parse("mail")?);
    /// let mut table = table.family(FamilyDescriptor::new("d")?);
    /// let key = KeySchema::parse("[user string][at millis]")?;
    /// table.attributes.insert(KEY_ATTRIBUTE.into(), key.to_stored().into());
    /// let text = Workload::text_of_table(&table, &["user = ?"], &HeatReport::default())?;
    /// let expected = "\
    /// ask user = ? : 1/s
    /// key [user string][at millis]
    /// field user string
    /// field at millis
    /// ";
    /// assert_eq!(text, expected);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if the table has no template, or a key that holds only a hash or a step of
    /// a value, and for a question of several lines.
    pub fn text_of_table<Q: AsRef<str>>(
        table: &TableDescriptor,
        questions: &[Q],
        heat: &HeatReport,
    ) -> Result<String> {
        let key = key_of(table)?;
        if let Some(field) = key.fields().iter().find(|it| it.is_hashed() || it.is_floored()) {
            return Err(Error::invalid(format!(
                "the key holds only a part of the values of `{}`, so rows cannot be given other keys",
                field.name()
            )));
        }
        let (writes, reads) = rates(heat);
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
        let indexes = IndexSchema::of_table(table)?;
        let indexes = indexes.iter().flat_map(IndexSchema::indexes);
        indexes
            .filter(|index| index.search().is_none())
            .for_each(|index| line(format!("index {index}")));
        for field in key.fields() {
            line(format!("field {} {}", field.name(), field.field_type()));
        }
        let columns = ColumnSchema::of_table(table)?;
        let columns = columns.iter().flat_map(ColumnSchema::columns);
        columns
            .filter(|column| column.template().is_none())
            .for_each(|column| line(format!("column {column}")));
        if let Some(writes) = writes {
            line(format!("write {writes}/s"));
        }
        Ok(text)
    }
}

/// Returns the template of a table that has one.
fn key_of(table: &TableDescriptor) -> Result<KeySchema> {
    let key = KeySchema::of_table(table)?;
    key.ok_or_else(|| Error::invalid(format!("table {} has no row-key template", table.name())))
}

/// Returns the writes and the reads per second, if there are any.
fn rates(heat: &HeatReport) -> (Option<f64>, Option<f64>) {
    let millis: i64 = heat.columns.iter().map(|column| column.length_millis).sum();
    let buckets = || heat.columns.iter().flat_map(|column| &column.buckets);
    let rate = |requests: u64| {
        (requests > 0 && millis > 0).then(|| requests as f64 * 1000.0 / millis as f64)
    };
    let writes = buckets().map(|bucket| bucket.writes).sum();
    let reads = buckets().map(|bucket| bucket.reads).sum();
    (rate(writes), rate(reads))
}

/// Rows of a table, as values for a workload.
#[derive(Clone, Debug)]
pub struct RowSample {
    key: KeySchema,
    columns: Option<ColumnSchema>,
    names: Vec<String>,
    /// With the times of the rows; rows from the same time are in no order.
    rows: Vec<((i64, u64), Vec<Value>)>,
}

impl RowSample {
    /// Creates an empty sample of a table for a workload.
    ///
    /// # Errors
    /// `InvalidRequest` if the table has no template.
    pub fn new(table: &TableDescriptor, workload: &Workload) -> Result<Self> {
        let key = key_of(table)?;
        let columns = ColumnSchema::of_table(table)?;
        let names = workload.names().map(str::to_owned).collect();
        Ok(Self { key, columns, names, rows: Vec::new() })
    }

    /// Adds a row, unless the key does not fit the template.
    pub fn add(&mut self, row: &Row) {
        let Ok(fields) = self.key.decode(row.key()) else { return };
        let values = self.names.iter().map(|name| match fields.get(name) {
            Some(value) => value.clone(),
            None => self.column_of(name, row),
        });
        let values = values.collect();
        self.rows.push((written(row), values));
    }

    /// Returns the workload with the rows, in the order in which they were written by their cell
    /// timestamps.
    ///
    /// # Errors
    /// As [`Workload::with_sample`].
    pub fn sampled(mut self, workload: Workload) -> Result<Workload> {
        self.rows.sort_by_key(|(written, _)| *written);
        let rows = self.rows.into_iter().map(|(_, values)| values).collect();
        workload.with_sample(&self.names, rows)
    }

    /// Returns true if no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns a column's value; null if there is none, or if it does not fit the column type.
    fn column_of(&self, name: &str, row: &Row) -> Value {
        let value = || {
            let column = self.columns.as_ref()?.column(name).ok()?;
            let bytes = row.value(column.family(), column.qualifier()?)?;
            column.decode_value(&bytes).ok()
        };
        value().unwrap_or(Value::Null)
    }
}

/// Returns when a row was written, and a number by which rows from the same time are ordered.
fn written(row: &Row) -> (i64, u64) {
    let first = row.cells().map(|cell| cell.timestamp().as_millis()).min();
    let mut hasher = DefaultHasher::new();
    row.key().hash(&mut hasher);
    (first.unwrap_or(0), hasher.finish())
}
