//! `rowhouse key`: what a row-key template does, without a database.

mod bench;
mod check;
mod decode;
mod encode;
mod explain;
mod input;
mod notation;
mod plan;
mod splits;
mod spread;
mod values;
mod zone;

use std::io::{self, Write};
use std::process::ExitCode;

use rowhouse::{Error, KeySchema};

use check::CheckArgs;
use decode::DecodeArgs;
use encode::EncodeArgs;
use explain::ExplainArgs;
pub(crate) use explain::explained;
use plan::PlanArgs;
use splits::SplitsArgs;

/// Which template, and what to do with it.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// The template, such as '[user string][at millis desc]'
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// Print JSON, one document per line
    #[arg(long, global = true)]
    json: bool,
    /// What to do.
    #[command(subcommand)]
    command: KeyCommand,
}

/// What a template can be asked for.
#[derive(Debug, clap::Subcommand)]
enum KeyCommand {
    /// Make keys of values
    Encode(EncodeArgs),
    /// Read the values of keys
    Decode(DecodeArgs),
    /// Tell which row ranges a query reads
    Plan(PlanArgs),
    /// Tell how a query is answered: ranges, order, filters, fields
    Explain(ExplainArgs),
    /// Tell what is to be thought about before the template is used
    Check(CheckArgs),
    /// Tell where the regions of a new table begin
    Splits(SplitsArgs),
    /// Measure how long it takes to make a key and to read one, with values that are drawn
    Bench,
}

/// What a command came to, where nothing stopped it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fine,
    /// Findings, or input that does not fit: exit status 1.
    Findings,
}

/// What stopped a command.
enum Stop {
    /// The template or the request is wrong.
    Request(Error),
    /// Nothing more can be printed.
    Output(io::Error),
}

type Ended = Result<Verdict, Stop>;

/// Ends with 0 when all is well, 1 for findings and for input that does not fit, 2 for a request that
/// cannot be answered.
pub(crate) fn run(args: &KeyArgs) -> ExitCode {
    let problem = match answer(args, &mut io::stdout().lock()) {
        Ok(Verdict::Fine) => return ExitCode::SUCCESS,
        Ok(Verdict::Findings) => return ExitCode::from(FINDINGS),
        // Whoever read the output has had enough.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::SUCCESS;
        }
        Err(Stop::Output(error)) => Error::io("cannot write to standard output", error),
        Err(Stop::Request(error)) => error,
    };
    eprintln!("rowhouse: {problem}");
    ExitCode::from(BAD_REQUEST)
}

fn answer(args: &KeyArgs, out: &mut impl Write) -> Ended {
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

impl Verdict {
    /// Findings, if either has them.
    fn and(self, other: Self) -> Self {
        if self == Self::Fine { other } else { self }
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

const FINDINGS: u8 = 1;
const BAD_REQUEST: u8 = 2;
