//! The derives: forms, choices, and errors that survive the wire.

mod choice;
mod error;
mod form;

pub(crate) use choice::choice;
pub(crate) use error::service_error;
pub(crate) use form::form;

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{Attribute, LitStr, Path, Token};

use crate::case::Rename;
use crate::problems::Problems;

/// What serde is told about names.
#[derive(Default)]
struct Names {
    rename_all: Option<Rename>,
    rename: Option<String>,
    default: bool,
    skip: bool,
}

impl Names {
    fn of(attrs: &[Attribute]) -> Self {
        let mut names = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
            // What is wrong here is serde's to tell.
            let _ = attr.parse_nested_meta(|meta| {
                let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                match word.as_str() {
                    "default" => names.default = true,
                    "skip" | "skip_deserializing" => names.skip = true,
                    _ => {}
                }
                if meta.input.peek(Token![=]) {
                    let value = meta.value()?.parse::<syn::Lit>()?;
                    if let syn::Lit::Str(text) = value {
                        match word.as_str() {
                            "rename" => names.rename = Some(text.value()),
                            "rename_all" => names.rename_all = Rename::of(&text.value()),
                            _ => {}
                        }
                    }
                } else if meta.input.peek(syn::token::Paren) {
                    let content;
                    syn::parenthesized!(content in meta.input);
                    content.parse::<TokenStream>()?;
                }
                Ok(())
            });
        }
        names
    }
}

/// What generated code refers to: `switchboard`, unless the attribute says another path.
fn runtime(path: Option<LitStr>, problems: &mut Problems) -> TokenStream {
    let Some(path) = path else { return quote!(::switchboard::__rt) };
    match Path::parse_mod_style.parse_str(&path.value()) {
        Ok(read) => quote!(#read::__rt),
        Err(_) => {
            problems.at(
                &path,
                "`crate` is the path of the crate `switchboard`, like `\"my_crate::switchboard\"`",
            );
            quote!(::switchboard::__rt)
        }
    }
}
