//! `alter`: families, attributes, configuration and coprocessors for a table, the key template, the
//! columns, and the indexes.

use rowhouse::key::{KeySchema, escape};
use rowhouse::schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, FamilyDescriptor, TableDescriptor, check_table, with_indexes,
};
use rowhouse::{Bytes, Error, ErrorKind};

use super::declared::{self, Declared};
use super::tables::existing;
use crate::shell::argument;
use crate::shell::command::Action::Changes;
use crate::shell::command::{Call, Command, Group, TABLE, repeated, required};
use crate::shell::failure::{Failure, Result, usage_error};
use crate::shell::grammar::{Hash, Value};
use crate::shell::options::{OptionText, Options, join};
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[Command {
    names: &["alter"],
    group: Group::Tables,
    arguments: &[TABLE, required("FAMILY or OPTIONS"), repeated("FAMILY or OPTIONS")],
    options: &ALTER,
    about: "Changes families, attributes, columns or the key of a table.",
    details: "A new family is added; attributes of an existing one that are not named are \
                  unchanged. A KEY is first checked against rows: if one does not fit, nothing is \
                  altered.",
    examples: &[
        "alter 'blog', 'tags'",
        "alter 'blog', {NAME => 'cf', VERSIONS => 5}, {NAME => 'tags', TTL => 86400}",
        "alter 'blog', 'delete' => 'tags'",
        "alter 'blog', NAME => 'tags', METHOD => 'delete'",
        "alter 'blog', MAX_FILESIZE => '10 GB', CONFIGURATION => {'hbase.hstore.blockingStoreFiles' => '20'}",
        "alter 'blog', METHOD => 'table_att_unset', NAME => 'MAX_FILESIZE'",
        "alter 'blog', KEY => '[blogger text]_[at millis digits desc]'",
        "alter 'blog', KEY => '[blogger text]_[at millis digits desc]', FORCE => true",
        "alter 'blog', COLUMNS => 'cf:t title string; cf:n likes u32'",
        "alter 'blog', INDEXES => 'by_likes [likes desc]'",
    ],
    run: Changes(|session, call| boxed(alter(session, call))),
}];

/// Options for `alter`.
const ALTER: [OptionText; 49] = join(
    declared::OPTION_TEXTS,
    [
        (
            "METHOD",
            "'delete' (of the family NAME), 'table_att_unset' and 'table_conf_unset' (of NAME, or of an array of \
             names), 'table_remove_coprocessor' (of CLASSNAME), 'table_att'",
        ),
        ("delete", "the name of a family to delete, with its cells"),
        ("coprocessor", "one of HBase's endpoints: '|class|priority|'"),
        ("CLASSNAME", "the class of a coprocessor"),
        ("FORCE", "true: sets KEY without checking that rows fit it"),
    ],
);

async fn alter(session: &mut Session, call: Call) -> Result<()> {
    let is_key = |value: &Value| matches!(value, Value::Hash(pairs) if has(pairs, "KEY"));
    if let [_, Value::Hash(pairs)] = &call.arguments[..]
        && has(pairs, "KEY")
    {
        return alter_key(session, &call, pairs.clone()).await;
    }
    if call.arguments.iter().any(is_key) {
        return usage_error("KEY must be altered alone: rows are checked first");
    }
    let mut steps = Vec::new();
    for argument in call.arguments.iter().skip(1).cloned() {
        steps.extend(read(call.command.options, argument)?);
    }
    let name = existing(session, &call).await?;
    let before = session.database.admin().describe(&name).await?.families().len();
    let change = move |table: &TableDescriptor| {
        steps.iter().try_fold(table.clone(), |table, step| step.apply(table))
    };
    session.database.admin().alter_table(&name, change).await.map_err(refused)?;
    let after = session.database.admin().describe(&name).await?;
    if after.families().len() > before {
        for finding in check_table(&after, &[]) {
            session.say(format_args!("WARNING: {finding}"))?;
        }
    }
    say_done(session, &name).await
}

/// One table change.
enum Alteration {
    /// Adds a family, or changes the named attributes in an existing one.
    Family(FamilyDescriptor, Declared),
    DropFamily(Bytes),
    Table(Declared),
    /// The columns in their stored form.
    Columns(String),
    /// Index declarations, which depend on key and columns.
    Indexes(String),
    Coprocessor(String),
    UnsetAttribute(String),
    UnsetConfiguration(String),
    RemoveCoprocessor(String),
}

impl Alteration {
    fn apply(&self, mut table: TableDescriptor) -> rowhouse::Result<TableDescriptor> {
        match self {
            Self::Family(new, declared) => {
                let family = table.find_family(new.name()).unwrap_or(new).clone();
                Ok(table.family(declared.in_family(family)))
            }
            Self::DropFamily(name) => match table.find_family(name) {
                Ok(_) => Ok(table.without_family(name)),
                Err(_) => Err(Error::invalid(format!(
                    "Family '{}' does not exist, so it cannot be deleted",
                    escape(name)
                ))),
            },
            Self::Table(declared) => Ok(declared.in_table(table)),
            Self::Columns(stored) => Ok(table.attribute(COLUMNS_ATTRIBUTE, stored.clone())),
            Self::Indexes(text) => with_indexes(table, text),
            Self::Coprocessor(spec) => table.coprocessor(spec),
            Self::UnsetAttribute(name) => match table.attributes.remove(name.as_bytes()) {
                Some(_) => Ok(table),
                None => Err(Error::invalid(format!("Could not find attribute: {name}"))),
            },
            Self::UnsetConfiguration(name) => match table.configuration.remove(name) {
                Some(_) => Ok(table),
                None => Err(Error::invalid(format!("Could not find configuration: {name}"))),
            },
            Self::RemoveCoprocessor(class) => table.without_coprocessor(class),
        }
    }
}

