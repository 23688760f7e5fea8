//! Mutations on one row.
//!
//! A mutation's cells are in the message (`column_value`; the Java client's Mutate) or in the cell
//! block (`associated_cell_count`; the Java client's Multi). Other clients use both forms in either
//! call.

use std::collections::BTreeMap;

use bytes::Bytes;
use rowhouse_model::{
    Append, Cell, CellKind, Condition, Delete, Error, ErrorKind, Increment, Key, Mutation, Put,
    Result, Row, RowCondition, Timestamp, check_tags, escape,
};

use super::columns::{time_range_from_proto, time_range_to_proto};
use super::region::RegionRef;
use super::{CellPlacement, attributes, condition, names, result};
use crate::proto;
use crate::proto::mutation_proto::column_value::QualifierValue;
use crate::proto::mutation_proto::{ColumnValue, DeleteType, MutationType};
use crate::rpc::CellReader;

pub use rowhouse_model::Nonce;

/// Returns a message's nonce; `None` if the number is 0 or missing.
pub(super) fn nonce_from_parts(group: Option<u64>, number: Option<u64>) -> Option<Nonce> {
    let number = number.filter(|&number| number != 0)?;
    Some(Nonce { group: group.unwrap_or(0), number })
}

/// A mutation on one row, with the region.
#[derive(Clone, Debug, PartialEq)]
pub struct MutateCall {
    /// The region that holds the row.
    pub region: RegionRef,
    /// The mutation.
    pub mutation: Mutation,
    /// Identifies the mutation, so that a retry is not applied twice; `None` for idempotent
    /// mutations.
    pub nonce: Option<Nonce>,
    /// The condition for the mutation.
    pub condition: Option<Condition>,
}

impl MutateCall {
    /// Decodes a Mutate request.
    ///
    /// # Errors
    /// As [`from_proto`] and [`condition::from_proto`].
    pub fn from_proto(request: proto::MutateRequest, block: &mut CellReader) -> Result<Self> {
        let nonce = nonce_from_parts(request.nonce_group, request.mutation.nonce);
        let mutation = from_proto(request.mutation, block)?;
        let condition = request.condition.map(condition::from_proto).transpose()?;
        if let Some(condition) = &condition {
            check_condition_row(condition, &mutation)?;
        }
        Ok(Self {
            region: RegionRef::from_proto(request.region),
            nonce,
            condition: condition.map(|it| it.condition),
            mutation,
        })
    }

    /// Encodes a Mutate request; with [`CellPlacement::Block`], the caller puts the mutation's
    /// [cells](Mutation::cells) into the cell block.
    ///
    /// # Errors
    /// As [`condition::to_proto`].
    pub fn to_proto(&self, cells_in: CellPlacement) -> Result<proto::MutateRequest> {
        let row = self.mutation.row();
        let condition = self.condition.as_ref().map(|it| condition::to_proto(it, row));
        Ok(proto::MutateRequest {
            region: self.region.to_proto(),
            mutation: to_proto(&self.mutation, self.nonce, cells_in),
            condition: condition.transpose()?,
            nonce_group: self.nonce.map(|nonce| nonce.group),
        })
    }
}

/// Checks that a condition is on the mutation's row.
///
/// # Errors
/// `InvalidRequest` with HBase's message if it is not.
pub fn check_condition_row(condition: &RowCondition, mutation: &Mutation) -> Result<()> {
    if condition.row == *mutation.row() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "The row of the action <{}> doesn't match the original one <{}>",
        escape(mutation.row()),
        escape(&condition.row)
    )))
}

/// Returns the response to a put or a delete.
pub fn done() -> proto::MutateResponse {
    proto::MutateResponse { processed: Some(true), ..Default::default() }
}

/// Returns the response to a mutation whose condition did not hold.
pub fn not_done() -> proto::MutateResponse {
    proto::MutateResponse { processed: Some(false), ..Default::default() }
}

/// Returns true if a conditional mutation was executed.
///
/// # Errors
/// `Protocol` if the response does not state it.
pub fn was_done(answer: &proto::MutateResponse) -> Result<bool> {
    answer.processed.ok_or_else(|| {
        Error::new(
            ErrorKind::Protocol,
            "the response does not state whether the condition of a mutation held",
        )
    })
}

/// Returns the response to a mutation with the new cells.
pub fn done_with(row: &Row, cells_in: CellPlacement) -> proto::MutateResponse {
    proto::MutateResponse { result: Some(result::to_proto(row, cells_in)), ..Default::default() }
}

/// Decodes the response to a mutation: the new cells, or an empty row.
///
/// # Errors
/// As [`result::from_proto`].
pub fn answer_from_proto(answer: proto::MutateResponse, block: &mut CellReader) -> Result<Row> {
    match answer.result {
        Some(result) => Ok(result::from_proto(result, block)?.row),
        None => Ok(Row::default()),
    }
}

