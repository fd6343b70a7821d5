//! `#[derive(Form)]`: the fields of a struct as what a user is asked.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Field, Fields, Type};

use super::{Names, runtime};
use crate::docs::Docs;
use crate::options::Options;
use crate::problems::Problems;
use crate::ty;

pub(crate) fn form(input: &DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let mut krate = None;
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("form")) {
        let mut options = Options::of(attr, &mut problems);
        krate = options.literal("crate", &mut problems);
        options.finish("`#[form]` on a struct", &["crate"], &mut problems);
    }
    let rt = runtime(krate, &mut problems);
    if !input.generics.params.is_empty() {
        problems.at(&input.generics, "a form cannot be generic");
    }
    let Data::Struct(data) = &input.data else {
        problems.at(&input.ident, "a form is a struct with named fields; for an enum derive `FormChoice`");
        return problems.into_tokens();
    };
    let Fields::Named(fields) = &data.fields else {
        problems.at(&input.ident, "a form is a struct with named fields: the names are shown to the user");
        return problems.into_tokens();
    };
    let names = Names::of(&input.attrs);
    let fields: Vec<TokenStream> =
        fields.named.iter().filter_map(|field| asked(&rt, field, &names, &mut problems)).collect();
    if !problems.is_empty() {
        return problems.into_tokens();
    }
    let ident = &input.ident;
    quote! {
        impl #rt::Form for #ident {
            fn form() -> #rt::protocol::FormSchema {
                #rt::form_schema([#(#fields),*])
            }
        }
    }
}

/// What a field looks like; anything may be a choice.
#[derive(PartialEq)]
enum Looks {
    Text,
    Number,
    Truth,
    Other,
}

fn looks(ty: &Type) -> Looks {
    let Some(word) = ty::last_word(ty) else { return Looks::Other };
    let name = word.ident.to_string();
    match name.as_str() {
        "Option" => ty::argument(word).map_or(Looks::Other, looks),
        "String" => Looks::Text,
        "bool" => Looks::Truth,
        _ if ty::is_primitive(ty) => Looks::Number,
        _ => Looks::Other,
    }
}

fn asked(rt: &TokenStream, field: &Field, all: &Names, problems: &mut Problems) -> Option<TokenStream> {
    let ident = field.ident.as_ref()?;
    let names = Names::of(&field.attrs);
    if names.skip {
        return None;
    }
    let name = ident.unraw().to_string();
    let name = names.rename.unwrap_or_else(|| match all.rename_all {
        Some(rule) => rule.field(&name),
        None => name,
    });
    let (ty, looks) = (&field.ty, looks(&field.ty));
    let mut made = quote_spanned!(ty::at(ty)=> #rt::form_field::<#ty>(#name));
    if let Some(docs) = Docs::of(&field.attrs) {
        let docs = docs.tokens();
        made.extend(quote!(.description(#docs)));
    }
    if names.default || all.default {
        made.extend(quote!(.optional()));
    }
    for attr in field.attrs.iter().filter(|attr| attr.path().is_ident("form")) {
        let mut options = Options::of(attr, problems);
        if let Some(title) = options.text("title", problems) {
            made.extend(quote!(.title(#title)));
        }
        for (key, wanted, what, cast) in [
            ("min", Looks::Number, "a number", Some(quote!(f64))),
            ("max", Looks::Number, "a number", Some(quote!(f64))),
            ("min_length", Looks::Text, "a text", None),
            ("max_length", Looks::Text, "a text", None),
            ("format", Looks::Text, "a text", None),
        ] {
            let Some(value) = options.text(key, problems) else { continue };
            if looks != wanted {
                problems.at(&value, format_args!("`{key}` is for {what}, which `{ident}` is not"));
            }
            if key == "format" {
                check_format(&value, problems);
            }
            let setter = proc_macro2::Ident::new(key, proc_macro2::Span::call_site());
            let cast = cast.map(|cast| quote!(as #cast));
            made.extend(quote!(.#setter(#value #cast)));
        }
        if let Some(default) = options.text("default", problems) {
            made.extend(quote!(.default(#rt::serde_json::json!(#default))));
        }
        options.finish(
            "`#[form]` on a field",
            &["title", "min", "max", "min_length", "max_length", "format", "default"],
            problems,
        );
    }
    Some(made)
}

fn check_format(value: &syn::Expr, problems: &mut Problems) {
    let known = ["email", "uri", "date", "date-time"];
    if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = value
        && !known.contains(&text.value().as_str())
    {
        problems.at(text, "the formats of a form are `email`, `uri`, `date` and `date-time`");
    }
}
