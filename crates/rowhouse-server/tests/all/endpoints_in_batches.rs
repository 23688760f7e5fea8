//! Coprocessor endpoints called as actions in a Multi.

use crate::support::{TestServer, region_ref, table_name};
use expect_test::expect;
use prost::Message;
use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, MultiCall, MultiResult, RegionActions,
};
use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{Coprocessor, Put};

fn count_rows() -> Action {
    let column = proto::Column { family: "cf".into(), ..Default::default() };
    let request = proto::AggregateRequest {
        interpreter_class_name: "org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter"
            .into(),
        scan: proto::Scan { column: vec![column], ..Default::default() },
        ..Default::default()
    };
    call("AggregateService", "GetRowNum", &request)
}

fn call(service: &str, method: &str, request: &impl Message) -> Action {
    Action::Service(proto::CoprocessorServiceCall {
        row: "".into(),
        service_name: service.into(),
        method_name: method.into(),
        request: request.encode_to_vec().into(),
    })
}

fn put(row: &'static str) -> Action {
    Action::Mutate(Put::new(row).unwrap().add("cf", "q", "v").unwrap().into(), None)
}

fn show(server: &TestServer, atomic: bool, actions: Vec<Action>) -> String {
    let region = server.regions("t").remove(0);
    let numbered = (0..).zip(actions);
    let numbered = numbered.map(|(index, action)| IndexedAction { index, action: Ok(action) });
    let regions = vec![RegionActions {
        region: region_ref(&region),
        atomic,
        condition: None,
        actions: Ok(numbered.collect()),
    }];
    let (message, cells) = MultiCall { regions }.to_proto().unwrap();
    let (answer, mut cells) = server.client().call_with(&message, &cells).unwrap();
    let answer = MultiResult::from_proto(answer, &mut cells).unwrap().regions.remove(0);
    let answers = match answer {
        Ok(region) => region.answers,
        Err(error) => return format!("refused: {}\n", error.message()),
    };
    let mut text = String::new();
    for one in answers {
        let answer = match one.answer {
            Ok(ActionResult::Service(value)) => {
                let class = value.name.rsplit('.').next().unwrap().to_owned();
                let answer = proto::AggregateResponse::decode(value.value.unwrap()).unwrap();
                format!("{class} {:?}", answer.first_part)
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error.message().replace(&region.name().to_string(), "REGION"),
        };
        text += &format!("{}: {answer}\n", one.index);
    }
    text
}

#[test]
fn one_sees_the_changes_in_front_of_it_and_leaves_the_others_when_it_fails() {
    let server = TestServer::start();
    server.create_table("t", &["cf"], &[]);
    expect![[r#"
        0: Done
        1: No registered coprocessor service found in region REGION: the table must declare org.apache.hadoop.hbase.coprocessor.AggregateImplementation
    "#]].assert_eq(&show(&server, false, vec![put("1"), count_rows()]));
    let mut master = server.connect(Service::Master);
    let message = proto::GetTableDescriptorsRequest {
        table_names: vec![table_name("t")],
        ..Default::default()
    };
    let mut schema = master.call(&message).unwrap().table_schema.remove(0);
    schema.attributes.push(proto::BytesBytesPair {
        first: "coprocessor$1".into(),
        second: format!("|{}||", Coprocessor::Aggregate.class_name()).into(),
    });
    let message = proto::ModifyTableRequest {
        table_name: table_name("t"),
        table_schema: schema,
        ..Default::default()
    };
    master.call(&message).unwrap();
    let other = call("MyService", "Do", &proto::LongMsg { long_msg: 1 });
    let actions = vec![count_rows(), put("2"), count_rows(), other, put("3")];
    expect![[r#"
        0: AggregateProtos$AggregateResponse [b"\0\0\0\0\0\0\0\x01"]
        1: Done
        2: AggregateProtos$AggregateResponse [b"\0\0\0\0\0\0\0\x02"]
        3: No registered coprocessor service found for MyService
        4: Done
    "#]]
    .assert_eq(&show(&server, false, actions));
    expect![[r#"
        refused: Atomic put and/or delete only, not a service call: service=AggregateService
    "#]]
    .assert_eq(&show(&server, true, vec![put("4"), count_rows()]));
}
