//! Multi: several actions in one call.
//!
//! Actions fail individually: an action's error takes the place of its result, and the others are
//! executed.

use rowhouse_model::{Cell, Error, ErrorKind, Get, KeyValue, Mutation, Result, Row, RowCondition};

use super::mutate::{self, Nonce};
use super::region::RegionRef;
use super::{CellPlacement, condition, get, result};
use crate::exception::Exception;
use crate::proto;
use crate::rpc::CellReader;

/// Reads and mutations of rows in several regions.
#[derive(Debug, Default)]
pub struct MultiCall {
    /// Each region's actions, in result order.
    pub regions: Vec<RegionActions>,
}

/// The actions in a Multi on one region.
#[derive(Debug)]
pub struct RegionActions {
    /// The region.
    pub region: RegionRef,
    /// Whether the actions are atomic: HBase's mutateRow. Actions with a condition are always
    /// atomic.
    pub atomic: bool,
    /// The condition for the actions.
    pub condition: Option<RowCondition>,
    /// The actions, each with the client's index; or the error that prevents them all.
    pub actions: Result<Vec<IndexedAction>>,
}

/// An action in a Multi.
#[derive(Debug)]
pub struct IndexedAction {
    /// The client's index for the action, repeated in the result.
    pub index: u32,
    /// The action, or the error that prevents it.
    pub action: Result<Action>,
}

/// A read or mutation on one row, or a call to an endpoint in the row's region.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A read.
    Get(Get),
    /// A mutation.
    Mutate(Mutation, Option<Nonce>),
    /// A call to a coprocessor endpoint, decoded by [`super::endpoint::EndpointCall`].
    Service(proto::CoprocessorServiceCall),
}

impl MultiCall {
    /// Decodes a Multi request.
    ///
    /// # Errors
    /// `Protocol` if the cell block lacks cells or is malformed, because later mutations' cells
    /// cannot be located.
    pub fn from_proto(mut request: proto::MultiRequest, block: &mut CellReader) -> Result<Self> {
        // Clients before 2.4 put the condition here; they call one region at a time.
        if let (Some(condition), Some(first)) =
            (request.condition.take(), request.region_action.first_mut())
        {
            first.condition.get_or_insert(condition);
        }
        let nonce_group = request.nonce_group;
        let regions = request.region_action.into_iter();
        let regions = regions.map(|region| region_from_proto(region, nonce_group, block));
        Ok(Self { regions: regions.collect::<Result<_>>()? })
    }

    /// Encodes a Multi request and returns it with the cells for the cell block. Actions that
    /// failed to decode are omitted.
    ///
    /// # Errors
    /// As [`condition::to_proto`].
    pub fn to_proto(&self) -> Result<(proto::MultiRequest, Vec<Cell>)> {
        let mut cells = Vec::new();
        let mut nonce_group = None;
        let mut regions = Vec::with_capacity(self.regions.len());
        for region in &self.regions {
            let mut actions = Vec::new();
            for numbered in region.actions.iter().flatten() {
                let mut action =
                    proto::Action { index: Some(numbered.index), ..Default::default() };
                match &numbered.action {
                    Ok(Action::Get(read)) => action.get = Some(get::to_proto(read)),
                    Ok(Action::Mutate(mutation, nonce)) => {
                        nonce_group = nonce_group.or(nonce.map(|nonce| nonce.group));
                        let message = mutate::to_proto(mutation, *nonce, CellPlacement::Block);
                        cells.extend_from_slice(mutation.cells());
                        action.mutation = Some(message);
                    }
                    Ok(Action::Service(call)) => action.service_call = Some(call.clone()),
                    Err(_) => continue,
                }
                actions.push(action);
            }
            regions.push(proto::RegionAction {
                region: region.region.to_proto(),
                atomic: region.atomic.then_some(true),
                action: actions,
                condition: region
                    .condition
                    .as_ref()
                    .map(|it| condition::to_proto(&it.condition, &it.row))
                    .transpose()?,
            });
        }
        let request = proto::MultiRequest { region_action: regions, nonce_group, condition: None };
        Ok((request, cells))
    }
}

fn region_from_proto(
    region: proto::RegionAction,
    nonce_group: Option<u64>,
    block: &mut CellReader,
) -> Result<RegionActions> {
    let condition = region.condition.map(condition::from_proto).transpose();
    let mut actions = Vec::with_capacity(region.action.len());
    for action in region.action {
        let index = action.index.unwrap_or_default();
        let action = action_from_proto(action, nonce_group, block)?;
        actions.push(IndexedAction { index, action });
    }
    let (condition, actions) = match condition {
        Ok(condition) => (condition, Ok(actions)),
        Err(refused) => (None, Err(refused)),
    };
    Ok(RegionActions {
        region: RegionRef::from_proto(region.region),
        atomic: region.atomic.unwrap_or(false),
        condition,
        actions,
    })
}

