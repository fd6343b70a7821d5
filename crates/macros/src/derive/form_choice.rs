//! `#[derive(FormChoice)]`: an enum as a choice field of a form.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields, Variant};

use super::{SerdeAttributes, read_container};
use crate::diagnostics::Diagnostics;
use crate::docs::Docs;
use crate::options::AttributeOptions;

/// Expands `#[derive(FormChoice)]`.
pub(crate) fn form_choice(input: &DeriveInput) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let rt = read_container(input, "form", "`#[form]` on an enum", "a choice", &mut diagnostics);
    let Data::Enum(data) = &input.data else {
        diagnostics.error_at(&input.ident, "a choice is an enum whose variants have no fields");
        return diagnostics.into_tokens();
    };
    if data.variants.is_empty() {
        diagnostics.error_at(&input.ident, "a choice has at least one variant");
    }
    let names = SerdeAttributes::parse(&input.attrs);
    let options: Vec<TokenStream> = data
        .variants
        .iter()
        .filter_map(|variant| choice_option(&rt, variant, &names, &mut diagnostics))
        .collect();
    if !diagnostics.is_empty() {
        return diagnostics.into_tokens();
    }
    let ident = &input.ident;
    quote! {
        impl #rt::FormChoice for #ident {
            fn options() -> ::std::vec::Vec<#rt::protocol::ChoiceOption> {
                ::std::vec![#(#options),*]
            }
        }

        impl #rt::FormValue for #ident {
            fn field() -> #rt::protocol::FormField {
                #rt::choice_field::<Self>()
            }
        }
    }
}

/// Returns the option of a variant; `None` if it is skipped.
fn choice_option(
    rt: &TokenStream,
    variant: &Variant,
    names: &SerdeAttributes,
    diagnostics: &mut Diagnostics,
) -> Option<TokenStream> {
    if !matches!(variant.fields, Fields::Unit) {
        diagnostics.error_at(&variant.fields, "a variant of a choice has no fields");
    }
    let own = SerdeAttributes::parse(&variant.attrs);
    if own.skip {
        return None;
    }
    let name = variant.ident.unraw().to_string();
    let value = own.rename.unwrap_or_else(|| match names.rename_all {
        Some(rule) => rule.apply_to_variant(&name),
        None => name,
    });
    let mut title = None;
    for attr in variant.attrs.iter().filter(|attr| attr.path().is_ident("form")) {
        let mut options = AttributeOptions::from_attribute(attr, diagnostics);
        title = options.expr("title", diagnostics).map(|title| quote!(#title));
        options.reject_unknown("`#[form]` on a variant", &["title"], diagnostics);
    }
    let title = title.or_else(|| Docs::from_attributes(&variant.attrs).map(|docs| docs.to_expr()));
    let title = title.map(|title| quote!(.with_title(#title)));
    Some(quote!(#rt::protocol::ChoiceOption::new(#value) #title))
}
