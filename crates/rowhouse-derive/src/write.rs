//! Generating the implementations.

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use rowhouse_schema::derived::{PlainNumber, PlainStep};
use rowhouse_schema::{Field, TimeUnit};
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, parse_quote};

use crate::check;
use crate::input::{KeyStruct, Member};

/// Returns all code derived for a struct. `facade` is the path to the crate or module that has the
/// traits.
pub(crate) fn implementations(row: &KeyStruct, facade: &TokenStream) -> TokenStream {
    let checks = row.fields().map(|(field, member)| check::assertion(field, member, facade));
    let plain = plain_steps(row);
    let row_key = row_key(row, plain.as_deref(), facade);
    let from_row_key = row
        .fields()
        .all(|(field, member)| is_readable(field, member))
        .then(|| from_row_key(row, plain.as_deref(), facade));
    quote! {
        #(#checks)*
        #row_key
        #from_row_key
    }
}

/// An element in a plain key, and the member.
enum EncodeStep<'r> {
    Literal(Vec<u8>),
    Text(&'r Member),
    Bytes(&'r Member),
    /// The member, the width and the padding.
    Padded(&'r Member, u16, u8),
    Number(&'r Member, PlainNumber),
}

fn plain_steps(row: &KeyStruct) -> Option<Vec<EncodeStep<'_>>> {
    let mut members = row.members.iter();
    let step = |step| {
        Some(match step {
            PlainStep::Literal(bytes) => EncodeStep::Literal(bytes),
            PlainStep::Text => EncodeStep::Text(members.next()?),
            PlainStep::Bytes => EncodeStep::Bytes(members.next()?),
            PlainStep::Padded { width, pad } => EncodeStep::Padded(members.next()?, width, pad),
            PlainStep::Number(number) => EncodeStep::Number(members.next()?, number),
        })
    };
    row.schema.plain_steps()?.into_iter().map(step).collect()
}

fn row_key(row: &KeyStruct, plain: Option<&[EncodeStep<'_>]>, facade: &TokenStream) -> TokenStream {
    let ident = &row.ident;
    let template = row.schema.to_string();
    let (generics, arguments, wheres) = row.generics.split_for_impl();
    let arms = row.members.iter().enumerate().map(|(at, Member { ident, rust_type })| {
        quote_spanned!(rust_type.span()=> #at => #facade::ToField::to_field(&self.#ident))
    });
    let encode_plain = plain.map(|steps| encode_plain(steps, facade));
    quote! {
        #[automatically_derived]
        impl #generics #facade::RowKey for #ident #arguments #wheres {
            fn schema() -> &'static #facade::KeySchema {
                static SCHEMA: ::std::sync::LazyLock<#facade::KeySchema> =
                    ::std::sync::LazyLock::new(|| {
                        #facade::KeySchema::parse(#template)
                            .expect("the template was read when this was compiled")
                    });
                &SCHEMA
            }

            #[inline]
            fn field(&self, at: usize) -> #facade::FieldValue<'_> {
                match at {
                    #(#arms,)*
                    _ => #facade::FieldValue::NULL,
                }
            }

            #encode_plain
        }
    }
}

fn encode_plain(steps: &[EncodeStep<'_>], facade: &TokenStream) -> TokenStream {
    let steps = steps.iter().map(|step| match step {
        EncodeStep::Literal(bytes) => {
            let bytes = Literal::byte_string(bytes);
            quote!(.literal(#bytes))
        }
        EncodeStep::Text(Member { ident, .. }) => quote!(.text(&self.#ident)),
        EncodeStep::Bytes(Member { ident, .. }) => quote!(.bytes(&self.#ident)),
        EncodeStep::Padded(Member { ident, .. }, width, pad) => {
            quote!(.padded(&self.#ident, #width, #pad))
        }
        EncodeStep::Number(Member { ident, .. }, number) => {
            let number = number_tokens(*number, facade);
            quote!(.number(&self.#ident, #number))
        }
    });
    quote! {
        #[inline]
        fn encode_plain(&self, out: &mut ::std::vec::Vec<u8>) -> bool {
            #facade::derived::PlainWriter::new(out) #(#steps)* .finish()
        }
    }
}

fn from_row_key(
    row: &KeyStruct,
    plain: Option<&[EncodeStep<'_>]>,
    facade: &TokenStream,
) -> TokenStream {
    let ident = &row.ident;
    let (_, arguments, _) = row.generics.split_for_impl();
    let (key, generics) = with_key_lifetime(&row.generics);
    let (generics, _, wheres) = generics.split_for_impl();
    let decode_plain = plain.map(|steps| decode_plain(row, steps, facade));
    let members = row.members.iter().map(|Member { ident, .. }| ident);
    quote! {
        #[automatically_derived]
        impl #generics #facade::FromRowKey<#key> for #ident #arguments #wheres {
            fn decode_key(
                key: &#key [u8],
            ) -> ::core::result::Result<Self, #facade::KeyMismatch> {
                #decode_plain
                let schema = <Self as #facade::RowKey>::schema();
                let mut reader = #facade::KeyReader::new(schema, key)?;
                let row = Self { #(#members: reader.take()?,)* };
                reader.finish(&row)?;
                ::core::result::Result::Ok(row)
            }
        }
    }
}

fn decode_plain(row: &KeyStruct, steps: &[EncodeStep<'_>], facade: &TokenStream) -> TokenStream {
    let members: Vec<_> = row.members.iter().map(|Member { ident, .. }| ident).collect();
    let values: Vec<_> = (0..members.len()).map(|at| format_ident!("value_{at}")).collect();
    let mut next = values.iter();
    let reads = steps.iter().map(|step| match step {
        EncodeStep::Literal(bytes) => {
            let bytes = Literal::byte_string(bytes);
            quote!(plain.literal(#bytes);)
        }
        EncodeStep::Text(_) => {
            let value = next.next();
            quote!(let #value = plain.text();)
        }
        EncodeStep::Bytes(_) => {
            let value = next.next();
            quote!(let #value = plain.bytes();)
        }
        EncodeStep::Padded(_, width, pad) => {
            let value = next.next();
            quote!(let #value = plain.padded(#width, #pad);)
        }
        EncodeStep::Number(_, number) => {
            let value = next.next();
            let number = number_tokens(*number, facade);
            quote!(let #value = plain.number(#number);)
        }
    });
    let reads: TokenStream = reads.collect();
    quote! {
        let mut plain = #facade::derived::PlainReader::new(key);
        #reads
        if plain.is_done() {
            if let (#(::core::option::Option::Some(#values),)*) = (#(#values,)*) {
                return ::core::result::Result::Ok(Self { #(#members: #values,)* });
            }
        }
    }
}

/// Returns a lifetime for the key, which outlives all lifetimes in the struct, and the generics
/// with it added.
fn with_key_lifetime(generics: &Generics) -> (Lifetime, Generics) {
    let key: Lifetime = parse_quote!('rowhouse_key);
    let mut with_key = generics.clone();
    let mut parameter = LifetimeParam::new(key.clone());
    parameter.bounds = generics.lifetimes().map(|lifetime| lifetime.lifetime.clone()).collect();
    with_key.params.insert(0, GenericParam::Lifetime(parameter));
    (key, with_key)
}

/// Returns true if the member's value can be decoded from a key.
fn is_readable(field: &Field, member: &Member) -> bool {
    !field.is_hashed()
        && (!is_borrowed(member.rust_type.to_token_stream()) || field.is_borrowable())
}

/// Returns true if the type contains a reference.
fn is_borrowed(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == '&',
        TokenTree::Group(group) => is_borrowed(group.stream()),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}

fn number_tokens(number: PlainNumber, facade: &TokenStream) -> TokenStream {
    let PlainNumber { bytes, signed, mirror, min, max, unit } = number;
    let mirror = optional(mirror.map(|mirror| quote!(#mirror)));
    let unit = optional(unit.map(|unit| match unit {
        TimeUnit::Seconds => quote!(#facade::TimeUnit::Seconds),
        TimeUnit::Millis => quote!(#facade::TimeUnit::Millis),
        TimeUnit::Micros => quote!(#facade::TimeUnit::Micros),
        TimeUnit::Nanos => quote!(#facade::TimeUnit::Nanos),
    }));
    quote! {
        #facade::derived::PlainNumber {
            bytes: #bytes, signed: #signed, mirror: #mirror, min: #min, max: #max, unit: #unit,
        }
    }
}

fn optional(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
