//! `rowhouse simulate`: what one table design costs.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::Error;
use rowhouse::advise::{Design, simulate};

use super::workload::WorkloadArgs;
use super::{CommandResult, runtime};
use crate::design::{ScratchDir, simulation_json, simulation_lines, simulation_svg};
use crate::drawing::write_drawing;
use crate::output::print;

/// Arguments of `rowhouse simulate`.
#[derive(Debug, clap::Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    workload: WorkloadArgs,
    /// The template of the key, instead of the one in the file, and without its indexes
    #[arg(long, value_name = "TEMPLATE")]
    key: Option<String>,
    /// An index, instead of those in the file: 'by_sender [sender]'
    #[arg(long = "index", value_name = "DECLARATION")]
    indexes: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Draw the costs of reads against the spread of writes into this file
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

/// Simulates the design and prints the costs.
pub(crate) fn run(args: &SimulateArgs) -> CommandResult {
    let workload = args.workload.read()?;
    let in_file = workload.key().map(ToString::to_string);
    let indexes = if args.key.is_none() && args.indexes.is_empty() {
        workload.indexes().join("\n")
    } else {
        args.indexes.join("\n")
    };
    let key = args.key.clone().or(in_file).ok_or_else(|| {
        Error::invalid("there is no design: give --key, or a line `key` in the file")
    })?;
    let design = Design::new(&workload, &key, &indexes)?;
    let dir = ScratchDir::create()?;
    let runtime = runtime()?;
    let simulation = runtime.block_on(simulate(&workload, &design, dir.path()))?;
    if args.json {
        print(simulation_json(&workload, &simulation))?;
    } else {
        print(simulation_lines(&workload, &simulation).join("\n"))?;
    }
    if let Some(path) = &args.svg {
        write_drawing(path, &simulation_svg(&workload, &simulation))?;
    }
    Ok(ExitCode::SUCCESS)
}
