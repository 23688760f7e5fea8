//! Help, generated from the commands.

use std::fmt::Write;

use super::command::{Command, Group, Need};
use super::commands::COMMANDS;

/// Returns the help for the whole shell, on one page.
pub(crate) fn overview() -> String {
    let mut text = String::from("Commands, each explained by help 'NAME':\n\n");
    for group in Group::ALL {
        let names: Vec<_> = COMMANDS
            .iter()
            .filter(|command| command.group == group)
            .map(|command| match &command.names[1..] {
                [] => command.name().to_owned(),
                aliases => format!("{} ({})", command.name(), aliases.join(", ")),
            })
            .collect();
        let _ = writeln!(text, "  {:<11} {}", group.title(), names.join(", "));
    }
    text.push_str(WRITING);
    text
}

const WRITING: &str = r#"
How commands are written:

  put 'blog', '1', 'cf:title', 'first post'       arguments, with commas between them
  scan 'blog', {LIMIT => 10, STARTROW => '1'}     options in a hash; the braces may be left out
  put 'blog', "1\x00\xff", 'cf:title', "\u5206"   double quotes know escapes, single quotes do not
  disable 'blog'; drop 'blog'                     several commands in a line
  # a comment                                     to the end of the line

A command continues in the next line after a comma, inside brackets and inside quotes.
"#;

/// Returns the help for one command.
pub(crate) fn of(command: &Command) -> String {
    let mut text = format!("{}\n\n  {}\n", command.about, usage(command));
    for alias in &command.names[1..] {
        let _ = writeln!(text, "\n{alias} is the same.");
    }
    if !command.details.is_empty() {
        let _ = writeln!(text, "\n{}", command.details);
    }
    if !command.options.is_empty() {
        text.push_str("\nOptions:\n\n");
        let width = command.options.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, meaning) in command.options {
            let _ = writeln!(text, "{}", format!("  {name:<width$}  {meaning}").trim_end());
        }
    }
    text.push_str("\nFor example:\n\n");
    for example in command.examples {
        let _ = writeln!(text, "  {example}");
    }
    text
}

fn usage(command: &Command) -> String {
    let places = command.arguments.iter().map(|place| match place.need {
        Need::Required => place.name.to_owned(),
        Need::Optional => format!("[{}]", place.name),
        Need::Repeated => format!("[{}]…", place.name),
    });
    let places: Vec<_> = places.collect();
    format!("{} {}", command.name(), places.join(", ")).trim_end().to_owned()
}
