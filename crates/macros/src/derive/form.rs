//! `#[derive(Form)]`: a struct as an elicitation form.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Field, Fields, Type};

use super::{SerdeAttributes, read_container};
use crate::diagnostics::Diagnostics;
use crate::docs::Docs;
use crate::options::AttributeOptions;
use crate::type_syntax;

/// Expands `#[derive(Form)]`.
pub(crate) fn form(input: &DeriveInput) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let rt = read_container(input, "form", "`#[form]` on a struct", "a form", &mut diagnostics);
    let Data::Struct(data) = &input.data else {
        diagnostics
            .error_at(&input.ident, "a form is a struct with named fields; for an enum derive `FormChoice`");
        return diagnostics.into_tokens();
    };
    let Fields::Named(fields) = &data.fields else {
        diagnostics
            .error_at(&input.ident, "a form is a struct with named fields: the names are shown to the user");
        return diagnostics.into_tokens();
    };
    let names = SerdeAttributes::parse(&input.attrs);
    let fields: Vec<TokenStream> =
        fields.named.iter().filter_map(|field| form_field(&rt, field, &names, &mut diagnostics)).collect();
    if !diagnostics.is_empty() {
        return diagnostics.into_tokens();
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

/// The type of a field, by its name. `Other` may be a choice.
#[derive(PartialEq)]
enum FieldShape {
    Text,
    Number,
    Boolean,
    Other,
}

/// Classifies the type of a field.
fn shape(ty: &Type) -> FieldShape {
    let Some(segment) = type_syntax::last_segment(ty) else { return FieldShape::Other };
    let name = segment.ident.to_string();
    match name.as_str() {
        "Option" => type_syntax::first_type_argument(segment).map_or(FieldShape::Other, shape),
        "String" => FieldShape::Text,
        "bool" => FieldShape::Boolean,
        _ if type_syntax::is_primitive(ty) => FieldShape::Number,
        _ => FieldShape::Other,
    }
}

/// Returns the form field of a struct field; `None` if it is skipped.
fn form_field(
    rt: &TokenStream,
    field: &Field,
    all: &SerdeAttributes,
    diagnostics: &mut Diagnostics,
) -> Option<TokenStream> {
    let ident = field.ident.as_ref()?;
    let names = SerdeAttributes::parse(&field.attrs);
    if names.skip {
        return None;
    }
    let name = ident.unraw().to_string();
    let name = names.rename.unwrap_or_else(|| match all.rename_all {
        Some(rule) => rule.apply_to_field(&name),
        None => name,
    });
    let (ty, shape) = (&field.ty, shape(&field.ty));
    let mut builder = quote_spanned!(type_syntax::call_site_span(ty)=> #rt::form_field::<#ty>(#name));
    if let Some(docs) = Docs::from_attributes(&field.attrs) {
        let docs = docs.to_expr();
        builder.extend(quote!(.description(#docs)));
    }
    if names.default || all.default {
        builder.extend(quote!(.optional()));
    }
    for attr in field.attrs.iter().filter(|attr| attr.path().is_ident("form")) {
        let mut options = AttributeOptions::from_attribute(attr, diagnostics);
        if let Some(title) = options.expr("title", diagnostics) {
            builder.extend(quote!(.title(#title)));
        }
        for (key, wanted, what, cast) in [
            ("min", FieldShape::Number, "a number", Some(quote!(f64))),
            ("max", FieldShape::Number, "a number", Some(quote!(f64))),
            ("min_length", FieldShape::Text, "a string", None),
            ("max_length", FieldShape::Text, "a string", None),
            ("format", FieldShape::Text, "a string", None),
        ] {
            let Some(value) = options.expr(key, diagnostics) else { continue };
            if shape != wanted {
                diagnostics.error_at(&value, format_args!("`{key}` is for {what}, which `{ident}` is not"));
            }
            if key == "format" {
                check_format(&value, diagnostics);
            }
            let setter = proc_macro2::Ident::new(key, proc_macro2::Span::call_site());
            let cast = cast.map(|cast| quote!(as #cast));
            builder.extend(quote!(.#setter(#value #cast)));
        }
        if let Some(default) = options.expr("default", diagnostics) {
            builder.extend(quote!(.default(#rt::serde_json::json!(#default))));
        }
        options.reject_unknown(
            "`#[form]` on a field",
            &["title", "min", "max", "min_length", "max_length", "format", "default"],
            diagnostics,
        );
    }
    Some(builder)
}

fn check_format(value: &syn::Expr, diagnostics: &mut Diagnostics) {
    let known = ["email", "uri", "date", "date-time"];
    if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = value
        && !known.contains(&text.value().as_str())
    {
        diagnostics.error_at(text, "the formats of a form are `email`, `uri`, `date` and `date-time`");
    }
}
