//! The trait itself, written out again, and that what is shared is a service too.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{FnArg, ItemTrait, Pat, TraitItem, TraitItemFn, parse_quote};

use super::{declared, future, passed};
use crate::method::Method;
use crate::param;
use crate::role::{self, Role};
use crate::service::Service;
use crate::ty::at;

/// The trait with its `async fn`s as functions whose futures can be sent, without our attributes and without events.
pub(super) fn written(item: &ItemTrait, service: &Service) -> TokenStream {
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
                (!is_event).then(|| TraitItem::Fn(self::function(function, method, service)))
            }
            other => Some(other),
        })
        .collect();
    quote! {
        #[allow(clippy::manual_async_fn, reason = "the future must be one that can be sent")]
        #item
    }
}

fn function(mut function: TraitItemFn, method: &Method, service: &Service) -> TraitItemFn {
    function.attrs.retain(|attr| !role::is_role(attr));
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attr| !param::is_ours(attr));
            // Was told; the compiler need not tell it again.
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
        let names = passed(method);
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
        let returned = quote_spanned! {at(&function.sig.output)=>
            impl ::core::future::Future<Output = #returns> + ::core::marker::Send
        };
        function.sig.output = parse_quote!(-> #returned);
        if let Some(body) = function.default.take() {
            function.default = Some(parse_quote!({ async move #body }));
        }
    }
    function
}

/// A service that is shared is a service.
pub(super) fn shared(service: &Service) -> TokenStream {
    let ident = &service.ident;
    let it = format_ident!("__S");
    let methods = calls(service).map(|method| {
        let (name, declared, passed) = (&method.ident, declared(method), passed(method));
        let future = future(&method.returns);
        quote! {
            fn #name(&self, #(#declared),*) -> #future {
                <#it as #ident>::#name(self, #(#passed),*)
            }
        }
    });
    quote! {
        impl<#it: #ident> #ident for ::std::sync::Arc<#it> { #(#methods)* }
    }
}

/// The methods of the trait: all but events.
pub(super) fn calls(service: &Service) -> impl Iterator<Item = &Method> {
    service.methods.iter().filter(|method| !matches!(method.role, Role::Notification { .. }))
}
