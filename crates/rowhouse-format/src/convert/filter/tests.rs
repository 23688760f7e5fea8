use proptest::prelude::*;
use rowhouse_filter::FilterRun;
use rowhouse_model::{ErrorKind, FILTER_DEPTH_MAX, Filter, FuzzyKey};

use super::*;
use crate::proto;

fn message(class: &str, bytes: &[u8]) -> proto::Filter {
    proto::Filter {
        name: format!("{PACKAGE}{class}"),
        serialized_filter: Some(Bytes::copy_from_slice(bytes)),
    }
}

#[test]
fn another_class_is_refused_by_its_name() {
    for name in ["com.example.MyFilter", "org.apache.hadoop.hbase.filter.FilterAllFilter"] {
        let message = proto::Filter { name: name.into(), serialized_filter: None };
        let error = from_proto(message).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains(name), "{error}");
    }
}

#[test]
fn fields_required_by_hbase_are_required() {
    for (class, bytes, field) in [
        ("RowFilter", &b""[..], "compare_filter"),
        ("PageFilter", b"", "page_size"),
        ("PrefixFilter", b"", "prefix"),
        ("SkipFilter", b"", "filter"),
        ("FilterList", b"", "operator"),
        ("FilterList", b"\x08\x09", "operator"),
        ("ColumnPaginationFilter", b"", "limit"),
        ("ColumnPaginationFilter", b"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "limit=-1"),
        ("MultipleColumnPrefixFilter", b"\x0A\x01a\x0A\x01a", "prefix=a"),
    ] {
        let error = from_proto(message(class, bytes)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.message().contains(field), "{error}");
    }
}

#[test]
fn wrappers_of_the_server_are_removed() {
    let inner = to_proto(&Filter::FirstKeyOnly);
    let bytes = proto::WrappingFilter { filter: Some(inner) }.encode_to_vec();
    assert_eq!(from_proto(message("FilterWrapper", &bytes)).unwrap(), Filter::FirstKeyOnly);
}

#[test]
fn filters_too_deep_in_each_other_are_refused() {
    let nested = |depth: usize| {
        let filter =
            (1..depth).fold(Filter::FirstKeyOnly, |inner, _| Filter::Skip(Box::new(inner)));
        from_proto(to_proto(&filter))
    };
    assert!(nested(FILTER_DEPTH_MAX).is_ok());
    assert_eq!(nested(FILTER_DEPTH_MAX + 1).unwrap_err().kind(), ErrorKind::InvalidRequest);
}

#[test]
fn masks_of_every_client_are_read() {
    let read = |mask: &'static [u8], is_mask_v2| {
        let pair = proto::BytesBytesPair { first: "abc".into(), second: mask.into() };
        let keys = proto::FuzzyRowFilter { fuzzy_keys_data: vec![pair], is_mask_v2 };
        match fuzzy::from_proto(keys) {
            Ok(Filter::FuzzyRow(keys)) => Some(keys[0].mask.to_vec()),
            _ => None,
        }
    };
    assert_eq!(read(b"\xFF\x02\xFF", Some(true)), Some(vec![0, 1, 0]));
    assert_eq!(read(b"\xFF\0\xFF", None), Some(vec![0, 1, 0]));
    assert_eq!(read(&[0, 1, 0], Some(true)), Some(vec![0, 1, 0]));
    assert_eq!(read(&[0, 1, 0], None), Some(vec![0, 1, 0]));
    assert_eq!(read(&[0, 0, 0], Some(true)), Some(vec![0, 0, 0]));
    // Without mask version 2, HBase treats this as a preprocessed mask.
    assert_eq!(read(&[0, 0, 0], None), Some(vec![1, 1, 1]));
    assert_eq!(read(&[0, 7, 0], None), None);
}

#[test]
fn bytes_that_may_be_anything_travel_as_zero() {
    let filter = Filter::FuzzyRow(vec![FuzzyKey { key: "abc".into(), mask: vec![0, 1, 0].into() }]);
    let expected = b"\x0A\x0A\x0A\x03a\0c\x12\x03\xFF\x02\xFF\x10\x01";
    assert_eq!(&to_proto(&filter).serialized_filter.unwrap()[..], expected);
}

proptest! {
    #[test]
    fn damaged_bytes_are_refused_or_read_and_never_panic(
        class in prop::sample::select(vec![
            "RowFilter", "DependentColumnFilter", "SingleColumnValueFilter", "ColumnValueFilter",
            "SingleColumnValueExcludeFilter", "PrefixFilter", "ColumnRangeFilter", "FilterList",
            "ColumnPaginationFilter", "MultiRowRangeFilter", "FuzzyRowFilter", "SkipFilter",
            "TimestampsFilter", "RandomRowFilter", "MultipleColumnPrefixFilter", "PageFilter",
        ]),
        bytes: Vec<u8>,
    ) {
        if let Ok(filter) = from_proto(message(class, &bytes)) {
            let _ = FilterRun::new(&filter, false);
            let _ = to_proto(&filter);
        }
    }
}
