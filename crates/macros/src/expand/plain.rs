//! `XRpcClient`: the trait over the plain JSON-RPC endpoint. Only when the design has one.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::client::{arguments, context, finish, sink, unmapped_name};
use super::contract::calls;
use super::{declared, future, passed, types};
use crate::method::Method;
use crate::role::Role;
use crate::service::Service;

/// The methods that the plain endpoint serves.
pub(super) fn served(service: &Service) -> impl Iterator<Item = &Method> {
    service.methods.iter().filter(|method| {
        matches!(method.role, Role::Tool(_) | Role::Resource(_) | Role::Prompt(_) | Role::Unmapped)
    })
}

pub(super) fn open(service: &Service) -> Option<TokenStream> {
    service.options.rpc.as_ref()?;
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (client, docs) =
        (format_ident!("{ident}RpcClient"), format!("Calls [`{ident}`] at its plain JSON-RPC endpoint."));
    Some(quote! {
        #rt::if_rpc! {
            #[doc = #docs]
            #[derive(::core::fmt::Debug, ::core::clone::Clone)]
            #[allow(dead_code, reason = "for whoever calls the service")]
            #vis struct #client(#rt::RpcCaller);
        }
    })
}

pub(super) fn hidden(service: &Service) -> Option<TokenStream> {
    service.options.rpc.as_ref()?;
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (client, unmapped) = (format_ident!("{ident}RpcClient"), format_ident!("{ident}Unmapped"));
    let methods = calls(service).map(|method| {
        let (name, declared, future) = (&method.ident, declared(method), future(&method.returns));
        let call = call(rt, method);
        quote!(fn #name(&self, #(#declared),*) -> #future { #call })
    });
    let fallback = calls(service)
        .filter(|method| matches!(method.role, Role::Unmapped | Role::Internal))
        .map(|method| {
            let (own, name) = (&method.ident, unmapped_name(method));
            let (declared, passed, future) = (declared(method), passed(method), future(&method.returns));
            quote! {
                fn #name(&self, #(#declared),*) -> #future {
                    <Self as #ident>::#own(self, #(#passed),*)
                }
            }
        });
    Some(quote! {
        #rt::if_rpc! {
            impl #client {
                /// Calls the service at this address.
                ///
                /// # Errors
                /// When the address is no good; it says what to write instead.
                #vis fn new(url: &str) -> ::core::result::Result<Self, #rt::Error> {
                    #rt::RpcCaller::new(url, ::std::sync::Arc::clone(__design())).map(Self)
                }

                /// Calls through this.
                #vis fn with_caller(caller: #rt::RpcCaller) -> Self {
                    Self(caller)
                }

                /// What calls.
                #vis fn caller(&self) -> &#rt::RpcCaller {
                    &self.0
                }
            }

            impl #ident for #client { #(#methods)* }

            impl #unmapped for #client { #(#fallback)* }
        }
    })
}

fn call(rt: &TokenStream, method: &Method) -> TokenStream {
    let rust_name = method.rust_name();
    let (cx, args) = (context(method), arguments(rt, method));
    match method.role {
        Role::Tool(_) | Role::Resource(_) | Role::Prompt(_) | Role::Unmapped => {
            let finish = finish(rt, method, &quote!(from_json(&answer)));
            match sink(rt, method) {
                Some(sink) => quote!(self.0.streaming_with(#rust_name, #args, #cx, #sink, #finish)),
                None => quote!(self.0.method_with(#rust_name, #args, #cx, #finish)),
            }
        }
        _ => {
            let (names, from_error) = (passed(method), types::from_error(rt, method));
            quote! {{
                let _ = (#(#names,)*);
                self.0.unmapped_with(#rust_name, #from_error)
            }}
        }
    }
}
