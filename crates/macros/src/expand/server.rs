//! `XServer`: what serves the trait.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::service::Service;

pub(super) fn open(service: &Service) -> TokenStream {
    let (vis, ident) = (&service.vis, &service.ident);
    let server = format_ident!("{ident}Server");
    let docs = format!("Serves [`{ident}`].");
    quote! {
        #[doc = #docs]
        #[derive(::core::fmt::Debug)]
        #vis struct #server<S>(::std::sync::Arc<S>);
    }
}

pub(super) fn hidden(service: &Service) -> TokenStream {
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let server = format_ident!("{ident}Server");
    let newest = match service.options.protocols.first() {
        Some(first) => quote!(#first),
        None => quote!(#rt::NEWEST_PROTOCOL),
    };
    quote! {
        impl #server<()> {
            /// The revision of the protocol that is spoken unless another is agreed on.
            #vis const DEFAULT_PROTOCOL_VERSION: &'static str = #newest;

            /// What the service is: no implementation is needed to know.
            #vis fn design() -> &'static ::std::sync::Arc<#rt::design::Design> {
                __design()
            }
        }

        impl<__S: #ident> #server<__S> {
            /// Serves this.
            #vis fn builder(service: __S) -> #rt::ServiceBuilder {
                #rt::ServiceBuilder::new(::std::sync::Arc::new(Self(::std::sync::Arc::new(service))))
            }
        }
    }
}
