//! What is written for a service.

mod client;
mod command;
mod contract;
mod design;
mod dispatch;
mod dynamic;
mod news;
mod own;
mod plain;
mod server;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use own::server;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{ItemImpl, ItemTrait};

use crate::problems::Problems;
use crate::service::Service;

/// The trait and all that comes from it; only the trait and what is wrong, if something is.
pub(crate) fn service(attr: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemTrait = match syn::parse2(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            let error = match syn::parse2::<ItemImpl>(item.clone()) {
                Ok(found) => syn::Error::new_spanned(
                    found.impl_token,
                    "`#[service]` stands on a trait; on the methods of a type say `#[server]`",
                ),
                Err(_) => error,
            };
            let error = error.to_compile_error();
            return quote!(#error #item);
        }
    };
    of_trait(attr, &item, &item.ident).tokens
}

/// What is written for a trait.
struct Written {
    tokens: TokenStream,
    service: Service,
    /// Whether nothing was wrong.
    fine: bool,
}

/// The same for a trait that was read; `named` is what the service is called after.
fn of_trait(attr: TokenStream, item: &ItemTrait, named: &Ident) -> Written {
    let mut problems = Problems::default();
    let service = Service::read(attr, item, named, &mut problems);
    let contract = contract::written(item, &service);
    if !problems.is_empty() {
        let problems = problems.into_tokens();
        return Written { tokens: quote!(#problems #contract), service, fine: false };
    }
    let open = [
        Some(server::open(&service)),
        news::open(&service),
        Some(client::open(&service)),
        plain::open(&service),
        Some(command::open(&service)),
        dynamic::open(&service),
    ];
    let hidden = [
        Some(contract::shared(&service)),
        Some(design::hidden(&service)),
        Some(server::hidden(&service)),
        Some(dispatch::hidden(&service)),
        news::hidden(&service),
        Some(client::hidden(&service)),
        plain::hidden(&service),
        Some(command::hidden(&service)),
        dynamic::hidden(&service),
    ];
    let (open, hidden) = (open.into_iter().flatten(), hidden.into_iter().flatten());
    let tokens = quote! {
        #contract
        #(#open)*
        #[allow(dead_code, deprecated, clippy::all, clippy::pedantic, missing_docs, reason = "written by a macro")]
        const _: () = { #(#hidden)* };
    };
    Written { tokens, service, fine: true }
}

/// The parameters of a method as they are declared, without attributes.
fn declared(method: &crate::method::Method) -> Vec<TokenStream> {
    let one = |param: &crate::param::Param| {
        let (ident, ty) = (&param.ident, &param.ty);
        quote!(#ident: #ty)
    };
    method.params.iter().map(one).collect()
}

/// The names of the parameters of a method.
fn passed(method: &crate::method::Method) -> Vec<TokenStream> {
    method.params.iter().map(|param| param.ident.to_token_stream()).collect()
}

/// What a method returns: a future that can be sent to another thread.
fn future(returns: &TokenStream) -> TokenStream {
    quote!(impl ::core::future::Future<Output = #returns> + ::core::marker::Send)
}
