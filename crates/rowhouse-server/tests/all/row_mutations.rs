//! Answers to atomic and conditional mutations, in Apache HBase's message form.

use crate::support::{Client, TestServer, region_ref};
use expect_test::{Expect, expect};
use rowhouse_format::convert::CellPlacement;
use rowhouse_format::convert::multi::{Action, IndexedAction, MultiCall, RegionActions};
use rowhouse_format::convert::mutate::MutateCall;
use rowhouse_format::convert::result;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::CellReader;
use rowhouse_model::{
    Append, CompareOperator, Condition, Get, Increment, Mutation, Nonce, Put, RegionInfo,
    RowCondition,
};

struct Scene {
    server: TestServer,
    client: Client,
    region: RegionInfo,
}

impl Scene {
    fn new() -> Self {
        let server = TestServer::start();
        let region = server.create_table("t", &["cf"], &[]).remove(0);
        Self { client: server.client(), server, region }
    }

    fn actions(&self, condition: Option<Condition>, actions: Vec<Action>) -> RegionActions {
        let numbered = (0..).zip(actions);
        let numbered = numbered.map(|(index, action)| IndexedAction { index, action: Ok(action) });
        let condition = condition.map(|condition| RowCondition { row: "r".into(), condition });
        RegionActions {
            region: region_ref(&self.region),
            atomic: true,
            condition,
            actions: Ok(numbered.collect()),
        }
    }

    fn check(&mut self, regions: Vec<RegionActions>, expected: &Expect) {
        let (message, cells) = MultiCall { regions }.to_proto().unwrap();
        let (answer, mut cells) = self.client.call_with(&message, &cells).unwrap();
        expected.assert_eq(&show(answer, &mut cells));
    }
}

fn show(answer: proto::MultiResponse, cells: &mut CellReader) -> String {
    let mut text = format!("processed: {:?}\n", answer.processed);
    for region in answer.region_action_result {
        text += &format!("region: {:?}\n", region.processed);
        if let Some(exception) = region.exception {
            let exception = Exception::from_pair(exception);
            text += &format!("  {}: {}\n", exception.class, exception.message);
        }
        for one in region.result_or_exception {
            let outcome = one.result.map_or("nothing".to_owned(), |message| {
                let row = result::from_proto(message, cells).unwrap().row;
                format!("{:?}", row.cells().map(|cell| cell.value_bytes()).collect::<Vec<_>>())
            });
            text += &format!("  {}: {outcome}\n", one.index.unwrap());
        }
    }
    text
}

fn put(value: &str) -> Action {
    Action::Mutate(Put::new("r").unwrap().add("cf", "q", value).unwrap().into(), None)
}

fn append(value: &str, nonce: Option<Nonce>) -> Action {
    Action::Mutate(Append::new("r").unwrap().add("cf", "a", value).unwrap().into(), nonce)
}

fn is(value: &'static str) -> Option<Condition> {
    Some(Condition::value("cf", "q", CompareOperator::Equal, value))
}

