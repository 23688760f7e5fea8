//! A workload: the row fields and columns, the questions about them, and the limits to keep.

use std::fmt;

use rowhouse_model::{Error, Result};

use super::distribution::{Distribution, Draw};
use super::made::Maker;
use super::parse;
use super::question::Question;
use super::random::{Random, Zipf, mixed, permuted};
use super::sample::Sample;
use super::table_design::Design;
use super::words::{Count, Millis, Rate};
use crate::columns::ColumnSchema;
use crate::encode::FieldType;
use crate::field::Field;
use crate::index::IndexSchema;
use crate::key::KeySchema;
use crate::plan::Predicate;
use crate::value::Value;

/// How many rows a simulation has if the workload names no number, unless it writes fewer in the
/// given time.
pub(super) const ROWS: u64 = 1_000_000;
/// A simulation's values have at most so many bytes, unless the workload names its rows.
const BYTES_MAX: u64 = 256_000_000;
/// Rows that are drawn to find one without a null.
const DRAWS_MAX: u32 = 10_000;
/// When the first row is written: 2026-01-01T00:00:00Z.
const BEGIN_MILLIS: i64 = 1_767_225_600_000;

/// A workload, as one describes it before there is a table: the row fields and columns with their
/// types and distributions, the write rate, the questions with their rates, and limits that no
/// design may break. [`Workload::parse`] reads it from text; it prints itself.
///
/// A seed determines all rows: [`Workload::record`] makes any of them, always the same one.
///
/// ```
/// use rowhouse_schema::Workload;
///
/// let text = "\
/// field user string: 1e5 values, zipf 1.1   # a few users get most of the mail
/// field at millis: now
/// column d:s sender string: 2e4 values
/// write 500/s
/// ask user = ? newest 20 : 40/s
/// never a question reads more than 10000 rows
/// ";
/// let workload = Workload::parse(text)?;
/// assert_eq!(workload.names().collect::<Vec<_>>(), ["user", "at", "sender"]);
/// assert_eq!(workload.record(7)?, workload.record(7)?);
/// assert_eq!(Workload::parse(&workload.to_string())?.to_string(), workload.to_string());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: what does a mistake look like?
///
/// ```
/// use rowhouse_schema::Workload;
///
/// let error = Workload::parse("field at millis: now\nfield user strng: 10 values").unwrap_err();
/// assert_eq!(error.to_string(), "\
/// unknown type `strng`; did you mean `string`?: line=2, offset=11
///   field user strng: 10 values
///              ^");
/// ```
#[derive(Clone, Debug)]
pub struct Workload {
    pub(super) variables: Vec<Variable>,
    /// How many fields there are; they come before the columns.
    pub(super) fields: usize,
    pub(super) columns: Option<ColumnSchema>,
    pub(super) key: Option<KeySchema>,
    pub(super) indexes: Vec<String>,
    pub(super) questions: Vec<Question>,
    pub(super) writes_per_second: f64,
    pub(super) limits: Limits,
    pub(super) regions: usize,
    pub(super) servers: usize,
    /// The rows to make, if the workload names a number.
    pub(super) rows: Option<u64>,
    /// The time in which the rows are written.
    pub(super) over_millis: i64,
    pub(super) seed: u64,
    pub(super) sample: Option<Sample>,
    /// The sample file that the workload names.
    pub(super) sample_file: Option<String>,
}

/// A field or column, and how its values are made.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// Name and type.
    pub(super) field: Field,
    /// `None` if the values come from the sample.
    pub(super) made: Option<(Distribution, Maker)>,
}

/// What no design may do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The most rows that a question may read.
    pub rows_read: Option<u64>,
    /// The greatest share, 0 to 1, of the writes that a region may take.
    pub region_share: Option<f64>,
    /// The most writes per second that a server may take.
    pub server_writes: Option<f64>,
}

/// A row as a workload makes it, before a design gives it a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The field values, then the column values, in workload order.
    pub values: Vec<Value>,
    /// When it is written, in milliseconds since 1970.
    pub written_millis: i64,
}