/// Decodes an action. The outer result concerns the cell block, the inner one the action.
fn action_from_proto(
    action: proto::Action,
    nonce_group: Option<u64>,
    block: &mut CellReader,
) -> Result<Result<Action>> {
    if let Some(mutation) = action.mutation {
        let cells = mutate::take_cells(&mutation, block)?;
        let nonce = mutate::nonce_from_parts(nonce_group, mutation.nonce);
        let mutation = mutate::from_parts(mutation, cells);
        return Ok(mutation.map(|mutation| Action::Mutate(mutation, nonce)));
    }
    if let Some(read) = action.get {
        return Ok(get::from_proto(read).map(Action::Get));
    }
    if let Some(call) = action.service_call {
        return Ok(Ok(Action::Service(call)));
    }
    Ok(Err(Error::invalid("an action must be a get, a mutation or a service call")))
}

/// The response to a [`MultiCall`], with the regions in call order.
#[derive(Debug, Default)]
pub struct MultiResult {
    /// For each region the action results, or the error that prevented all actions.
    pub regions: Vec<Result<RegionResult>>,
}

/// The results for the actions on one region.
#[derive(Debug, Default)]
pub struct RegionResult {
    /// For atomic actions: whether they were executed.
    pub processed: Option<bool>,
    /// One result per action.
    pub answers: Vec<IndexedResult>,
}

impl RegionResult {
    /// Creates the results for actions that were executed individually.
    pub fn each(answers: Vec<IndexedResult>) -> Self {
        Self { processed: None, answers }
    }

    /// Creates the results for `actions` atomic actions. The first result holds the new cells from
    /// the increments and appends, if any.
    pub fn all(processed: bool, actions: usize, row: Option<Row>) -> Self {
        let others = (0..actions as u32).skip(usize::from(row.is_some()));
        let others = others.map(|index| (index, ActionResult::Nothing));
        let first = row.map(|row| (0, ActionResult::Row(row)));
        let answers = first.into_iter().chain(others);
        let answers = answers.map(|(index, answer)| IndexedResult { index, answer: Ok(answer) });
        Self { processed: Some(processed), answers: answers.collect() }
    }

    /// Returns the new cells from the increments and appends among atomic actions.
    pub fn row(&self) -> Row {
        let rows = self.answers.iter().filter_map(|numbered| match &numbered.answer {
            Ok(ActionResult::Row(row)) => Some(row.clone()),
            Ok(
                ActionResult::Done
                | ActionResult::Exists(_)
                | ActionResult::Service(_)
                | ActionResult::Nothing,
            )
            | Err(_) => None,
        });
        rows.into_iter().next().unwrap_or_default()
    }
}

/// An action's result.
#[derive(Debug)]
pub struct IndexedResult {
    /// The client's index for the action.
    pub index: u32,
    /// The result.
    pub answer: Result<ActionResult>,
}

/// The result of a successful action.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionResult {
    /// A put or a delete was executed.
    Done,
    /// A get's row, or the new cells from an increment or append.
    Row(Row),
    /// The result for a get that tests only for existence.
    Exists(bool),
    /// An endpoint's response: the message class, and the bytes.
    Service(proto::NameBytesPair),
    /// No individual result: [`RegionResult::processed`] covers all actions on the region.
    Nothing,
}

impl MultiResult {
    /// Encodes a Multi response; with [`CellPlacement::Block`], the caller puts
    /// [`MultiResult::cells`] into the cell block.
    pub fn to_proto(&self, cells_in: CellPlacement) -> proto::MultiResponse {
        proto::MultiResponse {
            region_action_result: self
                .regions
                .iter()
                .map(|region| region_to_proto(region, cells_in))
                .collect(),
            // Clients before 2.4 read it here; they call one region at a time.
            processed: self.regions.iter().flatten().find_map(|region| region.processed),
            // Apache always sets it; it is empty unless load statistics are enabled.
            region_statistics: Some(proto::MultiRegionLoadStats::default()),
        }
    }

