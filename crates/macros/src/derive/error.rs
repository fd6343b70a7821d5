//! `#[derive(ServiceError)]`: an enum of errors whose variants survive the wire.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Fields, LitInt, LitStr, Meta, Variant};

use super::runtime;
use crate::options::Options;
use crate::problems::Problems;
use crate::ty;

/// How a variant is told to the other side.
enum Told {
    /// For the model to read, under this name.
    Tool(LitStr),
    /// As something that does not exist: a resource, wherever one is read.
    Missing,
    /// As arguments that do not fit.
    Invalid,
    /// As an error of the protocol with this code.
    Rpc(i32),
    /// It holds what is told.
    Other,
}

pub(crate) fn service_error(input: &DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let mut krate = None;
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("service_error")) {
        let mut options = Options::of(attr, &mut problems);
        krate = options.literal("crate", &mut problems);
        options.finish("`#[service_error]`", &["crate"], &mut problems);
    }
    let rt = runtime(krate, &mut problems);
    if !input.generics.params.is_empty() {
        problems.at(&input.generics, "an error that survives the wire cannot be generic");
    }
    let Data::Enum(data) = &input.data else {
        problems.at(&input.ident, "a service's own error is an enum: each variant says how it is told");
        return problems.into_tokens();
    };
    let mut others = Vec::new();
    let mut codes: Vec<String> = Vec::new();
    let (mut into, mut from) = (Vec::new(), Vec::new());
    let mut displayed = false;
    for variant in &data.variants {
        let Some(told) = told(variant, &mut problems) else { continue };
        let code = match &told {
            Told::Tool(code) => Some(format!("the code `{}`", code.value())),
            Told::Rpc(code) => Some(format!("the code {code}")),
            Told::Invalid => Some("`#[invalid_params]`".to_owned()),
            Told::Missing => Some("the code `not_found`".to_owned()),
            Told::Other => None,
        };
        if let Some(code) = code {
            if codes.contains(&code) {
                problems.at(
                    &variant.ident,
                    format_args!("another variant has {code} already; callers could not tell them apart"),
                );
            }
            codes.push(code);
        } else {
            others.push(&variant.ident);
        }
        displayed |= is_displayed(variant, &told);
        into.push(written(&rt, variant, &told, &mut problems));
        from.extend(read(&rt, variant, &told));
    }
    match others.as_slice() {
        [_] => {}
        [] => problems.at(
            &input.ident,
            "one variant must hold any other error: `#[other] Other(switchboard::Error)`; a connection can always fail",
        ),
        [_, rest @ ..] => rest.iter().for_each(|again| {
            problems.at(again, "one variant holds any other error; there is one already");
        }),
    }
    let (true, [other]) = (problems.is_empty(), others.as_slice()) else { return problems.into_tokens() };
    let ident = &input.ident;
    let displayed = displayed.then(|| quote!(let __message = ::std::string::ToString::to_string(&self);));
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

fn told(variant: &Variant, problems: &mut Problems) -> Option<Told> {
    let mut told = None;
    for attr in &variant.attrs {
        let read = if attr.path().is_ident("tool_error") {
            tool_code(attr, problems).map(Told::Tool)
        } else if attr.path().is_ident("not_found") {
            if !matches!(attr.meta, Meta::Path(_)) {
                problems.at(attr, "`#[not_found]` takes nothing");
            }
            Some(Told::Missing)
        } else if attr.path().is_ident("invalid_params") {
            check_invalid(variant, problems);
            Some(Told::Invalid)
        } else if attr.path().is_ident("rpc") {
            rpc_code(attr, problems).map(Told::Rpc)
        } else if attr.path().is_ident("other") {
            if !holds_one(variant) {
                problems
                    .at(&variant.ident, "this variant holds any other error: `Other(switchboard::Error)`");
                return None;
            }
            Some(Told::Other)
        } else {
            continue;
        };
        if told.is_some() {
            problems.at(attr, "a variant is told in one way");
        }
        // What could not be read was told; it is not also missing.
        told = Some(read?);
    }
    // One that holds an error needs no word for it.
    if told.is_none()
        && holds_one(variant)
        && variant.fields.iter().all(|field| ty::is_named(&field.ty, "Error"))
    {
        return Some(Told::Other);
    }
    if told.is_none() {
        problems.at(
            &variant.ident,
            format_args!(
                "say how `{}` is told: `#[tool_error(\"code\")]` for the model to read, `#[not_found]`, \
                 `#[invalid_params]`, `#[rpc(-32001)]`, or `#[other]` for the one that holds any other error",
                variant.ident
            ),
        );
    }
    told
}

fn holds_one(variant: &Variant) -> bool {
    matches!(&variant.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1)
}

fn tool_code(attr: &Attribute, problems: &mut Problems) -> Option<LitStr> {
    let code = attr.parse_args::<LitStr>().ok().filter(|code| !code.value().is_empty());
    match &code {
        None => problems.at(attr, "say which error it is: `#[tool_error(\"not_found\")]`"),
        Some(code) if matches!(code.value().as_str(), "invalid_params" | "method_not_found") => {
            problems.at(
                code,
                "this code is the protocol's own; for arguments that do not fit say `#[invalid_params]`",
            );
        }
        Some(_) => {}
    }
    code
}

