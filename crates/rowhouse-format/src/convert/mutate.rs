//! Changing one row.
//!
//! The cells of a mutation stand in the message (`column_value`; what the Java client does in
//! Mutate) or in the cell block (`associated_cell_count`; what it does in Multi). Both occur in
//! either call, with other clients.

use std::collections::BTreeMap;

use bytes::Bytes;
use rowhouse_model::{
    Cell, CellKind, Delete, Error, ErrorKind, Increment, Key, Mutation, NoValue, Put, Result, Row,
    Timestamp,
};

use super::columns::{time_range_from_proto, time_range_to_proto};
use super::region::RegionRef;
use super::{CellsIn, attributes, condition, names, result};
use crate::proto;
use crate::proto::mutation_proto::column_value::QualifierValue;
use crate::proto::mutation_proto::{ColumnValue, DeleteType, MutationType};
use crate::rpc::CellReader;

pub use rowhouse_model::Nonce;

/// The nonce of a message, if it has one: 0 is none.
pub(super) fn nonce_from_parts(group: Option<u64>, number: Option<u64>) -> Option<Nonce> {
    let number = number.filter(|&number| number != 0)?;
    Some(Nonce { group: group.unwrap_or(0), number })
}

/// A change of one row, in a region.
#[derive(Clone, Debug, PartialEq)]
pub struct MutateCall {
    /// The region of the row.
    pub region: RegionRef,
    /// The change.
    pub mutation: Mutation,
    /// What tells a repetition from a second change; none for changes that can be repeated.
    pub nonce: Option<Nonce>,
    /// What must hold for the change to be made.
    pub condition: Option<NoValue>,
}

impl MutateCall {
    /// Reads a Mutate request.
    ///
    /// # Errors
    /// As [`from_proto`] and [`condition::from_proto`].
    pub fn from_proto(request: proto::MutateRequest, block: &mut CellReader) -> Result<Self> {
        let nonce = nonce_from_parts(request.nonce_group, request.mutation.nonce);
        let mutation = from_proto(request.mutation, block)?;
        let condition = request.condition.map(|asked| condition::from_proto(asked, mutation.row()));
        Ok(Self {
            region: RegionRef::from_proto(request.region),
            nonce,
            condition: condition.transpose()?,
            mutation,
        })
    }

    /// Writes a Mutate request; with [`CellsIn::Block`], [`cells`] go into the cell block.
    pub fn to_proto(&self, cells_in: CellsIn) -> proto::MutateRequest {
        proto::MutateRequest {
            region: self.region.to_proto(),
            mutation: to_proto(&self.mutation, self.nonce, cells_in),
            condition: self
                .condition
                .as_ref()
                .map(|wanted| condition::to_proto(wanted, self.mutation.row())),
            nonce_group: self.nonce.map(|nonce| nonce.group),
        }
    }
}

/// The answer to a put or a delete.
pub fn done() -> proto::MutateResponse {
    proto::MutateResponse { processed: Some(true), ..Default::default() }
}

/// The answer to a mutation whose condition did not hold.
pub fn not_done() -> proto::MutateResponse {
    proto::MutateResponse { processed: Some(false), ..Default::default() }
}

/// Whether a mutation with a condition was made.
///
/// # Errors
/// `Protocol` for an answer that does not say.
pub fn was_done(answer: &proto::MutateResponse) -> Result<bool> {
    answer.processed.ok_or_else(|| {
        Error::new(
            ErrorKind::Protocol,
            "the answer does not say whether the condition of a mutation held",
        )
    })
}

/// The answer to a mutation that gives its new cells back.
pub fn done_with(row: &Row, cells_in: CellsIn) -> proto::MutateResponse {
    proto::MutateResponse { result: Some(result::to_proto(row, cells_in)), ..Default::default() }
}

/// Reads the answer to a mutation: its new cells, if it gives any back.
///
/// # Errors
/// As [`result::from_proto`].
pub fn answer_from_proto(answer: proto::MutateResponse, block: &mut CellReader) -> Result<Row> {
    match answer.result {
        Some(result) => Ok(result::from_proto(result, block)?.row),
        None => Ok(Row::default()),
    }
}

/// Reads a mutation, taking its cells off the cell block if it says that they are there. They are
/// taken even when the mutation is refused, so that those of the next one are found.
///
/// # Errors
/// `Unsupported` for appends, tags, delete markers in puts and attributes with an effect;
/// `InvalidRequest` for what can be no mutation; `Protocol` for missing or malformed cells.
pub fn from_proto(mutation: proto::MutationProto, block: &mut CellReader) -> Result<Mutation> {
    let cells = take_cells(&mutation, block)?;
    from_parts(mutation, cells)
}

/// The cells that a mutation has in the cell block; `None` when they are in the message.
pub(super) fn take_cells(
    mutation: &proto::MutationProto,
    block: &mut CellReader,
) -> Result<Option<Vec<Cell>>> {
    match mutation.associated_cell_count {
        Some(count) if count > 0 => Ok(Some(block.take_cells(count as usize)?)),
        _ => Ok(None),
    }
}

