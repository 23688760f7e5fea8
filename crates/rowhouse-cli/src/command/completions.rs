//! `rowhouse completions` and `rowhouse man`: files for shells and for `man`, from the declared
//! arguments.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::Shell;
use rowhouse::Error;

use super::CommandResult;
use crate::output::print;

/// Arguments of `rowhouse completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Arguments of `rowhouse man`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write `rowhouse.1` and a page for each command into this directory; created if missing
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionsArgs, mut program: clap::Command) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "rowhouse", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages.
pub(crate) fn man(args: &ManArgs, program: clap::Command) -> CommandResult {
    fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(program, &args.dir))
        .map_err(|error| {
            Error::io(format_args!("cannot write to {}", args.dir.display()), error)
        })?;
    Ok(ExitCode::SUCCESS)
}
