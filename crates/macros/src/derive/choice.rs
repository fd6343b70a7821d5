//! `#[derive(FormChoice)]`: the variants of an enum as what there is to choose from.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields};

use super::{Names, runtime};
use crate::docs::Docs;
use crate::options::Options;
use crate::problems::Problems;

pub(crate) fn choice(input: &DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let mut krate = None;
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("form")) {
        let mut options = Options::of(attr, &mut problems);
        krate = options.literal("crate", &mut problems);
        options.finish("`#[form]` on an enum", &["crate"], &mut problems);
    }
    let rt = runtime(krate, &mut problems);
    if !input.generics.params.is_empty() {
        problems.at(&input.generics, "a choice cannot be generic");
    }
    let Data::Enum(data) = &input.data else {
        problems.at(&input.ident, "a choice is an enum whose variants have no fields");
        return problems.into_tokens();
    };
    if data.variants.is_empty() {
        problems.at(&input.ident, "a choice has at least one variant");
    }
    let names = Names::of(&input.attrs);
    let mut options = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            problems.at(&variant.fields, "a variant that is chosen has no fields");
        }
        let own = Names::of(&variant.attrs);
        if own.skip {
            continue;
        }
        let name = variant.ident.unraw().to_string();
        let value = own.rename.unwrap_or_else(|| match names.rename_all {
            Some(rule) => rule.variant(&name),
            None => name,
        });
        let mut title = None;
        for attr in variant.attrs.iter().filter(|attr| attr.path().is_ident("form")) {
            let mut options = Options::of(attr, &mut problems);
            title = options.text("title", &mut problems).map(|title| quote!(#title));
            options.finish("`#[form]` on a variant", &["title"], &mut problems);
        }
        let title = title.or_else(|| Docs::of(&variant.attrs).map(|docs| docs.tokens()));
        let title = title.map(|title| quote!(.with_title(#title)));
        options.push(quote!(#rt::protocol::ChoiceOption::new(#value) #title));
    }
    if !problems.is_empty() {
        return problems.into_tokens();
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
