//! Commands about namespaces.

use std::io::Write;

use rowhouse::Namespace;

use super::{pattern, say_names};
use crate::shell::call::{self, Call};
use crate::shell::failure::{Result, said};
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
    Ok(session.database.create_namespace(namespace).await?)
}

pub(super) async fn drop<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    Ok(session.database.drop_namespace(&call.text(0)?).await?)
}

pub(super) async fn list<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let pattern = pattern(call.text_if_given(0)?)?;
    let namespaces = session.database.namespaces().await?;
    let names = namespaces.iter().map(|namespace| namespace.name().to_owned());
    let names: Vec<String> = names.filter(|name| pattern.is_match(name)).collect();
    say_names(session, "NAMESPACE", &names)
}

pub(super) async fn tables<W: Write>(session: &mut Session<W>, call: Call) -> Result<Vec<String>> {
    let wanted = call.text(0)?;
    let namespaces = session.database.namespaces().await?;
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