/// Decodes a mutation. Takes the cells off the cell block if they are there, even if the mutation
/// is rejected, so that the next mutation's cells can be located.
///
/// # Errors
/// `Unsupported` for attributes that request an unsupported feature; `InvalidRequest` for an
/// invalid mutation; `Protocol` for missing or malformed cells.
pub fn from_proto(mutation: proto::MutationProto, block: &mut CellReader) -> Result<Mutation> {
    let cells = take_cells(&mutation, block)?;
    from_parts(mutation, cells)
}

/// Takes a mutation's cells off the cell block; returns `None` if the message contains them.
pub(super) fn take_cells(
    mutation: &proto::MutationProto,
    block: &mut CellReader,
) -> Result<Option<Vec<Cell>>> {
    match mutation.associated_cell_count {
        Some(count) if count > 0 => Ok(Some(block.take_cells(count as usize)?)),
        _ => Ok(None),
    }
}

/// Decodes a mutation whose cells were already taken off the cell block.
pub(super) fn from_parts(
    mutation: proto::MutationProto,
    cells: Option<Vec<Cell>>,
) -> Result<Mutation> {
    attributes::check(&mutation.attribute)?;
    let first_row = cells.as_ref().and_then(|cells| cells.first()).map(Cell::row_bytes);
    let Some(row) = mutation.row.clone().or(first_row) else {
        return Err(Error::invalid("row cannot be null"));
    };
    let kind = mutation.mutate_type();
    let durability = names::durability_from_proto(mutation.durability());
    let ttl_millis = attributes::ttl_millis(&mutation.attribute)?;
    let cells = match cells {
        Some(cells) => Some(cells),
        // `delete` decodes the markers in the message.
        None if kind == MutationType::Delete => None,
        None => Some(cells_of_message(&row, &mutation, kind)?),
    };
    let tagged = cells.iter().flatten().filter(|cell| !cell.tags().is_empty());
    tagged.map(Cell::tags).try_for_each(check_tags)?;
    Ok(match kind {
        MutationType::Put => {
            let mut put = Put::of_cells(row, cells.unwrap_or_default())?;
            (put.durability, put.ttl_millis) = (durability, ttl_millis);
            put.into()
        }
        MutationType::Delete => {
            let mut delete = delete(row, mutation, cells)?;
            (delete.durability, delete.ttl_millis) = (durability, ttl_millis);
            delete.into()
        }
        MutationType::Increment => {
            let mut increment = Increment::new(row)?;
            increment.time_range = time_range_from_proto(mutation.time_range)?;
            increment.return_results = attributes::returns_results(&mutation.attribute);
            (increment.durability, increment.ttl_millis) = (durability, ttl_millis);
            cells.into_iter().flatten().try_fold(increment, Increment::add_cell)?.into()
        }
        MutationType::Append => {
            let mut append = Append::new(row)?;
            append.time_range = time_range_from_proto(mutation.time_range)?;
            append.return_results = attributes::returns_results(&mutation.attribute);
            (append.durability, append.ttl_millis) = (durability, ttl_millis);
            cells.into_iter().flatten().try_fold(append, Append::add_cell)?.into()
        }
    })
}

/// Decodes the cells for a put, increment or append from the message. A put's timestamp applies to
/// its cells without one.
fn cells_of_message(
    row: &Bytes,
    mutation: &proto::MutationProto,
    kind: MutationType,
) -> Result<Vec<Cell>> {
    let of_all = mutation.timestamp.filter(|_| kind == MutationType::Put);
    let default = of_all.map_or(Timestamp::LATEST.as_millis(), |at| at as i64);
    let columns = mutation.column_value.iter();
    let columns = columns.flat_map(|one| one.qualifier_value.iter().map(move |value| (one, value)));
    let cell = |(column, value): (&ColumnValue, &QualifierValue)| {
        let missing = || Error::invalid("Missing required field: qualifier value");
        let given = value.value.as_ref().ok_or_else(missing)?;
        // A delete marker in a put has no value; ignore any that is sent.
        let marker = value.delete_type.filter(|_| kind == MutationType::Put);
        let marker = marker.map(|_| kind_of_marker(value.delete_type()));
        let key = Key {
            row,
            family: &column.family,
            qualifier: value.qualifier.as_deref().unwrap_or_default(),
            timestamp: value.timestamp.map_or(default, |at| at as i64),
            kind: marker.unwrap_or(CellKind::Put).code(),
        };
        let tags = value.tags.as_deref().unwrap_or_default();
        Cell::from_parts(key, if marker.is_some() { b"" } else { given }, tags)
    };
    columns.map(cell).collect()
}

