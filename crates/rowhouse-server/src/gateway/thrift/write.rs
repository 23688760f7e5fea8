//! Mutations.

use bytes::Bytes;
use rowhouse_format::convert::attributes::Attributes;
use rowhouse_format::thrift::{Answer, Args, TIncrement};
use rowhouse_model::{
    Append, CompareOperator, Condition, Delete, Durability, Error, Increment, Mutation, Put,
    TableName, Timestamp,
};

use super::call::{
    ArgsMemory, Outcome, Returned, attributes, checked_row, required, split_column, table_name,
    timestamp,
};
use super::failure::{Thrown, io, of_batch, of_row};
use super::read::cells_of;
use crate::gateway::{Mutated, RowAction, Session};
use crate::limits::SHORT_CALL_BYTES;
use crate::memory::CALL_BYTES;

/// The puts and the deletes among a row's mutations: HBase makes one of each.
struct RowChanges {
    put: Put,
    delete: Delete,
}

/// Collects the mutations of a row. A put of a whole family is an exception if `is_strict`,
/// otherwise it is passed over, as in HBase.
fn row_changes(
    row: Bytes,
    mutations: Vec<rowhouse_format::thrift::Mutation>,
    at: Timestamp,
    attributes: &Attributes,
    is_strict: bool,
) -> Outcome<RowChanges> {
    let illegal = |error: Error| Thrown::illegal(&error);
    let mut put = Put::new(row.clone()).map_err(illegal)?;
    put.ttl_millis = attributes.ttl_millis;
    let mut delete = Delete::new(row).map_err(illegal)?;
    for mutation in mutations {
        let (family, qualifier) = split_column(&required(mutation.column, "column")?);
        let durability =
            if mutation.write_to_wal { Durability::SyncWal } else { Durability::SkipWal };
        if mutation.is_delete {
            delete = match qualifier {
                Some(qualifier) => delete.column(family, qualifier, at),
                None => delete.family(family, at),
            }
            .map_err(illegal)?;
            delete.durability = durability;
            continue;
        }
        match qualifier {
            Some(_) if family.is_empty() => {
                return Err(Thrown::IllegalArgument("Family cannot be null".into()));
            }
            Some(qualifier) => {
                let value = mutation.value.unwrap_or_default();
                put = put.add_at(family, qualifier, at, value).map_err(illegal)?;
            }
            None if is_strict => {
                return Err(Thrown::IllegalArgument("Invalid famAndQf provided.".into()));
            }
            None => tracing::debug!("a put of a whole family was passed over"),
        }
        put.durability = durability;
    }
    Ok(RowChanges { put, delete })
}

/// Returns how many bytes the cells of a row take, each with the row's key.
fn written_out(row: Option<&Bytes>, mutations: &[rowhouse_format::thrift::Mutation]) -> u64 {
    let key = row.map_or(0, Bytes::len);
    let cells = mutations.iter().map(|mutation| {
        let parts = [&mutation.column, &mutation.value];
        let parts: usize = parts.into_iter().flatten().map(Bytes::len).sum();
        (key + parts + 64) as u64
    });
    cells.sum()
}

/// As [`Session::reserve_written_out`].
async fn reserve(session: &Session, bytes: u64, memory: ArgsMemory) -> Outcome<ArgsMemory> {
    let reserved = session.reserve_written_out(bytes, memory).await;
    reserved.map_err(|error| Thrown::illegal(&error))
}

/// Mutates a row: first the deletes, then the puts.
pub(super) async fn mutate_row(
    session: &Session,
    args: Args,
    memory: ArgsMemory,
) -> Outcome<Returned> {
    let table = table_name(args.table)?;
    let at = timestamp(args.timestamp)?;
    let attributes = attributes(args.attributes, false)?;
    let row = checked_row(args.row)?;
    let mutations = required(args.mutations, "mutations")?;
    let mut memory = reserve(session, written_out(Some(&row), &mutations), memory).await?;
    let RowChanges { put, delete } = row_changes(row, mutations, at, &attributes, false)?;
    if !delete.cells().is_empty() {
        mutate(session, &table, delete.into(), None, memory.take()).await?;
    }
    if !put.cells().is_empty() {
        mutate(session, &table, put.into(), None, memory.take()).await?;
    }
    Ok(Answer::Void.into())
}

