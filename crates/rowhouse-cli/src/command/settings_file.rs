//! The settings of `rowhouse serve` in a TOML file, under the names of the arguments.
//!
//! A file becomes arguments, which are parsed beside the ones of the command line: names, values
//! and conflicts are declared once, in `ServeArgs`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args};
use rowhouse::{Error, Result};
use toml::de::{DeTable, DeValue};

use super::CommandResult;
use super::serve::ServeArgs;
use crate::output;

/// The command that has such a file.
const COMMAND: &str = "serve";
/// Arguments that are about the file, and in no file.
const NOT_IN_FILES: [&str; 3] = ["config", "help", "print-config"];

/// Parses a command line, which begins with the program, and the file that it names. Arguments of
/// the line take precedence.
///
/// # Errors
/// An error for the user, which names file and line if the file is at fault.
pub(crate) fn parse(
    program: &clap::Command,
    line: &[OsString],
) -> std::result::Result<ArgMatches, clap::Error> {
    // What the line requires may be in the file: errors are reported when both are parsed.
    let alone = program.clone().ignore_errors(true).try_get_matches_from(line);
    let given = alone.as_ref().ok().and_then(|matches| matches.subcommand_matches(COMMAND));
    let file = given.and_then(|given| Some((given, given.get_one::<PathBuf>("config")?)));
    let Some((given, path)) = file else {
        return program.clone().try_get_matches_from(line);
    };
    let settings = read(path)?;
    let applied: Vec<&Setting> = settings.iter().filter(|it| !it.is_overridden(given)).collect();
    let (before, after) = line.split_at(line.len().min(2));
    let arguments = applied.iter().flat_map(|setting| setting.arguments.iter().map(OsString::from));
    let all = before.iter().cloned().chain(arguments).chain(after.iter().cloned());
    program.clone().try_get_matches_from(all).map_err(|error| located(error, &applied, path))
}

