//! The parent, which starts a process for each (engine, case), and the code of such a process.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use rustix::process::Signal;

use crate::args::Args;
use crate::case::{Bench, CaseName, scale};
use crate::engine::EngineName;
use crate::report::{Report, Said};

/// Runs everything and prints the table.
pub(crate) fn parent(args: &Args) -> Result<()> {
    let engines = or_all(&args.engines);
    let cases = or_all(&args.cases);
    let mut report = Report::new(args);
    let mut failures = 0;
    for round in 1..=args.rounds {
        for &case in &cases {
            for engine in case.engines(&engines, !args.cases.is_empty()) {
                let begun = Instant::now();
                let done = run_child(args, engine, case, &mut report);
                let engine = engine.map_or("machine", EngineName::as_str);
                let took = begun.elapsed().as_secs_f64();
                eprintln!("round {round}/{} · {case} · {engine} · {took:.1} s", args.rounds);
                if let Err(error) = done {
                    failures += 1;
                    eprintln!("  failed: {error:#}");
                }
            }
        }
    }
    println!("{report}");
    ensure!(failures == 0, "{failures} runs failed; the table is not complete");
    Ok(())
}

/// Returns the given names, or all of them if none are given.
fn or_all<T: ValueEnum + Copy + PartialEq>(given: &[T]) -> Vec<T> {
    let all = T::value_variants().iter().copied();
    all.filter(|name| given.is_empty() || given.contains(name)).collect()
}

fn run_child(
    args: &Args,
    engine: Option<EngineName>,
    case: CaseName,
    report: &mut Report,
) -> Result<()> {
    let base = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let dir = tempfile::Builder::new().prefix("rowhouse-bench-").tempdir_in(base)?;
    if case == CaseName::Scale {
        let status = run_process(args, engine, case, dir.path(), true, report)?;
        ensure!(status.signal() == Some(Signal::KILL.as_raw()), "the load ended with {status}");
    }
    let status = run_process(args, engine, case, dir.path(), false, report)?;
    ensure!(status.success(), "the child ended with {status}");
    Ok(())
}

fn run_process(
    args: &Args,
    engine: Option<EngineName>,
    case: CaseName,
    dir: &Path,
    until_killed: bool,
    report: &mut Report,
) -> Result<ExitStatus> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--child").arg(dir);
    command.args(["--case", case.as_str(), "--cells", &args.cells.to_string()]);
    command.args(["--seed", &args.seed.to_string()]);
    if until_killed {
        command.arg("--until-killed");
    }
    if let Some(engine) = engine {
        command.args(["--engine", engine.as_str()]);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start a child")?;
    let lines = BufReader::new(child.stdout.take().context("the child has no output")?).lines();
    for line in lines {
        report.add(engine, case, Said::parse(&line?)?);
    }
    Ok(child.wait()?)
}

/// Runs one case of one engine.
pub(crate) fn child(args: &Args, dir: &Path) -> Result<()> {
    let [case] = args.cases[..] else { bail!("a child runs one case") };
    let bench = Bench::new(args.engines.first().copied(), dir, args.cells, args.seed);
    match args.until_killed {
        true => scale::load_until_killed(&bench),
        false => case.run(&bench),
    }
}
