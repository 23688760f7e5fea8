//! Values given by field name.

use super::Values;
use crate::value::Value;

/// The input for [`KeySchema::encode`](crate::KeySchema::encode): pairs with a field's name and
/// value in any order, in an array, a slice or a `Vec`; or [`Values`].
pub trait NamedValues: sealed::Sealed {
    /// How many pairs there are.
    fn len(&self) -> usize;

    /// The pair at a position below [`NamedValues::len`].
    fn pair(&self, at: usize) -> (&str, &Value);

    /// Returns true if there are no pairs.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<N: AsRef<str>> NamedValues for [(N, Value)] {
    fn len(&self) -> usize {
        self.len()
    }

    fn pair(&self, at: usize) -> (&str, &Value) {
        (self[at].0.as_ref(), &self[at].1)
    }
}

impl<N: AsRef<str>, const K: usize> NamedValues for [(N, Value); K] {
    fn len(&self) -> usize {
        K
    }

    fn pair(&self, at: usize) -> (&str, &Value) {
        (self[at].0.as_ref(), &self[at].1)
    }
}

impl<N: AsRef<str>> NamedValues for Vec<(N, Value)> {
    fn len(&self) -> usize {
        self.len()
    }

    fn pair(&self, at: usize) -> (&str, &Value) {
        (self[at].0.as_ref(), &self[at].1)
    }
}

impl NamedValues for Values {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn pair(&self, at: usize) -> (&str, &Value) {
        (self.schema().fields()[at].name(), &self.as_slice()[at])
    }
}

pub(crate) mod sealed {
    use super::{Value, Values};
    use crate::key::KeySchema;

    pub trait Sealed {
        /// The computed fields in the key from which these values were decoded, if it was a key
        /// with this template.
        fn computed(&self, schema: &KeySchema) -> Option<&[Value]> {
            let _ = schema;
            None
        }
    }

    impl<N: AsRef<str>> Sealed for [(N, Value)] {}
    impl<N: AsRef<str>, const K: usize> Sealed for [(N, Value); K] {}
    impl<N: AsRef<str>> Sealed for Vec<(N, Value)> {}

    impl Sealed for Values {
        fn computed(&self, schema: &KeySchema) -> Option<&[Value]> {
            (self.schema() == schema).then(|| self.computed_values())
        }
    }
}
