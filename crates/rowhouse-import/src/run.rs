//! An import's steps.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rowhouse::filter::Filter;
use rowhouse::schema::TableName;
use rowhouse::{Database, Error, Get, Result, Scan, Table};
use serde_json::{Value as Json, json};

use crate::journal::{Progress, ProgressFile};
use crate::making::{Declaration, Destination, destination};
use crate::mapping::Mapping;
use crate::progress::{OnProgress, Reporter};
use crate::rejects::Rejects;
use crate::rows::Inputs;
use crate::sorted::SortedRows;
use crate::source::Reading;
use crate::summary::Summary;
use crate::survey::{Survey, SurveyOptions};
use crate::targets::Targets;
use crate::write::Writing;

/// How to treat rows with the same key as another row, in the files or in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Write nothing, and report the rows.
    #[default]
    Refuse,
    /// Columns in later rows replace the same columns in earlier rows; columns that only one row
    /// has are all retained.
    Merge,
}

/// An import's settings.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) table: TableName,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) reading: Reading,
    pub(crate) mapping: Mapping,
    pub(crate) declared: Option<Declaration>,
    pub(crate) duplicates: Duplicates,
    pub(crate) rejects_dir: PathBuf,
    pub(crate) rejects_max: u64,
    pub(crate) progress_file: Option<PathBuf>,
    pub(crate) batch_rows: usize,
    pub(crate) memory_bytes: usize,
}

/// How the rows are treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// Whether nothing is written.
    pub(crate) is_dry_run: bool,
    /// Whether rows are sorted, to be loaded as store files.
    pub(crate) is_sorted: bool,
}

/// The result of [`Run::run`].
pub(crate) enum Outcome {
    /// The rows are written, or checked.
    Done(Summary),
    /// The rows are sorted.
    Sorted(SortedRows),
}

/// An import that runs.
pub(crate) struct Run {
    pub(crate) database: Database,
    pub(crate) plan: Plan,
    pub(crate) mode: Mode,
}

impl Run {
    /// Runs all steps except loading sorted rows, which it returns.
    pub(crate) async fn run(&self, on_progress: Option<OnProgress>) -> Result<Outcome> {
        let Plan { table: name, files, reading, mapping, .. } = &self.plan;
        let Mode { is_dry_run, is_sorted } = self.mode;
        reading.check()?;
        let declared = self.plan.declared.as_ref();
        let (destination, targets) = destination(declared, &self.database, name).await?;
        let mut inputs = Inputs::new(files, reading, mapping, &targets)?;
        self.check_outputs()?;
        let journal = ProgressFile::new(&self.progress_path(), self.identity(&targets).await?);
        let mut reporter = Reporter::new(on_progress, inputs.bytes());
        let mut summary = Summary::new(name, &inputs, is_dry_run);
        summary.times = inputs.recognize_times(&mut reporter)?;
        let reached = if is_sorted { None } else { journal.reached()? };
        let (reached, table) = match reached {
            Some(reached) if is_dry_run => {
                self.check_still_there(&destination, &reached).await?;
                return Ok(Outcome::Done(summary.dry_run_of_resumed(reached)));
            }
            Some(reached) => {
                self.check_still_there(&destination, &reached).await?;
                summary.is_resumed = true;
                summary.rejects = reached.rejects.clone();
                (reached, self.make(destination).await?)
            }
            None => {
                let surveyed =
                    self.survey(&inputs, &destination, &mut summary, &mut reporter).await;
                summary.elapsed = reporter.elapsed();
                let survey = surveyed?;
                if is_dry_run {
                    return Ok(Outcome::Done(summary));
                }
                let table = self.make(destination).await?;
                if is_sorted {
                    let sorter = survey.sorter;
                    return Ok(Outcome::Sorted(SortedRows { sorter, summary, reporter }));
                }
                let lanes = lanes_of(&survey, &inputs, &table).await?;
                let parts = survey.marks.parts(lanes);
                let counts = survey.counts;
                let rejects = summary.rejects.clone();
                (Progress { counts, parts, rejects, ..Progress::default() }, table)
            }
        };
        summary.counts = reached.counts;
        let batch_rows = self.plan.batch_rows;
        let writing = Writing { inputs: &inputs, table: &table, journal: &journal, batch_rows };
        let written = writing.run(reached, &mut reporter).await;
        summary.elapsed = reporter.elapsed();
        summary.written = written?;
        summary.check_all_written()?;
        journal.remove()?;
        Ok(Outcome::Done(summary))
    }

    /// Checks all rows; refuses rows with the same key as another row, unless that is allowed.
    async fn survey(
        &self,
        inputs: &Inputs,
        destination: &Destination,
        summary: &mut Summary,
        reporter: &mut Reporter,
    ) -> Result<Survey> {
        let Plan { files, rejects_dir, rejects_max, memory_bytes, .. } = &self.plan;
        let Mode { is_dry_run, is_sorted } = self.mode;
        let table = match destination {
            Destination::Existing(table) => Some(table),
            Destination::ToCreate(_) => None,
        };
        let look = SurveyOptions {
            key: inputs.key(),
            inputs,
            table,
            with_cells: is_sorted && !is_dry_run,
            memory: *memory_bytes,
        };
        let mut rejects = Rejects::new(rejects_dir, files, *rejects_max)?;
        let survey = look.run(&mut rejects, reporter).await?;
        summary.rejects = rejects.made().to_vec();
        summary.first_rejected = rejects.first().map(str::to_owned);
        summary.counts = survey.counts;
        if is_dry_run {
            summary.examples = survey.examples.clone();
            summary.is_refused = self.has_duplicates(&survey);
        } else {
            self.check_duplicates(&survey)?;
        }
        Ok(survey)
    }

