//! The shell commands. A file for each topic declares its commands beside the functions that run
//! them; dispatch, help and completion read them from here.

mod advise;
mod alter;
mod analyze;
mod answer;
mod cells;
mod column;
mod compactions;
mod converter;
mod create;
mod data;
mod declared;
mod decode;
mod delete_where;
mod followers;
mod general;
mod indexes;
mod names;
mod namespaces;
mod presplit;
mod query;
mod query_parts;
mod read;
mod regions;
mod row;
mod scan;
mod search;
mod servers;
mod snapshots;
mod status;
mod table_states;
mod tables;

use std::sync::LazyLock;

use super::command::Command;

/// The commands by topic.
const TOPICS: &[&[Command]] = &[
    advise::COMMANDS,
    alter::COMMANDS,
    compactions::COMMANDS,
    create::COMMANDS,
    data::COMMANDS,
    delete_where::COMMANDS,
    general::COMMANDS,
    indexes::COMMANDS,
    namespaces::COMMANDS,
    query::COMMANDS,
    read::COMMANDS,
    regions::COMMANDS,
    scan::COMMANDS,
    servers::COMMANDS,
    snapshots::COMMANDS,
    followers::COMMANDS,
    status::COMMANDS,
    table_states::COMMANDS,
    tables::COMMANDS,
];

/// Every command, by name.
pub(crate) static COMMANDS: LazyLock<Vec<&Command>> = LazyLock::new(|| {
    let mut commands: Vec<_> = TOPICS.iter().copied().flatten().collect();
    commands.sort_by_key(|command| command.name());
    commands
});

/// Returns the command with that name.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().copied().find(|command| command.names.contains(&name))
}

/// Returns all command names, with their aliases.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().flat_map(|command| command.names).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_places_that_may_be_left_out_come_last() {
        assert!(COMMANDS.is_sorted_by(|one, next| one.name() < next.name()));
        for command in COMMANDS.iter() {
            let needs: Vec<_> = command.arguments.iter().map(|place| place.need as u8).collect();
            assert!(needs.is_sorted(), "{}", command.name());
            assert!(!command.examples.is_empty(), "{}", command.name());
        }
    }

    #[test]
    fn the_guide_names_every_command() {
        let guide = include_str!("../../../../../docs/shell.md");
        for name in names() {
            assert!(guide.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn every_example_is_a_command_with_arguments_that_it_takes() {
        use crate::shell::command::Call;
        use crate::shell::grammar::{Parsed, parse};

        for example in COMMANDS.iter().flat_map(|command| command.examples) {
            let Parsed::Whole(statements) = parse(example) else { panic!("{example}") };
            for statement in statements {
                let command = find(&statement.command).expect(example);
                assert!(Call::new(command, statement.arguments).is_ok(), "{example}");
            }
        }
    }
}
