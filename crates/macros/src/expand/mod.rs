//! Generates the code of a service.
//!
//! `items` functions return the public types beside the trait; `impls` functions return the implementations, which are
//! within a `const _`.

mod cli;
mod client;
mod design;
mod dispatch;
mod dyn_trait;
mod events;
mod inherent_impl;
mod method_types;
mod rpc_client;
mod server;
mod service_trait;
#[cfg(test)]
mod tests;

pub(crate) use inherent_impl::server;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{ItemImpl, ItemTrait};

use crate::diagnostics::Diagnostics;
use crate::service::Service;

/// Expands `#[service]`: the trait and the generated code, or the trait and the errors.
pub(crate) fn service(attr: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemTrait = match syn::parse2(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            let error = match syn::parse2::<ItemImpl>(item.clone()) {
                Ok(found) => syn::Error::new_spanned(
                    found.impl_token,
                    "`#[service]` applies to a trait; for the methods of a type use `#[server]`",
                ),
                Err(_) => error,
            };
            let error = error.to_compile_error();
            return quote!(#error #item);
        }
    };
    expand_trait(attr, &item, &item.ident).tokens
}

/// The expansion of a trait.
struct Expansion {
    tokens: TokenStream,
    service: Service,
    /// Whether the trait has no errors.
    is_valid: bool,
}

/// Expands a parsed trait. `type_name` is the default name of the service.
fn expand_trait(attr: TokenStream, item: &ItemTrait, type_name: &Ident) -> Expansion {
    let mut diagnostics = Diagnostics::default();
    let service = Service::parse(attr, item, type_name, &mut diagnostics);
    let contract = service_trait::expand(item, &service);
    if !diagnostics.is_empty() {
        let diagnostics = diagnostics.into_tokens();
        return Expansion { tokens: quote!(#diagnostics #contract), service, is_valid: false };
    }
    let open = [
        Some(server::items(&service)),
        events::items(&service),
        Some(client::items(&service)),
        rpc_client::items(&service),
        Some(cli::items(&service)),
        dyn_trait::items(&service),
    ];
    let hidden = [
        Some(service_trait::arc_impl(&service)),
        Some(design::impls(&service)),
        Some(server::impls(&service)),
        Some(dispatch::impls(&service)),
        events::impls(&service),
        Some(client::impls(&service)),
        rpc_client::impls(&service),
        Some(cli::impls(&service)),
        dyn_trait::impls(&service),
    ];
    let (open, hidden) = (open.into_iter().flatten(), hidden.into_iter().flatten());
    let tokens = quote! {
        #contract
        #(#open)*
        #[allow(dead_code, deprecated, clippy::all, clippy::pedantic, missing_docs, reason = "generated code")]
        const _: () = { #(#hidden)* };
    };
    Expansion { tokens, service, is_valid: true }
}

/// Returns the parameter declarations of a method, without attributes.
fn param_declarations(method: &crate::method::ServiceMethod) -> Vec<TokenStream> {
    let one = |param: &crate::param::Param| {
        let (ident, ty) = (&param.ident, &param.ty);
        quote!(#ident: #ty)
    };
    method.params.iter().map(one).collect()
}

/// Returns the parameter names of a method.
fn param_names(method: &crate::method::ServiceMethod) -> Vec<TokenStream> {
    method.params.iter().map(|param| param.ident.to_token_stream()).collect()
}

/// Returns the return type of a method: a future that is `Send`.
fn send_future(returns: &TokenStream) -> TokenStream {
    quote!(impl ::core::future::Future<Output = #returns> + ::core::marker::Send)
}
