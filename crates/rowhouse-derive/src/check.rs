//! Compile-time checks that Rust types can hold the template's values. Only the compiler can
//! resolve a type's name, so this generates assertions, each with the error message.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use rowhouse_schema::{Field, Holds};
use syn::spanned::Spanned;

use crate::input::Member;

/// Returns the assertion that a member can be a field.
pub(crate) fn assertion(field: &Field, member: &Member, facade: &TokenStream) -> TokenStream {
    let needs = field.needs();
    let name = field.name();
    let shown = shown(member.rust_type.to_token_stream());
    let expected = needs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    let not = (!field.is_nullable()).then(|| quote!(!));
    let null_message = if field.is_nullable() {
        format!(
            "field `{name}`: `{field}` may be null, which `{shown}` cannot be: use an Option of {expected}"
        )
    } else {
        format!(
            "field `{name}`: `{field}` always has a value, and `{shown}` may have none: use {expected}, or add \
             null first or null last to the template"
        )
    };
    let message = format!("field `{name}`: `{shown}` cannot hold every `{field}`: use {expected}");
    let needs = needs.iter().map(|needs| holds(*needs, facade));
    let rust_type = with_static_lifetimes(member.rust_type.to_token_stream());
    quote_spanned! { member.rust_type.span()=>
        const _: () = {
            ::core::assert!(#not <#rust_type as #facade::ToField>::NULLABLE, "{}", #null_message);
            ::core::assert!(
                #(<#rust_type as #facade::ToField>::HOLDS.covers(#needs))||*, "{}", #message
            );
        };
    }
}

/// Returns an expression for a value set that a field requires.
fn holds(holds: Holds, facade: &TokenStream) -> TokenStream {
    match holds {
        Holds::Text => quote!(#facade::Holds::Text),
        Holds::Bytes => quote!(#facade::Holds::Bytes),
        Holds::Array { len } => quote!(#facade::Holds::Array { len: #len }),
        Holds::Whole { min, max } => quote!(#facade::Holds::Whole { min: #min, max: #max }),
        Holds::Float { bytes } => quote!(#facade::Holds::Float { bytes: #bytes }),
        Holds::Bool => quote!(#facade::Holds::Bool),
        Holds::Decimal => quote!(#facade::Holds::Decimal),
        Holds::Uuid => quote!(#facade::Holds::Uuid),
        Holds::Ipv4 => quote!(#facade::Holds::Ipv4),
        Holds::Date => quote!(#facade::Holds::Date),
        Holds::Time => quote!(#facade::Holds::Time),
        other => {
            let message = format!("rowhouse-derive is older than rowhouse-schema: {other:?}");
            quote!(::core::compile_error!(#message))
        }
    }
}

/// Formats a type in the usual style: spaces between words, and after commas and semicolons.
fn shown(tokens: TokenStream) -> String {
    let mut text = String::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let inside = shown(group.stream());
                text.push_str(&match group.delimiter() {
                    Delimiter::Bracket => format!("[{inside}]"),
                    Delimiter::Parenthesis => format!("({inside})"),
                    Delimiter::Brace => format!("{{{inside}}}"),
                    Delimiter::None => inside,
                });
            }
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => {
                text.push(punct.as_char());
                text.push(' ');
            }
            TokenTree::Punct(punct) => text.push(punct.as_char()),
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                if text.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    text.push(' ');
                }
                text.push_str(&token.to_string());
            }
        }
    }
    text
}

/// Returns the type for use outside the struct, where its lifetimes are unknown.
fn with_static_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut quote_before = false;
    let token = |token| {
        let is_lifetime = std::mem::replace(
            &mut quote_before,
            matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\''),
        );
        match token {
            TokenTree::Ident(ident) if is_lifetime => {
                TokenTree::Ident(Ident::new("static", located(ident.span())))
            }
            TokenTree::Group(group) => {
                let inside = with_static_lifetimes(group.stream());
                let mut changed = Group::new(group.delimiter(), inside);
                changed.set_span(group.span());
                TokenTree::Group(changed)
            }
            other => other,
        }
    };
    tokens.into_iter().map(token).collect()
}

/// Returns a span with the same location that resolves names at the macro's call site.
fn located(span: Span) -> Span {
    Span::call_site().located_at(span)
}
