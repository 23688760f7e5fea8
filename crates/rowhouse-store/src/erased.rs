//! A value whose type cannot be named in the layer that holds it.

use std::any::Any;

/// A value of one type, which the layer that made it knows.
pub(crate) struct Erased(Box<dyn Any + Send + Sync>);

impl Erased {
    pub(crate) fn new(value: impl Any + Send + Sync) -> Self {
        Self(Box::new(value))
    }

    /// Returns the value.
    ///
    /// # Panics
    /// If the value has another type.
    pub(crate) fn get<T: Any>(&self) -> &T {
        self.0.downcast_ref().expect("the type of the value is known")
    }
}
