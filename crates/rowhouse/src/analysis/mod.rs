//! What a query, a get or a scan read: see [`Query::analyze`](crate::query::Query::analyze).

mod run;
mod svg;
mod text;

use std::collections::BTreeMap;
use std::time::Duration;

use rowhouse_model::{Row, TableName, escape, escape_controls};
use rowhouse_schema::KeySchema;
use rowhouse_store::{FamilyReads, FileReads, ReadReport, ReadTotals};

pub(crate) use run::{StepTimer, on_blocking_thread, refused};

/// Time that a step took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTime {
    /// From beginning to end.
    pub elapsed: Duration,
    /// CPU time, on systems with a clock for threads.
    pub cpu: Duration,
}

/// What a query, a get or a scan read, and how long it took. It prints as a tree.
///
/// ```
/// use rowhouse::TableSpec;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
/// let spec = TableSpec::new("mail").family("d").key("[user string][n u32]");
/// let mail = database.create_table(spec).await?;
/// for n in 0..10_u32 {
///     let user = if n < 3 { "bob" } else { "eve" };
///     mail.row(&[("user", user.into()), ("n", n.into())]).set("d", "size", "1").put().await?;
/// }
///
/// let analysis = mail.query("user = 'bob'").analyze().await?;
/// assert_eq!(analysis.rows_returned(), 3);
/// assert_eq!(analysis.total().rows_read, 3);
/// println!("{analysis}");
/// # database.close().await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The request, for the first line.
    pub(crate) asked: String,
    /// How a query was read, and the range count; `None` for gets and scans.
    pub(crate) access: Option<(String, u64)>,
    pub(crate) answer: Answer,
    pub(crate) planning: Option<StepTime>,
    pub(crate) reading: StepTime,
    pub(crate) reads: ReadReport,
    /// The templates for the tables that were read, to decode keys.
    pub(crate) schemas: BTreeMap<TableName, KeySchema>,
}

/// How large an answer is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    rows: u64,
    cells: u64,
    bytes: u64,
}

impl Answer {
    pub(crate) fn add(&mut self, row: &Row) {
        if row.is_empty() {
            return;
        }
        self.rows += 1;
        for cell in row.cells() {
            self.cells += 1;
            self.bytes += cell.as_bytes().len() as u64;
        }
    }
}

impl Analysis {
    /// Returns how many rows the answer has.
    pub fn rows_returned(&self) -> u64 {
        self.answer.rows
    }

    /// Returns how many cells the answer has.
    pub fn cells_returned(&self) -> u64 {
        self.answer.cells
    }

    /// Returns the cell bytes in the answer, with the cell keys.
    pub fn bytes_returned(&self) -> u64 {
        self.answer.bytes
    }

    /// Returns how many ranges a query plan has, in the table or in the index by which it was read;
    /// 1 for a scan, 0 for a get.
    pub fn ranges(&self) -> u64 {
        match &self.access {
            Some((_, ranges)) => *ranges,
            None => self.reads.total().scans.min(1),
        }
    }

    /// Returns what was read, by table, region, family and file. An index is a separate table.
    pub fn reads(&self) -> &ReadReport {
        &self.reads
    }

    /// Returns the sums over everything that was read, indexes included.
    pub fn total(&self) -> ReadTotals {
        self.reads.total()
    }

    /// Returns how long planning took, which includes choosing an index; `None` for gets and scans.
    pub fn planning(&self) -> Option<StepTime> {
        self.planning
    }

    /// Returns how long the reads took, with all work on their results.
    pub fn reading(&self) -> StepTime {
        self.reading
    }

    /// Returns the time from the beginning to the end.
    pub fn elapsed(&self) -> Duration {
        self.planning.unwrap_or_default().elapsed + self.reading.elapsed
    }

    /// Returns the CPU time from the beginning to the end.
    pub fn cpu(&self) -> Duration {
        self.planning.unwrap_or_default().cpu + self.reading.cpu
    }

    /// Returns a table's key with the fields, or as bytes if the table has no template.
    fn key(&self, table: &TableName, key: &[u8]) -> String {
        Self::key_of(self.schemas.get(table), key)
    }

    fn key_of(schema: Option<&KeySchema>, key: &[u8]) -> String {
        match schema {
            _ if key.is_empty() => "…".to_owned(),
            Some(schema) => escape_controls(&schema.read_prefix(key).to_string()),
            None => escape(key),
        }
    }
}

/// Returns why a file was not read; `None` if it was read.
fn why_not_read(file: &FileReads) -> Option<String> {
    if file.reads > 0 {
        return None;
    }
    let causes = [
        (file.left_out_by_rows, "its rows"),
        (file.left_out_by_bloom, "its bloom filter"),
        (file.left_out_by_times, "its times"),
        (file.left_out_by_newer, "a newer version"),
    ];
    let causes = causes.iter().filter(|(count, _)| *count > 0).map(|(_, cause)| *cause);
    let causes = causes.collect::<Vec<_>>().join(", ");
    Some(if causes.is_empty() { "not reached".to_owned() } else { format!("left out by {causes}") })
}

/// Returns how many files in a family a read looked into.
fn files_read(family: &FamilyReads) -> usize {
    family.files.iter().filter(|file| file.reads > 0).count()
}

/// Returns a byte count for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
