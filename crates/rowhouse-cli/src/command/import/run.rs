//! The steps of an import of rows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use rowhouse::filter::Filter;
use rowhouse::schema::TableName;
use rowhouse::{Database, Error, Get, Result, Scan, Table};
use rowhouse_store::Holder;
use serde_json::{Value as Json, json};

use super::bar::RowBar;
use super::journal::{Progress, ProgressFile};
use super::making::Destination;
use super::rejects::Rejects;
use super::rows::Inputs;
use super::summary::Summary;
use super::survey::{Survey, SurveyOptions};
use super::targets::Targets;
use super::write::Writing;
use super::{Duplicates, ImportArgs, load};
use crate::command::{CommandResult, database_url};

/// Imports rows.
pub(super) fn run(args: &ImportArgs, table: &TableName) -> CommandResult {
    if args.rows.sorted && Holder::of(&args.data)?.is_some() {
        return Err(Error::invalid(format!(
            "--sorted writes files of the store, which a server has open; without it rows are sent to the server: data={}",
            args.data.display()
        )));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::io("cannot start the runtime", source))?;
    let summary = runtime.block_on(import(args, table))?;
    match args.rows.json {
        true => println!("{}", summary.json()),
        false => print!("{}", summary.text()),
    }
    if summary.is_refused {
        return Ok(ExitCode::FAILURE);
    }
    Ok(match summary.counts.rejected {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(REJECTED),
    })
}

async fn import(args: &ImportArgs, name: &TableName) -> Result<Summary> {
    let url = database_url(&args.data, args.connect.as_deref())?;
    let database = rowhouse::open(&url).await?;
    let ran = Import { args, database: database.clone() }.run(name).await;
    // The sorted entries are written to files of a store that no other process has open.
    let closed = database.close().await;
    let (mut summary, survey) = ran?;
    closed?;
    if let Some(mut survey) = survey {
        let mut bar = RowBar::new(summary.bytes);
        let loaded = load::load(&args.data, name, &mut survey.sorter, &mut bar, summary.bytes);
        summary.seconds += bar.seconds();
        bar.clear();
        loaded?;
        summary.written = summary.counts.rows - summary.counts.rejected;
    }
    Ok(summary)
}

/// Returns whether the last written rows, or all of them, are missing: the table was restored from
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

struct Import<'a> {
    args: &'a ImportArgs,
    database: Database,
}