/// Prints the settings in effect, by the matches of the whole line.
pub(crate) fn print(matches: &ArgMatches) -> CommandResult {
    let matches = matches.subcommand_matches(COMMAND);
    output::print(written_out(matches.expect("the command is `serve`"))?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the settings in effect in the form that [`parse`] reads; those without a value are
/// comments.
///
/// # Errors
/// `Unsupported` for a value that is not UTF-8, as a TOML file is.
fn written_out(matches: &ArgMatches) -> Result<String> {
    let mut text = String::new();
    for (name, argument) in arguments().iter().filter_map(|it| Some((setting_name(it)?, it))) {
        let id = argument.get_id().as_str();
        let values = matches.get_raw(id).unwrap_or_default().map(|value| {
            let value = value.to_str().ok_or_else(|| {
                let value = value.display();
                Error::unsupported(format!("--{name} is not UTF-8, as TOML is: {value}"))
            })?;
            let is_literal = is_number(argument) && value.parse::<i64>().is_ok();
            Ok(if is_literal { value.to_owned() } else { quoted(value) })
        });
        let values: Vec<String> = values.collect::<Result<_>>()?;
        let is_default = matches.value_source(id) == Some(ValueSource::DefaultValue);
        // A default that another setting excludes could not be read back beside it.
        let values = if is_default && is_excluded(argument, matches) { Vec::new() } else { values };
        let line = match (argument.get_action(), values.first()) {
            (ArgAction::SetTrue, _) => format!("{name} = {}", matches.get_flag(id)),
            (ArgAction::Append, Some(_)) => format!("{name} = [{}]", values.join(", ")),
            (_, Some(value)) => format!("{name} = {value}"),
            (_, None) => {
                let words = argument.get_value_names().unwrap_or_default();
                format!("# {name} = {}", words.join(" "))
            }
        };
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

/// A line of a file.
struct Setting {
    argument: Arg,
    /// What it is on a command line; nothing for a switch that is off.
    arguments: Vec<String>,
    line: usize,
}

impl Setting {
    /// Returns true if the command line has the setting, or one that excludes it.
    fn is_overridden(&self, given: &ArgMatches) -> bool {
        is_given(&self.argument, given) || is_excluded(&self.argument, given)
    }
}

/// Returns true if an argument is on the command line.
fn is_given(argument: &Arg, given: &ArgMatches) -> bool {
    given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
}

/// Returns true if the command line has an argument that excludes this one.
fn is_excluded(argument: &Arg, given: &ArgMatches) -> bool {
    let serve = serve_command();
    let excluding = serve.get_arg_conflicts_with(argument);
    let excluded = serve.get_arguments().filter(|other| {
        serve.get_arg_conflicts_with(other).iter().any(|it| it.get_id() == argument.get_id())
    });
    excluding.into_iter().chain(excluded).any(|argument| is_given(argument, given))
}

/// Reads a file.
fn read(path: &Path) -> std::result::Result<Vec<Setting>, clap::Error> {
    let refused = |message: String| {
        clap::Error::raw(ErrorKind::ValueValidation, format!("{}{message}\n", path.display()))
    };
    let text = fs::read_to_string(path).map_err(|error| refused(format!(": {error}")))?;
    let line = |start: usize| text[..start].matches('\n').count() + 1;
    let table = DeTable::parse(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        refused(format!(":{}: {}", line(start), error.message()))
    })?;
    let declared = arguments();
    let setting = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let name: &str = AsRef::<std::borrow::Cow<'_, str>>::as_ref(key);
        let line = line(key.span().start);
        let argument = declared.iter().find(|it| setting_name(it) == Some(name));
        let argument =
            argument.ok_or_else(|| refused(format!(":{line}: unknown setting: {name}")))?;
        let arguments = written(argument, name, value.as_ref())
            .map_err(|expected| refused(format!(":{line}: {name}: expected {expected}")))?;
        Ok(Setting { argument: argument.clone(), arguments, line })
    };
    let mut settings =
        table.as_ref().iter().map(setting).collect::<Result<Vec<_>, clap::Error>>()?;
    settings.sort_by_key(|setting| setting.line);
    Ok(settings)
}

/// Returns a value as arguments, or what is expected in its place.
fn written(
    argument: &Arg,
    name: &str,
    value: &DeValue<'_>,
) -> std::result::Result<Vec<String>, &'static str> {
    let is_switch = matches!(argument.get_action(), ArgAction::SetTrue);
    match value {
        DeValue::Boolean(on) if is_switch => {
            Ok(on.then(|| format!("--{name}")).into_iter().collect())
        }
        _ if is_switch => Err("true or false"),
        DeValue::String(text) => Ok(vec![format!("--{name}={text}")]),
        DeValue::Integer(number) if is_number(argument) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            let number = number.map_err(|_| "a number below 2^63, or a string")?;
            Ok(vec![format!("--{name}={number}")])
        }
        _ if is_number(argument) => Err("a whole number"),
        DeValue::Array(values) if matches!(argument.get_action(), ArgAction::Append) => {
            let text = |value: &toml::Spanned<DeValue<'_>>| match value.as_ref() {
                DeValue::String(text) => Ok(format!("--{name}={text}")),
                _ => Err("strings"),
            };
            values.iter().map(text).collect()
        }
        _ => Err("a string"),
    }
}

/// Adds file and line to an error about an argument of the file.
fn located(error: clap::Error, applied: &[&Setting], path: &Path) -> clap::Error {
    let about = error.get(ContextKind::InvalidArg);
    let is_about = |setting: &&&Setting| match about {
        // The argument is written with its value names: `--listen <HOST:PORT>`.
        Some(ContextValue::String(text)) => *text == setting.argument.to_string(),
        _ => false,
    };
    let Some(setting) = applied.iter().find(is_about) else { return error };
    let message = error.to_string();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    clap::Error::raw(error.kind(), format!("{}:{}: {message}", path.display(), setting.line))
}

/// Returns the arguments that a file may have, and those about files.
fn arguments() -> Vec<Arg> {
    serve_command().get_arguments().cloned().collect()
}

fn serve_command() -> clap::Command {
    let mut command = ServeArgs::augment_args(clap::Command::new(COMMAND));
    command.build();
    command
}

/// Returns the name of an argument in a file.
fn setting_name(argument: &Arg) -> Option<&str> {
    argument.get_long().filter(|name| !NOT_IN_FILES.contains(name))
}

fn is_number(argument: &Arg) -> bool {
    use clap::builder::ValueParser;
    let parser = argument.get_value_parser().type_id();
    [
        ValueParser::from(clap::value_parser!(u32)),
        ValueParser::from(clap::value_parser!(u64)),
        ValueParser::new(|text: &str| text.parse::<usize>()),
    ]
    .iter()
    .any(|number| number.type_id() == parser)
}

/// Writes a string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            control if control.is_control() => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(control)));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
