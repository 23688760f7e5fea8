//! Converts Rust types to field values.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use crate::encode::Holds;
use crate::time::{Date, Time};
use crate::value::{Decimal, FieldValue, Uuid, Value};

/// A Rust type for [`RowKey`](super::RowKey) fields.
///
/// # Example: how do I use a type of my own?
///
/// Convert it to and from the type that it wraps:
///
/// ```
/// use rowhouse_schema::{FieldValue, FromField, Holds, ToField};
///
/// struct UserId(u32);
///
/// impl ToField for UserId {
///     const HOLDS: Holds = u32::HOLDS;
///
///     fn to_field(&self) -> FieldValue<'_> {
///         self.0.to_field()
///     }
/// }
///
/// impl<'k> FromField<'k> for UserId {
///     fn from_field(value: FieldValue<'k>) -> Option<Self> {
///         u32::from_field(value).map(UserId)
///     }
/// }
///
/// assert!(UserId::from_field(UserId(7).to_field()).is_some());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a row key",
    label = "no type of a row key's field",
    note = "there are: String, &str and Cow<str>; integers, f32 and f64; bool; Vec<u8>, &[u8], Cow<[u8]> \
            and [u8; N]; Time, Date, Uuid, Ipv4Addr and Decimal; and Option of these",
    note = "a type of your own can be one by implementing `ToField` and `FromField`"
)]
pub trait ToField {
    /// The values that the type can hold.
    const HOLDS: Holds;

    /// True if the type can be null, which only `Option` can.
    const NULLABLE: bool = false;

    /// The field value.
    fn to_field(&self) -> FieldValue<'_>;
}

macro_rules! to_field {
    ($($type:ty: $holds:expr, |$value:ident| $field:expr;)*) => {
        $(impl ToField for $type {
            const HOLDS: Holds = $holds;

            #[inline]
            fn to_field(&self) -> FieldValue<'_> {
                let $value = self;
                $field
            }
        })*
    };
}

to_field! {
    String: Holds::Text, |text| text.as_str().into();
    &str: Holds::Text, |text| FieldValue::Text(Cow::Borrowed(text));
    Cow<'_, str>: Holds::Text, |text| text.as_ref().into();
    Vec<u8>: Holds::Bytes, |bytes| bytes.as_slice().into();
    &[u8]: Holds::Bytes, |bytes| FieldValue::Bytes(Cow::Borrowed(bytes));
    Cow<'_, [u8]>: Holds::Bytes, |bytes| bytes.as_ref().into();
    bool: Holds::Bool, |flag| Value::Bool(*flag).into();
    f32: Holds::Float { bytes: 4 }, |float| Value::from(*float).into();
    f64: Holds::Float { bytes: 8 }, |float| Value::from(*float).into();
    Decimal: Holds::Decimal, |number| Value::Decimal(*number).into();
    Uuid: Holds::Uuid, |uuid| Value::Uuid(*uuid).into();
    Ipv4Addr: Holds::Ipv4, |address| Value::Ipv4(*address).into();
    Date: Holds::Date, |date| Value::Date(*date).into();
    Time: Holds::Time, |time| Value::Time(*time).into();
}

macro_rules! integers {
    ($($type:ty)*) => {
        to_field! {
            $($type: Holds::Whole { min: <$type>::MIN as i128, max: upper(<$type>::MAX as u128) },
                |number| Value::from(*number).into();)*
        }
    };
}

integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

/// The maximum, limited to the number range in keys.
const fn upper(max: u128) -> i128 {
    if max > i128::MAX as u128 { i128::MAX } else { max as i128 }
}

impl<const N: usize> ToField for [u8; N] {
    const HOLDS: Holds = Holds::Array { len: N };

    #[inline]
    fn to_field(&self) -> FieldValue<'_> {
        self.as_slice().into()
    }
}

impl<T: ToField> ToField for Option<T> {
    const HOLDS: Holds = T::HOLDS;
    const NULLABLE: bool = {
        assert!(!T::NULLABLE, "an Option of an Option cannot be told from an Option");
        true
    };

    #[inline]
    fn to_field(&self) -> FieldValue<'_> {
        self.as_ref().map_or(FieldValue::NULL, T::to_field)
    }
}
