//! The rowhouse program: one binary with several commands.
//!
//! `args.rs` has the command line, `command/` a file or folder for each command, and `shell/` the
//! shell: `grammar/` reads statements, `commands/` declares and runs the commands of each topic.
//! `analysis`, `explained`, `heat` and `design` print what several commands show.

mod analysis;
mod args;
mod command;
mod counted;
mod design;
mod drawing;
mod explained;
mod heat;
mod host_names;
mod output;
mod shell;
mod wrapped;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Args, Command};
use command::settings_file;

fn main() -> ExitCode {
    host_names::use_hosts_file_and_dns();
    let line: Vec<_> = std::env::args_os().collect();
    let matches =
        settings_file::parse(&Args::command(), &line).unwrap_or_else(|error| error.exit());
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let done = match args.command {
        Command::Admin(args) => command::admin::run(&args),
        Command::Advise(args) => command::advise::run(&args),
        Command::Serve(args) if args.print_config => settings_file::print(&matches),
        Command::Serve(args) => command::serve::run(*args),
        Command::Backup(args) => command::backup::backup(&args),
        Command::Changes(args) => command::changes::run(&args),
        Command::Check(args) => command::check::run(&args),
        Command::Completions(args) => command::completions::completions(&args, Args::command()),
        Command::Delete(args) => command::delete::run(&args),
        Command::Demo(args) => command::demo::run(&args),
        Command::Export(args) => command::export::run(&args),
        Command::Health(args) => command::health::run(&args),
        Command::Heat(args) => command::heat::run(&args),
        Command::Hfile(args) => command::hfile::run(&args),
        Command::Import(args) => command::import::run(&args),
        Command::Key(args) => Ok(command::key::run(&args)),
        Command::Man(args) => command::completions::man(&args, Args::command()),
        Command::Restore(args) => command::backup::restore(&args),
        Command::Salvage(args) => command::salvage::run(&args),
        Command::Search(args) => command::search::run(&args),
        Command::Shell(args) => command::shell::run(args),
        Command::Simulate(args) => command::simulate::run(&args),
        Command::Stats(args) => command::stats::run(&args),
        Command::User(args) => command::user::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            output::report(format_args!("rowhouse: {}", error.described()));
            ExitCode::FAILURE
        }
    }
}