impl Workload {
    /// Parses a workload.
    ///
    /// # Errors
    /// `InvalidRequest` with the line, the offset and the mistake: an unknown word or type, a
    /// distribution that the type cannot have, a question about a name that is not declared.
    pub fn parse(text: &str) -> Result<Self> {
        parse::parse(text).map_err(|fault| fault.in_text(text))
    }

    /// The field names, then the column names.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.variables.iter().map(|variable| variable.field.name())
    }

    /// The field names; every design's key has these fields.
    pub fn field_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fields().iter().map(|variable| variable.field.name())
    }

    /// The declared type of a field or column.
    pub fn field_type(&self, name: &str) -> Option<&FieldType> {
        let variable = self.variables.iter().find(|variable| variable.field.name() == name);
        variable.map(|variable| variable.field.field_type())
    }

    /// The fields, which every design's key has.
    pub(super) fn fields(&self) -> &[Variable] {
        &self.variables[..self.fields]
    }

    /// The declared columns.
    pub fn columns(&self) -> Option<&ColumnSchema> {
        self.columns.as_ref()
    }

    /// The present key's template, if there is a table.
    pub fn key(&self) -> Option<&KeySchema> {
        self.key.as_ref()
    }

    /// The declarations that the present indexes have.
    pub fn indexes(&self) -> &[String] {
        &self.indexes
    }

    /// The questions, in workload order.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Rows written per second.
    pub fn writes_per_second(&self) -> f64 {
        self.writes_per_second
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The regions that the table has at the end if writes are spread evenly: a region divides when
    /// it has this part of the rows.
    pub fn regions(&self) -> usize {
        self.regions
    }

    /// How many region servers there are.
    pub fn servers(&self) -> usize {
        self.servers
    }

    /// The seed for everything drawn at random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The time in which the rows are written, in milliseconds.
    pub fn over_millis(&self) -> i64 {
        self.over_millis
    }

    /// The time after the last write, in milliseconds since 1970: `now` in questions. Where times
    /// come from a sample, it is the greatest one.
    pub fn end_millis(&self) -> i64 {
        let end = || {
            let sample = self.sample.as_ref()?;
            let time = self.names().position(|name| Some(name) == self.time_field())?;
            let place = sample.places[time].filter(|_| self.variables[time].made.is_none())?;
            sample.end_millis(place)
        };
        end().unwrap_or(BEGIN_MILLIS + self.over_millis)
    }

    /// The rows that the real table gets in the workload's time.
    pub fn rows_real(&self) -> u64 {
        ((self.writes_per_second * self.over_millis as f64 / 1000.0) as u64).max(1)
    }

    /// The rows of a simulation: the number that the workload names; otherwise the row count of the
    /// sample or of the real table, at most a million rows and at most 256 MB of values.
    pub fn rows(&self) -> u64 {
        let all = match &self.sample {
            Some(sample) => sample.rows.len() as u64,
            None => ROWS.min(self.rows_real()).min(BYTES_MAX / self.bytes_of_row().max(1)).max(1),
        };
        self.rows.unwrap_or(all)
    }

    /// Returns the workload with another row count to make.
    ///
    /// ```
    /// use rowhouse_schema::Workload;
    ///
    /// // A simulation has at most a million rows, unless it names more.
    /// let workload = Workload::parse("field user string: 9 values\nwrite 500/s")?;
    /// assert_eq!((workload.rows(), workload.rows_real()), (1_000_000, 43_200_000));
    /// assert_eq!(workload.with_rows(5_000_000)?.rows(), 5_000_000);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for 0, and for more than the sample has.
    pub fn with_rows(mut self, rows: u64) -> Result<Self> {
        if rows == 0 {
            return Err(Error::invalid("a simulation has at least one row: rows=0"));
        }
        self.rows = Some(rows);
        self.check_sample()?;
        Ok(self)
    }

    /// Returns the workload with at most so many rows to make, or fewer if their values would have
    /// more than `bytes`.
    ///
    /// ```
    /// use rowhouse_schema::Workload;
    ///
    /// let workload = Workload::parse("field user string: 9 values\nwrite 500/s")?;
    /// assert_eq!(workload.clone().limited(1000, 1 << 20)?.rows(), 1000);
    /// assert_eq!(workload.limited(1000, 4000)?.rows(), 500);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if a single row may have more bytes.
    pub fn limited(self, rows: u64, bytes: u64) -> Result<Self> {
        let of_row = self.bytes_of_row();
        if of_row > bytes {
            return Err(Error::invalid(format!("a row is too large: bytes={of_row}, max={bytes}")));
        }
        let rows = rows.min(bytes / of_row.max(1)).min(self.rows());
        self.with_rows(rows)
    }

    /// Returns the workload with another seed.
    ///
    /// ```
    /// use rowhouse_schema::Workload;
    ///
    /// let one = Workload::parse("field id uuid: random")?;
    /// let other = one.clone().with_seed(2);
    /// assert_ne!(one.record(0)?, other.record(0)?);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Returns the workload with a sample's values for all fields and columns that declare no
    /// distribution. `rows` are in the order in which they were written, each with the values for
    /// `names`; names that no field or column has are ignored.
    ///
    /// # Errors
    /// `InvalidRequest` if the sample is empty, has fewer rows than the workload names, or lacks a
    /// field or column without a distribution.
    ///
    /// ```
    /// use rowhouse_schema::Workload;
    ///
    /// let workload = Workload::parse("field user string\nfield at millis: now")?;
    /// let rows = vec![vec!["bob".into()], vec!["eve".into()]];
    /// let workload = workload.with_sample(&["user"], rows)?;
    /// assert_eq!(workload.rows(), 2);
    /// assert_eq!(workload.record(1)?.values[0], "eve".into());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn with_sample<N: AsRef<str>>(
        mut self,
        names: &[N],
        rows: Vec<Vec<Value>>,
    ) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::invalid("the sample has no rows"));
        }
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        self.sample = Some(Sample::new(&self.names().collect::<Vec<_>>(), &names, rows));
        self.check_sample()?;
        Ok(self)
    }

    fn check_sample(&self) -> Result<()> {
        let Some(sample) = &self.sample else { return Ok(()) };
        let missing = self.variables.iter().zip(&sample.places);
        let mut missing = missing.filter(|(of, place)| of.made.is_none() && place.is_none());
        if let Some((variable, _)) = missing.next() {
            return Err(Error::invalid(format!(
                "`{}` has neither a distribution nor values in the sample",
                variable.field.name()
            )));
        }
        let rows = self.rows();
        let max = sample.rows.len() as u64;
        if rows > max {
            Err(Error::invalid(format!("the sample has fewer rows: rows={rows}, max={max}")))
        } else {
            Ok(())
        }
    }

    /// The sample file that the workload names, as written. The caller has to read it.
    pub fn sample_file(&self) -> Option<&str> {
        self.sample_file.as_deref()
    }

    /// Returns the first field or column that needs a sample and has none.
    pub fn without_values(&self) -> Option<&str> {
        let mut missing = self.variables.iter().filter(|variable| variable.made.is_none());
        missing.next().filter(|_| self.sample.is_none()).map(|variable| variable.field.name())
    }

    /// Reads a field or column value from plain text, for a sample.
    ///
    /// ```
    /// use rowhouse_schema::{Time, Workload};
    ///
    /// let workload = Workload::parse("field at millis\nfield user string\nsample mail.csv")?;
    /// assert_eq!(workload.sample_file(), Some("mail.csv"));
    /// assert_eq!(workload.without_values(), Some("at"));
    /// assert_eq!(workload.read_value("at", "2026-01-01")?, Time::parse("2026-01-01")?.into());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for a name that is not declared, and for text that the type cannot read.
    pub fn read_value(&self, name: &str, text: &str) -> Result<Value> {
        let variable = self.variables.iter().find(|variable| variable.field.name() == name);
        let no_name = || Error::invalid(format!("the workload has no field or column `{name}`"));
        variable.ok_or_else(no_name)?.field.parse_value(text)
    }

    /// Makes row `number`, counted from 0.
    ///
    /// ```
    /// use rowhouse_schema::Workload;
    ///
    /// let text = "field order u64: sequence from 1000\nfield at millis: now";
    /// let workload = Workload::parse(text)?;
    /// let record = workload.record(7)?;
    /// assert_eq!(record.values[0].as_u64(), Some(1007));
    /// assert_eq!(record.values[1].as_time().unwrap().as_millis(), record.written_millis);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if a field needs a sample that was not given, and for a row beyond it.
    pub fn record(&self, number: u64) -> Result<Record> {
        let written_millis = self.written_millis(number);
        let value = |at: usize| match &self.variables[at].made {
            Some((distribution, maker)) => {
                Ok(self.made(at, distribution, maker, number, written_millis))
            }
            None => self.sampled(at, number),
        };
        let values = (0..self.variables.len()).map(value).collect::<Result<_>>()?;
        Ok(Record { values, written_millis })
    }

    /// Returns when a row is written: rows come at equal distances, apart from some chance.
    fn written_millis(&self, number: u64) -> i64 {
        let rows = u128::from(self.rows());
        let over = self.over_millis.unsigned_abs();
        let chance = u128::from(Random::new(&[self.seed, number]).below(1 << 16));
        let place = ((u128::from(number) << 16) + chance) * u128::from(over);
        BEGIN_MILLIS + (place / (rows << 16)) as i64
    }

    fn made(
        &self,
        at: usize,
        distribution: &Distribution,
        maker: &Maker,
        number: u64,
        written: i64,
    ) -> Value {
        let span = (BEGIN_MILLIS, self.over_millis);
        let seed = mixed(self.seed ^ mixed(at as u64 + 1));
        let mut random = Random::new(&[seed, number]);
        let number = match distribution.draw {
            Draw::Values { count, zipf: None } => random.below(count),
            Draw::Values { count, zipf: Some(skew) } => {
                let rank = Zipf::new(count, skew).draw(&mut random) - 1;
                permuted(rank, count, seed)
            }
            Draw::Sequence { from } => from.saturating_add(number),
            Draw::Random => random.next(),
            Draw::Now => return maker.time(written),
        };
        maker.value(number, span)
    }

    fn sampled(&self, at: usize, number: u64) -> Result<Value> {
        let name = self.variables[at].field.name();
        let needs = || Error::invalid(format!("`{name}` has no distribution: it needs a sample"));
        let sample = self.sample.as_ref().ok_or_else(needs)?;
        let place = sample.places[at].ok_or_else(needs)?;
        sample.value(place, number)
    }

    /// Returns the query that a question has when it is asked for the nth time.
    ///
    /// ```
    /// use rowhouse_schema::Workload;
    ///
    /// let workload = Workload::parse("field user string: 3 values\nask user = ? : 1/s")?;
    /// let query = workload.ask(&workload.questions()[0], 0)?;
    /// assert!(query.starts_with("user = '"), "{query}");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Workload::record`].
    pub fn ask(&self, question: &Question, nth: u64) -> Result<String> {
        let place = self.questions.iter().position(|other| other == question).unwrap_or(0);
        let mut random = Random::new(&[self.seed, 0xA5, place as u64, nth]);
        let place = |name: &str| self.names().position(|other| other == name).unwrap_or(0);
        let places: Vec<usize> = question.drawn().map(place).collect();
        let drawn = (0..question.rows_drawn()).map(|_| self.draw(&places, &mut random));
        let drawn = drawn.collect::<Result<Vec<_>>>()?;
        let value = |name: &str, row: usize| drawn[row].values[place(name)].clone();
        question.with_values(value, self.end_millis()).map_err(Error::invalid)
    }

    /// Draws a row that has all these values.
    fn draw(&self, places: &[usize], random: &mut Random) -> Result<Record> {
        for _ in 0..DRAWS_MAX {
            let record = self.record(random.below(self.rows()))?;
            if !places.iter().any(|place| record.values[*place].is_null()) {
                return Ok(record);
            }
        }
        let names = places.iter().map(|place| self.variables[*place].field.name());
        Err(Error::invalid(format!(
            "no row with a value of each of {} was found: drawn={DRAWS_MAX}",
            names.collect::<Vec<_>>().join(", ")
        )))
    }

    /// As [`Workload::ask`], parsed.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Workload};
    ///
    /// let workload = Workload::parse("field user string: 3 values\nask user = ? : 1/s")?;
    /// let query = workload.ask_predicate(&workload.questions()[0], 0)?;
    /// assert_eq!(KeySchema::parse("[user string]")?.plan(&query)?.ranges().len(), 1);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Workload::record`] and [`Predicate::parse`].
    pub fn ask_predicate(&self, question: &Question, nth: u64) -> Result<Predicate> {
        Question::predicate(&self.ask(question, nth)?)
    }

    /// Returns true if a field or column may have the time at which the row is written.
    pub(super) fn may_have_time(&self) -> bool {
        let mut sampled = self.variables.iter().filter(|variable| variable.made.is_none());
        self.time_field().is_some() || sampled.any(|it| it.field.field_type().is_time())
    }

    /// The name of the first field or column that has the time at which the row is written: one
    /// whose values are `now`, or whose times grow from row to row in the sample.
    pub fn time_field(&self) -> Option<&str> {
        let names = self.variables.iter().filter(|variable| variable.field.field_type().is_time());
        let mut names = names.map(|variable| variable.field.name());
        names.find(|name| self.grows(name))
    }

    /// Returns true if a question requires an order: that of the newest rows.
    pub(super) fn needs_order(&self, question: &Question) -> bool {
        question.newest && self.time_field().is_some()
    }

    /// Returns true if a field's or column's values grow with the writes.
    pub(super) fn grows(&self, name: &str) -> bool {
        let Some(at) = self.names().position(|other| other == name) else { return false };
        match &self.variables[at].made {
            Some((distribution, _)) => {
                matches!(distribution.draw, Draw::Now | Draw::Sequence { .. })
            }
            None => self.sample.as_ref().is_some_and(|sample| sample.grows[at]),
        }
    }

    /// Returns the most rows that can match a query in a table of any size: rows have different
    /// numbers of a sequence.
    pub(super) fn matching_max(&self, predicate: &Predicate) -> Option<u128> {
        let numbers = self
            .variables
            .iter()
            .filter(|variable| variable.is_sequence_of(self.rows_real().max(self.rows())));
        numbers.filter_map(|it| predicate.integers_allowed(it.field.name())).min()
    }

    /// Returns a key with all fields in workload order.
    pub(super) fn plain_key(&self) -> Result<KeySchema> {
        let fields = self.fields().iter();
        let fields = fields.map(|it| format!("[{} {}]", it.field.name(), it.closed_type()));
        KeySchema::parse(&fields.collect::<String>())
    }

    /// Returns the design with this key and without indexes.
    pub(super) fn plain_design(&self) -> Result<Design> {
        Design::new(self, &self.plain_key()?.to_string(), "")
    }

    /// About how many bytes a row's values have at most.
    fn bytes_of_row(&self) -> u64 {
        let bytes = self.variables.iter().filter_map(|variable| variable.made.as_ref());
        bytes.map(|(distribution, _)| u64::from(distribution.bytes.map_or(8, |(_, max)| max))).sum()
    }

    /// Checks that questions, key and indexes fit the fields and columns.
    pub(super) fn index_schema(&self) -> Result<Option<IndexSchema>> {
        let Some(key) = &self.key else { return Ok(None) };
        let text = self.indexes.join("\n");
        IndexSchema::parse(&text, Some(key), self.columns.as_ref()).map(Some)
    }
}

