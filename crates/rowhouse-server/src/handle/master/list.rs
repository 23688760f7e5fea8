//! Lists tables.

use rowhouse_filter::FullMatch;
use rowhouse_format::convert::{names, table};
use rowhouse_format::proto;
use rowhouse_model::{Result, TableDescriptor, TableName, TableState};

use crate::context::Context;

/// A table and the table state.
type Listed = (TableDescriptor, TableState);

/// The selection criteria for a listing.
#[derive(Default)]
struct Choice<'a> {
    names: Vec<TableName>,
    regex: Option<&'a str>,
    namespace: Option<&'a str>,
    include_system: bool,
    state: Option<TableState>,
}

impl Choice<'_> {
    /// Returns the selected tables, ordered by name.
    ///
    /// # Errors
    /// `NamespaceNotFound`; `InvalidRequest` and `Unsupported` for a regular expression.
    fn list(&self, context: &Context) -> Result<Vec<Listed>> {
        if let Some(namespace) = self.namespace {
            context.cluster.store.namespace(namespace)?;
        }
        let regex = self.regex.map(FullMatch::new).transpose()?;
        let tables = context.cluster.store.tables();
        let stored = tables.iter().map(|table| (table.descriptor().clone(), table.state()));
        let system = context.cluster.store.system_tables();
        let system = system.into_iter().map(|table| (table, TableState::Enabled));
        let mut tables: Vec<Listed> = stored.chain(system).collect();
        tables.retain(|(table, state)| {
            let name = table.name();
            let named = self.names.contains(name);
            (named || self.names.is_empty() && (self.include_system || !name.is_system()))
                && self.state.is_none_or(|required| required == *state)
                && self.namespace.is_none_or(|namespace| namespace == name.namespace())
        });
        if let Some(regex) = regex {
            let matched =
                tables.into_iter().map(|table| Ok((matches(&regex, table.0.name())?, table)));
            let matched = matched.collect::<Result<Vec<_>>>()?.into_iter();
            tables = matched.filter(|(matches, _)| *matches).map(|(_, table)| table).collect();
        }
        tables.sort_by(|(a, _), (b, _)| a.name().cmp(b.name()));
        Ok(tables)
    }
}

/// Returns true if an expression matches a table's name, with or without the default namespace
/// prefix.
fn matches(regex: &FullMatch, name: &TableName) -> Result<bool> {
    Ok(regex.matches(&name.to_string())?
        || name.namespace() == TableName::DEFAULT_NAMESPACE
            && regex.matches(&format!("{}:{}", name.namespace(), name.qualifier()))?)
}

fn schemas(tables: Vec<Listed>) -> Vec<proto::TableSchema> {
    tables.iter().map(|(descriptor, _)| table::to_proto(descriptor)).collect()
}

fn names_of(tables: Vec<Listed>) -> Vec<proto::TableName> {
    tables.iter().map(|(descriptor, _)| names::table_to_proto(descriptor.name())).collect()
}

fn state_of(is_enabled: bool) -> Option<TableState> {
    Some(if is_enabled { TableState::Enabled } else { TableState::Disabled })
}

/// Returns the namespace; an empty one counts as absent. An empty regular expression matches
/// nothing.
fn namespace_of(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

pub(crate) fn descriptors(
    context: &Context,
    request: proto::GetTableDescriptorsRequest,
) -> Result<proto::GetTableDescriptorsResponse> {
    let include_system = request.include_sys_tables();
    let names = request.table_names.into_iter().map(names::table_from_proto);
    let choice = Choice {
        names: names.collect::<Result<_>>()?,
        regex: request.regex.as_deref(),
        namespace: namespace_of(&request.namespace),
        include_system,
        state: None,
    };
    Ok(proto::GetTableDescriptorsResponse { table_schema: schemas(choice.list(context)?) })
}

pub(crate) fn descriptors_by_state(
    context: &Context,
    request: proto::ListTableDescriptorsByStateRequest,
) -> Result<proto::ListTableDescriptorsByStateResponse> {
    let choice = Choice { state: state_of(request.is_enabled), ..Choice::default() };
    Ok(proto::ListTableDescriptorsByStateResponse { table_schema: schemas(choice.list(context)?) })
}

pub(crate) fn descriptors_by_namespace(
    context: &Context,
    request: proto::ListTableDescriptorsByNamespaceRequest,
) -> Result<proto::ListTableDescriptorsByNamespaceResponse> {
    let namespace = Some(&*request.namespace_name);
    let choice = Choice { namespace, include_system: true, ..Choice::default() };
    let table_schema = schemas(choice.list(context)?);
    Ok(proto::ListTableDescriptorsByNamespaceResponse { table_schema })
}

pub(crate) fn names(
    context: &Context,
    request: proto::GetTableNamesRequest,
) -> Result<proto::GetTableNamesResponse> {
    let choice = Choice {
        regex: request.regex.as_deref(),
        namespace: namespace_of(&request.namespace),
        include_system: request.include_sys_tables(),
        ..Choice::default()
    };
    Ok(proto::GetTableNamesResponse { table_names: names_of(choice.list(context)?) })
}

pub(crate) fn names_by_state(
    context: &Context,
    request: proto::ListTableNamesByStateRequest,
) -> Result<proto::ListTableNamesByStateResponse> {
    let choice = Choice { state: state_of(request.is_enabled), ..Choice::default() };
    Ok(proto::ListTableNamesByStateResponse { table_names: names_of(choice.list(context)?) })
}

pub(crate) fn names_by_namespace(
    context: &Context,
    request: proto::ListTableNamesByNamespaceRequest,
) -> Result<proto::ListTableNamesByNamespaceResponse> {
    let namespace = Some(&*request.namespace_name);
    let choice = Choice { namespace, include_system: true, ..Choice::default() };
    let table_name = names_of(choice.list(context)?);
    Ok(proto::ListTableNamesByNamespaceResponse { table_name })
}

pub(crate) fn state(
    context: &Context,
    request: proto::GetTableStateRequest,
) -> Result<proto::GetTableStateResponse> {
    let name = names::table_from_proto(request.table_name)?;
    let state = if name.is_system() {
        TableState::Enabled
    } else {
        context.cluster.store.table(&name)?.state()
    };
    Ok(proto::GetTableStateResponse { table_state: names::state_to_proto(state) })
}
