//! Converts field values to Rust types.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use super::ToField;
use crate::time::{Date, Time};
use crate::value::{Decimal, FieldValue, Uuid, Value};

/// A Rust type that can be decoded from a key's field; [`ToField`] has an example.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be read from a row key")]
pub trait FromField<'k>: ToField + Sized {
    /// Converts the value to this type; `None` if the type cannot hold it.
    fn from_field(value: FieldValue<'k>) -> Option<Self>;
}

macro_rules! from_field {
    ($($type:ty: $($pattern:pat => $value:expr),*;)*) => {
        $(impl<'k> FromField<'k> for $type {
            #[inline]
            fn from_field(value: FieldValue<'k>) -> Option<Self> {
                match value {
                    $($pattern => $value,)*
                    _ => None,
                }
            }
        })*
    };
}

/// Converts the number, if an `f32` can hold it exactly.
fn narrowed(number: f64) -> Option<f32> {
    let narrow = number as f32;
    (f64::from(narrow) == number).then_some(narrow)
}

from_field! {
    String: FieldValue::Text(text) => Some(text.into_owned()),
        FieldValue::Other(Value::Text(text)) => Some(text);
    &'k str: FieldValue::Text(Cow::Borrowed(text)) => Some(text);
    Cow<'k, str>: FieldValue::Text(text) => Some(text),
        FieldValue::Other(Value::Text(text)) => Some(text.into());
    Vec<u8>: FieldValue::Bytes(bytes) => Some(bytes.into_owned());
    &'k [u8]: FieldValue::Bytes(Cow::Borrowed(bytes)) => Some(bytes);
    Cow<'k, [u8]>: FieldValue::Bytes(bytes) => Some(bytes);
    bool: FieldValue::Other(Value::Bool(flag)) => Some(flag);
    f32: FieldValue::Other(Value::Float(float)) => narrowed(float.get());
    f64: FieldValue::Other(Value::Float(float)) => Some(float.get());
    Decimal: FieldValue::Other(Value::Decimal(number)) => Some(number);
    Uuid: FieldValue::Other(Value::Uuid(uuid)) => Some(uuid);
    Ipv4Addr: FieldValue::Other(Value::Ipv4(address)) => Some(address);
    Date: FieldValue::Other(Value::Date(date)) => Some(date);
    Time: FieldValue::Other(Value::Time(time)) => Some(time);
}

macro_rules! integers {
    ($($type:ty)*) => {
        from_field! {
            $($type: FieldValue::Other(Value::Signed(number)) => number.try_into().ok(),
                FieldValue::Other(Value::Unsigned(number)) => number.try_into().ok();)*
        }
    };
}

integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

impl<'k, const N: usize> FromField<'k> for [u8; N] {
    #[inline]
    fn from_field(value: FieldValue<'k>) -> Option<Self> {
        match value {
            FieldValue::Bytes(bytes) => bytes.as_ref().try_into().ok(),
            FieldValue::Other(Value::Uuid(uuid)) => uuid.as_bytes().as_slice().try_into().ok(),
            _ => None,
        }
    }
}

impl<'k, T: FromField<'k>> FromField<'k> for Option<T> {
    #[inline]
    fn from_field(value: FieldValue<'k>) -> Option<Self> {
        match value {
            FieldValue::NULL => Some(None),
            value => T::from_field(value).map(Some),
        }
    }
}