    /// Iterates over all rows' cells, in cell block order.
    pub fn cells(&self) -> impl Iterator<Item = KeyValue<'_>> + Clone {
        let answers = self.regions.iter().flatten().flat_map(|region| &region.answers);
        let rows = answers.filter_map(|numbered| match &numbered.answer {
            Ok(ActionResult::Row(row)) => Some(row),
            Ok(
                ActionResult::Done
                | ActionResult::Exists(_)
                | ActionResult::Service(_)
                | ActionResult::Nothing,
            )
            | Err(_) => None,
        });
        rows.flat_map(Row::cells)
    }

    /// Decodes a Multi response. A result without cells and without an existence flag becomes
    /// [`ActionResult::Done`] if it is entirely empty, otherwise an empty row.
    ///
    /// # Errors
    /// As [`result::from_proto`]; `Protocol` if an action has neither a result nor an exception.
    pub fn from_proto(response: proto::MultiResponse, block: &mut CellReader) -> Result<Self> {
        let regions = response.region_action_result.into_iter();
        let regions = regions.map(|region| {
            if let Some(exception) = region.exception {
                return Ok(Err(Exception::from_pair(exception).into_error()));
            }
            let processed = region.processed;
            let answers = region.result_or_exception.into_iter();
            let answers = answers.map(|one| answer_from_proto(one, processed.is_some(), block));
            let answers = answers.collect::<Result<_>>()?;
            Ok(Ok(RegionResult { processed, answers }))
        });
        Ok(Self { regions: regions.collect::<Result<_>>()? })
    }
}

fn region_to_proto(
    region: &Result<RegionResult>,
    cells_in: CellPlacement,
) -> proto::RegionActionResult {
    match region {
        Ok(region) => proto::RegionActionResult {
            processed: region.processed,
            result_or_exception: region
                .answers
                .iter()
                .map(|numbered| answer_to_proto(numbered, cells_in))
                .collect(),
            ..Default::default()
        },
        Err(error) => proto::RegionActionResult {
            exception: Some(Exception::from(error).to_pair()),
            ..Default::default()
        },
    }
}

fn answer_to_proto(numbered: &IndexedResult, cells_in: CellPlacement) -> proto::ResultOrException {
    let mut message =
        proto::ResultOrException { index: Some(numbered.index), ..Default::default() };
    match &numbered.answer {
        Ok(ActionResult::Done) => message.result = Some(proto::Result::default()),
        Ok(ActionResult::Row(row)) => message.result = Some(result::to_proto(row, cells_in)),
        Ok(ActionResult::Exists(exists)) => message.result = Some(result::existence(*exists)),
        Ok(ActionResult::Service(value)) => {
            let value = Some(value.clone());
            message.service_result = Some(proto::CoprocessorServiceResult { value });
        }
        Ok(ActionResult::Nothing) => {}
        Err(error) => message.exception = Some(Exception::from(error).to_pair()),
    }
    message
}

