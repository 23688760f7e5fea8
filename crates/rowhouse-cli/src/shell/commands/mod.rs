//! The table of commands: the shell parses, checks, explains and completes by it.

mod declared;
mod table;

pub(crate) use table::{COMMANDS, NOT_YET};

/// Means any name in a command's options.
pub(crate) const ANY_OPTION: &str = "…";

/// A command of the shell.
pub(crate) struct Command {
    /// The action.
    pub(crate) verb: Verb,
    pub(crate) name: &'static str,
    pub(crate) alias: Option<&'static str>,
    pub(crate) group: Group,
    pub(crate) arguments: &'static [Argument],
    /// The options allowed in the hash: name and meaning. All others are refused.
    pub(crate) options: &'static [(&'static str, &'static str)],
    /// A description in one line.
    pub(crate) about: &'static str,
    /// Further help.
    pub(crate) details: &'static str,
    pub(crate) examples: &'static [&'static str],
}

/// The action of a command; the interpreter matches it without a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Advise,
    Alter,
    AlterNamespace,
    Append,
    Assign,
    BalanceSwitch,
    Balancer,
    BalancerEnabled,
    ClearDeadServers,
    CloneSnapshot,
    CloneTableSchema,
    Compact,
    CompactionState,
    Count,
    Create,
    CreateNamespace,
    Decommission,
    Delete,
    DeleteAll,
    DeleteAllSnapshot,
    DeleteSnapshot,
    DeleteTableSnapshots,
    Describe,
    DescribeNamespace,
    Disable,
    DisableAll,
    Drop,
    DropAll,
    DropNamespace,
    Enable,
    EnableAll,
    Exists,
    Exit,
    Explain,
    ExplainCell,
    Flush,
    Get,
    GetCounter,
    GetSplits,
    Help,
    Hot,
    Incr,
    Insert,
    IsDisabled,
    IsEnabled,
    List,
    ListDeadServers,
    ListDecommissioned,
    ListLiveServers,
    ListNamespace,
    ListNamespaceTables,
    ListRegions,
    ListSnapshots,
    ListTableSnapshots,
    LocateRegion,
    MajorCompact,
    MergeRegion,
    Move,
    ProcessList,
    PromoteIndex,
    Put,
    Query,
    Recommission,
    RepairIndex,
    RestoreSnapshot,
    Scan,
    ShowFilters,
    Snapshot,
    SnapshotCleanupEnabled,
    SnapshotCleanupSwitch,
    Split,
    SplitOrMergeEnabled,
    SplitOrMergeSwitch,
    Status,
    StopRegionServer,
    Truncate,
    TruncatePreserve,
    Unassign,
    VerifyIndex,
    Version,
}

/// The group in which `help` shows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    General,
    Tables,
    Namespaces,
    Data,
    Snapshots,
}

impl Group {
    pub(crate) const ALL: [Self; 5] =
        [Self::General, Self::Tables, Self::Namespaces, Self::Data, Self::Snapshots];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Tables => "tables",
            Self::Namespaces => "namespaces",
            Self::Data => "data",
            Self::Snapshots => "snapshots",
        }
    }
}

/// A parameter of a command.
pub(crate) struct Argument {
    /// Its name in help and errors.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
}

/// The kind of a parameter, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The name of a table that exists.
    Table,
    /// The name of a command.
    Command,
    /// A hash of options.
    Options,
    /// Anything else.
    Other,
}

/// How often a parameter may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// Any number of times; only the last parameter.
    Repeated,
}

impl Command {
    /// Returns the command of that name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|command| command.name == name || command.alias == Some(name))
    }

    /// Returns the minimum and maximum number of arguments.
    pub(crate) fn arity(&self) -> (usize, Option<usize>) {
        let least = self.arguments.iter().filter(|place| place.need == Need::Required).count();
        let any = self.arguments.iter().any(|place| place.need == Need::Repeated);
        (least, (!any).then_some(self.arguments.len()))
    }

    /// Returns whether its hash may hold `name`.
    pub(crate) fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|(known, _)| *known == name || *known == ANY_OPTION)
    }

    /// Returns the parameter of the argument at `at`, counted from 0.
    pub(crate) fn place(&self, at: usize) -> Option<&'static Argument> {
        let last = self.arguments.last().filter(|place| place.need == Need::Repeated);
        self.arguments.get(at).or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_places_that_may_be_left_out_come_last() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
        for command in COMMANDS {
            let needs: Vec<_> = command.arguments.iter().map(|place| place.need as u8).collect();
            assert!(needs.is_sorted(), "{}", command.name);
            assert!(!command.examples.is_empty(), "{}", command.name);
        }
    }
    #[test]
    fn the_guide_names_every_command() {
        let guide = include_str!("../../../../../docs/shell.md");
        for name in COMMANDS.iter().flat_map(|command| [Some(command.name), command.alias]) {
            let Some(name) = name else { continue };
            assert!(guide.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn every_example_is_a_command_with_arguments_that_it_takes() {
        use crate::shell::call::Call;
        use crate::shell::grammar::{Parsed, parse};

        for example in COMMANDS.iter().flat_map(|command| command.examples) {
            let Parsed::Whole(statements) = parse(example) else { panic!("{example}") };
            for statement in statements {
                let command = Command::find(&statement.command).expect(example);
                assert!(Call::new(command, statement.arguments).is_ok(), "{example}");
            }
        }
    }
}
