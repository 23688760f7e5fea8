//! `create`.

use std::collections::BTreeSet;

use rowhouse::TableSpec;
use rowhouse::schema::{COLUMNS_ATTRIBUTE, FamilyDescriptor, INDEXES_ATTRIBUTE, KEY_ATTRIBUTE};

use super::declared::{self, Declared};
use super::presplit;
use crate::shell::argument;
use crate::shell::command::Action::Changes;
use crate::shell::command::{Call, Command, Group, repeated, required};
use crate::shell::failure::{Result, usage_error};
use crate::shell::grammar::{Hash, Value};
use crate::shell::options::{OptionText, Options, join};
use crate::shell::session::{CommandOutput, Session, boxed};

pub(super) const COMMANDS: &[Command] = &[Command {
    names: &["create"],
    group: Group::Tables,
    arguments: &[required("TABLE"), repeated("FAMILY or OPTIONS")],
    options: &CREATE,
    about: "Creates a table.",
    details: "A family is a name or a hash with NAME. Pairs outside such a hash belong to the \
                  table.",
    examples: &[
        "create 'blog', 'cf'",
        "create 'blog', {NAME => 'cf', VERSIONS => 3}, {NAME => 'log', TTL => 86400}",
        "create 'blog', 'cf', KEY => '[blogger text]_[at millis digits desc]'",
        "create 'blog', 'cf', COLUMNS => 'cf:t title string; cf:n likes u32'",
        "create 'blog', 'cf', KEY => '[id u64]', COLUMNS => 'cf:n likes u32', INDEXES => 'by_likes [likes desc]'",
        "create 'blog', 'cf', SPLITS => ['10', '20', '30']",
        "create 'blog', 'cf', NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'",
    ],
    run: Changes(|session, call| boxed(create(session, call))),
}];

/// Options for `create`.
const CREATE: [OptionText; 48] = join(
    declared::OPTION_TEXTS,
    [
        ("SPLITS", "an array of split keys; \\xHH is a byte"),
        ("SPLITS_FILE", "a file with a split key in each line"),
        ("NUMREGIONS", "the number of regions; SPLITALGO sets their boundaries"),
        (
            "SPLITALGO",
            "'HexStringSplit', 'DecimalStringSplit' or 'UniformSplit', by the form of keys",
        ),
    ],
);

/// Creates a table. Advice on the template is printed, and does not prevent this.
async fn create(session: &mut Session, call: Call) -> Result<CommandOutput> {
    let name = call.table()?;
    let known = call.command.options;
    let mut spec = TableSpec::new(&name);
    let mut has_families = false;
    // Attributes declared so far: none may be declared twice.
    let mut names = BTreeSet::new();
    for argument in flatten(call.arguments.into_iter().skip(1)) {
        spec = match argument {
            Value::Hash(pairs) if pairs.iter().any(|(name, _)| name == "NAME") => {
                has_families = true;
                spec.family_with(family(known, pairs)?)
            }
            Value::Hash(pairs) => table_options(spec, known, &name, pairs, &mut names)?,
            Value::Text(_) => {
                has_families = true;
                spec.family(&argument::text("FAMILY", &argument)?)
            }
            other => {
                return usage_error(format!(
                    "a family must be a text or a hash, not {}",
                    other.kind()
                ));
            }
        };
    }
    if !has_families {
        return usage_error("Table must have at least one column family");
    }
    // Errors in the declaration do not come from a server.
    if let Err(error) = spec.check() {
        return usage_error(error.message());
    }
    let advice = spec.advice();
    session.database.create_table(spec).await?;
    for finding in advice {
        session.say(format_args!("WARNING: {finding}"))?;
    }
    session.say(format_args!("Created table {name}"))?;
    Ok(CommandOutput::Table(name))
}

fn flatten(arguments: impl Iterator<Item = Value>) -> Vec<Value> {
    arguments
        .flat_map(|argument| match argument {
            Value::Array(values) => values,
            other => vec![other],
        })
        .collect()
}

fn family(known: &[OptionText], pairs: Hash) -> Result<FamilyDescriptor> {
    let mut options = Options::new(known, "a family", pairs)?;
    let name = options.take_bytes("NAME")?.unwrap_or_default();
    let family = FamilyDescriptor::new(name).or_else(|error| usage_error(error.message()))?;
    let declared = Declared::of_family(&mut options)?;
    options.finish()?;
    Ok(declared.in_family(family))
}

fn table_options(
    mut spec: TableSpec,
    known: &[OptionText],
    table: &str,
    pairs: Hash,
    names: &mut BTreeSet<String>,
) -> Result<TableSpec> {
    let mut options = Options::new(known, format!("table {table}"), pairs)?;
    let given =
        [("KEY", KEY_ATTRIBUTE), ("COLUMNS", COLUMNS_ATTRIBUTE), ("INDEXES", INDEXES_ATTRIBUTE)];
    let given: Vec<_> = given.into_iter().filter(|(option, _)| options.has(option)).collect();
    if let Some(template) = options.take_text("KEY")? {
        spec = spec.key(&template);
    }
    if let Some(columns) = options.take_text("COLUMNS")? {
        spec = spec.columns(&columns);
    }
    if let Some(indexes) = options.take_text("INDEXES")? {
        spec = spec.indexes(&indexes);
    }
    spec = spec.splits(presplit::take(&mut options)?);
    let declared = Declared::of_table(&mut options)?;
    options.finish()?;
    let given = given.into_iter().map(|(_, attribute)| attribute);
    for name in given.chain(declared.attributes.iter().map(|(name, _)| &name[..])) {
        if !names.insert(name.to_owned()) {
            return usage_error(format!("the attribute {name} is declared twice"));
        }
    }
    for (name, value) in declared.attributes {
        spec = value.iter().fold(spec, |spec, value| spec.attribute(&name, value));
    }
    for (name, value) in declared.configuration {
        spec = value.iter().fold(spec, |spec, value| spec.configuration(&name, value));
    }
    Ok(spec)
}
