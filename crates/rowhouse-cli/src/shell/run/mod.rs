//! The implementation of the commands: one function per command, grouped by topic.

mod advise;
mod alter;
mod analyze;
mod column;
mod converter;
mod create;
mod data;
mod declared;
mod decode;
mod indexes;
mod namespaces;
mod presplit;
mod query;
mod read;
mod regions;
mod row;
mod scan;
mod search;
mod servers;
mod snapshots;
mod status;
mod tables;

use std::io::Write;

use rowhouse::admin::CompactionKind;
use rowhouse::filter::Filter;

use super::call::Call;
use super::commands::Verb;
use super::failure::{Result, said};
use super::session::{PendingAction, Session, TableChange};

/// The result of a command, which the shell shows after `=>`.
pub(crate) enum CommandOutput {
    /// Nothing is printed, not even the elapsed time.
    Silence,
    Nothing,
    Table(String),
    Names(Vec<String>),
    Truth(bool),
    Count(u64),
}

/// Runs a command.
pub(crate) async fn run<W: Write>(session: &mut Session<W>, call: Call) -> Result<CommandOutput> {
    let nothing = |()| CommandOutput::Nothing;
    match call.command.verb {
        Verb::Advise => advise::advise(session, call).await.map(nothing),
        Verb::Alter => alter::alter(session, call).await.map(nothing),
        Verb::Append => data::append(session, call).await.map(nothing),
        Verb::Assign => regions::assign(session, call).await.map(nothing),
        Verb::CloneSnapshot => snapshots::clone(session, call).await.map(nothing),
        Verb::CloneTableSchema => tables::clone_schema(session, call).await.map(nothing),
        Verb::CompactionState => tables::compaction_state(session, call).await.map(nothing),
        Verb::Compact => tables::compact(session, call, CompactionKind::Minor).await.map(nothing),
        Verb::Count => scan::count(session, call).await.map(CommandOutput::Count),
        Verb::Create => create::create(session, call).await.map(CommandOutput::Table),
        Verb::CreateNamespace => namespaces::create(session, call).await.map(nothing),
        Verb::Delete => data::delete(session, call).await.map(nothing),
        Verb::DeleteAll => data::delete_all(session, call).await.map(nothing),
        Verb::DeleteAllSnapshot => snapshots::delete_all(session, call).await.map(nothing),
        Verb::DeleteSnapshot => snapshots::delete(session, call).await.map(nothing),
        Verb::DeleteTableSnapshots => snapshots::delete_of_tables(session, call).await.map(nothing),
        Verb::Describe => tables::describe(session, call).await.map(nothing),
        Verb::Disable => tables::disable(session, call).await.map(nothing),
        Verb::DisableAll => {
            tables::change_all(session, call, TableChange::Disable).await.map(nothing)
        }
        Verb::DropAll => tables::change_all(session, call, TableChange::Drop).await.map(nothing),
        Verb::EnableAll => {
            tables::change_all(session, call, TableChange::Enable).await.map(nothing)
        }
        Verb::AlterNamespace => namespaces::alter(session, call).await.map(nothing),
        Verb::DescribeNamespace => namespaces::describe(session, call).await.map(nothing),
        Verb::Drop => tables::drop(session, call).await.map(nothing),
        Verb::DropNamespace => namespaces::drop(session, call).await.map(nothing),
        Verb::Enable => tables::enable(session, call).await.map(nothing),
        Verb::Exists => tables::exists(session, call).await.map(CommandOutput::Truth),
        Verb::Exit => Ok(CommandOutput::Silence),
        Verb::Explain => query::explain(session, call).await.map(nothing),
        Verb::ExplainCell => read::explain_cell(session, call).await.map(nothing),
        Verb::Flush => tables::flush(session, call).await.map(nothing),
        Verb::Get => read::get(session, call).await.map(nothing),
        Verb::GetCounter => read::get_counter(session, call).await.map(nothing),
        Verb::GetSplits => regions::splits(session, call).await.map(CommandOutput::Names),
        Verb::Help => {
            session.help(call.text_if_given(0)?.as_deref())?;
            Ok(CommandOutput::Silence)
        }
        Verb::Incr => data::incr(session, call).await.map(nothing),
        Verb::Insert => data::insert(session, call).await.map(nothing),
        Verb::IsDisabled => tables::is_disabled(session, call).await.map(CommandOutput::Truth),
        Verb::IsEnabled => tables::is_enabled(session, call).await.map(CommandOutput::Truth),
        Verb::List => tables::list(session, call).await.map(CommandOutput::Names),
        Verb::ListNamespace => namespaces::list(session, call).await.map(nothing),
        Verb::ListNamespaceTables => {
            namespaces::tables(session, call).await.map(CommandOutput::Names)
        }
        Verb::ListRegions => regions::list(session, call).await.map(nothing),
        Verb::ListSnapshots => snapshots::list(session, call).await.map(CommandOutput::Names),
        Verb::ListTableSnapshots => {
            snapshots::list_of_tables(session, call).await.map(CommandOutput::Names)
        }
        Verb::LocateRegion => regions::locate(session, call).await.map(nothing),
        Verb::MajorCompact => {
            tables::compact(session, call, CompactionKind::Major).await.map(nothing)
        }
        Verb::MergeRegion => regions::merge(session, call).await.map(nothing),
        Verb::Move => regions::move_to(session, call).await.map(nothing),
        Verb::Put => data::put(session, call).await.map(nothing),
        Verb::Query => query::query(session, call).await.map(nothing),
        Verb::PromoteIndex => indexes::promote(session, call).await.map(nothing),
        Verb::RepairIndex => indexes::repair(session, call).await.map(nothing),
        Verb::RestoreSnapshot => snapshots::restore(session, call).await.map(nothing),
        Verb::Scan => scan::scan(session, call).await.map(nothing),
        Verb::ShowFilters => {
            Filter::language_names().iter().try_for_each(|name| session.say(name)).map(nothing)
        }
        Verb::Snapshot => snapshots::take(session, call).await.map(nothing),
        Verb::SnapshotCleanupEnabled => snapshots::cleanup(session, call).await.map(nothing),
        Verb::SnapshotCleanupSwitch => snapshots::set_cleanup(session, call).await.map(nothing),
        Verb::Split => regions::split(session, call).await.map(nothing),
        Verb::SplitOrMergeEnabled => regions::switch(session, call).await.map(nothing),
        Verb::SplitOrMergeSwitch => regions::set_switch(session, call).await.map(nothing),
        Verb::ProcessList => status::tasks(session).await.map(nothing),
        Verb::Status => status::status(session, call).await.map(nothing),
        Verb::ListLiveServers => status::live(session).await.map(nothing),
        Verb::BalanceSwitch => servers::switch_balancer(session, call).await.map(nothing),
        Verb::Balancer => servers::balance(session, call).await.map(nothing),
        Verb::BalancerEnabled => servers::balancer(session).await.map(nothing),
        Verb::ClearDeadServers => servers::clear_dead(session, call).await.map(nothing),
        Verb::Decommission => servers::decommission(session, call).await.map(nothing),
        Verb::ListDecommissioned => servers::decommissioned(session).await.map(nothing),
        Verb::Recommission => servers::recommission(session, call).await.map(nothing),
        Verb::StopRegionServer => servers::stop(session, call).await.map(nothing),
        Verb::Hot => servers::hot(session, call).await.map(nothing),
        Verb::ListDeadServers => status::dead(session).await.map(nothing),
        Verb::Truncate => tables::truncate(session, call, false).await.map(nothing),
        Verb::TruncatePreserve => tables::truncate(session, call, true).await.map(nothing),
        Verb::Unassign => regions::unassign(session, call).await.map(nothing),
        Verb::VerifyIndex => indexes::verify(session, call).await.map(nothing),
        Verb::Version => session.say(VERSION).map(nothing),
    }
}

/// Executes a confirmed action.
pub(crate) async fn done<W: Write>(session: &mut Session<W>, asked: PendingAction) -> Result<()> {
    match asked {
        PendingAction::Snapshots(deletion) => snapshots::delete_named(session, deletion).await,
        PendingAction::Tables(change, names) => tables::change_named(session, change, names).await,
    }
}

/// The output of `version`.
const VERSION: &str = concat!("rowhouse ", env!("CARGO_PKG_VERSION"));

/// Prints names under a heading, and their number.
fn say_names<W: Write>(session: &mut Session<W>, heading: &str, names: &[String]) -> Result<()> {
    session.say(heading)?;
    for name in names {
        session.say(name)?;
    }
    session.say(format_args!("{} row(s)", names.len()))
}

/// Compiles a pattern that must match a whole name, like Java's `matches`.
fn pattern(text: Option<String>) -> Result<regex::Regex> {
    let text = text.unwrap_or(".*".into());
    match regex::Regex::new(&format!("^(?:{text})$")) {
        Ok(pattern) => Ok(pattern),
        Err(error) => {
            let error = error.to_string();
            // The lines before show the expression with the additions made above.
            let why = error.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            said(format!("not a regular expression: {why}: {text}"))
        }
    }
}
