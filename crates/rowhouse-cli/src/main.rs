//! The rowhouse program: one binary, one command for each thing it does.

mod args;
mod command;
mod one_line;
mod shell;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Serve(args) => command::serve::run(args),
        Command::Backup(args) => command::backup::backup(&args),
        Command::Check(args) => command::check::run(&args),
        Command::Export(args) => command::export::run(&args),
        Command::Hfile(args) => command::hfile::run(&args),
        Command::Import(args) => command::import::run(&args),
        Command::Key(args) => Ok(command::key::run(&args)),
        Command::Restore(args) => command::backup::restore(&args),
        Command::Salvage(args) => command::salvage::run(&args),
        Command::Shell(args) => command::shell::run(args),
        Command::Stats(args) => command::stats::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("rowhouse: {error}");
            ExitCode::FAILURE
        }
    }
}