fn rpc_code(attr: &Attribute, problems: &mut Problems) -> Option<i32> {
    let read = |input: syn::parse::ParseStream<'_>| {
        let minus = input.parse::<Option<syn::Token![-]>>()?.is_some();
        let number = input.parse::<LitInt>()?.base10_parse::<i32>()?;
        Ok(if minus { -number } else { number })
    };
    match attr.parse_args_with(read) {
        Ok(-32602) => {
            problems.at(attr, "-32602 is for arguments that do not fit: say `#[invalid_params]`");
            None
        }
        Ok(code) => Some(code),
        Err(_) => {
            problems.at(attr, "say the code of the error: `#[rpc(-32001)]`");
            None
        }
    }
}

/// Arguments that do not fit have a sentence and issues, and nothing else travels.
fn check_invalid(variant: &Variant, problems: &mut Problems) {
    let fits = match &variant.fields {
        Fields::Unit => true,
        fields if fields.len() == 1 => fields
            .iter()
            .all(|field| ty::is_named(&field.ty, "String") || ty::is_named(&field.ty, "InvalidParams")),
        _ => false,
    };
    if !fits {
        problems.at(
            &variant.fields,
            "a variant with `#[invalid_params]` has no field, one `String` (what is wrong), or one `InvalidParams`",
        );
    }
}

/// The fields of a variant: the name each travels under, and the name it is bound to here.
fn fields(variant: &Variant) -> Vec<(String, Ident)> {
    let fields = variant.fields.iter().enumerate();
    let named = fields.map(|(place, field)| match &field.ident {
        Some(name) => (syn::ext::IdentExt::unraw(name).to_string(), name.clone()),
        None => (place.to_string(), format_ident!("field_{place}")),
    });
    named.collect()
}

fn pattern(variant: &Variant) -> TokenStream {
    let name = &variant.ident;
    let bound = fields(variant).into_iter().map(|(_, bound)| bound);
    match &variant.fields {
        Fields::Named(_) => quote!(Self::#name { #(#bound),* }),
        Fields::Unnamed(_) => quote!(Self::#name(#(#bound),*)),
        Fields::Unit => quote!(Self::#name),
    }
}

/// What the other side reads: the variant's own message, or how it is displayed.
fn message(variant: &Variant, problems: &mut Problems) -> Option<TokenStream> {
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
        problems.at(attr, "say the message: `#[message(\"No such city: {city}\")]`");
        return None;
    };
    let places = match &variant.fields {
        Fields::Unnamed(_) => fields(variant).into_iter().map(|(_, bound)| bound).collect(),
        _ => Vec::new(),
    };
    // Only as many as the text asks for: `format!` refuses the others.
    let asked = (0..places.len()).filter(|place| text.value().contains(&format!("{{{place}"))).max();
    let places = places.into_iter().take(asked.map_or(0, |most| most + 1));
    Some(quote!(::std::format!(#text, #(#places),*)))
}

fn written(rt: &TokenStream, variant: &Variant, told: &Told, problems: &mut Problems) -> TokenStream {
    let (pattern, fields) = (pattern(variant), fields(variant));
    let message = message(variant, problems).unwrap_or_else(|| quote!(__message));
    let (names, bound) = (fields.iter().map(|(name, _)| name), fields.iter().map(|(_, bound)| bound));
    let gathered = quote!(#rt::ErrorFields::new() #(.with(#names, &#bound))*);
    let field = fields.first().map(|(_, bound)| bound);
    let made = match told {
        Told::Tool(code) => quote!(#gathered.into_tool_error(#code, #message)),
        Told::Missing => quote!(#gathered.into_tool_error("not_found", #message)),
        Told::Rpc(code) => quote!(#gathered.into_rpc_error(#code, #message)),
        Told::Other => quote!(#field),
        Told::Invalid if is_whole(variant) => quote!(#rt::Error::InvalidParams(#field)),
        // The field is the message, so that it comes back as it was.
        Told::Invalid if field.is_some() => quote!(#rt::Error::invalid_params(#field)),
        Told::Invalid => quote!(#rt::Error::invalid_params(#message)),
    };
    quote!(#pattern => #made,)
}

/// Whether a variant holds all that is known of arguments that do not fit.
fn is_whole(variant: &Variant) -> bool {
    variant.fields.iter().any(|field| ty::is_named(&field.ty, "InvalidParams"))
}

/// Whether how the error is displayed is told.
fn is_displayed(variant: &Variant, told: &Told) -> bool {
    let own = variant.attrs.iter().any(|attr| attr.path().is_ident("message"));
    let field = matches!(told, Told::Other) || matches!(told, Told::Invalid) && !variant.fields.is_empty();
    !own && !field
}

fn read(rt: &TokenStream, variant: &Variant, told: &Told) -> Option<TokenStream> {
    let pattern = pattern(variant);
    let found = match told {
        Told::Other => return None,
        Told::Tool(code) => quote!(#rt::ErrorFields::from_tool_error(&error, #code)),
        Told::Missing => quote!(#rt::ErrorFields::from_not_found(&error)),
        Told::Rpc(code) => quote!(#rt::ErrorFields::from_rpc_error(&error, #code)),
        Told::Invalid if is_whole(variant) => {
            let bound = fields(variant).into_iter().map(|(_, bound)| bound);
            return Some(quote! {
                let error = match error {
                    #rt::Error::InvalidParams(#(#bound)*) => return #pattern,
                    error => error,
                };
            });
        }
        Told::Invalid => {
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
