//! Commands about the shell itself.

use rowhouse::filter::Filter;

use crate::shell::command::Action::Reads;
use crate::shell::command::{Argument, Command, Group, Kind, Need};
use crate::shell::failure::Result;
use crate::shell::session::{CommandOutput, Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["exit", "quit"],
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Leaves the shell.",
        details: "",
        examples: &["exit"],
        run: Reads(|_, _| boxed(async { Ok(CommandOutput::Exit) })),
    },
    Command {
        names: &["help"],
        group: Group::General,
        arguments: &[Argument { name: "COMMAND", kind: Kind::Command, need: Need::Optional }],
        options: &[],
        about: "Explains the shell, or one command.",
        details: "",
        examples: &["help", "help 'get'"],
        run: Reads(|_, call| boxed(async move { call.text_if_given(0).map(CommandOutput::Help) })),
    },
    Command {
        names: &["show_filters"],
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Lists the filters of the filter language.",
        details: "SKIP and WHILE precede a filter; AND and OR combine filters.",
        examples: &["show_filters"],
        run: Reads(|session, _| boxed(show_filters(session))),
    },
    Command {
        names: &["version"],
        group: Group::General,
        arguments: &[],
        options: &[],
        about: "Shows the version of this program.",
        details: "",
        examples: &["version"],
        run: Reads(|session, _| boxed(version(session))),
    },
];

async fn show_filters(session: &mut Session) -> Result<()> {
    Filter::language_names().iter().try_for_each(|name| session.say(name))
}

async fn version(session: &mut Session) -> Result<()> {
    session.say(concat!("rowhouse ", env!("CARGO_PKG_VERSION")))
}