    /// Refuses to resume with a table that has lost the written rows.
    async fn check_still_there(&self, destination: &Destination, reached: &Progress) -> Result<()> {
        let lost = match destination {
            Destination::Existing(table) => lost(table, reached).await?,
            Destination::ToCreate(_) => reached.written > 0,
        };
        if lost {
            Err(Error::invalid(format!(
                "the table lacks rows that an incomplete import wrote: remove its progress file \
                 to start again: file={}, written={}",
                self.progress_path().display(),
                reached.written
            )))
        } else {
            Ok(())
        }
    }

    /// Returns the table, created if it is missing.
    async fn make(&self, destination: Destination) -> Result<Table> {
        match destination {
            Destination::Existing(table) => Ok(table),
            Destination::ToCreate(spec) => self.database.create_table(*spec).await,
        }
    }

    /// Returns true if rows have the same key as another row although that is not allowed.
    fn has_duplicates(&self, survey: &Survey) -> bool {
        let counts = survey.counts;
        self.plan.duplicates == Duplicates::Refuse && counts.same_key + counts.in_table > 0
    }

    fn check_duplicates(&self, survey: &Survey) -> Result<()> {
        if !self.has_duplicates(survey) {
            return Ok(());
        }
        let counts = survey.counts;
        Err(Error::invalid(format!(
            "nothing was written, because rows would overwrite others with the same key: rows of \
             the files={}, rows of the table={}; --duplicates merge writes them\n  {}",
            counts.same_key,
            counts.in_table,
            survey.examples.join("\n  ")
        )))
    }

    /// Refuses to overwrite an input file. Rejected rows go under a free name.
    fn check_outputs(&self) -> Result<()> {
        let Plan { files, rejects_dir, .. } = &self.plan;
        let rejects = files.iter().map(|file| Rejects::part_of(rejects_dir, file));
        // A missing file is no input.
        let places = |path: &PathBuf| path.canonicalize().ok();
        let inputs: BTreeSet<_> = files.iter().filter_map(places).collect();
        let is_input = |path: &PathBuf| places(path).is_some_and(|path| inputs.contains(&path));
        match rejects.chain([self.progress_path()]).find(is_input) {
            None => Ok(()),
            Some(path) => Err(Error::invalid(format!(
                "rejected rows or progress would overwrite an imported file: name other files \
                 with --rejects and --progress: file={}",
                path.display()
            ))),
        }
    }

    fn progress_path(&self) -> PathBuf {
        self.plan.progress_file.clone().unwrap_or_else(|| {
            let first = self.plan.files.first().and_then(|file| file.file_name());
            let mut name = first.unwrap_or_default().to_owned();
            name.push(".progress");
            name.into()
        })
    }

    /// Returns an import's identity, by which a later run recognizes it.
    async fn identity(&self, targets: &Targets) -> Result<Json> {
        let Plan { table, files, reading, mapping, .. } = &self.plan;
        let files = files.iter().map(|file| file_identity(file)).collect::<Result<Vec<_>>>()?;
        Ok(json!({
            "database": self.database.admin().cluster_id().await?,
            "table": table.to_string(),
            "key": targets.key.to_stored(),
            "columns": targets.columns.to_stored(),
            "files": files,
            "reading": format!("{reading:?} {mapping:?}"),
        }))
    }
}

/// Returns true if the last written rows, or all of them, are missing: the table was restored from
/// a snapshot or a backup, or created again.
async fn lost(table: &Table, reached: &Progress) -> Result<bool> {
    let only_keys = || Filter::KeyOnly { length_as_value: false };
    for key in &reached.last {
        if table.get(&Get::new(key.clone())?.filter(only_keys())).await?.is_empty() {
            return Ok(true);
        }
    }
    let mut rows = table.scan(Scan::all().limit(1).filter(only_keys())).await?;
    Ok(reached.written > 0 && rows.next().await?.is_none())
}

/// Returns in how many parts the files are read in parallel: rows in key order would all go to one
/// region, and then to the next. Rows with the same key stay in order, in one part. So do the rows
/// in compressed files, which would be decompressed once for each part.
async fn lanes_of(survey: &Survey, inputs: &Inputs, table: &Table) -> Result<usize> {
    if survey.is_in_order && survey.counts.same_key == 0 && inputs.are_seekable() {
        Ok(table.regions().await?.len().clamp(1, LANES_MAX))
    } else {
        Ok(1)
    }
}

fn file_identity(path: &Path) -> Result<Json> {
    let read = || {
        let full = path.canonicalize()?;
        let metadata = path.metadata()?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified = modified.as_nanos().to_string();
        Ok(json!({"path": full.to_string_lossy(), "len": metadata.len(), "modified": modified}))
    };
    read().map_err(|source| Error::io(format_args!("cannot read {}", path.display()), source))
}

/// Each lane has a file open.
const LANES_MAX: usize = 16;
