//! Bad calls to the master.

use bytes::Bytes;
use expect_test::{Expect, expect};
use rowhouse_format::convert::{names, table};
use rowhouse_format::proto;
use rowhouse_format::rpc::{Call, Service};
use rowhouse_model::{FamilyDescriptor, Namespace, TableDescriptor, TableName};

use crate::scene::{Scene, frame, header};
use crate::support::table_name;

impl Scene {
    /// Calls the master on a new connection.
    fn check_master<M: Call>(&mut self, message: &M, expected: &Expect) {
        assert_eq!(M::METHOD.service(), Service::Master);
        let call = frame(&header(M::METHOD.name()), &message.encode_to_vec(), b"");
        self.check_service(Service::Master, &call, expected);
    }
}

fn create(descriptor: &TableDescriptor, splits: &[&'static [u8]]) -> proto::CreateTableRequest {
    proto::CreateTableRequest {
        table_schema: table::to_proto(descriptor),
        split_keys: splits.iter().map(|&key| Bytes::from_static(key)).collect(),
        ..Default::default()
    }
}

fn descriptor(name: &str) -> TableDescriptor {
    let family = FamilyDescriptor::new("cf").unwrap();
    TableDescriptor::new(TableName::parse(name).unwrap()).family(family)
}

fn create_namespace(name: &str) -> proto::CreateNamespaceRequest {
    let namespace_descriptor = names::namespace_to_proto(&Namespace::new(name).unwrap());
    proto::CreateNamespaceRequest { namespace_descriptor, ..Default::default() }
}

#[test]
fn tables_that_cannot_be_are_not_made() {
    let mut scene = Scene::new();
    scene.check_master(
        &create(&descriptor("t"), &[]),
        &expect!["call 7, do not retry: TableExistsException: t"],
    );
    scene.check_master(
        &create(&descriptor("nowhere:t"), &[]),
        &expect!["call 7, do not retry: NamespaceNotFoundException: nowhere"],
    );
    scene.check_master(&create(&descriptor("hbase:t"), &[]), &expect!["call 7, do not retry: DoNotRetryIOException: hbase:t: the hbase namespace is the system's"]);
    let without_families = TableDescriptor::new(TableName::parse("new").unwrap());
    scene.check_master(&create(&without_families, &[]), &expect!["call 7, do not retry: DoNotRetryIOException: Table should have at least one column family."]);
    let small_blocks = FamilyDescriptor::new("d").unwrap().attribute("BLOCKSIZE", "100");
    let with_small_blocks = descriptor("new").family(small_blocks);
    scene.check_master(&create(&with_small_blocks, &[]), &expect!["call 7, do not retry: DoNotRetryIOException: Block size for column family d must be between 1K and 16MB: 100"]);
    let no_versions = FamilyDescriptor::new("d").unwrap().attribute("VERSIONS", "0");
    let without_versions = descriptor("new").family(no_versions);
    scene.check_master(
        &create(&without_versions, &[]),
        &expect![
            "call 7, do not retry: DoNotRetryIOException: VERSIONS of family d must be 1 or more: 0"
        ],
    );
    scene.check_master(&create(&descriptor("new"), &[b"b", b"b"]), &expect!["call 7, do not retry: DoNotRetryIOException: All split keys must be unique, found duplicate: b"]);
    scene.check_master(&create(&descriptor("new"), &[b"b", b""]), &expect!["call 7, do not retry: DoNotRetryIOException: a split key must be a row key: Row length is 0"]);
    let mut name = create(&descriptor("new"), &[]);
    name.table_schema.table_name.as_mut().unwrap().qualifier = "no name".into();
    scene.check_master(&name, &expect!["call 7, do not retry: DoNotRetryIOException: illegal table name: only letters, digits and _ - . are allowed, not ' ', name=no name"]);
    let mut not_text = create(&descriptor("new"), &[]);
    not_text.table_schema.table_name.as_mut().unwrap().qualifier = Bytes::from_static(b"\xff");
    scene.check_master(
        &not_text,
        &expect![[r#"call 7, do not retry: DoNotRetryIOException: table name is not UTF-8: \xFF"#]],
    );
    let mut family = create(&descriptor("new"), &[]);
    family.table_schema.column_families[0].name = "c:f".into();
    scene.check_master(&family, &expect![[r#"call 7, do not retry: DoNotRetryIOException: illegal family name: must not hold : / \ or control characters, name=c:f"#]]);
    // None of these calls left a table, and splits need not be sorted.
    scene.check_master(&create(&descriptor("new"), &[b"c", b"b"]), &expect!["call 7: answered"]);
    assert_eq!(scene.server.regions("new").len(), 3);
}

#[test]
fn tables_in_the_wrong_state_are_left_as_they_are() {
    let mut scene = Scene::new();
    let disable = |name| {
        let table_name = table_name(name);
        proto::DisableTableRequest { table_name, ..Default::default() }
    };
    let enable = |name| {
        let table_name = table_name(name);
        proto::EnableTableRequest { table_name, ..Default::default() }
    };
    let delete = |name| {
        let table_name = table_name(name);
        proto::DeleteTableRequest { table_name, ..Default::default() }
    };
    scene.check_master(
        &disable("unknown"),
        &expect!["call 7, do not retry: TableNotFoundException: unknown"],
    );
    scene.check_master(
        &enable("unknown"),
        &expect!["call 7, do not retry: TableNotFoundException: unknown"],
    );
    scene.check_master(
        &delete("unknown"),
        &expect!["call 7, do not retry: TableNotFoundException: unknown"],
    );
    scene.check_master(
        &disable("hbase:meta"),
        &expect!["call 7, do not retry: constraint.ConstraintException: Cannot disable hbase:meta"],
    );
    scene.check_master(
        &enable("hbase:meta"),
        &expect!["call 7, do not retry: TableNotFoundException: hbase:meta"],
    );
    scene.check_master(
        &delete("hbase:meta"),
        &expect!["call 7, do not retry: TableNotFoundException: hbase:meta"],
    );
    scene.check_master(&delete("t"), &expect!["call 7, do not retry: TableNotDisabledException: Not DISABLED; tableName=t, state=ENABLED"]);
    scene.check_master(&enable("t"), &expect!["call 7, do not retry: TableNotDisabledException: Not DISABLED; tableName=t, state=ENABLED"]);
    scene.server.create_table("off", &["cf"], &[]);
    scene.server.disable_table("off");
    scene.check_master(
        &disable("off"),
        &expect!["call 7, do not retry: TableNotEnabledException: off"],
    );
    let flush =
        |name| proto::FlushTableRequest { table_name: table_name(name), ..Default::default() };
    scene.check_master(
        &flush("off"),
        &expect!["call 7, do not retry: TableNotEnabledException: off is disabled"],
    );
    scene.check_master(
        &flush("unknown"),
        &expect!["call 7, do not retry: TableNotFoundException: unknown"],
    );
}

#[test]
fn namespaces_that_are_missing_reserved_or_in_use_are_left_as_they_are() {
    let mut scene = Scene::new();
    let delete = |name: &str| proto::DeleteNamespaceRequest {
        namespace_name: name.into(),
        ..Default::default()
    };
    let get = |name: &str| proto::GetNamespaceDescriptorRequest { namespace_name: name.into() };
    scene.check_master(
        &get("nowhere"),
        &expect!["call 7, do not retry: NamespaceNotFoundException: nowhere"],
    );
    scene.check_master(
        &delete("nowhere"),
        &expect!["call 7, do not retry: NamespaceNotFoundException: nowhere"],
    );
    scene.check_master(&delete("default"), &expect!["call 7, do not retry: constraint.ConstraintException: Reserved namespace default cannot be removed."]);
    scene.check_master(&delete("hbase"), &expect!["call 7, do not retry: constraint.ConstraintException: Reserved namespace hbase cannot be removed."]);
    scene.check_master(
        &create_namespace("default"),
        &expect!["call 7, do not retry: NamespaceExistException: Namespace default already exists"],
    );
    let list = proto::ListTableNamesByNamespaceRequest { namespace_name: "nowhere".into() };
    scene
        .check_master(&list, &expect!["call 7, do not retry: NamespaceNotFoundException: nowhere"]);
    let modify = proto::ModifyNamespaceRequest {
        namespace_descriptor: names::namespace_to_proto(&Namespace::new("nowhere").unwrap()),
        ..Default::default()
    };
    scene.check_master(
        &modify,
        &expect!["call 7, do not retry: NamespaceNotFoundException: nowhere"],
    );
    scene.check_master(&create_namespace("full"), &expect!["call 7: answered"]);
    scene.server.create_table("full:t", &["cf"], &[]);
    scene.check_master(&delete("full"), &expect!["call 7, do not retry: constraint.ConstraintException: Only empty namespaces can be removed. Namespace full has 1 tables"]);
}

#[test]
fn questions_without_an_answer_are_answered() {
    let mut scene = Scene::new();
    let procedure = proto::GetProcedureResultRequest { proc_id: u64::MAX };
    let answer = scene.server.connect(Service::Master).call(&procedure).unwrap();
    assert_eq!(answer.state(), proto::get_procedure_result_response::State::NotFound);
    let pattern = proto::GetTableNamesRequest { regex: Some("(".into()), ..Default::default() };
    scene.check_master(
        &pattern,
        &expect!["call 7, do not retry: DoNotRetryIOException: not a regular expression: unclosed group, at=0, expression=("],
    );
    let state = proto::GetTableStateRequest { table_name: table_name("unknown") };
    scene.check_master(&state, &expect!["call 7, do not retry: TableNotFoundException: unknown"]);
}
