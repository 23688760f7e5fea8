//! `rowhouse advise`: designs for a workload, compared.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::advise::{AdviceStep, advise_with_progress};

use super::workload::WorkloadArgs;
use super::{CommandResult, runtime};
use crate::design::{ScratchDir, advice_json, advice_lines, advice_svg, step_text};
use crate::drawing::write_drawing;
use crate::output::{StatusLine, print};

/// Arguments of `rowhouse advise`.
#[derive(Debug, clap::Args)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    workload: WorkloadArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Draw the costs of reads against the spread of writes into this file
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

pub(crate) fn run(args: &AdviseArgs) -> CommandResult {
    let workload = args.workload.read()?;
    let dir = ScratchDir::create()?;
    let runtime = runtime()?;
    let mut shown = StatusLine::new();
    let progress = |step: AdviceStep<'_>| shown.show(step_text(&step));
    let advice = runtime.block_on(advise_with_progress(&workload, dir.path(), progress));
    drop(shown);
    let advice = advice?;
    if args.json {
        print(advice_json(&workload, &advice))?;
    } else {
        print(advice_lines(&workload, &advice, None).join("\n"))?;
    }
    if let Some(path) = &args.svg {
        write_drawing(path, &advice_svg(&workload, &advice))?;
    }
    Ok(ExitCode::SUCCESS)
}