/// Mutates rows: first all puts, then all deletes.
pub(super) async fn mutate_rows(
    session: &Session,
    args: Args,
    memory: ArgsMemory,
) -> Outcome<Returned> {
    let at = timestamp(args.timestamp)?;
    let attributes = attributes(args.attributes, false)?;
    let mut puts = Vec::new();
    let mut deletes = Vec::new();
    let batches = required(args.batches, "rowBatches")?;
    let bytes = batches.iter().map(|batch| {
        let mutations = batch.mutations.as_deref().unwrap_or_default();
        written_out(batch.row.as_ref(), mutations)
    });
    let mut memory = reserve(session, bytes.sum(), memory).await?;
    for batch in batches {
        let row = checked_row(batch.row)?;
        let mutations = required(batch.mutations, "mutations")?;
        let changes = row_changes(row, mutations, at, &attributes, true)?;
        if !changes.delete.cells().is_empty() {
            deletes.push(RowAction::Mutate(changes.delete.into()));
        }
        if !changes.put.cells().is_empty() {
            puts.push(RowAction::Mutate(changes.put.into()));
        }
    }
    let table = table_name(args.table)?;
    for actions in [puts, deletes] {
        if actions.is_empty() {
            continue;
        }
        let batch = session.batch(&table, &actions, memory.take()).await;
        let failed: Vec<_> = batch.answers.into_iter().filter_map(Result::err).collect();
        if let Some(failure) = of_batch(&failed) {
            return Err(failure.into());
        }
    }
    Ok(Answer::Void.into())
}

/// Deletes a column or family up to a time.
pub(super) async fn delete_all(session: &Session, args: Args) -> Outcome<Returned> {
    let table = table_name(args.table)?;
    let delete = Delete::new(checked_row(args.row)?).map_err(|error| Thrown::illegal(&error))?;
    let at = timestamp(args.timestamp)?;
    attributes(args.attributes, false)?;
    let delete = match split_column(&required(args.column, "column")?) {
        (family, Some(qualifier)) => delete.column(family, qualifier, at),
        (family, None) => delete.family(family, at),
    };
    let delete = delete.map_err(|error| Thrown::illegal(&error))?;
    mutate(session, &table, delete.into(), None, None).await?;
    Ok(Answer::Void.into())
}

/// Deletes a row up to a time.
pub(super) async fn delete_row(session: &Session, args: Args) -> Outcome<Returned> {
    let table = table_name(args.table)?;
    let mut delete =
        Delete::new(checked_row(args.row)?).map_err(|error| Thrown::illegal(&error))?;
    delete.timestamp = timestamp(args.timestamp)?;
    attributes(args.attributes, false)?;
    mutate(session, &table, delete.into(), None, None).await?;
    Ok(Answer::Void.into())
}

/// Increments a column and returns the new value. A family is the column without a name in it.
pub(super) async fn atomic_increment(session: &Session, args: Args) -> Outcome<Returned> {
    let (family, qualifier) = split_column(&required(args.column, "column")?);
    let table = table_name(args.table)?;
    // HBase's server finds the empty row.
    let row = checked_row(args.row).map_err(|thrown| match thrown {
        Thrown::IllegalArgument(message) => io(&message).into(),
        thrown => thrown,
    })?;
    let amount = args.amount.unwrap_or_default();
    let increment = Increment::new(row)
        .and_then(|increment| increment.add(family, qualifier.unwrap_or_default(), amount))
        .map_err(|error| Thrown::illegal(&error))?;
    let mutated = mutate(session, &table, increment.into(), None, None).await?;
    let counter = mutated.row.cells().next().and_then(|cell| cell.value().try_into().ok());
    let counter = counter.map(i64::from_be_bytes);
    let counter = counter.ok_or_else(|| Thrown::Unexpected("the counter has no value".into()))?;
    Ok(Returned { answer: Answer::I64(counter), memory: Vec::from_iter(mutated.memory) })
}

/// Increments a column.
pub(super) async fn increment(
    session: &Session,
    increment: Option<TIncrement>,
) -> Outcome<Returned> {
    let increment = required(increment, "increment")?;
    let row = required(increment.row, "row")?;
    let table = required(increment.table, "table")?;
    if row.is_empty() || table.is_empty() {
        let message = "Must supply a table and a row key; can't increment";
        return Err(Thrown::Unexpected(message.into()));
    }
    let table = table_name(Some(table))?;
    let (family, qualifier) = split_column(&required(increment.column, "column")?);
    let qualifier = required(qualifier, "column, the part after the colon,")?;
    let mut change = Increment::new(checked_row(Some(row))?)
        .and_then(|change| change.add(family, qualifier, increment.amount))
        .map_err(|error| Thrown::illegal(&error))?;
    change.return_results = false;
    mutate(session, &table, change.into(), None, None).await?;
    Ok(Answer::Void.into())
}