fn answer_from_proto(
    message: proto::ResultOrException,
    has_region_result: bool,
    block: &mut CellReader,
) -> Result<IndexedResult> {
    let index = message.index.unwrap_or_default();
    if let Some(proto::CoprocessorServiceResult { value }) = message.service_result {
        let answer = Ok(ActionResult::Service(value.unwrap_or_default()));
        return Ok(IndexedResult { index, answer });
    }
    let answer = match (message.exception, message.result) {
        (Some(exception), _) => Err(Exception::from_pair(exception).into_error()),
        (None, Some(result)) if result == proto::Result::default() => Ok(ActionResult::Done),
        (None, Some(result)) => {
            let read = result::from_proto(result, block)?;
            Ok(read.exists.map_or(ActionResult::Row(read.row), ActionResult::Exists))
        }
        (None, None) if has_region_result => Ok(ActionResult::Nothing),
        (None, None) => {
            let message = format!("an action has neither result nor exception: index={index}");
            return Err(Error::new(ErrorKind::Protocol, message));
        }
    };
    Ok(IndexedResult { index, answer })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use rowhouse_model::{CellKind, CompareOperator, Condition, Put, Timestamp};

    use super::*;
    use crate::rpc::{CellBlock, CellCodec};

    fn block<'a>(cells: impl IntoIterator<Item: Into<KeyValue<'a>>>) -> CellReader {
        let mut block = CellBlock::new(CellCodec::KeyValue);
        cells.into_iter().for_each(|cell| block.push(cell));
        CellReader::new(CellCodec::KeyValue, Bytes::copy_from_slice(block.as_bytes()))
    }

    fn put(row: &'static str) -> Mutation {
        Put::new(row).unwrap().add("cf", "q", row).unwrap().into()
    }

    fn call() -> MultiCall {
        let numbered = |(index, action)| IndexedAction { index, action: Ok(action) };
        let actions = [
            (0, Action::Mutate(put("a"), None)),
            (2, Action::Get(Get::new("b").unwrap())),
            (3, Action::Mutate(put("c"), Some(Nonce { group: 1, number: 2 }))),
        ];
        let region = RegionActions {
            region: RegionRef::encoded("x"),
            atomic: false,
            condition: None,
            actions: Ok(actions.map(numbered).into()),
        };
        MultiCall { regions: vec![region] }
    }

    fn conditional() -> MultiCall {
        let mut call = call();
        let condition = Condition::value("cf", "q", CompareOperator::Less, "v");
        call.regions[0].condition = Some(RowCondition { row: "a".into(), condition });
        call.regions[0].atomic = true;
        call
    }

    #[test]
    fn calls_come_back() {
        for call in [call(), conditional()] {
            let (message, cells) = call.to_proto().unwrap();
            let read = MultiCall::from_proto(message, &mut block(&cells)).unwrap();
            assert_eq!(format!("{read:?}"), format!("{call:?}"));
        }
    }

    #[test]
    fn a_condition_on_the_whole_call_is_one_on_its_region() {
        let (mut message, cells) = conditional().to_proto().unwrap();
        message.condition = message.region_action[0].condition.take();
        let read = MultiCall::from_proto(message, &mut block(&cells)).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", conditional()));
    }

    #[test]
    fn a_refused_action_leaves_the_cells_of_the_next_one_alone() {
        let (mut message, cells) = call().to_proto().unwrap();
        let actions = &mut message.region_action[0].action;
        let first = actions[0].mutation.as_mut().unwrap();
        first.row = Some("".into());
        actions[1] = proto::Action { index: Some(2), ..Default::default() };
        let read = MultiCall::from_proto(message, &mut block(&cells)).unwrap();
        let actions = read.regions[0].actions.as_ref().unwrap();
        assert_eq!(actions[0].action.as_ref().unwrap_err().kind(), ErrorKind::InvalidRequest);
        assert_eq!(actions[1].action.as_ref().unwrap_err().kind(), ErrorKind::InvalidRequest);
        let Ok(Action::Mutate(mutation, _)) = &actions[2].action else { panic!() };
        assert_eq!(*mutation, put("c"));
    }

    #[test]
    fn a_refused_condition_refuses_its_region_and_missing_cells_the_call() {
        let (mut message, cells) = call().to_proto().unwrap();
        assert!(MultiCall::from_proto(message.clone(), &mut block(&cells[..1])).is_err());
        message.region_action[0].condition = Some(proto::Condition::default());
        let read = MultiCall::from_proto(message, &mut block(&cells)).unwrap();
        assert_eq!(read.regions[0].actions.as_ref().unwrap_err().kind(), ErrorKind::InvalidRequest);
    }

    #[test]
    fn answers_come_back() {
        let cell = Cell::new("r", "cf", "q", Timestamp::MIN, CellKind::Put, "v").unwrap();
        let answers = [
            (1, Ok(ActionResult::Done)),
            (0, Ok(ActionResult::Row(Row::new(vec![cell])))),
            (2, Ok(ActionResult::Row(Row::default()))),
            (3, Ok(ActionResult::Exists(true))),
            (4, Err(Error::new(ErrorKind::NoSuchColumnFamily, "cf"))),
        ];
        let numbered = answers.map(|(index, answer)| IndexedResult { index, answer });
        let each = RegionResult::each(numbered.into());
        let moved = Err(Error::new(ErrorKind::NotServingRegion, "x"));
        let cell = Cell::new("s", "cf", "n", Timestamp::MIN, CellKind::Put, "v").unwrap();
        let grown = RegionResult::all(true, 3, Some(Row::new(vec![cell])));
        assert_eq!(grown.answers.len(), 3);
        assert_eq!(grown.row().len(), 1);
        let left = RegionResult::all(false, 2, None);
        let answer = MultiResult { regions: vec![Ok(each), moved, Ok(grown), Ok(left)] };
        for cells_in in [CellPlacement::Block, CellPlacement::Message] {
            let cells: Vec<_> =
                answer.cells().filter(|_| cells_in == CellPlacement::Block).collect();
            let read =
                MultiResult::from_proto(answer.to_proto(cells_in), &mut block(cells)).unwrap();
            assert_eq!(format!("{read:?}"), format!("{answer:?}"));
        }
    }
}
