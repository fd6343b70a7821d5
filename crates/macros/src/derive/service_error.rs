//! `#[derive(ServiceError)]`: an error enum whose variants are transmitted to the typed client.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Fields, LitInt, LitStr, Meta, Variant};

use super::read_container;
use crate::diagnostics::Diagnostics;
use crate::type_syntax;

/// How a variant is encoded as a response.
enum ErrorEncoding {
    /// A tool error with this name, for the model to read.
    Tool(LitStr),
    /// The tool error `not_found`; a resource responds with the code for a missing resource.
    NotFound,
    /// Invalid arguments.
    InvalidParams,
    /// A JSON-RPC error with this code.
    Rpc(i32),
    /// The variant holds any other error.
    Other,
}

/// Expands `#[derive(ServiceError)]`.
pub(crate) fn service_error(input: &DeriveInput) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let rt =
        read_container(input, "service_error", "`#[service_error]`", "a service error", &mut diagnostics);
    let Data::Enum(data) = &input.data else {
        diagnostics.error_at(&input.ident, "a service error is an enum: each variant says how it is encoded");
        return diagnostics.into_tokens();
    };
    let mut variants = Vec::new();
    let mut codes = Vec::new();
    let (mut into, mut from) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        let Some(encoding) = parse_encoding(variant, &mut diagnostics) else { continue };
        check_distinct_code(variant, &encoding, &mut codes, &mut diagnostics);
        into.push(into_error_arm(&rt, variant, &encoding, &mut diagnostics));
        from.extend(from_error_check(&rt, variant, &encoding));
        variants.push((variant, encoding));
    }
    let other = find_other(&input.ident, &variants, &mut diagnostics);
    let (true, Some(other)) = (diagnostics.is_empty(), other) else { return diagnostics.into_tokens() };
    let ident = &input.ident;
    let uses_display = variants.iter().any(|(variant, encoding)| uses_display(variant, encoding));
    let displayed = uses_display.then(|| quote!(let __message = ::std::string::ToString::to_string(&self);));
    quote! {
        impl #rt::ServiceError for #ident {
            fn into_error(self) -> #rt::Error {
                #displayed
                match self { #(#into)* }
            }

            fn from_error(error: #rt::Error) -> Self {
                #(#from)*
                Self::#other(error)
            }
        }

        impl ::core::convert::From<#rt::Error> for #ident {
            fn from(error: #rt::Error) -> Self {
                <Self as #rt::ServiceError>::from_error(error)
            }
        }
    }
}

/// Checks that clients can tell a variant from those before it, whose codes are in `codes`.
fn check_distinct_code(
    variant: &Variant,
    encoding: &ErrorEncoding,
    codes: &mut Vec<String>,
    diagnostics: &mut Diagnostics,
) {
    let code = match encoding {
        ErrorEncoding::Tool(code) => format!("the code `{}`", code.value()),
        ErrorEncoding::Rpc(code) => format!("the code {code}"),
        ErrorEncoding::InvalidParams => "`#[invalid_params]`".to_owned(),
        ErrorEncoding::NotFound => "the code `not_found`".to_owned(),
        ErrorEncoding::Other => return,
    };
    if codes.contains(&code) {
        diagnostics.error_at(
            &variant.ident,
            format_args!("another variant has {code} already; callers could not tell them apart"),
        );
    }
    codes.push(code);
}

/// Returns the one variant that holds any other error.
fn find_other<'a>(
    ident: &Ident,
    variants: &[(&'a Variant, ErrorEncoding)],
    diagnostics: &mut Diagnostics,
) -> Option<&'a Ident> {
    let mut others = variants.iter().filter(|(_, encoding)| matches!(encoding, ErrorEncoding::Other));
    let Some((other, _)) = others.next() else {
        diagnostics.error_at(
            ident,
            "one variant must hold any other error: `#[other] Other(switchboard::service::Error)`; a connection can always fail",
        );
        return None;
    };
    for (duplicate, _) in others {
        diagnostics.error_at(&duplicate.ident, "one variant holds any other error; there is one already");
    }
    Some(&other.ident)
}

