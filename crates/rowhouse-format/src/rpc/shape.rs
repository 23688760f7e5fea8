//! Counts a request's parts before it is decoded.
//!
//! A part can take two bytes on the wire and several hundred in memory, so a frame within the limit
//! could require more memory than there is. Long messages are therefore scanned once before
//! decoding.

use prost::encoding::{WireType, decode_key, decode_varint};
use rowhouse_model::{Error, Result};

use super::Method;

/// Messages up to this length in bytes cannot hold enough parts to matter.
const UNCOUNTED_LEN_MAX: usize = 64 * 1024;
/// How many parts a request has at most: actions, mutations, columns, cells and attributes in the
/// message, and the parts in filters and endpoint calls. Cells in the cell block do not count.
const PARTS_MAX: usize = 1 << 20;
/// How long a message is at most, in bytes, in a call that moves no rows.
const OTHER_LEN_MAX: usize = 16 * 1024 * 1024;

/// Maximum nesting depth that is scanned for parts. Each nested filter takes two levels. The
/// decoder rejects deeper messages.
const DEPTH_MAX: usize = 256;

/// A message's repeated fields, and the fields that contain such: number and content.
struct Shape(&'static [(u32, &'static Shape)]);

static LEAF: Shape = Shape(&[]);
static COLUMN: Shape = Shape(&[(2, &LEAF)]);
static GET: Shape = Shape(&[(2, &COLUMN), (3, &LEAF), (4, &FILTER), (13, &LEAF)]);
static COLUMN_VALUE: Shape = Shape(&[(2, &LEAF)]);
static MUTATION: Shape = Shape(&[(3, &COLUMN_VALUE), (5, &LEAF)]);
static ACTION: Shape = Shape(&[(2, &MUTATION), (3, &GET), (4, &SERVICE_CALL)]);
static REGION_ACTION: Shape = Shape(&[(3, &ACTION), (4, &CONDITION)]);
static SCAN: Shape = Shape(&[(1, &COLUMN), (2, &LEAF), (5, &FILTER), (19, &LEAF)]);
static CONDITION: Shape = Shape(&[(7, &FILTER)]);

/// A filter: the class, and a serialized message.
static FILTER: Shape = Shape(&[(2, &FILTER_MESSAGE)]);
/// A filter's message, whose fields depend on the class. In all classes with long messages (lists,
/// ranges, fuzzy keys, prefixes, qualifiers) these numbers are the parts. Bytes with another
/// meaning can be counted as parts too, but at most one per two bytes.
static FILTER_MESSAGE: Shape = Shape(&[(1, &FILTER), (2, &FILTER)]);

/// A call to an endpoint; the last field is a serialized message.
static SERVICE_CALL: Shape = Shape(&[(4, &SERVICE_MESSAGE)]);
/// Mutations and conditions for one endpoint, another endpoint's scan, and a search's columns.
static SERVICE_MESSAGE: Shape = Shape(&[(1, &MUTATION), (2, &SCAN), (5, &CONDITION), (7, &GET)]);

static GET_REQUEST: Shape = Shape(&[(2, &GET)]);
static MUTATE_REQUEST: Shape = Shape(&[(2, &MUTATION), (3, &CONDITION)]);
static SCAN_REQUEST: Shape = Shape(&[(2, &SCAN)]);
static MULTI_REQUEST: Shape = Shape(&[(1, &REGION_ACTION), (3, &CONDITION)]);
static SERVICE_REQUEST: Shape = Shape(&[(2, &SERVICE_CALL)]);

/// A log entry's key: scopes, clusters, attributes.
static LOG_KEY: Shape = Shape(&[(6, &LEAF), (8, &LEAF), (12, &LEAF)]);
static LOG_ENTRY: Shape = Shape(&[(1, &LOG_KEY), (2, &LEAF)]);
static REPLICATE_REQUEST: Shape = Shape(&[(1, &LOG_ENTRY)]);

