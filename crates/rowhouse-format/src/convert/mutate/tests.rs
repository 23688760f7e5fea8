use proptest::prelude::*;
use rowhouse_model::{Durability, ErrorKind, TimeRange};

use super::*;
use crate::rpc::{CellBlock, CellCodec};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn mutations() -> Vec<Mutation> {
    let mut put = Put::new("row").unwrap().add("a", "q", "v").unwrap();
    put = put.add_at("b", "", at(7), "").unwrap();
    put.durability = Durability::FsyncWal;
    let mut delete = Delete::new("row").unwrap();
    delete.timestamp = at(9);
    let markers = delete.clone().version("a", "q", Timestamp::LATEST).unwrap();
    let markers = markers.column("a", "r", at(1)).unwrap().family("b", at(2)).unwrap();
    let markers = markers.family_version("c", at(3)).unwrap();
    let mut increment = Increment::new("row").unwrap().add("a", "q", -5).unwrap();
    increment.return_results = false;
    increment.ttl_millis = Some(-1);
    let mut living = Put::new("row").unwrap().add("a", "q", "v").unwrap();
    living.ttl_millis = Some(5000);
    let mut append = Append::new("row").unwrap().add("a", "q", "v").unwrap();
    append = append.add("a", "r", "").unwrap();
    append.time_range = TimeRange::new(at(3), at(9)).unwrap();
    append.durability = Durability::SkipWal;
    let note = Cell::new("row", "a", "q", at(7), CellKind::Put, "v").unwrap();
    let note = Cell::from_parts(note.key(), b"v", b"\0\x02\x40n").unwrap();
    let tagged = Put::new("row").unwrap().add_cell(note).unwrap();
    let marker = |cell: &Cell| Put::new("row").unwrap().add_cell(cell.clone()).unwrap().into();
    let marking: Vec<Mutation> = markers.cells().iter().map(marker).collect();
    let mutations = [put.into(), delete.into(), markers.into(), increment.into(), living.into()];
    mutations.into_iter().chain([append.into(), tagged.into()]).chain(marking).collect()
}

fn block(cells: &[Cell]) -> CellReader {
    let mut block = CellBlock::new(CellCodec::KeyValueWithTags);
    cells.iter().for_each(|cell| block.push(cell));
    CellReader::new(CellCodec::KeyValueWithTags, Bytes::copy_from_slice(block.as_bytes()))
}

fn refused(change: impl FnOnce(&mut proto::MutationProto)) -> Error {
    let mut message = to_proto(&mutations()[0], None, CellPlacement::Message);
    change(&mut message);
    from_proto(message, &mut block(&[])).unwrap_err()
}

#[test]
fn mutations_come_back_from_block_and_message() {
    for mutation in mutations() {
        let message = to_proto(&mutation, None, CellPlacement::Message);
        assert_eq!(from_proto(message, &mut block(&[])).unwrap(), mutation);
        let message = to_proto(&mutation, None, CellPlacement::Block);
        let mut block = block(mutation.cells());
        assert_eq!(from_proto(message, &mut block).unwrap(), mutation);
        assert!(block.is_empty());
    }
}

#[test]
fn nonces_come_back() {
    let nonce = Some(Nonce { group: 3, number: 4 });
    let mutation = mutations().remove(3);
    let call = MutateCall { region: RegionRef::encoded("x"), mutation, nonce, condition: None };
    let message = call.to_proto(CellPlacement::Message).unwrap();
    assert_eq!(MutateCall::from_proto(message, &mut block(&[])).unwrap(), call);
}

#[test]
fn a_row_may_stand_in_the_cells_alone() {
    let mutation = mutations().remove(0);
    let mut message = to_proto(&mutation, None, CellPlacement::Block);
    message.row = None;
    assert_eq!(from_proto(message, &mut block(mutation.cells())).unwrap(), mutation);
}

#[test]
fn a_put_without_timestamps_takes_that_of_its_mutation() {
    let mut message = to_proto(&mutations()[0], None, CellPlacement::Message);
    message.timestamp = Some(5);
    message.column_value[0].qualifier_value[0].timestamp = None;
    let Mutation::Put(put) = from_proto(message, &mut block(&[])).unwrap() else { panic!() };
    assert_eq!(put.cells()[0].timestamp(), at(5));
}

#[test]
fn mutations_outside_the_model_are_refused_by_name() {
    let error = refused(|m| m.column_value[0].qualifier_value[0].tags = Some("x".into()));
    assert_eq!(error.message(), "malformed cell tags: at=0, len=1");
    let acl = proto::NameBytesPair { name: "acl".into(), value: Some("x".into()) };
    let error = refused(|m| m.attribute.push(acl));
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("acl"));
    assert_eq!(refused(|m| m.row = None).message(), "row cannot be null");
}

#[test]
fn an_amount_that_is_none_is_refused_in_hbases_words() {
    let mut message = to_proto(&mutations()[3], None, CellPlacement::Message);
    message.column_value[0].qualifier_value[0].value = Some("12345".into());
    let error = from_proto(message, &mut block(&[])).unwrap_err();
    assert_eq!(error.message(), "Field is not a long, it's 5 bytes wide");
}

#[test]
fn cells_that_are_missing_or_of_another_row_are_errors() {
    let mutation = &mutations()[0];
    let message = || to_proto(mutation, None, CellPlacement::Block);
    let missing = from_proto(message(), &mut block(&mutation.cells()[..1])).unwrap_err();
    assert_eq!(missing.message(), "Cell count of 2 but at index 1 no cell returned");
    let other = Cell::new("other", "a", "q", at(1), CellKind::Put, "").unwrap();
    let foreign = [mutation.cells()[0].clone(), other];
    assert!(from_proto(message(), &mut block(&foreign)).is_err());
    let mut message = message();
    message.associated_cell_count = Some(i32::MAX);
    assert!(from_proto(message, &mut block(mutation.cells())).is_err());
}

proptest! {
    #[test]
    fn puts_come_back(
        row in prop::collection::vec(any::<u8>(), 1..20),
        columns: Vec<(Vec<u8>, Vec<u8>, u32)>,
    ) {
        let mut put = Put::new(row).unwrap();
        for (qualifier, value, millis) in columns {
            put = put.add_at("cf", qualifier, at(millis.into()), value).unwrap();
        }
        let mutation = Mutation::from(put);
        let message = to_proto(&mutation, None, CellPlacement::Message);
        prop_assert_eq!(&from_proto(message, &mut block(&[])).unwrap(), &mutation);
        let message = to_proto(&mutation, None, CellPlacement::Block);
        prop_assert_eq!(from_proto(message, &mut block(mutation.cells())).unwrap(), mutation);
    }
}

#[test]
fn a_condition_on_another_row_is_refused_in_hbases_words() {
    let call = MutateCall {
        region: RegionRef::encoded("x"),
        mutation: mutations().remove(0),
        nonce: None,
        condition: Some(Condition::no_value("a", "q")),
    };
    let mut message = call.to_proto(CellPlacement::Message).unwrap();
    assert_eq!(MutateCall::from_proto(message.clone(), &mut block(&[])).unwrap(), call);
    message.condition.as_mut().unwrap().row = "other".into();
    assert_eq!(
        MutateCall::from_proto(message, &mut block(&[])).unwrap_err().message(),
        "The row of the action <row> doesn't match the original one <other>"
    );
}
