//! Names with values, as procedures carry them.

use rowhouse_model::{Error, Result};

use crate::proto::{NameStringPair, ProcedureDescription};

/// Returns a name with the value.
pub(super) fn pair(name: &str, value: impl ToString) -> NameStringPair {
    NameStringPair { name: name.to_owned(), value: value.to_string() }
}

/// Returns the value with this name, if the procedure has one.
pub(super) fn value<'a>(procedure: &'a ProcedureDescription, name: &str) -> Option<&'a str> {
    let named = procedure.configuration.iter().find(|pair| pair.name == name);
    named.map(|pair| pair.value.as_str())
}

/// Returns the value with this name.
///
/// # Errors
/// `InvalidRequest` if the procedure has none.
pub(super) fn needed<'a>(procedure: &'a ProcedureDescription, name: &str) -> Result<&'a str> {
    value(procedure, name).ok_or_else(|| {
        let signature = &procedure.signature;
        Error::invalid(format!("a procedure {signature} needs a value: missing={name}"))
    })
}
