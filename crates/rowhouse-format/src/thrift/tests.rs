use bytes::{BufMut, Bytes, BytesMut};
use proptest::prelude::*;
use rowhouse_model::{Cell, CellKind, Row, Timestamp};

use super::*;

const PROTOCOLS: [Protocol; 2] = [Protocol::Binary, Protocol::Compact];

fn encoded(protocol: Protocol, method: Method, args: &Args) -> BytesMut {
    let mut bytes = BytesMut::new();
    let mut writer = Writer::new(&mut bytes, protocol);
    let name = method.name().to_owned();
    writer.head(&MessageHead { name, kind: MessageKind::Call, sequence: -7 });
    args.write(method, &mut writer);
    bytes
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes::from)
}

fn mutation() -> impl Strategy<Value = Mutation> {
    (any::<bool>(), prop::option::of(bytes()), prop::option::of(bytes()), any::<bool>()).prop_map(
        |(is_delete, column, value, write_to_wal)| Mutation {
            is_delete,
            column,
            value,
            write_to_wal,
        },
    )
}

fn scan() -> impl Strategy<Value = TScan> {
    let optional = || prop::option::of(bytes());
    let flag = || prop::option::of(any::<bool>());
    (
        (optional(), optional(), prop::option::of(any::<i64>()), optional()),
        (prop::option::of(prop::collection::vec(bytes(), 0..20)), prop::option::of(any::<i32>())),
        (flag(), flag(), flag()),
    )
        .prop_map(
            |((start_row, stop_row, timestamp, filter_string), (columns, caching), flags)| {
                let (sort_columns, reversed, cache_blocks) = flags;
                TScan {
                    start_row,
                    stop_row,
                    timestamp,
                    columns,
                    caching,
                    filter_string,
                    batch_size: caching.map(|number| number / 2),
                    sort_columns,
                    reversed,
                    cache_blocks,
                }
            },
        )
}