impl Variable {
    /// Returns a value as rows may have it; `None` for types for which no values are made.
    pub(super) fn example(&self, end_millis: i64) -> Option<Value> {
        let random = || {
            let distribution = Distribution { draw: Draw::Random, bytes: None };
            Maker::new(self.field.field_type(), &distribution).ok()
        };
        let made = self.made.as_ref().map(|(_, maker)| maker.clone());
        Some(made.or_else(random)?.value(0, (end_millis - 1, 1)))
    }

    /// How many different values there are, if declared.
    pub(super) fn values(&self) -> Option<u64> {
        match self.made.as_ref()?.0.draw {
            Draw::Values { count, .. } => Some(count),
            Draw::Sequence { .. } | Draw::Random | Draw::Now => None,
        }
    }

    /// Returns true if each of so many rows has another number of a sequence.
    fn is_sequence_of(&self, rows: u64) -> bool {
        let Some((Distribution { draw: Draw::Sequence { from }, .. }, _)) = self.made else {
            return false;
        };
        let last = u128::from(from) + u128::from(rows);
        // Numbers begin again after the type's greatest one.
        let domain = self.field.field_type().domain();
        domain.is_some_and(|domain| last <= domain.max.unsigned_abs())
    }

    /// The length that all values have, if they are made texts with the same length.
    pub(super) fn fixed_length(&self) -> Option<u32> {
        self.made.as_ref().and_then(|(_, maker)| maker.fixed_length())
    }

