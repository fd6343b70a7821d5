//! `XRpcClient`: the typed client of the plain JSON-RPC endpoint. Generated only if the service has one.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::client::{context_option, decode_response, encode_arguments, event_sink, unmapped_name};
use super::service_trait::callable_methods;
use super::{method_types, param_declarations, param_names, send_future};
use crate::method::ServiceMethod;
use crate::role::Role;
use crate::service::Service;

/// Iterates over the methods that the plain JSON-RPC endpoint serves.
pub(super) fn served_methods(service: &Service) -> impl Iterator<Item = &ServiceMethod> {
    service.methods.iter().filter(|method| {
        matches!(method.role, Role::Tool(_) | Role::Resource(_) | Role::Prompt(_) | Role::Unmapped)
    })
}

pub(super) fn items(service: &Service) -> Option<TokenStream> {
    service.options.rpc.as_ref()?;
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (client, docs) =
        (format_ident!("{ident}RpcClient"), format!("Calls [`{ident}`] at its plain JSON-RPC endpoint."));
    Some(quote! {
        #rt::if_rpc! {
            #[doc = #docs]
            #[derive(::core::fmt::Debug, ::core::clone::Clone)]
            #[allow(dead_code, reason = "for callers of the service")]
            #vis struct #client(#rt::RpcCaller);
        }
    })
}

pub(super) fn impls(service: &Service) -> Option<TokenStream> {
    service.options.rpc.as_ref()?;
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (client, unmapped) = (format_ident!("{ident}RpcClient"), format_ident!("{ident}Unmapped"));
    let methods = callable_methods(service).map(|method| {
        let (name, declared, future) =
            (&method.ident, param_declarations(method), send_future(&method.returns));
        let call = call(rt, method);
        quote!(fn #name(&self, #(#declared),*) -> #future { #call })
    });
    let fallback = callable_methods(service)
        .filter(|method| matches!(method.role, Role::Unmapped | Role::Internal))
        .map(|method| {
            let (own, name) = (&method.ident, unmapped_name(method));
            let (declared, passed, future) =
                (param_declarations(method), param_names(method), send_future(&method.returns));
            quote! {
                fn #name(&self, #(#declared),*) -> #future {
                    <Self as #ident>::#own(self, #(#passed),*)
                }
            }
        });
    Some(quote! {
        #rt::if_rpc! {
            impl #client {
                /// Creates a client for an address.
                ///
                /// # Errors
                /// When the address is invalid.
                #vis fn new(url: &str) -> ::core::result::Result<Self, #rt::Error> {
                    #rt::RpcCaller::new(url, ::std::sync::Arc::clone(__design())).map(Self)
                }

                /// Creates a client with a configured caller.
                #vis fn with_caller(caller: #rt::RpcCaller) -> Self {
                    Self(caller)
                }

                /// Returns the underlying caller.
                #vis fn caller(&self) -> &#rt::RpcCaller {
                    &self.0
                }
            }

            impl #ident for #client { #(#methods)* }

            impl #unmapped for #client { #(#fallback)* }
        }
    })
}

fn call(rt: &TokenStream, method: &ServiceMethod) -> TokenStream {
    let rust_name = method.rust_name();
    let (cx, args) = (context_option(method), encode_arguments(rt, method));
    match method.role {
        Role::Tool(_) | Role::Resource(_) | Role::Prompt(_) | Role::Unmapped => {
            let decode = decode_response(rt, method, &quote!(from_json(&answer)));
            match event_sink(rt, method) {
                Some(sink) => quote!(self.0.streaming_with(#rust_name, #args, #cx, #sink, #decode)),
                None => quote!(self.0.method_with(#rust_name, #args, #cx, #decode)),
            }
        }
        _ => {
            let (names, from_error) = (param_names(method), method_types::from_error(rt, method));
            quote! {{
                let _ = (#(#names,)*);
                self.0.unmapped_with(#rust_name, #from_error)
            }}
        }
    }
}
