//! Decoding keys into Rust types.

use std::any::type_name;

use super::{FromField, RowKey};
use crate::encode::{Holds, ValueForm};
use crate::error::KeyMismatch;
use crate::field::Field;
use crate::key::KeyReader;

impl<'k> KeyReader<'_, 'k> {
    /// Decodes the next stored field.
    ///
    /// # Errors
    /// Returns an error if the key does not fit the template, if the Rust type cannot hold the
    /// value, and after the last field.
    #[inline]
    pub fn take<T: FromField<'k>>(&mut self) -> Result<T, KeyMismatch> {
        let form = match T::HOLDS {
            Holds::Whole { .. } => ValueForm::Number,
            _ => ValueForm::Own,
        };
        let at = self.offset();
        let held = |field: &Field, value| {
            T::from_field(value).ok_or_else(|| not_held(field, at, type_name::<T>()))
        };
        self.next(form, drop, held)?
    }

    /// Reads the elements after the last stored field, and checks the computed fields.
    ///
    /// # Errors
    /// Returns an error if the key does not fit the template or has more bytes after it.
    #[inline]
    pub fn finish<K: RowKey>(self, row: &K) -> Result<(), KeyMismatch> {
        self.end(drop, |at| row.field(at))
    }
}

#[cold]
fn not_held(field: &Field, at: usize, rust_type: &str) -> KeyMismatch {
    KeyMismatch::new(at, format!("field `{}`: not a value of the type {rust_type}", field.name))
}
