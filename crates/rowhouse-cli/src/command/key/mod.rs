//! `rowhouse key`: work with a row-key template, without a database.

mod bench;
mod check;
mod decode;
mod encode;
mod explain;
mod input;
mod notation;
mod outcome;
mod plan;
mod splits;
mod spread;
mod values;
mod zone;

use std::io::{self, Write};
use std::process::ExitCode;

use rowhouse::Error;
use rowhouse::key::KeySchema;

use crate::output::{Escaped, report};

use check::CheckArgs;
use decode::DecodeArgs;
use encode::EncodeArgs;
use explain::ExplainArgs;
use outcome::{KeyError, KeyResult, Outcome};
use plan::PlanArgs;
use splits::SplitsArgs;

/// Arguments of `rowhouse key`.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// The template, such as '[user string][at millis desc]'
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// Print JSON, one document per line
    #[arg(long, global = true)]
    json: bool,
    /// The command to run.
    #[command(subcommand)]
    command: KeyCommand,
}

/// The commands for a template.
#[derive(Debug, clap::Subcommand)]
enum KeyCommand {
    /// Encode values to keys
    Encode(EncodeArgs),
    /// Decode keys to values
    Decode(DecodeArgs),
    /// Show the row ranges that a query reads
    Plan(PlanArgs),
    /// Show how a query is answered: ranges, order, filters, fields
    Explain(ExplainArgs),
    /// Show advice on the template
    Check(CheckArgs),
    /// Show where the regions of a new table should begin
    Splits(SplitsArgs),
    /// Measure the time to encode and decode a key, with random values
    Bench,
}

/// Exits with 0 on success, 1 for findings and for input that does not fit, 2 for a request that
/// cannot be answered.
pub(crate) fn run(args: &KeyArgs) -> ExitCode {
    let problem = match answer(args, &mut Escaped::new(io::stdout().lock())) {
        Ok(Outcome::Fine) => return ExitCode::SUCCESS,
        Ok(Outcome::Findings) => return ExitCode::from(FINDINGS),
        // The output reader has closed the pipe.
        Err(KeyError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::SUCCESS;
        }
        Err(KeyError::Output(error)) => Error::io("cannot write to standard output", error),
        Err(KeyError::Request(error)) => error,
    };
    report(format_args!("rowhouse: {problem}"));
    ExitCode::from(BAD_REQUEST)
}

fn answer(args: &KeyArgs, out: &mut dyn Write) -> KeyResult {
    let schema = KeySchema::parse(&args.template)?;
    match &args.command {
        KeyCommand::Encode(encode) => encode::run(encode, &schema, args.json, out),
        KeyCommand::Decode(decode) => decode::run(decode, &schema, args.json, out),
        KeyCommand::Plan(plan) => plan::run(plan, &schema, args.json, out),
        KeyCommand::Explain(query) => explain::run(query, &schema, args.json, out),
        KeyCommand::Check(check) => check::run(check, &schema, args.json, out),
        KeyCommand::Bench => bench::run(&schema, args.json, out),
        KeyCommand::Splits(splits) => splits::run(splits, &schema, args.json, out),
    }
}

const FINDINGS: u8 = 1;
const BAD_REQUEST: u8 = 2;
