//! Commands about namespaces.

use rowhouse::admin::Namespace;

use super::names::{pattern, say_names};
use crate::shell::argument;
use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, OPTIONS, optional, repeated, required};
use crate::shell::failure::{Failure, Result, usage_error};
use crate::shell::grammar::Value;
use crate::shell::options::{ANY_OPTION, Options};
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["alter_namespace"],
        group: Group::Namespaces,
        arguments: &[required("NAMESPACE"), required("OPTIONS"), repeated("OPTIONS")],
        options: &[
            ("METHOD", "'set': the other pairs; 'unset': of NAME, or of an array of names"),
            ("NAME", "the setting to remove"),
            (ANY_OPTION, "any name: a configuration value of the namespace"),
        ],
        about: "Sets or removes values of a namespace's configuration.",
        details: "",
        examples: &[
            "alter_namespace 'shop', {METHOD => 'set', 'owner' => 'sales'}",
            "alter_namespace 'shop', {METHOD => 'unset', NAME => 'owner'}",
        ],
        run: Changes(|session, call| boxed(alter(session, call))),
    },
    Command {
        names: &["create_namespace"],
        group: Group::Namespaces,
        arguments: &[required("NAMESPACE"), OPTIONS],
        options: &[(ANY_OPTION, "any name: a configuration value of the namespace")],
        about: "Creates a namespace.",
        details: "",
        examples: &["create_namespace 'shop'", "create_namespace 'shop', {'owner' => 'sales'}"],
        run: Changes(|session, call| boxed(create(session, call))),
    },
    Command {
        names: &["describe_namespace"],
        group: Group::Namespaces,
        arguments: &[required("NAMESPACE")],
        options: &[],
        about: "Shows the declaration of a namespace.",
        details: "",
        examples: &["describe_namespace 'shop'"],
        run: Reads(|session, call| boxed(describe(session, call))),
    },
    Command {
        names: &["drop_namespace"],
        group: Group::Namespaces,
        arguments: &[required("NAMESPACE")],
        options: &[],
        about: "Drops an empty namespace.",
        details: "",
        examples: &["drop_namespace 'shop'"],
        run: Changes(|session, call| boxed(drop(session, call))),
    },
    Command {
        names: &["list_namespace"],
        group: Group::Namespaces,
        arguments: &[optional("PATTERN")],
        options: &[],
        about: "Lists namespaces, all or those whose full name matches a regular expression.",
        details: "",
        examples: &["list_namespace", "list_namespace 's.*'"],
        run: Reads(|session, call| boxed(list(session, call))),
    },
    Command {
        names: &["list_namespace_tables"],
        group: Group::Namespaces,
        arguments: &[required("NAMESPACE")],
        options: &[],
        about: "Lists the tables of a namespace.",
        details: "",
        examples: &["list_namespace_tables 'shop'"],
        run: Reads(|session, call| boxed(tables(session, call))),
    },
];

async fn create(session: &mut Session, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let mut namespace = match Namespace::new(&call.text(0)?) {
        Ok(namespace) => namespace,
        Err(error) => return usage_error(error.message()),
    };
    for (name, value) in options.take_rest() {
        let value = argument::text(&name, &value)?;
        namespace.configuration.insert(name, value);
    }
    Ok(session.database.admin().create_namespace(namespace).await?)
}

/// Sets and removes configuration values, atomically.
async fn alter(session: &mut Session, call: Call) -> Result<()> {
    let mut namespace = find(session, &call.text(0)?).await?;
    for argument in call.arguments.iter().skip(1) {
        let Value::Hash(pairs) = argument else {
            return usage_error(format!(
                "OPTIONS must be a hash, not {}: {argument}",
                argument.kind()
            ));
        };
        let mut options = Options::new(call.command.options, call.command.name(), pairs.clone())?;
        match options.take_text("METHOD")?.as_deref() {
            Some("set") => {
                for (name, value) in options.take_rest() {
                    let value = argument::text(&name, &value)?;
                    namespace.configuration.insert(name, value);
                }
            }
            Some("unset") => {
                let names = options.take_list("NAME");
                if names.is_empty() {
                    return usage_error("NAME parameter missing for unset method");
                }
                for name in names {
                    let name = argument::text("NAME", &name)?;
                    if namespace.configuration.remove(&name).is_none() {
                        return usage_error(format!("Could not find configuration: {name}"));
                    }
                }
                if let Some((name, _)) = options.take_rest().first() {
                    return usage_error(format!("unset takes METHOD and NAME, not {name}"));
                }
            }
            Some(method) => return usage_error(format!("Unknown method: {method}")),
            None => return usage_error("METHOD is missing: 'set' or 'unset'"),
        }
    }
    Ok(session.database.admin().modify_namespace(namespace).await?)
}

async fn describe(session: &mut Session, call: Call) -> Result<()> {
    let namespace = find(session, &call.text(0)?).await?;
    session.say("DESCRIPTION")?;
    let values = namespace.configuration.iter();
    let values: String = values.map(|(name, value)| format!(", {name} => '{value}'")).collect();
    session.say(format_args!("{{NAME => '{}'{values}}}", namespace.name()))?;
    session.say("Quota is disabled")
}

async fn find(session: &Session, name: &str) -> Result<Namespace> {
    let namespaces = session.database.admin().namespaces().await?;
    let namespace = namespaces.into_iter().find(|namespace| namespace.name() == name);
    namespace.ok_or_else(|| Failure::Usage(format!("Unknown namespace {name}!")))
}

async fn drop(session: &mut Session, call: Call) -> Result<()> {
    Ok(session.database.admin().drop_namespace(&call.text(0)?).await?)
}

async fn list(session: &mut Session, call: Call) -> Result<()> {
    let pattern = pattern(call.text_if_given(0)?)?;
    let namespaces = session.database.admin().namespaces().await?;
    let names = namespaces.iter().map(|namespace| namespace.name().to_owned());
    let names: Vec<String> = names.filter(|name| pattern.is_match(name)).collect();
    say_names(session, "NAMESPACE", &names)
}

async fn tables(session: &mut Session, call: Call) -> Result<Vec<String>> {
    let name = call.text(0)?;
    let namespaces = session.database.admin().namespaces().await?;
    if !namespaces.iter().any(|namespace| namespace.name() == name) {
        // HBase's shell prints the heading before the confirmation request.
        session.say("TABLE")?;
        return usage_error(format!("Unknown namespace {name}!"));
    }
    let tables = session.database.tables().await?;
    let tables = tables.iter().filter(|table| table.namespace() == name);
    let names: Vec<String> = tables.map(|table| table.qualifier().to_owned()).collect();
    say_names(session, "TABLE", &names)?;
    Ok(names)
}