/// Rejects a message whose decoded form would take far more memory than its bytes.
///
/// # Errors
/// `InvalidRequest` with the limit. Malformed messages are left to the decoder.
pub(super) fn check(method: Method, message: &[u8]) -> Result<()> {
    if message.len() <= UNCOUNTED_LEN_MAX {
        return Ok(());
    }
    let shape = match method {
        Method::Get => &GET_REQUEST,
        Method::Mutate => &MUTATE_REQUEST,
        Method::Scan => &SCAN_REQUEST,
        Method::Multi => &MULTI_REQUEST,
        Method::ExecService => &SERVICE_REQUEST,
        Method::ReplicateWALEntry => &REPLICATE_REQUEST,
        _ if message.len() > OTHER_LEN_MAX => {
            return Err(Error::invalid(format!(
                "request too long: method={}, len={}, max={OTHER_LEN_MAX}",
                method.name(),
                message.len()
            )));
        }
        _ => return Ok(()),
    };
    let mut parts = 0;
    count(shape, message, DEPTH_MAX, &mut parts);
    if parts > PARTS_MAX {
        return Err(Error::invalid(format!(
            "request has too many parts: method={}, max={PARTS_MAX}",
            method.name()
        )));
    }
    Ok(())
}

/// Adds to `parts` how many parts `message` has; stops at the first malformed byte and at the
/// limits.
fn count(shape: &Shape, mut message: &[u8], depth: usize, parts: &mut usize) {
    while *parts <= PARTS_MAX && depth > 0 {
        let Ok((field, wire_type)) = decode_key(&mut message) else { return };
        let len = match wire_type {
            WireType::Varint => match decode_varint(&mut message) {
                Ok(_) => 0,
                Err(_) => return,
            },
            WireType::LengthDelimited => match decode_varint(&mut message) {
                Ok(len) => len,
                Err(_) => return,
            },
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            // No message here contains groups.
            WireType::StartGroup | WireType::EndGroup => return,
        };
        let Some((inside, rest)) =
            usize::try_from(len).ok().and_then(|len| message.split_at_checked(len))
        else {
            return;
        };
        message = rest;
        if wire_type != WireType::LengthDelimited {
            continue;
        }
        if let Some((_, shape)) = shape.0.iter().find(|(number, _)| *number == field) {
            *parts += 1;
            count(shape, inside, depth - 1, parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::*;
    use crate::proto;

    fn multi(actions: usize) -> Vec<u8> {
        let action = vec![proto::Action::default(); actions];
        let region = proto::RegionAction { action, ..Default::default() };
        proto::MultiRequest { region_action: vec![region], ..Default::default() }.encode_to_vec()
    }

    #[test]
    fn empty_actions_are_counted() {
        check(Method::Multi, &multi(PARTS_MAX - 1)).unwrap();
        let error = check(Method::Multi, &multi(PARTS_MAX)).unwrap_err();
        assert_eq!(error.message(), "request has too many parts: method=Multi, max=1048576");
    }

    #[test]
    fn every_part_counts_and_values_do_not() {
        use proto::mutation_proto::{ColumnValue, column_value::QualifierValue};
        let cell = QualifierValue { value: Some(vec![0x1A; 1000].into()), ..Default::default() };
        let column = ColumnValue { family: "cf".into(), qualifier_value: vec![cell; 3] };
        let mutation = proto::MutationProto { column_value: vec![column; 2], ..Default::default() };
        let request = proto::MutateRequest { mutation, ..Default::default() };
        let mut parts = 0;
        count(&MUTATE_REQUEST, &request.encode_to_vec(), DEPTH_MAX, &mut parts);
        // One mutation, two families, three cells in each.
        assert_eq!(parts, 1 + 2 + 6);
    }

    fn filter(class: &str, message: &impl Message) -> proto::Filter {
        proto::Filter {
            name: format!("org.apache.hadoop.hbase.filter.{class}"),
            serialized_filter: Some(message.encode_to_vec().into()),
        }
    }

    fn list(filters: Vec<proto::Filter>) -> proto::Filter {
        let operator = Some(proto::filter_list::Operator::MustPassAll.into());
        filter("FilterList", &proto::FilterList { operator, filters })
    }

    fn scan(filter: proto::Filter) -> proto::Scan {
        proto::Scan { filter: Some(filter), ..Default::default() }
    }

    #[test]
    fn the_parts_of_filters_are_counted_however_deep() {
        let ranges = |count| {
            let row_range_list = vec![proto::RowRange::default(); count];
            filter("MultiRowRangeFilter", &proto::MultiRowRangeFilter { row_range_list })
        };
        let request = |filter| {
            proto::ScanRequest { scan: Some(scan(filter)), ..Default::default() }.encode_to_vec()
        };
        check(Method::Scan, &request(ranges(PARTS_MAX - 2000))).unwrap();
        let refused = |filter| check(Method::Scan, &request(filter)).unwrap_err();
        assert!(refused(ranges(PARTS_MAX)).message().contains("too many parts"));
        let half = || ranges(PARTS_MAX / 2);
        refused(list(vec![half(), list(vec![half()])]));
        let skip = proto::WrappingFilter { filter: Some(list(vec![half(), half()])) };
        refused(filter("SkipFilter", &skip));
        refused(list(vec![proto::Filter::default(); PARTS_MAX]));
        let prefixes = vec![Default::default(); PARTS_MAX];
        let prefixes = proto::BytesSetFilter { values: prefixes };
        refused(filter("MultipleColumnPrefixFilter", &prefixes));
        let fuzzy_keys_data = vec![proto::BytesBytesPair::default(); PARTS_MAX];
        refused(filter(
            "FuzzyRowFilter",
            &proto::FuzzyRowFilter { fuzzy_keys_data, ..Default::default() },
        ));
        let condition = proto::Condition { filter: Some(ranges(PARTS_MAX)), ..Default::default() };
        let request = proto::MutateRequest { condition: Some(condition), ..Default::default() };
        check(Method::Mutate, &request.encode_to_vec()).unwrap_err();
    }

    #[test]
    fn the_parts_of_calls_of_endpoints_are_counted() {
        let call = |request: Vec<u8>| proto::CoprocessorServiceCall {
            request: request.into(),
            ..Default::default()
        };
        let rows = |count| {
            let mutation_request = vec![proto::MutationProto::default(); count];
            call(
                proto::MutateRowsRequest { mutation_request, ..Default::default() }.encode_to_vec(),
            )
        };
        let exec =
            |call| proto::CoprocessorServiceRequest { call, ..Default::default() }.encode_to_vec();
        check(Method::ExecService, &exec(rows(PARTS_MAX - 2))).unwrap();
        check(Method::ExecService, &exec(rows(PARTS_MAX))).unwrap_err();
        let action = proto::Action { service_call: Some(rows(PARTS_MAX)), ..Default::default() };
        let region = proto::RegionAction { action: vec![action], ..Default::default() };
        let multi = proto::MultiRequest { region_action: vec![region], ..Default::default() };
        check(Method::Multi, &multi.encode_to_vec()).unwrap_err();
        let scan = scan(list(vec![proto::Filter::default(); PARTS_MAX]));
        let sum = proto::AggregateRequest { scan, ..Default::default() };
        check(Method::ExecService, &exec(call(sum.encode_to_vec()))).unwrap_err();
    }

    #[test]
    fn endless_nesting_is_walked_to_a_limit() {
        let mut deep = Vec::new();
        for _ in 0..10_000 {
            let mut around = vec![0x12];
            prost::encoding::encode_varint(deep.len() as u64, &mut around);
            around.append(&mut deep);
            deep = around;
        }
        let mut parts = 0;
        count(&FILTER, &deep, DEPTH_MAX, &mut parts);
        assert_eq!(parts, DEPTH_MAX);
    }

    #[test]
    fn calls_that_move_no_rows_are_short() {
        let long = vec![0; OTHER_LEN_MAX + 1];
        assert!(check(Method::CreateTable, &long).is_err());
        check(Method::CreateTable, &long[1..]).unwrap();
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>) {
            count(&MULTI_REQUEST, &bytes, DEPTH_MAX, &mut 0);
            count(&SCAN_REQUEST, &bytes, DEPTH_MAX, &mut 0);
            count(&FILTER, &bytes, DEPTH_MAX, &mut 0);
        }
    }
}
