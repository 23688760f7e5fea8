//! `rowhouse admin fault`: faults on demand.

use std::fmt::Write;
use std::time::{Duration, Instant};

use rowhouse::{Error, ErrorKind, Result};
use rowhouse_client::FaultCall;
use rowhouse_model::{FaultCallKind, FaultEffect, FaultRule, FaultStatus, TableName};

use super::ServerArgs;

/// Time between two looks at the hits of a rule.
const LOOK: Duration = Duration::from_millis(5);

/// The commands about faults.
#[derive(Debug, clap::Subcommand)]
pub(super) enum FaultCommand {
    /// Add a rule by which calls fail
    Add(Box<AddArgs>),
    /// List the rules with their counts
    List(ServerArgs),
    /// Remove a rule, or all rules
    Remove(RemoveArgs),
    /// Wait until a rule has hit so many calls
    Wait(WaitArgs),
}

/// Arguments of `rowhouse admin fault add`.
#[derive(Debug, clap::Args)]
pub(super) struct AddArgs {
    /// What happens to a call that is hit: RegionTooBusy, CallQueueTooBig, NotServingRegion,
    /// RegionMoved, Delay, CutBefore or CutAfter (the connection is cut before or after the call is
    /// done), LostAnswer, LostScanner, DeadServer (its connections are cut for a time)
    #[arg(long, value_name = "NAME")]
    answer: String,
    /// The time of Delay and DeadServer, in milliseconds
    #[arg(long, value_name = "MILLIS")]
    millis: Option<u64>,
    /// Calls for this table; all tables but HBase's own otherwise
    #[arg(long, value_name = "TABLE", value_parser = TableName::parse)]
    table: Option<TableName>,
    /// Calls of this kind: Get, Mutate, Scan or Multi
    #[arg(long, value_name = "NAME", value_parser = FaultCallKind::parse)]
    call: Option<FaultCallKind>,
    /// Calls to the region server with this number
    #[arg(long, value_name = "NUMBER")]
    server: Option<u32>,
    /// The probability that a call is hit, from 0.000001 to 1
    #[arg(long, value_name = "RATE", default_value = "1", value_parser = millionths)]
    rate: u32,
    /// Decides which calls are hit: the same calls in each run
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// The most hits
    #[arg(long, value_name = "N")]
    hits: Option<u64>,
    /// The time after which the rule has no effect, in milliseconds
    #[arg(long, value_name = "MILLIS")]
    lifetime: Option<u64>,
    #[command(flatten)]
    server_args: ServerArgs,
}

/// Arguments of `rowhouse admin fault remove`.
#[derive(Debug, clap::Args)]
pub(super) struct RemoveArgs {
    /// The rule's number; all rules without it
    id: Option<u64>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Arguments of `rowhouse admin fault wait`.
#[derive(Debug, clap::Args)]
pub(super) struct WaitArgs {
    /// The rule's number
    id: u64,
    /// The hits to wait for
    #[arg(long, value_name = "N", default_value_t = 1)]
    hits: u64,
    /// The longest wait, in milliseconds
    #[arg(long, value_name = "MILLIS", default_value_t = 30_000)]
    timeout: u64,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs a command; returns its output.
pub(super) async fn run(command: &FaultCommand) -> Result<String> {
    match command {
        FaultCommand::Add(args) => {
            let rule = rule_of(args)?;
            changed(&args.server_args, &FaultCall::Add(rule)).await
        }
        FaultCommand::List(server) => changed(server, &FaultCall::List).await,
        FaultCommand::Remove(RemoveArgs { id, server }) => {
            changed(server, &FaultCall::Remove(*id)).await
        }
        FaultCommand::Wait(args) => wait(args).await,
    }
}

async fn changed(server: &ServerArgs, call: &FaultCall) -> Result<String> {
    let statuses = server.client().await?.admin().change_faults(call).await?;
    let lines: Vec<_> = statuses.iter().map(line_of).collect();
    Ok(if lines.is_empty() { "no faults".to_owned() } else { lines.join("\n") })
}

/// Waits until a rule has its hits.
///
/// # Errors
/// `InvalidRequest` for an unknown rule; `Timeout`.
async fn wait(args: &WaitArgs) -> Result<String> {
    let client = args.server.client().await?;
    let until = Instant::now() + Duration::from_millis(args.timeout);
    loop {
        let statuses = client.admin().change_faults(&FaultCall::List).await?;
        let status = statuses
            .iter()
            .find(|status| status.id == args.id)
            .ok_or_else(|| Error::invalid(format!("there is no such fault: id={}", args.id)))?;
        if status.hits >= args.hits {
            return Ok(line_of(status));
        }
        if Instant::now() >= until {
            let message = format!(
                "the fault has not hit so often after {} ms: {}; required={}",
                args.timeout,
                line_of(status),
                args.hits
            );
            return Err(Error::new(ErrorKind::Timeout, message));
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn rule_of(args: &AddArgs) -> Result<FaultRule> {
    let effect = FaultEffect::parse(&args.answer, args.millis.map(Duration::from_millis))?;
    let rule = FaultRule {
        table: args.table.clone(),
        call: args.call,
        server: args.server,
        effect,
        rate_millionths: args.rate,
        seed: args.seed,
        hits_max: args.hits,
        lifetime: args.lifetime.map(Duration::from_millis),
    };
    rule.check()?;
    Ok(rule)
}

/// Parses a probability.
fn millionths(text: &str) -> Result<u32> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.0..=1.0).contains(rate));
    let rate = rate.ok_or_else(|| {
        Error::invalid(format!("expected a probability: min=0, max=1, given={text}"))
    })?;
    Ok((rate * f64::from(FaultRule::ALWAYS)).round() as u32)
}

/// Returns a rule's number, its counts, and the options with which it was added.
fn line_of(status: &FaultStatus) -> String {
    let FaultStatus { id, rule, calls, hits } = status;
    let mut line = format!("fault={id} calls={calls} hits={hits} --answer {}", rule.effect.name());
    let millis = |time: Duration| time.as_millis().to_string();
    let rate = f64::from(rule.rate_millionths) / f64::from(FaultRule::ALWAYS);
    let options = [
        ("millis", rule.effect.time().map(millis)),
        ("table", rule.table.as_ref().map(ToString::to_string)),
        ("call", rule.call.map(|call| call.to_string())),
        ("server", rule.server.map(|server| server.to_string())),
        ("rate", (rate < 1.0).then(|| rate.to_string())),
        ("seed", (rate < 1.0).then(|| rule.seed.to_string())),
        ("hits", rule.hits_max.map(|hits| hits.to_string())),
        ("lifetime", rule.lifetime.map(millis)),
    ];
    for (name, value) in options.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        // Writing to a String cannot fail.
        let _ = write!(line, " --{name} {value}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_probability() {
        assert_eq!(millionths("0.1").unwrap(), 100_000);
        assert_eq!(millionths("1").unwrap(), FaultRule::ALWAYS);
        for wrong in ["1.1", "-0.1", "NaN", "often"] {
            assert!(millionths(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_has_the_options_of_its_rule() {
        let rule = FaultRule {
            table: Some(TableName::parse("mail").unwrap()),
            call: Some(FaultCallKind::Mutate),
            rate_millionths: 100_000,
            seed: 7,
            ..FaultRule::new(FaultEffect::Delay(Duration::from_millis(20)))
        };
        let status = FaultStatus { id: 3, rule, calls: 9, hits: 2 };
        assert_eq!(
            line_of(&status),
            "fault=3 calls=9 hits=2 --answer Delay --millis 20 --table mail --call Mutate --rate 0.1 --seed 7"
        );
    }
}
