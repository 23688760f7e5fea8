//! `rowhouse hfile`: shows what HFiles contain, from rowhouse or from Apache HBase.

mod blocks;
mod cells;
mod summary;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::Error;
use rowhouse::key::{KeySchema, escape};
use rowhouse_model::escape_controls;
use rowhouse_store::HFile;
use serde_json::{Map, Value as Json, json};

use super::CommandResult;
use crate::output::{Escaped, report};
use cells::CellsArgs;

/// Arguments of `rowhouse hfile`.
#[derive(Debug, clap::Args)]
pub(crate) struct HFileArgs {
    /// The files; read to their last cell, unless only some cells are requested
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// List the blocks
    #[arg(long, conflicts_with = "cells")]
    blocks: bool,
    #[command(flatten)]
    cells: CellsArgs,
    /// Also show rows by the fields of this row-key template
    #[arg(long, value_name = "TEMPLATE", value_parser = KeySchema::parse)]
    key: Option<KeySchema>,
    /// Print JSON, one document per line
    #[arg(long)]
    json: bool,
}

/// The format of rows and documents.
struct OutputFormat {
    schema: Option<KeySchema>,
    json: bool,
}

/// The reason why output for a file ended early.
enum PrintError {
    /// The file is damaged, or cannot be read.
    File(Error),
    /// The output is closed or cannot be written.
    Output(io::Error),
}

type PrintResult = Result<(), PrintError>;

/// Prints each file. Exits with 1 if one of them is damaged or cannot be read.
pub(crate) fn run(args: &HFileArgs) -> CommandResult {
    let range = args.cells.range()?;
    let shown = OutputFormat { schema: args.key.clone(), json: args.json };
    let mut out = Escaped::new(io::BufWriter::new(io::stdout().lock()));
    let mut code = ExitCode::SUCCESS;
    for (nth, path) in args.files.iter().enumerate() {
        if args.files.len() > 1 && !args.json {
            let line = if nth == 0 { "" } else { "\n" };
            let _ = writeln!(out, "{line}{}", path.display());
        }
        let result = HFile::open(path).map_err(PrintError::File).and_then(|file| match args {
            _ if args.blocks => blocks::print(&file, &shown, &mut out),
            _ if args.cells.is_requested() => cells::print(&file, &range, &shown, &mut out),
            _ => summary::print(&file, &shown, &mut out),
        });
        let result = result.and_then(|()| out.flush().map_err(PrintError::Output));
        match result {
            Ok(()) => {}
            // The output reader has closed the pipe.
            Err(PrintError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(PrintError::Output(error)) => {
                return Err(Error::io("cannot write to standard output", error));
            }
            Err(PrintError::File(error)) => {
                let _ = out.flush();
                report(format_args!("rowhouse: {error}"));
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

impl OutputFormat {
    /// Returns a row as text: its bytes, and its fields if a template is given.
    fn row(&self, row: &[u8]) -> String {
        match self.fields(row) {
            Some(fields) => format!("{} ({fields})", escape(row)),
            None => escape(row),
        }
    }

    fn fields(&self, row: &[u8]) -> Option<String> {
        let schema = self.schema.as_ref()?;
        Some(escape_controls(&schema.read_prefix(row).to_string()))
    }

    /// Adds a row to a document under `name`, and its fields under `name` followed by `_fields`.
    fn put_row(&self, document: &mut Map<String, Json>, name: &str, row: &[u8]) {
        document.insert(name.to_owned(), json!(escape(row)));
        if let Some(fields) = self.fields(row) {
            document.insert(format!("{name}_fields"), json!(fields));
        }
    }
}

impl From<Error> for PrintError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl From<io::Error> for PrintError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