/// Arguments for all methods: a method writes those that it has.
fn args() -> impl Strategy<Value = Args> {
    let list = || prop::collection::vec(bytes(), 0..20);
    let lists = (list(), list(), prop::collection::vec(mutation(), 0..20));
    let numbers = (any::<i64>(), any::<i32>());
    (bytes(), bytes(), lists, numbers, scan()).prop_map(|(first, second, lists, numbers, scan)| {
        let (rows, columns, mutations) = lists;
        let (long, short) = numbers;
        let increment = TIncrement {
            table: Some(first.clone()),
            row: None,
            column: Some(second.clone()),
            amount: long,
        };
        let append = TAppend {
            table: None,
            row: Some(first.clone()),
            columns: Some(columns.clone()),
            values: Some(rows.clone()),
        };
        let family = ColumnDescriptor { max_versions: short, ..Default::default() };
        let batch = BatchMutation { row: Some(second.clone()), mutations: Some(mutations.clone()) };
        Args {
            table: Some(first.clone()),
            row: Some(second.clone()),
            attributes: Some(Pairs(columns.iter().cloned().zip(rows.clone()).collect())),
            rows: Some(rows),
            stop_row: Some(first.clone()),
            column: Some(second),
            columns: Some(columns),
            timestamp: Some(long),
            versions: Some(short),
            families: Some(vec![family]),
            mutation: mutations.first().cloned(),
            mutations: Some(mutations),
            batches: Some(vec![batch]),
            value: Some(first),
            unused: None,
            amount: Some(long),
            increments: Some(vec![increment.clone()]),
            increment: Some(increment),
            append: Some(append),
            scan: Some(scan),
            scanner: Some(short),
            row_count: Some(short),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn calls_of_all_methods_come_back(args in args()) {
        for (&method, protocol) in
            Method::ALL.iter().flat_map(|method| PROTOCOLS.map(|protocol| (method, protocol)))
        {
            let bytes = encoded(protocol, method, &args);
            let mut reader = Reader::new(bytes.clone().freeze(), protocol);
            let head = reader.head().unwrap();
            prop_assert_eq!((Method::from_name(&head.name), head.sequence), (Some(method), -7));
            let read = Args::read(method, &mut reader).unwrap();
            prop_assert!(reader.is_at_end());
            // Writing what was read gives the same bytes, so nothing that is sent is lost.
            prop_assert_eq!(encoded(protocol, method, &read), bytes);
        }
    }

    #[test]
    fn the_end_of_a_message_is_found_however_it_comes(args in args(), step in 1_usize..40) {
        for protocol in PROTOCOLS {
            let message = encoded(protocol, Method::ScannerOpenWithScan, &args);
            let mut input = message.to_vec();
            input.extend_from_slice(&message[..message.len() / 2]);
            let mut extent = Extent::new(protocol);
            for end in (0..message.len()).step_by(step) {
                prop_assert_eq!(extent.pass(&input[..end]).unwrap(), None);
                prop_assert!(extent.missing(&input[..end]) > 0);
            }
            prop_assert_eq!(extent.pass(&input).unwrap(), Some(message.len()));
        }
    }

    #[test]
    fn damaged_messages_are_errors_or_other_messages(
        args in args(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        for protocol in PROTOCOLS {
            let mut message = encoded(protocol, Method::MutateRows, &args);
            let at = at.index(message.len());
            message[at] = byte;
            let passed = Extent::new(protocol).pass(&message);
            let mut reader = Reader::new(message.clone().freeze(), protocol);
            let skipped = reader.head().and_then(|_| reader.skip(Type::Struct));
            // Both see the same message, or none.
            if let Ok(Some(len)) = passed {
                prop_assert!(skipped.is_ok());
                prop_assert!(len <= message.len());
            }
        }
    }
}

#[test]
fn lengths_that_lie_are_refused_or_waited_for_without_values() {
    let mut binary =
        BytesMut::from(&b"\x80\x01\x00\x01\x00\x00\x00\x07getRows\x00\x00\x00\x00"[..]);
    binary.put_slice(b"\x0F\x00\x02\x0B\x7F\xFF\xFF\xFF");
    let error = Extent::new(Protocol::Binary).pass(&binary).unwrap_err();
    assert!(error.message().starts_with("message too long: "), "{error}");
    let mut negative = binary.clone();
    let at = negative.len() - 4;
    negative[at] = 0xFF;
    assert!(Extent::new(Protocol::Binary).pass(&negative).is_err());
    // A value whose bytes are announced, and do not come, is not made.
    let mut reader = Reader::new(binary.freeze(), Protocol::Binary);
    reader.head().unwrap();
    assert!(Args::read(Method::GetRows, &mut reader).is_err());
}

#[test]
fn structures_nested_too_deep_are_refused() {
    for (protocol, field) in
        [(Protocol::Binary, &b"\x0C\x00\x01"[..]), (Protocol::Compact, b"\x1C")]
    {
        let mut message = BytesMut::new();
        let head = MessageHead { name: "get".into(), kind: MessageKind::Call, sequence: 1 };
        Writer::new(&mut message, protocol).head(&head);
        message.put_slice(&field.repeat(1_000));
        let error = Extent::new(protocol).pass(&message).unwrap_err();
        assert!(error.message().starts_with("structures nested too deep"), "{error}");
        let mut reader = Reader::new(message.freeze(), protocol);
        reader.head().unwrap();
        assert!(reader.skip(Type::Struct).is_err());
    }
}

#[test]
fn elements_are_counted_before_they_are_values() {
    let mut message = BytesMut::new();
    let mut writer = Writer::new(&mut message, Protocol::Compact);
    writer.head(&MessageHead { name: "getRows".into(), kind: MessageKind::Call, sequence: 1 });
    writer.structure(|writer| {
        writer.field(2, Type::List);
        writer.list(Type::Binary, 5_000_000);
    });
    let error = Extent::new(Protocol::Compact).pass(&message).unwrap_err();
    assert!(error.message().starts_with("too many elements: elements=5000000"), "{error}");
    let args = Args { rows: Some(vec![Bytes::new(); 1_000]), ..Args::default() };
    let message = encoded(Protocol::Compact, Method::GetRows, &args);
    let mut extent = Extent::new(Protocol::Compact);
    assert_eq!(extent.pass(&message).unwrap(), Some(message.len()));
    assert!(extent.value_bytes() >= 1_000 * size_of::<Bytes>());
}

#[test]
fn the_first_bytes_tell_protocol_and_frames() {
    let old = b"\x00\x00\x00\x03get\x01\x00\x00\x00\x00\x00";
    let binary = encoded(Protocol::Binary, Method::Get, &Args::default());
    let compact = encoded(Protocol::Compact, Method::Get, &Args::default());
    let kinds: [(&[u8], Protocol); 3] =
        [(&binary, Protocol::Binary), (&compact, Protocol::Compact), (old, Protocol::Binary)];
    for (message, protocol) in kinds {
        for is_framed in [false, true] {
            let mut input = BytesMut::new();
            if is_framed {
                input.put_u32(message.len() as u32);
            }
            input.put_slice(message);
            for end in 0..5 {
                let early = Carriage::detect(&input[..end]).unwrap();
                assert!(early.is_none_or(|early| early == Carriage { protocol, is_framed }));
            }
            let detected = Carriage::detect(&input).unwrap();
            assert_eq!(detected, Some(Carriage { protocol, is_framed }));
        }
    }
    for other in [&b"GET / HTTP/1.1"[..], b"HBas\0\x50", b"\x16\x03\x01\x02\x00\x01", b"\xFF\xFF"] {
        assert!(Carriage::detect(other).is_err(), "{other:?}");
    }
}

#[test]
fn a_map_of_columns_has_javas_order_and_the_oldest_version() {
    let cell = |family: &str, qualifier: &[u8], at| {
        let at = Timestamp::from_millis(at).unwrap();
        Cell::new("r", family, qualifier, at, CellKind::Put, "v").unwrap()
    };
    let row = Row::new(vec![
        cell("a", b"x", 5),
        cell("a", b"x", 4),
        cell("a", b"\xFF", 3),
        cell("a1", b"x", 2),
    ]);
    let mut out = BytesMut::new();
    let mut writer = Writer::new(&mut out, Protocol::Binary);
    let call = MessageHead { name: "getRow".into(), kind: MessageKind::Call, sequence: 1 };
    let answer = Answer::Rows { rows: vec![row], is_sorted: false };
    write_answer(&call, &Ok(answer), &mut writer);
    let mut reader = Reader::new(out.freeze(), Protocol::Binary);
    reader.head().unwrap();
    let mut columns = Vec::new();
    reader
        .structure(|reader, _, _| {
            reader.list(|reader, _| {
                reader.structure(|reader, id, _| {
                    if id != 2 {
                        return Ok(false);
                    }
                    let read = Pairs::<Bytes, TCell>::read(reader)?;
                    columns.extend(read.0.into_iter().map(|(name, cell)| (name, cell.timestamp)));
                    Ok(true)
                })
            })?;
            Ok(true)
        })
        .unwrap();
    let expected: Vec<(Bytes, i64)> =
        vec![("a1:x".into(), 2), (Bytes::from_static(b"a:\xFF"), 3), ("a:x".into(), 4)];
    assert_eq!(columns, expected);
}
