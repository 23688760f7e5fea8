//! Types of other systems, in builds without the feature `foreign`: there are none.
//!
//! Each type here has the name of one in `foreign` and no values, so the compiler removes the code
//! for them. Templates with a word of another system are refused when they are parsed
//! (`template/bracket.rs`).

use std::fmt;

use super::{Body, Marker, OrdinalDomain, Shape};
use crate::error::KeyMismatch;
use crate::transform::NullPlace;
use crate::value::Value;

/// A type of another system: `java.long`, `phoenix.varchar`, … Without the feature `foreign` there
/// are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForeignType {}

impl ForeignType {
    /// Returns `None`: there are no types.
    pub(crate) fn named(_word: &str) -> Option<Self> {
        None
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        std::iter::empty()
    }

    /// Its name in templates, without a width.
    pub fn name(&self) -> &'static str {
        match *self {}
    }

    /// The number after the name: the width in bytes.
    pub fn width(&self) -> Option<u16> {
        match *self {}
    }

    pub(crate) fn has_width(&self) -> bool {
        match *self {}
    }

    pub(crate) fn set_width(&mut self, _width: u16) {
        match *self {}
    }

    pub(crate) fn has_desc(&self) -> bool {
        match *self {}
    }

    pub(crate) fn with_desc(&self) -> Option<&'static str> {
        match *self {}
    }

    pub(crate) fn is_open(&self, _desc: bool) -> bool {
        match *self {}
    }

    pub(crate) fn domain(&self) -> Option<OrdinalDomain> {
        match *self {}
    }

    pub(crate) fn lead(&self, _is_nullable: bool, _desc: bool) -> Marker {
        match *self {}
    }

    pub(crate) fn null_place(&self, _desc: bool) -> Option<NullPlace> {
        match *self {}
    }

    pub(crate) fn body(&self, _desc: bool) -> Body {
        match *self {}
    }
}

impl fmt::Display for ForeignType {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

pub(crate) fn java_remainder() -> Shape {
    unreachable!("templates with java.hashcode are refused when they are parsed")
}

/// The encoding of a number in another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteMapping {}

impl ByteMapping {
    pub(crate) fn is_flag(self) -> bool {
        match self {}
    }

    pub(crate) fn width(self) -> Option<usize> {
        match self {}
    }

    pub(crate) fn len(self, _head: [Option<u8>; 2]) -> Result<usize, &'static str> {
        match self {}
    }

    pub(crate) fn order_break(self) -> Option<OrderBreak> {
        match self {}
    }

    pub(crate) fn write(self, _number: i128, _out: &mut Vec<u8>) {
        match self {}
    }

    pub(crate) fn read(self, _bytes: &[u8]) -> Option<i128> {
        match self {}
    }
}

/// A break in the order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrderBreak {
    pub(crate) at: i128,
    pub(crate) lower_is_descending: bool,
}

/// The container of a decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numeric {}

impl Numeric {
    pub(crate) fn is_desc(self) -> bool {
        match self {}
    }

    pub(crate) fn put(self, _bytes: &[u8], _out: &mut Vec<u8>) {
        match self {}
    }

    pub(crate) fn cut(self, _key: &[u8], _at: usize) -> Result<(Vec<u8>, usize), KeyMismatch> {
        match self {}
    }
}

/// The encoding of a decimal number in another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecimalEncoding {}

impl DecimalEncoding {
    pub(crate) fn bytes(self, _value: &Value) -> Result<Vec<u8>, String> {
        match self {}
    }

    pub(crate) fn part(self, _value: &Value) -> Result<Vec<u8>, String> {
        match self {}
    }

    pub(crate) fn value(self, _bytes: &[u8]) -> Option<Value> {
        match self {}
    }
}

/// The encoding of a whole number in another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerEncoding {}

impl IntegerEncoding {
    pub(crate) fn bytes(self, _value: &Value) -> Result<Vec<u8>, String> {
        match self {}
    }

    pub(crate) fn limits(self) -> (i128, i128) {
        match self {}
    }

    pub(crate) fn part(self, _value: &Value) -> Result<Vec<u8>, String> {
        match self {}
    }

    pub(crate) fn value(self, _bytes: &[u8]) -> Option<Value> {
        match self {}
    }
}
