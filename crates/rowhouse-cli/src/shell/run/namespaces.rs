//! Commands about namespaces.

use std::io::Write;

use rowhouse::admin::Namespace;

use super::{pattern, say_names};
use crate::shell::call::{self, Call, Options};
use crate::shell::failure::{Failure, Result, said};
use crate::shell::grammar::Value;
use crate::shell::session::Session;

pub(super) async fn create<W: Write>(session: &mut Session<W>, mut call: Call) -> Result<()> {
    let mut options = call.take_options()?;
    call.no_more_than(1)?;
    let mut namespace = match Namespace::new(&call.text(0)?) {
        Ok(namespace) => namespace,
        Err(error) => return said(error.message()),
    };
    for (name, value) in options.take_rest() {
        let value = call::text(&name, &value)?;
        namespace.configuration.insert(name, value);
    }
    Ok(session.database.admin().create_namespace(namespace).await?)
}

/// Sets and removes values of the configuration, atomically.
pub(super) async fn alter<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let mut namespace = find(session, &call.text(0)?).await?;
    for argument in call.arguments.iter().skip(1) {
        let Value::Hash(pairs) = argument else {
            return said(format!("OPTIONS must be a hash, not {}: {argument}", argument.kind()));
        };
        let mut options = Options::new(call.command, call.command.name, pairs.clone())?;
        match options.take_text("METHOD")?.as_deref() {
            Some("set") => {
                for (name, value) in options.take_rest() {
                    let value = call::text(&name, &value)?;
                    namespace.configuration.insert(name, value);
                }
            }
            Some("unset") => {
                let names = options.take_list("NAME");
                if names.is_empty() {
                    return said("NAME parameter missing for unset method");
                }
                for name in names {
                    let name = call::text("NAME", &name)?;
                    if namespace.configuration.remove(&name).is_none() {
                        return said(format!("Could not find configuration: {name}"));
                    }
                }
                if let Some((name, _)) = options.take_rest().first() {
                    return said(format!("unset takes METHOD and NAME, not {name}"));
                }
            }
            Some(method) => return said(format!("Unknown method: {method}")),
            None => return said("METHOD is missing: 'set' or 'unset'"),
        }
    }
    Ok(session.database.admin().modify_namespace(namespace).await?)
}

pub(super) async fn describe<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let namespace = find(session, &call.text(0)?).await?;
    session.say("DESCRIPTION")?;
    let values = namespace.configuration.iter();
    let values: String = values.map(|(name, value)| format!(", {name} => '{value}'")).collect();
    session.say(format_args!("{{NAME => '{}'{values}}}", namespace.name()))?;
    session.say("Quota is disabled")
}

async fn find<W: Write>(session: &Session<W>, name: &str) -> Result<Namespace> {
    let namespaces = session.database.admin().namespaces().await?;
    let found = namespaces.into_iter().find(|namespace| namespace.name() == name);
    found.ok_or_else(|| Failure::Usage(format!("Unknown namespace {name}!")))
}

pub(super) async fn drop<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    Ok(session.database.admin().drop_namespace(&call.text(0)?).await?)
}

pub(super) async fn list<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let pattern = pattern(call.text_if_given(0)?)?;
    let namespaces = session.database.admin().namespaces().await?;
    let names = namespaces.iter().map(|namespace| namespace.name().to_owned());
    let names: Vec<String> = names.filter(|name| pattern.is_match(name)).collect();
    say_names(session, "NAMESPACE", &names)
}

pub(super) async fn tables<W: Write>(session: &mut Session<W>, call: Call) -> Result<Vec<String>> {
    let wanted = call.text(0)?;
    let namespaces = session.database.admin().namespaces().await?;
    if !namespaces.iter().any(|namespace| namespace.name() == wanted) {
        // HBase's shell prints the heading before it asks.
        session.say("TABLE")?;
        return said(format!("Unknown namespace {wanted}!"));
    }
    let tables = session.database.tables().await?;
    let tables = tables.iter().filter(|table| table.namespace() == wanted);
    let names: Vec<String> = tables.map(|table| table.qualifier().to_owned()).collect();
    say_names(session, "TABLE", &names)?;
    Ok(names)
}
