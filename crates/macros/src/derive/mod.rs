//! The derive macros: forms, form choices and service errors.

mod form;
mod form_choice;
mod service_error;

pub(crate) use form::form;
pub(crate) use form_choice::form_choice;
pub(crate) use service_error::service_error;

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{Attribute, DeriveInput, LitStr, Path, Token};

use crate::case::RenameRule;
use crate::diagnostics::Diagnostics;
use crate::options::AttributeOptions;

/// The `#[serde]` attributes that determine names.
#[derive(Default)]
struct SerdeAttributes {
    rename_all: Option<RenameRule>,
    rename: Option<String>,
    default: bool,
    skip: bool,
}

impl SerdeAttributes {
    fn parse(attrs: &[Attribute]) -> Self {
        let mut names = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
            // serde reports errors in its attributes.
            let _ = attr.parse_nested_meta(|meta| {
                let segment = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                match segment.as_str() {
                    "default" => names.default = true,
                    "skip" | "skip_deserializing" => names.skip = true,
                    _ => {}
                }
                if meta.input.peek(Token![=]) {
                    let value = meta.value()?.parse::<syn::Lit>()?;
                    if let syn::Lit::Str(text) = value {
                        match segment.as_str() {
                            "rename" => names.rename = Some(text.value()),
                            "rename_all" => names.rename_all = RenameRule::from_serde(&text.value()),
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

/// Reads the options of a type that derives, and rejects generics. Returns the path of the runtime.
///
/// `place` is the attribute and `what` the type, as messages call them.
fn read_container(
    input: &DeriveInput,
    attribute: &str,
    place: &str,
    what: &str,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let mut krate = None;
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident(attribute)) {
        let mut options = AttributeOptions::from_attribute(attr, diagnostics);
        krate = options.string_literal("crate", diagnostics);
        options.reject_unknown(place, &["crate"], diagnostics);
    }
    let rt = runtime_path(krate, diagnostics);
    if !input.generics.params.is_empty() {
        diagnostics.error_at(&input.generics, format_args!("{what} cannot be generic"));
    }
    rt
}

/// Returns the path of the runtime module: in `switchboard`, unless the attribute names another crate path.
fn runtime_path(path: Option<LitStr>, diagnostics: &mut Diagnostics) -> TokenStream {
    let Some(path) = path else { return quote!(::switchboard::__rt) };
    match Path::parse_mod_style.parse_str(&path.value()) {
        Ok(read) => quote!(#read::__rt),
        Err(_) => {
            diagnostics.error_at(
                &path,
                "`crate` is the path of the crate `switchboard`, like `\"my_crate::switchboard\"`",
            );
            quote!(::switchboard::__rt)
        }
    }
}
