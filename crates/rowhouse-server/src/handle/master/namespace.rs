//! Namespaces.

use rowhouse_format::convert::names;
use rowhouse_format::proto;
use rowhouse_model::Result;

use super::procedure;
use crate::context::Context;

pub(crate) fn create(
    context: &Context,
    request: proto::CreateNamespaceRequest,
) -> Result<proto::CreateNamespaceResponse> {
    let namespace = names::namespace_from_proto(request.namespace_descriptor)?;
    context.cluster.store.create_namespace(namespace)?;
    Ok(proto::CreateNamespaceResponse { proc_id: procedure::done() })
}

pub(crate) fn modify(
    context: &Context,
    request: proto::ModifyNamespaceRequest,
) -> Result<proto::ModifyNamespaceResponse> {
    let namespace = names::namespace_from_proto(request.namespace_descriptor)?;
    context.cluster.store.modify_namespace(namespace)?;
    Ok(proto::ModifyNamespaceResponse { proc_id: procedure::done() })
}

pub(crate) fn delete(
    context: &Context,
    request: proto::DeleteNamespaceRequest,
) -> Result<proto::DeleteNamespaceResponse> {
    context.cluster.store.drop_namespace(&request.namespace_name)?;
    Ok(proto::DeleteNamespaceResponse { proc_id: procedure::done() })
}

pub(crate) fn get(
    context: &Context,
    request: proto::GetNamespaceDescriptorRequest,
) -> Result<proto::GetNamespaceDescriptorResponse> {
    let namespace = context.cluster.store.namespace(&request.namespace_name)?;
    let namespace_descriptor = names::namespace_to_proto(&namespace);
    Ok(proto::GetNamespaceDescriptorResponse { namespace_descriptor })
}

pub(crate) fn names(
    context: &Context,
    _: proto::ListNamespacesRequest,
) -> Result<proto::ListNamespacesResponse> {
    let namespaces = context.cluster.store.namespaces();
    let namespace_name = namespaces.iter().map(|namespace| namespace.name().to_owned()).collect();
    Ok(proto::ListNamespacesResponse { namespace_name })
}

pub(crate) fn list(
    context: &Context,
    _: proto::ListNamespaceDescriptorsRequest,
) -> Result<proto::ListNamespaceDescriptorsResponse> {
    let namespaces = context.cluster.store.namespaces();
    let namespace_descriptor = namespaces.iter().map(names::namespace_to_proto).collect();
    Ok(proto::ListNamespaceDescriptorsResponse { namespace_descriptor })
}