impl Import<'_> {
    /// Runs all steps except loading sorted rows, which it returns.
    async fn run(&self, name: &TableName) -> Result<(Summary, Option<Survey>)> {
        let args = self.args;
        let (destination, targets) = args.making.destination(&self.database, name).await?;
        let mut inputs = Inputs::new(&args.files, &args.reading, &args.mapping, &targets)?;
        self.check_outputs()?;
        let journal =
            ProgressFile::new(&self.progress_path(), self.identity(name, &targets).await?);
        let mut bar = RowBar::new(inputs.bytes());
        let mut summary = Summary::new(args, name, &inputs);
        summary.times = inputs.recognize_times(&mut bar).inspect_err(|_| bar.clear())?;
        let reached = match args.rows.sorted {
            true => None,
            false => journal.reached()?,
        };
        let (reached, table) = match reached {
            Some(reached) if args.rows.dry_run => {
                self.check_still_there(&destination, &reached).await?;
                return Ok((summary.dry_run_of_resumed(reached), None));
            }
            Some(reached) => {
                self.check_still_there(&destination, &reached).await?;
                summary.is_resumed = true;
                summary.rejects = reached.rejects.clone();
                (reached, self.make(destination).await?)
            }
            None => {
                let surveyed = self.survey(&inputs, &destination, &mut summary, &mut bar).await;
                summary.seconds = bar.seconds();
                let survey = surveyed.inspect_err(|_| bar.clear())?;
                if args.rows.dry_run || args.rows.sorted {
                    bar.clear();
                    return self.end_before_puts(destination, survey, summary).await;
                }
                let table = self.make(destination).await?;
                let parts = survey.marks.parts(lanes_of(&survey, &table).await?);
                let (counts, rejects) = (survey.counts, summary.rejects.clone());
                (Progress { counts, parts, rejects, ..Progress::default() }, table)
            }
        };
        summary.counts = reached.counts;
        let batch_rows = args.rows.batch_rows as usize;
        let writing = Writing { inputs: &inputs, table: &table, journal: &journal, batch_rows };
        let written = writing.run(reached, &mut bar).await;
        summary.seconds = bar.seconds();
        bar.clear();
        summary.written = written?;
        summary.check_all_written()?;
        journal.remove()?;
        Ok((summary, None))
    }

    /// Ends a dry run, or returns the sorted rows after creating their table.
    async fn end_before_puts(
        &self,
        destination: Destination,
        survey: Survey,
        summary: Summary,
    ) -> Result<(Summary, Option<Survey>)> {
        if self.args.rows.dry_run {
            return Ok((summary, None));
        }
        self.make(destination).await?;
        Ok((summary, Some(survey)))
    }

    /// Checks all rows; refuses rows that have the key of another, unless that is allowed.
    async fn survey(
        &self,
        inputs: &Inputs,
        destination: &Destination,
        summary: &mut Summary,
        bar: &mut RowBar,
    ) -> Result<Survey> {
        let args = &self.args.rows;
        let table = match destination {
            Destination::Existing(table) => Some(table),
            Destination::ToCreate(_) => None,
        };
        let memory = args.memory as usize * 1_000_000;
        let look = SurveyOptions {
            key: inputs.key(),
            inputs,
            table,
            with_cells: args.sorted && !args.dry_run,
            memory,
        };
        let mut rejects = Rejects::new(&args.rejects, &self.args.files, args.rejects_max)?;
        let survey = look.run(&mut rejects, bar).await?;
        summary.rejects = rejects.made().to_vec();
        summary.counts = survey.counts;
        if args.dry_run {
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
        match lost {
            false => Ok(()),
            true => Err(Error::invalid(format!(
                "an import that was not ended had written rows that the table has not: remove its file of progress to \
                 begin anew: file={}, written={}",
                self.progress_path().display(),
                reached.written
            ))),
        }
    }

    /// Returns the table, created if it is missing.
    async fn make(&self, destination: Destination) -> Result<Table> {
        match destination {
            Destination::Existing(table) => Ok(table),
            Destination::ToCreate(spec) => self.database.create_table(*spec).await,
        }
    }

    /// Returns whether rows have the key of another although that is not allowed.
    fn has_duplicates(&self, survey: &Survey) -> bool {
        let counts = survey.counts;
        self.args.rows.duplicates == Duplicates::Refuse && counts.same_key + counts.in_table > 0
    }

    fn check_duplicates(&self, survey: &Survey) -> Result<()> {
        if !self.has_duplicates(survey) {
            return Ok(());
        }
        let counts = survey.counts;
        Err(Error::invalid(format!(
            "nothing was written, because rows would be written over others with their key: over rows of the files={}, \
             over rows of the table={}; --duplicates merge writes them\n  {}",
            counts.same_key,
            counts.in_table,
            survey.examples.join("\n  ")
        )))
    }

    /// Refuses to overwrite an input file. Rejected rows are kept under a free name.
    fn check_outputs(&self) -> Result<()> {
        let args = self.args;
        let rejects = args.files.iter().map(|file| Rejects::part_of(&args.rows.rejects, file));
        // A missing file is no input.
        let places = |path: &PathBuf| path.canonicalize().ok();
        let inputs: BTreeSet<_> = args.files.iter().filter_map(places).collect();
        let is_input = |path: &PathBuf| places(path).is_some_and(|path| inputs.contains(&path));
        match rejects.chain([self.progress_path()]).find(is_input) {
            None => Ok(()),
            Some(path) => Err(Error::invalid(format!(
                "rejected rows or progress would be written over a file that is imported: --rejects and --progress name \
                 other places: file={}",
                path.display()
            ))),
        }
    }

    fn progress_path(&self) -> PathBuf {
        self.args.rows.progress.clone().unwrap_or_else(|| {
            let first = self.args.files.first().and_then(|file| file.file_name());
            let mut name = first.unwrap_or_default().to_owned();
            name.push(".progress");
            name.into()
        })
    }

    /// Returns the identity of an import, by which a later run recognizes it.
    async fn identity(&self, name: &TableName, targets: &Targets) -> Result<Json> {
        let args = self.args;
        let files =
            args.files.iter().map(|file| file_identity(file)).collect::<Result<Vec<_>>>()?;
        Ok(json!({
            "database": self.database.admin().cluster_id().await?,
            "table": name.to_string(),
            "key": targets.key.to_stored(),
            "columns": targets.columns.to_stored(),
            "files": files,
            "reading": format!("{:?} {:?}", args.reading, args.mapping),
        }))
    }
}

/// Returns the number of parts in which the files are read in parallel: rows in key order would all
/// go to one region, and then to the next. Rows with the same key stay in order, in one part.
async fn lanes_of(survey: &Survey, table: &Table) -> Result<usize> {
    match survey.is_in_order && survey.counts.same_key == 0 {
        true => Ok(table.regions().await?.len().clamp(1, LANES_MAX)),
        false => Ok(1),
    }
}

fn file_identity(path: &Path) -> Result<Json> {
    let read = || {
        let (path, metadata) = (path.canonicalize()?, path.metadata()?);
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified = modified.as_nanos().to_string();
        Ok(json!({"path": path.to_string_lossy(), "len": metadata.len(), "modified": modified}))
    };
    read().map_err(|source| Error::io(format_args!("cannot read {}", path.display()), source))
}

/// Each lane has a file open.
const LANES_MAX: usize = 16;
/// The exit status if all rows are written except rejected ones.
const REJECTED: u8 = 3;