/// Parses the attribute that says how a variant is encoded.
fn parse_encoding(variant: &Variant, diagnostics: &mut Diagnostics) -> Option<ErrorEncoding> {
    let mut encoding = None;
    for attr in &variant.attrs {
        let read = if attr.path().is_ident("tool_error") {
            tool_code(attr, diagnostics).map(ErrorEncoding::Tool)
        } else if attr.path().is_ident("not_found") {
            if !matches!(attr.meta, Meta::Path(_)) {
                diagnostics.error_at(attr, "`#[not_found]` takes nothing");
            }
            Some(ErrorEncoding::NotFound)
        } else if attr.path().is_ident("invalid_params") {
            check_invalid_params(variant, diagnostics);
            Some(ErrorEncoding::InvalidParams)
        } else if attr.path().is_ident("rpc") {
            rpc_code(attr, diagnostics).map(ErrorEncoding::Rpc)
        } else if attr.path().is_ident("other") {
            if !has_one_field(variant) {
                diagnostics.error_at(
                    &variant.ident,
                    "this variant holds any other error: `Other(switchboard::service::Error)`",
                );
                return None;
            }
            Some(ErrorEncoding::Other)
        } else {
            continue;
        };
        if encoding.is_some() {
            diagnostics.error_at(attr, "a variant has one encoding");
        }
        // An invalid attribute was reported; it is not also missing.
        encoding = Some(read?);
    }
    // A variant that holds an `Error` needs no attribute.
    if encoding.is_none()
        && has_one_field(variant)
        && variant.fields.iter().all(|field| type_syntax::is_named(&field.ty, "Error"))
    {
        return Some(ErrorEncoding::Other);
    }
    if encoding.is_none() {
        diagnostics.error_at(
            &variant.ident,
            format_args!(
                "say how `{}` is encoded: `#[tool_error(\"code\")]` for the model to read, `#[not_found]`, \
                 `#[invalid_params]`, `#[rpc(-32001)]`, or `#[other]` for the one that holds any other error",
                variant.ident
            ),
        );
    }
    encoding
}

fn has_one_field(variant: &Variant) -> bool {
    matches!(&variant.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1)
}

fn tool_code(attr: &Attribute, diagnostics: &mut Diagnostics) -> Option<LitStr> {
    let code = attr.parse_args::<LitStr>().ok().filter(|code| !code.value().is_empty());
    match &code {
        None => diagnostics.error_at(attr, "say which error it is: `#[tool_error(\"not_found\")]`"),
        Some(code) if matches!(code.value().as_str(), "invalid_params" | "method_not_found") => {
            diagnostics.error_at(
                code,
                "this code is reserved by the protocol; for invalid arguments use `#[invalid_params]`",
            );
        }
        Some(_) => {}
    }
    code
}

fn rpc_code(attr: &Attribute, diagnostics: &mut Diagnostics) -> Option<i32> {
    let read = |input: syn::parse::ParseStream<'_>| {
        let minus = input.parse::<Option<syn::Token![-]>>()?.is_some();
        let number = input.parse::<LitInt>()?.base10_parse::<i32>()?;
        Ok(if minus { -number } else { number })
    };
    match attr.parse_args_with(read) {
        Ok(-32602) => {
            diagnostics.error_at(attr, "-32602 is for invalid arguments: use `#[invalid_params]`");
            None
        }
        Ok(code) => Some(code),
        Err(_) => {
            diagnostics.error_at(attr, "say the code of the error: `#[rpc(-32001)]`");
            None
        }
    }
}

/// Checks the fields of an `#[invalid_params]` variant: only message and issues are transmitted.
fn check_invalid_params(variant: &Variant, diagnostics: &mut Diagnostics) {
    let fits = match &variant.fields {
        Fields::Unit => true,
        fields if fields.len() == 1 => fields.iter().all(|field| {
            type_syntax::is_named(&field.ty, "String") || type_syntax::is_named(&field.ty, "InvalidParams")
        }),
        _ => false,
    };
    if !fits {
        diagnostics.error_at(
            &variant.fields,
            "a variant with `#[invalid_params]` has no field, one `String` (what is wrong), or one `InvalidParams`",
        );
    }
}

/// Returns the fields of a variant: the transmitted name and the binding in generated code.
fn fields(variant: &Variant) -> Vec<(String, Ident)> {
    let fields = variant.fields.iter().enumerate();
    let named = fields.map(|(index, field)| match &field.ident {
        Some(name) => (syn::ext::IdentExt::unraw(name).to_string(), name.clone()),
        None => (index.to_string(), format_ident!("field_{index}")),
    });
    named.collect()
}

