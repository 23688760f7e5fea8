//! Changes the state of all tables at once, for tests: rowhouse's own calls. They are sent as HBase
//! procedures, which every HBase client can call.

use rowhouse_model::{Error, Result};

use super::pairs::{pair, value};
use crate::proto;

/// The procedure's signature. The instance is the state's name.
pub(super) const SIGNATURE: &str = "rowhouse-state";

/// The name for the pair that holds the operation.
const OPERATION: &str = "operation";
const RESET: &str = "reset";
const SAVE: &str = "save";
const RESTORE: &str = "restore";
const DELETE: &str = "delete";

/// A state is a snapshot of each table, `rowhouse-state.STATE.NUMBER`.
const SNAPSHOT_PREFIX: &str = "rowhouse-state.";

/// Returns the name of a state's snapshot.
pub fn snapshot_name(state: &str, number: usize) -> String {
    format!("{SNAPSHOT_PREFIX}{state}.{number}")
}

/// Returns the state to which a snapshot belongs, if it belongs to one.
pub fn state_of(snapshot: &str) -> Option<&str> {
    let (state, number) = snapshot.strip_prefix(SNAPSHOT_PREFIX)?.rsplit_once('.')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !state.is_empty()).then_some(state)
}

/// A request to change the state of all tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateCall {
    /// Drops all tables, namespaces and snapshots, except saved states.
    Reset,
    /// Saves all tables under a name.
    Save {
        /// The state's name.
        name: String,
    },
    /// Replaces all tables by the saved ones.
    Restore {
        /// The state's name.
        name: String,
    },
    /// Deletes a saved state. Tables stay as they are.
    Delete {
        /// The state's name.
        name: String,
    },
}

/// Encodes a request.
pub fn call_to_proto(call: &StateCall) -> proto::ProcedureDescription {
    let (operation, name) = match call {
        StateCall::Reset => (RESET, None),
        StateCall::Save { name } => (SAVE, Some(name.clone())),
        StateCall::Restore { name } => (RESTORE, Some(name.clone())),
        StateCall::Delete { name } => (DELETE, Some(name.clone())),
    };
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: name,
        creation_time: None,
        configuration: vec![pair(OPERATION, operation)],
    }
}

/// Decodes a request.
///
/// # Errors
/// `InvalidRequest` for an unknown operation, and for one that lacks the state's name.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<StateCall> {
    let operation = value(procedure, OPERATION).unwrap_or_default();
    let name = || match procedure.instance() {
        "" => Err(Error::invalid(format!("a state needs a name: operation={operation}"))),
        name => Ok(name.to_owned()),
    };
    match operation {
        RESET => Ok(StateCall::Reset),
        SAVE => Ok(StateCall::Save { name: name()? }),
        RESTORE => Ok(StateCall::Restore { name: name()? }),
        DELETE => Ok(StateCall::Delete { name: name()? }),
        _ => Err(Error::invalid(format!(
            "a state is saved, restored or deleted, or tables are reset: operation={operation}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_belongs_to_the_state_of_its_whole_name() {
        for state in ["a", "a.0", "a.0.b"] {
            assert_eq!(state_of(&snapshot_name(state, 12)), Some(state));
        }
        for other in ["rowhouse-state.a.", "rowhouse-state.a", "rowhouse-state.0", "a.0", ""] {
            assert_eq!(state_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_call_survives_the_wire_and_mistakes_are_named() {
        let name = "golden".to_owned();
        let save = StateCall::Save { name: name.clone() };
        let restore = StateCall::Restore { name: name.clone() };
        for call in [StateCall::Reset, save.clone(), restore, StateCall::Delete { name }] {
            assert_eq!(call_from_proto(&call_to_proto(&call)).unwrap(), call);
        }
        let mut procedure = call_to_proto(&save);
        procedure.instance = None;
        let error = call_from_proto(&procedure).unwrap_err();
        assert_eq!(error.message(), "a state needs a name: operation=save");
        procedure.configuration[0].value = "drop".to_owned();
        let error = call_from_proto(&procedure).unwrap_err();
        assert!(error.message().ends_with("operation=drop"), "{error}");
    }
}
