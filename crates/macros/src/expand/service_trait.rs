//! The trait itself, and its implementation for `Arc`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{FnArg, ItemTrait, Pat, TraitItem, TraitItemFn, parse_quote};

use super::{param_declarations, param_names, send_future};
use crate::method::ServiceMethod;
use crate::param;
use crate::role::{self, Role};
use crate::service::Service;
use crate::type_syntax::call_site_span;

/// Returns the trait with `async fn`s as functions that return `Send` futures, without macro attributes and notifications.
pub(super) fn expand(item: &ItemTrait, service: &Service) -> TokenStream {
    let mut item = item.clone();
    for bound in
        [parse_quote!(::core::marker::Send), parse_quote!(::core::marker::Sync), parse_quote!('static)]
    {
        item.supertraits.push(bound);
    }
    item.colon_token.get_or_insert_default();
    let mut methods = service.methods.iter();
    item.items = std::mem::take(&mut item.items)
        .into_iter()
        .filter_map(|item| match item {
            TraitItem::Fn(function) => {
                let method = methods.next()?;
                let is_event = matches!(method.role, Role::Notification { .. });
                (!is_event).then(|| TraitItem::Fn(expand_function(function, method, service)))
            }
            other => Some(other),
        })
        .collect();
    quote! {
        #[allow(clippy::manual_async_fn, reason = "the future must be `Send`")]
        #item
    }
}

fn expand_function(mut function: TraitItemFn, method: &ServiceMethod, service: &Service) -> TraitItemFn {
    function.attrs.retain(|attr| !role::is_role(attr));
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attr| !param::is_macro_attribute(attr));
            // Already reported; avoids a second error of the compiler.
            if function.default.is_none() && !matches!(&*typed.pat, Pat::Ident(_)) {
                *typed.pat = parse_quote!(_);
            }
        }
    }
    if let Role::Prompt(prompt) = &method.role
        && let Some(text) = &prompt.text
        && function.default.is_none()
    {
        let rt = &service.options.rt;
        let names = param_names(method);
        function.semi_token = None;
        function.default = Some(parse_quote!({
            let _ = (#(#names,)*);
            ::core::result::Result::Ok(#rt::PromptMessages::user(#text))
        }));
    }
    if function.sig.asyncness.take().is_some() {
        let returns = match &function.sig.output {
            syn::ReturnType::Default => quote!(()),
            syn::ReturnType::Type(_, returned) => {
                if matches!(&method.returns.to_string()[..], "()") {
                    quote!(#returned)
                } else {
                    method.returns.clone()
                }
            }
        };
        let returned = quote_spanned! {call_site_span(&function.sig.output)=>
            impl ::core::future::Future<Output = #returns> + ::core::marker::Send
        };
        function.sig.output = parse_quote!(-> #returned);
        if let Some(body) = function.default.take() {
            function.default = Some(parse_quote!({ async move #body }));
        }
    }
    function
}

/// Implements the trait for `Arc`.
pub(super) fn arc_impl(service: &Service) -> TokenStream {
    let ident = &service.ident;
    let service_type = format_ident!("__S");
    let methods = callable_methods(service).map(|method| {
        let (name, declared, passed) = (&method.ident, param_declarations(method), param_names(method));
        let future = send_future(&method.returns);
        quote! {
            fn #name(&self, #(#declared),*) -> #future {
                <#service_type as #ident>::#name(self, #(#passed),*)
            }
        }
    });
    quote! {
        impl<#service_type: #ident> #ident for ::std::sync::Arc<#service_type> { #(#methods)* }
    }
}

/// Iterates over the methods of the trait: all except notifications.
pub(super) fn callable_methods(service: &Service) -> impl Iterator<Item = &ServiceMethod> {
    service.methods.iter().filter(|method| !matches!(method.role, Role::Notification { .. }))
}