/// Increments columns one after the other: those before a failed one are incremented.
pub(super) async fn increment_rows(session: &Session, args: Args) -> Outcome<Returned> {
    for each in required(args.increments, "increments")? {
        increment(session, Some(each)).await?;
    }
    Ok(Answer::Void.into())
}

/// Appends to columns of a row and returns the new values.
pub(super) async fn append(session: &Session, args: Args, memory: ArgsMemory) -> Outcome<Returned> {
    let append = required(args.append, "append")?;
    let row = required(append.row, "row")?;
    let table = required(append.table, "table")?;
    if row.is_empty() || table.is_empty() {
        return Err(Thrown::Unexpected("Must supply a table and a row key; can't append".into()));
    }
    let table = table_name(Some(table))?;
    let columns = required(append.columns, "columns")?;
    let values = required(append.values, "values")?;
    if columns.len() != values.len() {
        let message = "Sizes of columns and values in tappend object are not matching";
        return Err(Thrown::IllegalArgument(message.into()));
    }
    if columns.is_empty() {
        return Err(Thrown::IllegalArgument("No columns specified".into()));
    }
    let parts = columns.iter().zip(&values);
    let bytes = parts.map(|(column, value)| (row.len() + column.len() + value.len() + 64) as u64);
    let memory = reserve(session, bytes.sum(), memory).await?;
    let mut change =
        Append::new(checked_row(Some(row))?).map_err(|error| Thrown::illegal(&error))?;
    for (column, value) in columns.iter().zip(values) {
        let (family, qualifier) = split_column(column);
        let qualifier = required(qualifier, "column, the part after the colon,")?;
        change = change.add(family, qualifier, value).map_err(|error| Thrown::illegal(&error))?;
    }
    let mutated = mutate(session, &table, change.into(), None, memory).await?;
    let answer = Answer::Cells(cells_of(&mutated.row));
    Ok(Returned { answer, memory: Vec::from_iter(mutated.memory) })
}

/// Puts a column if another one has a value, or has none.
pub(super) async fn check_and_put(
    session: &Session,
    args: Args,
    memory: ArgsMemory,
) -> Outcome<Returned> {
    let row = checked_row(args.row)?;
    let attributes = attributes(args.attributes, false)?;
    let mutation = required(args.mutation, "mput")?;
    let (family, qualifier) = split_column(&required(mutation.column, "column")?);
    let qualifier = required(qualifier, "column, the part after the colon,")?;
    if family.is_empty() {
        return Err(Thrown::IllegalArgument("Family cannot be null".into()));
    }
    let mut put = Put::new(row)
        .and_then(|put| put.add(family, qualifier, mutation.value.unwrap_or_default()))
        .map_err(|error| Thrown::illegal(&error))?;
    put.ttl_millis = attributes.ttl_millis;
    put.durability = if mutation.write_to_wal { Durability::SyncWal } else { Durability::SkipWal };
    let table = table_name(args.table)?;
    let (family, qualifier) = split_column(&required(args.column, "column")?);
    let qualifier = required(qualifier, "column, the part after the colon,")?;
    let condition = match args.value {
        Some(value) => Condition::value(family, qualifier, CompareOperator::Equal, value),
        None => Condition::no_value(family, qualifier),
    };
    let mutated = mutate(session, &table, put.into(), Some(&condition), memory).await?;
    Ok(Answer::Bool(mutated.done).into())
}

/// Makes a mutation. Memory is reserved if that of the arguments is used up already.
async fn mutate(
    session: &Session,
    table: &TableName,
    mutation: Mutation,
    condition: Option<&Condition>,
    mut memory: ArgsMemory,
) -> Outcome<Mutated> {
    let bytes: usize = mutation.cells().iter().map(|cell| cell.as_bytes().len()).sum();
    if bytes > SHORT_CALL_BYTES && memory.is_none() {
        memory = Some(session.reserve(2 * bytes as u64 + CALL_BYTES).await);
    }
    let mutated = session.mutate(table, &mutation, condition, memory).await;
    mutated.map_err(|exception| of_row(exception).into())
}
