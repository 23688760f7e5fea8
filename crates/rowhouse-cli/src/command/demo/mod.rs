//! `rowhouse demo`: experiments that run on this machine alone.

pub(crate) mod hotspot;

use std::process::ExitCode;

use super::CommandResult;
use hotspot::HotspotArgs;

/// Arguments of `rowhouse demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    #[command(subcommand)]
    demo: Demo,
}

/// The experiments.
#[derive(Debug, clap::Subcommand)]
enum Demo {
    /// Write and read keys of several designs on four region servers, and show which of them load
    /// one server only
    Hotspot(HotspotArgs),
}

pub(crate) fn run(args: &DemoArgs) -> CommandResult {
    match &args.demo {
        Demo::Hotspot(args) => hotspot::run(args).map(|_| ExitCode::SUCCESS),
    }
}
