//! `XServer`: the server of the trait.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::service::Service;

pub(super) fn items(service: &Service) -> TokenStream {
    let (vis, ident) = (&service.vis, &service.ident);
    let server = format_ident!("{ident}Server");
    let docs = format!("Serves [`{ident}`].");
    quote! {
        #[doc = #docs]
        #[derive(::core::fmt::Debug)]
        #vis struct #server<S>(::std::sync::Arc<S>);
    }
}

pub(super) fn impls(service: &Service) -> TokenStream {
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let server = format_ident!("{ident}Server");
    let newest = match service.options.protocols.first() {
        Some(first) => quote!(#first),
        None => quote!(#rt::NEWEST_PROTOCOL),
    };
    quote! {
        impl #server<()> {
            /// The default protocol revision.
            #vis const DEFAULT_PROTOCOL_VERSION: &'static str = #newest;

            /// Returns the design of the service.
            #vis fn design() -> &'static ::std::sync::Arc<#rt::design::Design> {
                __design()
            }
        }

        impl<__S: #ident> #server<__S> {
            /// Creates the builder of a server for this service.
            #vis fn builder(service: __S) -> #rt::ServiceBuilder {
                #rt::ServiceBuilder::new(::std::sync::Arc::new(Self(::std::sync::Arc::new(service))))
            }
        }
    }
}
