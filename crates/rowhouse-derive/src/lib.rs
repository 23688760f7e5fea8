//! Structs that are row keys.
//!
//! The template is parsed at compile time: a mistake in it, or a field whose Rust type cannot hold
//! the template's values, is a compile error.
//!
//! ```
//! use rowhouse_derive::RowKey;
//! use rowhouse_schema::{FromRowKey, RowKey, Time};
//!
//! #[derive(RowKey, Debug, PartialEq)]
//! #[key("[blogger text]_[at millis digits desc]")]
//! struct Post {
//!     blogger: String,
//!     at: Time,
//! }
//!
//! let post = Post { blogger: "123".into(), at: Time::parse("2022-12-24T18:00")? };
//! let mut key = Vec::new();
//! post.encode_key(&mut key)?;
//! assert_eq!(key, b"123_9223370364949975807");
//! assert_eq!(Post::decode_key(&key)?, post);
//! # Ok::<(), rowhouse_model::Error>(())
//! ```
//!
//! # Which Rust types?
//!
//! Struct fields are the stored template fields, by name, in any order. A type fits if it can hold
//! every field value; encoding refuses other values of the type.
//!
//! | field | Rust type |
//! |---|---|
//! | `string`, `text`, `text N`, `domain`, `hex N`, `enum(…)` | `String`, `&str`, `Cow<str>` |
//! | `u8` … `u64`, `i8` … `i64`, `digits N`, `decimal` | an integer in the range |
//! | `millis`, `micros`, `nanos`, `seconds`, `ymdhms` | `Time`, or an integer that counts units |
//! | `ymdhm` · `date`, `ymd` | `Time` · `Date` |
//! | `f32`, `f64` · `bool` | `f32`, `f64` · `bool` |
//! | `blob` · `bytes N` | `Vec<u8>`, `&[u8]`, `Cow<[u8]>` · these and `[u8; N]` |
//! | decimal numbers in other systems (`phoenix.decimal` …) | `Decimal` |
//! | `uuid` | `Uuid`, `[u8; 16]` |
//! | `ipv4` | `std::net::Ipv4Addr`, `u32` |
//! | any with `null first` or `null last` | `Option` of these |
//!
//! Your own type fits if the type that it wraps does, see `ToField`. A `repeat` fits no Rust type
//! here.
//!
//! # Which structs can be decoded?
//!
//! `FromRowKey` is implemented beside `RowKey`, unless keys do not hold the struct's values: a
//! hashed field's value, or a `&str` or `&[u8]` whose bytes differ from those in the key. `Cow`
//! borrows if it can.
//!
//! ```
//! use rowhouse_derive::RowKey;
//! use rowhouse_schema::{FromRowKey, RowKey};
//!
//! #[derive(RowKey)]
//! #[key("[metric text]#[at millis digits 13]")]
//! struct Sample<'k> {
//!     at: u64,
//!     metric: &'k str,
//! }
//!
//! let sample = Sample::decode_key(b"cpu#1425330757685")?;
//! assert_eq!((sample.metric, sample.at), ("cpu", 1_425_330_757_685));
//! # Ok::<(), rowhouse_schema::KeyMismatch>(())
//! ```

mod check;
mod input;
mod write;

use proc_macro::TokenStream;
use quote::quote;

/// Implements `RowKey`, and `FromRowKey` if keys can be decoded, from the crate `rowhouse-schema`.
#[proc_macro_derive(RowKey, attributes(key))]
pub fn row_key(input: TokenStream) -> TokenStream {
    derive(input, &quote!(::rowhouse_schema))
}

/// As [`RowKey`](macro@RowKey), for programs that depend on the crate `rowhouse`, which re-exports
/// this macro as `RowKey`.
#[proc_macro_derive(FacadeRowKey, attributes(key))]
pub fn facade_row_key(input: TokenStream) -> TokenStream {
    derive(input, &quote!(::rowhouse::key))
}

fn derive(input: TokenStream, facade: &proc_macro2::TokenStream) -> TokenStream {
    let expanded = syn::parse(input)
        .and_then(|input| input::KeyStruct::read(&input))
        .map(|row| write::implementations(&row, facade));
    expanded.unwrap_or_else(|error| error.into_compile_error()).into()
}