    /// The type as a key can have it before other fields.
    pub(super) fn closed_type(&self) -> String {
        match self.field.field_type() {
            FieldType::Text | FieldType::Domain => "string".to_owned(),
            FieldType::ShortestDigits => "u64".to_owned(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Workload {
    /// Writes the workload without the sample; parsing the text returns an equal workload.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = &self.key {
            writeln!(f, "key {key}")?;
        }
        self.indexes.iter().try_for_each(|index| writeln!(f, "index {index}"))?;
        let columns = self.columns.as_ref().map_or(&[][..], ColumnSchema::columns);
        for (at, variable) in self.variables.iter().enumerate() {
            match at.checked_sub(self.fields) {
                None => write!(f, "field {}", variable.field)?,
                Some(column) => write!(f, "column {}", columns[column])?,
            }
            match &variable.made {
                Some((distribution, _)) => writeln!(f, ": {distribution}")?,
                None => writeln!(f)?,
            }
        }
        if let Some(file) = &self.sample_file {
            writeln!(f, "sample {file}")?;
        }
        writeln!(f, "write {}", Rate(self.writes_per_second))?;
        self.questions.iter().try_for_each(|question| writeln!(f, "ask {question}"))?;
        write!(f, "{}", self.limits)?;
        writeln!(f, "regions {}\nservers {}", self.regions, self.servers)?;
        if let Some(rows) = self.rows {
            writeln!(f, "rows {}", Count(rows))?;
        }
        writeln!(f, "over {}\nseed {}", Millis(self.over_millis), self.seed)
    }
}

impl fmt::Display for Limits {
    /// Writes a workload's lines, one for each limit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rows) = self.rows_read {
            writeln!(f, "never a question reads more than {} rows", Count(rows))?;
        }
        if let Some(share) = self.region_share {
            // Rounded, so that the printed text is read as the same.
            let percent = (share * 1e8).round() / 1e6;
            writeln!(f, "never a region takes more than {percent} % of the writes")?;
        }
        if let Some(rate) = self.server_writes {
            writeln!(f, "never a server takes more than {} writes", Rate(rate))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::time::Time;

    fn workload(text: &str) -> Workload {
        Workload::parse(text).unwrap()
    }

    /// Counts the first field's or column's values in the first rows.
    fn counts(workload: &Workload, rows: u64) -> HashMap<String, u32> {
        let mut counts = HashMap::new();
        for number in 0..rows {
            *counts.entry(workload.record(number).unwrap().values[0].to_string()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn values_have_the_shares_of_their_distributions() {
        let even = counts(&workload("field user string: 50 values"), 50_000);
        assert_eq!(even.len(), 50);
        assert!(even.values().all(|count| (850..1150).contains(count)), "{even:?}");

        let skewed = counts(&workload("field user string: 1000 values, zipf 1"), 50_000);
        let mut ranks: Vec<u32> = skewed.into_values().collect();
        ranks.sort_unstable_by(|one, other| other.cmp(one));
        // The 1000th harmonic number is 7.49.
        for (rank, count) in [(1, ranks[0]), (2, ranks[1]), (10, ranks[9])] {
            let share = f64::from(count) / 50_000.0;
            let expected = 1.0 / 7.49 / f64::from(rank);
            assert!((share / expected - 1.0).abs() < 0.15, "rank {rank}: {share}");
        }
    }

    #[test]
    fn a_seed_makes_the_same_rows_and_another_one_others() {
        let text =
            "field user string: 1e5 values, zipf 1.1\nfield at millis: now\nfield id uuid: random";
        let rows = |workload: &Workload| -> Vec<Record> {
            (0..200).map(|number| workload.record(number).unwrap()).collect()
        };
        let one = workload(text);
        assert_eq!(rows(&one), rows(&workload(text)));
        assert_ne!(rows(&one), rows(&one.with_seed(2)));
    }

    #[test]
    fn times_and_sequences_grow_and_random_values_do_not() {
        let workload = workload(
            "field at millis: now\nfield n u64: sequence from 7\nfield id u64: random\nrows 5000",
        );
        let rows: Vec<Record> = (0..5000).map(|it| workload.record(it).unwrap()).collect();
        let sorted = |at: usize| {
            rows.is_sorted_by_key(|row| (row.values[at].as_time(), row.values[at].as_u64()))
        };
        assert_eq!([0, 1, 2].map(sorted), [true, true, false]);
        assert_eq!(rows[0].values[1], 7_u64.into());
        let first = rows[0].written_millis;
        let last = rows[4999].written_millis;
        assert!(last < workload.end_millis() && last - first > workload.over_millis() * 99 / 100);
    }

    #[test]
    fn questions_draw_values_as_often_as_rows_have_them() {
        let workload = workload(
            "field user string: 3 values, zipf 2\nfield n u8: 2 values\n\
             ask user in (?, ?) and n = ? : 1/s\nrows 100",
        );
        let users = counts(&workload, 100);
        let mut drawn: HashMap<String, u32> = HashMap::new();
        for nth in 0..400 {
            let query = workload.ask(&workload.questions()[0], nth).unwrap();
            let first = query.split('\'').nth(1).unwrap().to_owned();
            assert!(users.contains_key(&first), "{query}");
            *drawn.entry(first).or_default() += 1;
        }
        // Questions ask for a value as often as rows have it.
        for (user, rows) in users {
            let share = f64::from(drawn.get(&user).copied().unwrap_or(0)) / 400.0;
            assert!((share - f64::from(rows) / 100.0).abs() < 0.1, "{user}: {share}");
        }
    }

    #[test]
    fn a_sample_gives_values_in_its_order_and_shows_which_fields_grow() {
        let text = "field user string\nfield at millis\nask user = ? newest 3 : 1/s";
        let rows: Vec<Vec<Value>> = (0..100u64)
            .map(|n| {
                vec![Value::from(format!("u{}", n * 7 % 10)), Time::from_millis(n as i64).into()]
            })
            .collect();
        let sampled = workload(text).with_sample(&["user", "at"], rows).unwrap();
        assert_eq!((sampled.rows(), sampled.time_field()), (100, Some("at")));
        assert_eq!(sampled.end_millis(), 100);
        assert_eq!(sampled.record(3).unwrap().values[0], "u1".into());

        let none = workload(text).with_sample(&["user"], vec![vec!["bob".into()]]).unwrap_err();
        assert!(none.message().contains("`at` has neither"), "{none}");
        assert!(sampled.with_rows(101).unwrap_err().message().contains("rows=101, max=100"));
    }
}