#[test]
fn changes_that_are_one_are_answered_as_one() {
    let mut scene = Scene::new();
    let grow = scene.actions(None, vec![append("x", None), put("1"), append("y", None)]);
    let plain = scene.actions(None, vec![put("2"), put("3")]);
    scene.check(
        vec![grow, plain],
        &expect![[r#"
            processed: Some(true)
            region: Some(true)
              0: [b"x", b"y"]
              1: nothing
              2: nothing
            region: Some(true)
              0: nothing
              1: nothing
        "#]],
    );
}

#[test]
fn a_condition_answers_for_all_under_it() {
    let mut scene = Scene::new();
    let first = scene.actions(Some(Condition::no_value("cf", "q")), vec![put("1"), put("1")]);
    let second = scene.actions(is("2"), vec![append("x", None), put("3")]);
    let third = scene.actions(is("1"), vec![append("x", None)]);
    let nothing = scene.actions(is("2"), Vec::new());
    scene.check(
        vec![first, second, third, nothing],
        &expect![[r#"
            processed: Some(true)
            region: Some(true)
              0: nothing
              1: nothing
            region: Some(false)
              0: nothing
              1: nothing
            region: Some(true)
              0: [b"x"]
            region: Some(true)
        "#]],
    );
}

#[test]
fn error_in_one_mutation_fails_all_in_its_region_only() {
    let mut scene = Scene::new();
    let nowhere = Put::new("r").unwrap().add("nope", "q", "x").unwrap();
    let family = scene.actions(None, vec![put("1"), Action::Mutate(nowhere.into(), None)]);
    let get = scene.actions(None, vec![put("1"), Action::Get(Get::new("r").unwrap())]);
    let other = Put::new("s").unwrap().add("cf", "q", "x").unwrap();
    let row = scene.actions(is("1"), vec![put("1"), Action::Mutate(other.into(), None)]);
    let good = scene.actions(None, vec![put("2")]);
    let name = scene.region.name().to_string();
    let (message, cells) = MultiCall { regions: vec![family, get, row, good] }.to_proto().unwrap();
    let (answer, mut cells) = scene.client.call_with(&message, &cells).unwrap();
    let text = show(answer, &mut cells).replace(&name, "REGION");
    expect![[r#"
        processed: Some(true)
        region: None
          org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nope does not exist in region REGION in table 't', {NAME => 'cf'}
        region: None
          org.apache.hadoop.hbase.DoNotRetryIOException: Atomic put and/or delete only, not a Get: row=r
        region: None
          org.apache.hadoop.hbase.DoNotRetryIOException: The row of the action <s> doesn't match the original one <r>
        region: Some(true)
          0: nothing
    "#]]
    .assert_eq(&text);
}

#[test]
fn retry_returns_the_first_answer() {
    let mut scene = Scene::new();
    let nonce = Some(Nonce { group: 3, number: 4 });
    let grow = |scene: &Scene| scene.actions(None, vec![append("x", nonce), append("y", nonce)]);
    // Both appends start from the value before the call, so the second one's result remains; a
    // repetition reads it.
    let first = grow(&scene);
    scene.check(
        vec![first],
        &expect![[r#"
            processed: Some(true)
            region: Some(true)
              0: [b"x", b"y"]
              1: nothing
        "#]],
    );
    let later = scene.actions(None, vec![append("!", None)]);
    let again = grow(&scene);
    scene.check(
        vec![later, again],
        &expect![[r#"
            processed: Some(true)
            region: Some(true)
              0: [b"y!"]
            region: Some(true)
              0: [b"y", b"y"]
              1: nothing
        "#]],
    );
}

#[test]
fn the_condition_of_an_older_client_stands_beside_its_region() {
    let mut scene = Scene::new();
    let regions = vec![scene.actions(is("2"), vec![put("1"), put("3")])];
    let (mut message, cells) = MultiCall { regions }.to_proto().unwrap();
    message.condition = message.region_action[0].condition.take();
    let (answer, mut cells) = scene.client.call_with(&message, &cells).unwrap();
    expect![[r#"
        processed: Some(false)
        region: Some(false)
          0: nothing
          1: nothing
    "#]]
    .assert_eq(&show(answer, &mut cells));
}

#[test]
fn a_condition_of_one_change_is_answered_with_whether_it_held() {
    let mut scene = Scene::new();
    let mut call = |condition: Option<Condition>, mutation: Mutation| {
        let region = region_ref(&scene.region);
        let call = MutateCall { region, mutation, nonce: None, condition };
        let message = call.to_proto(CellPlacement::Message).unwrap();
        let (answer, mut cells) = scene.client.call_with(&message, &[]).unwrap();
        let row = answer.result.map(|one| result::from_proto(one, &mut cells).unwrap().row.len());
        (answer.processed, row)
    };
    let put = |value| Put::new("r").unwrap().add("cf", "q", value).unwrap();
    let count = || Increment::new("r").unwrap().add("cf", "n", 1).unwrap();
    assert_eq!(call(is("1"), put("2").into()), (Some(false), None));
    assert_eq!(call(is("1"), count().into()), (Some(false), None));
    assert_eq!(call(None, put("1").into()), (Some(true), None));
    assert_eq!(call(is("1"), count().into()), (Some(true), Some(1)));
    let mut silent = count();
    silent.return_results = false;
    assert_eq!(call(is("1"), silent.into()), (Some(true), Some(0)));
    assert_eq!(call(None, count().into()), (None, Some(1)));
    assert_eq!(call(is("1"), put("2").into()), (Some(true), None));
    assert_eq!(scene.server.regions("t").len(), 1);
}