/// Returns the changes from one argument: a family's name, or a hash.
fn read(known: &[OptionText], argument: Value) -> Result<Vec<Alteration>> {
    let pairs = match argument {
        Value::Hash(pairs) => pairs,
        Value::Text(_) => vec![("NAME".to_owned(), argument)],
        Value::Array(values) => {
            let steps = values.into_iter().map(|value| read(known, value));
            return Ok(steps.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect());
        }
        other => {
            return usage_error(format!("a family must be a text or a hash, not {}", other.kind()));
        }
    };
    let mut options = Options::new(known, "alter", pairs)?;
    let steps = match options.take_text("METHOD")? {
        Some(method) if method != "table_att" => by_method(&method, &mut options)?,
        None if options.has("NAME") => vec![family(&mut options)?],
        None if options.has("delete") => drop_families(&mut options, "delete")?,
        _ => table(&mut options)?,
    };
    options.finish()?;
    Ok(steps)
}

fn by_method(method: &str, options: &mut Options) -> Result<Vec<Alteration>> {
    if method == "table_remove_coprocessor" {
        let classes = take_names(options, "CLASSNAME", method)?;
        return Ok(classes.into_iter().map(Alteration::RemoveCoprocessor).collect());
    }
    match method {
        "delete" => drop_families(options, "NAME"),
        "table_att_unset" => {
            let names = take_names(options, "NAME", method)?;
            Ok(names.into_iter().map(Alteration::UnsetAttribute).collect())
        }
        "table_conf_unset" => {
            let names = take_names(options, "NAME", method)?;
            Ok(names.into_iter().map(Alteration::UnsetConfiguration).collect())
        }
        _ => usage_error(format!("Unknown method: {method}")),
    }
}

fn family(options: &mut Options) -> Result<Alteration> {
    let name = options.take_bytes("NAME")?.unwrap_or_default();
    let family = FamilyDescriptor::new(name).or_else(|error| usage_error(error.message()))?;
    Ok(Alteration::Family(family, Declared::of_family(options)?))
}

fn drop_families(options: &mut Options, option: &str) -> Result<Vec<Alteration>> {
    let names = options.take_list(option);
    if names.is_empty() {
        return usage_error("NAME parameter missing for delete method");
    }
    names.iter().map(|name| Ok(Alteration::DropFamily(argument::bytes("NAME", name)?))).collect()
}

fn table(options: &mut Options) -> Result<Vec<Alteration>> {
    if options.has("FORCE") {
        return usage_error("FORCE requires KEY");
    }
    let mut steps = Vec::new();
    if let Some(columns) = options.take_text("COLUMNS")? {
        let columns =
            ColumnSchema::parse(&columns).or_else(|error| usage_error(error.message()))?;
        steps.push(Alteration::Columns(columns.to_stored()));
    }
    if let Some(indexes) = options.take_text("INDEXES")? {
        steps.push(Alteration::Indexes(indexes));
    }
    if let Some(spec) = options.take_text("coprocessor")? {
        steps.push(Alteration::Coprocessor(spec));
    }
    steps.push(Alteration::Table(Declared::of_table(options)?));
    Ok(steps)
}

fn take_names(options: &mut Options, option: &str, method: &str) -> Result<Vec<String>> {
    let names = options.take_list(option);
    if names.is_empty() {
        return usage_error(format!("{option} parameter missing for {method} method"));
    }
    names.iter().map(|name| argument::text(option, name)).collect()
}

async fn alter_key(session: &mut Session, call: &Call, pairs: Hash) -> Result<()> {
    let mut options = Options::new(call.command.options, "alter", pairs)?;
    let template = options.take_text("KEY")?.unwrap_or_default();
    let is_forced = options.take_truth("FORCE")?;
    if let Some(other) = ["COLUMNS", "INDEXES"].into_iter().find(|name| options.has(name)) {
        return usage_error(format!("KEY and {other} must be altered in two commands"));
    }
    options.finish()?;
    let schema = KeySchema::parse(&template).or_else(|error| usage_error(error.message()))?;

    let name = existing(session, call).await?;
    let altered = if is_forced {
        session.database.admin().alter_key_unchecked(&name, &template).await.map(|()| None)
    } else {
        session.database.admin().alter_key(&name, &template).await.map(Some)
    };
    if let Some(fit) = altered.map_err(refused)? {
        session.say(fit)?;
    }
    for finding in schema.check() {
        session.say(format_args!("WARNING: {finding}"))?;
    }
    say_done(session, &name).await
}

fn has(pairs: &Hash, key: &str) -> bool {
    pairs.iter().any(|(name, _)| name == key)
}

/// Converts an error in a declaration, which does not come from a server.
fn refused(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::InvalidRequest | ErrorKind::Unsupported => {
            Failure::Usage(error.message().to_owned())
        }
        _ => Failure::Database(error),
    }
}

async fn say_done(session: &mut Session, name: &str) -> Result<()> {
    session.say("Updating all regions with the new schema...")?;
    let regions = session.database.table(name).await?.regions().await?.len();
    session.say(format_args!("{regions}/{regions} regions updated."))?;
    session.say("Done.")
}