fn delete(row: Bytes, mutation: proto::MutationProto, cells: Option<Vec<Cell>>) -> Result<Delete> {
    let mut delete = Delete::new(row)?;
    if let Some(at) = mutation.timestamp {
        delete.timestamp = Timestamp::from_millis(at as i64)?;
    }
    if let Some(cells) = cells {
        return cells.into_iter().try_fold(delete, Delete::add_cell);
    }
    let mut columns = mutation.column_value.into_iter().flat_map(qualifiers);
    columns.try_fold(delete, |delete, (family, column)| {
        let at = match column.timestamp {
            Some(at) => Timestamp::from_millis(at as i64)?,
            None => Timestamp::LATEST,
        };
        let qualifier = column.qualifier.as_deref().unwrap_or_default();
        match column.delete_type() {
            DeleteType::DeleteOneVersion => delete.version(family, qualifier, at),
            DeleteType::DeleteMultipleVersions => delete.column(family, qualifier, at),
            DeleteType::DeleteFamily => delete.family(family, at),
            DeleteType::DeleteFamilyVersion => delete.family_version(family, at),
        }
    })
}

fn kind_of_marker(delete_type: DeleteType) -> CellKind {
    match delete_type {
        DeleteType::DeleteOneVersion => CellKind::DeleteVersion,
        DeleteType::DeleteMultipleVersions => CellKind::DeleteColumn,
        DeleteType::DeleteFamily => CellKind::DeleteFamily,
        DeleteType::DeleteFamilyVersion => CellKind::DeleteFamilyVersion,
    }
}

fn qualifiers(column: ColumnValue) -> impl Iterator<Item = (Bytes, QualifierValue)> {
    let family = column.family;
    column.qualifier_value.into_iter().map(move |value| (family.clone(), value))
}

/// Encodes a mutation; with [`CellPlacement::Block`], the caller puts the [cells](Mutation::cells)
/// into the cell block.
pub fn to_proto(
    mutation: &Mutation,
    nonce: Option<Nonce>,
    cells_in: CellPlacement,
) -> proto::MutationProto {
    let mut message = proto::MutationProto {
        row: Some(mutation.row().clone()),
        durability: Some(names::durability_to_proto(mutation.durability()).into()),
        nonce: nonce.map(|nonce| nonce.number),
        ..Default::default()
    };
    match mutation {
        Mutation::Put(_) => message.set_mutate_type(MutationType::Put),
        Mutation::Delete(delete) => {
            message.set_mutate_type(MutationType::Delete);
            message.timestamp = Some(delete.timestamp.as_millis() as u64);
        }
        Mutation::Increment(increment) => {
            message.set_mutate_type(MutationType::Increment);
            message.time_range = Some(time_range_to_proto(increment.time_range));
            message.attribute.extend(attributes::no_results(increment.return_results));
        }
        Mutation::Append(append) => {
            message.set_mutate_type(MutationType::Append);
            message.time_range = Some(time_range_to_proto(append.time_range));
            message.attribute.extend(attributes::no_results(append.return_results));
        }
    }
    message.attribute.extend(mutation.ttl_millis().map(attributes::ttl));
    let cells = mutation.cells();
    match cells_in {
        CellPlacement::Block if cells.is_empty() => {}
        CellPlacement::Block => message.associated_cell_count = Some(cells.len() as i32),
        CellPlacement::Message => message.column_value = column_values(cells),
    }
    message
}

fn column_values(cells: &[Cell]) -> Vec<ColumnValue> {
    let mut families = BTreeMap::<Bytes, Vec<QualifierValue>>::new();
    for cell in cells {
        let bytes = cell.as_bytes();
        let key = cell.key();
        let delete_type = match cell.kind() {
            CellKind::Put => None,
            CellKind::DeleteVersion => Some(DeleteType::DeleteOneVersion),
            CellKind::DeleteColumn => Some(DeleteType::DeleteMultipleVersions),
            CellKind::DeleteFamily => Some(DeleteType::DeleteFamily),
            CellKind::DeleteFamilyVersion => Some(DeleteType::DeleteFamilyVersion),
        };
        families.entry(bytes.slice_ref(key.family)).or_default().push(QualifierValue {
            qualifier: Some(bytes.slice_ref(key.qualifier)),
            value: Some(cell.value_bytes()),
            timestamp: Some(key.timestamp as u64),
            delete_type: delete_type.map(Into::into),
            tags: Some(bytes.slice_ref(cell.tags())).filter(|tags| !tags.is_empty()),
        });
    }
    families
        .into_iter()
        .map(|(family, qualifier_value)| ColumnValue { family, qualifier_value })
        .collect()
}

#[cfg(test)]
mod tests;