/// Returns the pattern that binds the fields of a variant.
fn pattern(variant: &Variant) -> TokenStream {
    let name = &variant.ident;
    let bound = fields(variant).into_iter().map(|(_, bound)| bound);
    match &variant.fields {
        Fields::Named(_) => quote!(Self::#name { #(#bound),* }),
        Fields::Unnamed(_) => quote!(Self::#name(#(#bound),*)),
        Fields::Unit => quote!(Self::#name),
    }
}

/// Returns the expression of the `#[message]`; without one, the message is the `Display` output.
fn message(variant: &Variant, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    let attr = variant.attrs.iter().find(|attr| attr.path().is_ident("message"))?;
    let text = match &attr.meta {
        Meta::List(_) => attr.parse_args::<LitStr>().ok(),
        Meta::NameValue(value) => match &value.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.clone()),
            _ => None,
        },
        Meta::Path(_) => None,
    };
    let Some(text) = text else {
        diagnostics.error_at(attr, "say the message: `#[message(\"No such city: {city}\")]`");
        return None;
    };
    let positional = match &variant.fields {
        Fields::Unnamed(_) => fields(variant).into_iter().map(|(_, bound)| bound).collect(),
        _ => Vec::new(),
    };
    // `format!` rejects positional arguments that the text does not use.
    let asked = (0..positional.len()).filter(|index| text.value().contains(&format!("{{{index}"))).max();
    let positional = positional.into_iter().take(asked.map_or(0, |most| most + 1));
    Some(quote!(::std::format!(#text, #(#positional),*)))
}

/// Returns the match arm that converts a variant to an `Error`.
fn into_error_arm(
    rt: &TokenStream,
    variant: &Variant,
    encoding: &ErrorEncoding,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let (pattern, fields) = (pattern(variant), fields(variant));
    let message = message(variant, diagnostics).unwrap_or_else(|| quote!(__message));
    let (names, bound) = (fields.iter().map(|(name, _)| name), fields.iter().map(|(_, bound)| bound));
    let gathered = quote!(#rt::ErrorFields::new() #(.with(#names, &#bound))*);
    let field = fields.first().map(|(_, bound)| bound);
    let builder = match encoding {
        ErrorEncoding::Tool(code) => quote!(#gathered.into_tool_error(#code, #message)),
        ErrorEncoding::NotFound => quote!(#gathered.into_tool_error("not_found", #message)),
        ErrorEncoding::Rpc(code) => quote!(#gathered.into_rpc_error(#code, #message)),
        ErrorEncoding::Other => quote!(#field),
        ErrorEncoding::InvalidParams if holds_invalid_params(variant) => {
            quote!(#rt::Error::InvalidParams(#field))
        }
        // The field is the message, so that the client receives it unchanged.
        ErrorEncoding::InvalidParams if field.is_some() => quote!(#rt::Error::invalid_params(#field)),
        ErrorEncoding::InvalidParams => quote!(#rt::Error::invalid_params(#message)),
    };
    quote!(#pattern => #builder,)
}

/// Returns whether a variant holds an `InvalidParams`.
fn holds_invalid_params(variant: &Variant) -> bool {
    variant.fields.iter().any(|field| type_syntax::is_named(&field.ty, "InvalidParams"))
}

/// Returns whether the message of a variant is its `Display` output.
fn uses_display(variant: &Variant, encoding: &ErrorEncoding) -> bool {
    let own = variant.attrs.iter().any(|attr| attr.path().is_ident("message"));
    let field = matches!(encoding, ErrorEncoding::Other)
        || matches!(encoding, ErrorEncoding::InvalidParams) && !variant.fields.is_empty();
    !own && !field
}

/// Returns the statement that returns the variant if an `Error` decodes to it.
fn from_error_check(rt: &TokenStream, variant: &Variant, encoding: &ErrorEncoding) -> Option<TokenStream> {
    let pattern = pattern(variant);
    let found = match encoding {
        ErrorEncoding::Other => return None,
        ErrorEncoding::Tool(code) => quote!(#rt::ErrorFields::from_tool_error(&error, #code)),
        ErrorEncoding::NotFound => quote!(#rt::ErrorFields::from_not_found(&error)),
        ErrorEncoding::Rpc(code) => quote!(#rt::ErrorFields::from_rpc_error(&error, #code)),
        ErrorEncoding::InvalidParams if holds_invalid_params(variant) => {
            let bound = fields(variant).into_iter().map(|(_, bound)| bound);
            return Some(quote! {
                let error = match error {
                    #rt::Error::InvalidParams(#(#bound)*) => return #pattern,
                    error => error,
                };
            });
        }
        ErrorEncoding::InvalidParams => {
            let bound = fields(variant).into_iter().map(|(_, bound)| bound).next();
            let bound = bound.unwrap_or_else(|| format_ident!("_message"));
            return Some(quote! {
                if let ::core::option::Option::Some(#bound) = #rt::ErrorFields::invalid_params_message(&error) {
                    return #pattern;
                }
            });
        }
    };
    let fields = fields(variant);
    if fields.is_empty() {
        return Some(quote!(if #found.is_some() { return #pattern; }));
    }
    let (names, bound) = (fields.iter().map(|(name, _)| name), fields.iter().map(|(_, bound)| bound));
    Some(quote! {
        if let ::core::option::Option::Some(found) = #found {
            if let (#(::core::option::Option::Some(#bound),)*) = (#(found.field(#names),)*) {
                return #pattern;
            }
        }
    })
}