/// Reads a mutation whose cells were taken off the block before.
pub(super) fn from_parts(
    mutation: proto::MutationProto,
    cells: Option<Vec<Cell>>,
) -> Result<Mutation> {
    attributes::check(&mutation.attribute)?;
    if cells.iter().flatten().any(|cell| !cell.tags().is_empty()) {
        return Err(Error::unsupported("cell tags in a mutation are not supported"));
    }
    let first_row = cells.as_ref().and_then(|cells| cells.first()).map(Cell::row_bytes);
    let Some(row) = mutation.row.clone().or(first_row) else {
        return Err(Error::invalid("row cannot be null"));
    };
    let (kind, durability) = (mutation.mutate_type(), mutation.durability());
    let durability = names::durability_from_proto(durability);
    Ok(match kind {
        MutationType::Put => {
            let mut put = put(row, mutation, cells)?;
            put.durability = durability;
            put.into()
        }
        MutationType::Delete => {
            let mut delete = delete(row, mutation, cells)?;
            delete.durability = durability;
            delete.into()
        }
        MutationType::Increment => {
            let mut increment = increment(row, mutation, cells)?;
            increment.durability = durability;
            increment.into()
        }
        MutationType::Append => return Err(Error::unsupported("append is not supported")),
    })
}

fn put(row: Bytes, mutation: proto::MutationProto, cells: Option<Vec<Cell>>) -> Result<Put> {
    let put = Put::new(row.clone())?;
    if let Some(cells) = cells {
        return cells.into_iter().try_fold(put, |put, cell| {
            if cell.kind().is_delete() {
                return Err(delete_in_put());
            }
            put.add_cell(cell)
        });
    }
    let default = mutation.timestamp.map_or(Timestamp::LATEST.as_millis(), |at| at as i64);
    mutation.column_value.into_iter().flat_map(qualifiers).try_fold(put, |put, (family, column)| {
        if column.delete_type.is_some() {
            return Err(delete_in_put());
        }
        let key = Key {
            row: &row,
            family: &family,
            qualifier: column.qualifier.as_deref().unwrap_or_default(),
            timestamp: column.timestamp.map_or(default, |at| at as i64),
            kind: CellKind::Put.code(),
        };
        put.add_cell(Cell::from_parts(key, &value(&column)?, &[])?)
    })
}

fn delete_in_put() -> Error {
    Error::unsupported("delete markers in a put are not supported")
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
        refuse_tags(&column)?;
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

fn increment(
    row: Bytes,
    mutation: proto::MutationProto,
    cells: Option<Vec<Cell>>,
) -> Result<Increment> {
    let mut increment = Increment::new(row.clone())?;
    increment.time_range = time_range_from_proto(mutation.time_range)?;
    increment.return_results = attributes::returns_results(&mutation.attribute);
    let amounts: Vec<_> = match cells {
        Some(cells) => {
            cells.iter().map(|cell| amount_of_cell(&row, cell)).collect::<Result<_>>()?
        }
        None => mutation
            .column_value
            .into_iter()
            .flat_map(qualifiers)
            .map(|(family, column)| {
                let amount = amount(&value(&column)?)?;
                Ok((family, column.qualifier.unwrap_or_default(), amount))
            })
            .collect::<Result<_>>()?,
    };
    increment.add_all(amounts)
}

fn amount_of_cell(row: &[u8], cell: &Cell) -> Result<(Bytes, Bytes, i64)> {
    if cell.row() != row {
        return Err(Error::invalid("the row of a cell is not that of its increment"));
    }
    let (bytes, key) = (cell.as_bytes(), cell.key());
    let column = (bytes.slice_ref(key.family), bytes.slice_ref(key.qualifier));
    Ok((column.0, column.1, amount(cell.value())?))
}

/// What an increment adds, in the words that HBase finds for what is no amount.
fn amount(value: &[u8]) -> Result<i64> {
    let bytes = value.try_into().map_err(|_| {
        Error::invalid(format!("Field is not a long, it's {} bytes wide", value.len()))
    })?;
    Ok(i64::from_be_bytes(bytes))
}

fn qualifiers(column: ColumnValue) -> impl Iterator<Item = (Bytes, QualifierValue)> {
    let family = column.family;
    column.qualifier_value.into_iter().map(move |value| (family.clone(), value))
}

fn value(column: &QualifierValue) -> Result<Bytes> {
    refuse_tags(column)?;
    column.value.clone().ok_or_else(|| Error::invalid("Missing required field: qualifier value"))
}

fn refuse_tags(column: &QualifierValue) -> Result<()> {
    match column.tags.as_deref() {
        None | Some([]) => Ok(()),
        Some(_) => Err(Error::unsupported("cell tags in a mutation are not supported")),
    }
}

/// Writes a mutation; with [`CellsIn::Block`], its [`cells`] go into the cell block.
pub fn to_proto(
    mutation: &Mutation,
    nonce: Option<Nonce>,
    cells_in: CellsIn,
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
            if !increment.return_results {
                message.attribute.push(attributes::no_results());
            }
        }
    }
    let cells = cells(mutation);
    match cells_in {
        CellsIn::Block if cells.is_empty() => {}
        CellsIn::Block => message.associated_cell_count = Some(cells.len() as i32),
        CellsIn::Message => message.column_value = column_values(&cells),
    }
    message
}

/// The cells of a mutation as they travel: those of a put or a delete, and an increment's amounts.
pub fn cells(mutation: &Mutation) -> Vec<Cell> {
    match mutation {
        Mutation::Put(put) => put.cells().to_vec(),
        Mutation::Delete(delete) => delete.cells().to_vec(),
        Mutation::Increment(increment) => increment
            .amounts()
            .iter()
            .filter_map(|(family, qualifier, amount)| {
                let at = Timestamp::LATEST;
                let value = amount.to_be_bytes();
                Cell::new(increment.row(), family, qualifier, at, CellKind::Put, value).ok()
            })
            .collect(),
    }
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
            tags: None,
        });
    }
    families
        .into_iter()
        .map(|(family, qualifier_value)| ColumnValue { family, qualifier_value })
        .collect()
}

#[cfg(test)]
mod tests;
