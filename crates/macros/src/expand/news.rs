//! `XEvents`: what a service tells unasked. Only when it has something to tell.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::types;
use crate::role::Role;
use crate::service::Service;

fn is_needed(service: &Service) -> bool {
    service.methods.iter().any(|method| match &method.role {
        Role::Notification { .. } => true,
        Role::Resource(resource) => resource.watch,
        _ => false,
    })
}

pub(super) fn open(service: &Service) -> Option<TokenStream> {
    if !is_needed(service) {
        return None;
    }
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (events, docs) =
        (format_ident!("{ident}Events"), format!("What [`{ident}Server`] tells its clients unasked."));
    Some(quote! {
        #[doc = #docs]
        #[derive(::core::fmt::Debug, ::core::clone::Clone)]
        #vis struct #events(#rt::EventPublisher);
    })
}

pub(super) fn hidden(service: &Service) -> Option<TokenStream> {
    if !is_needed(service) {
        return None;
    }
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let events = format_ident!("{ident}Events");
    let methods = service.methods.iter().filter_map(|method| {
        let name = &method.ident;
        match &method.role {
            Role::Notification { .. } => {
                let payload = method.params.first()?;
                let (payload, ty, wire) = (&payload.ident, &payload.ty, method.wire_name());
                let docs = method.docs.as_ref().map(crate::docs::Docs::attribute);
                let publish = types::payload(rt, ty);
                Some(quote! {
                    #docs
                    #vis fn #name(&self, #payload: &#ty) { #publish::publish(#payload, &self.0, #wire); }
                })
            }
            Role::Resource(resource) if resource.watch && resource.is_fixed() => {
                let (uri, name) = (resource.base(), format_ident!("{}_changed", name.unraw()));
                let docs = format!("The resource `{uri}` has changed.");
                Some(quote! {
                    #[doc = #docs]
                    #vis fn #name(&self) { self.0.resource_changed(#uri); }
                })
            }
            _ => None,
        }
    });
    Some(quote! {
        impl #events {
            /// A pair: one end to publish with, the other for the server's builder. Each listener may be behind by
            /// `capacity`.
            #vis fn channel(capacity: usize) -> (Self, #rt::EventFeed) {
                let (handle, feed) = #rt::EventPublisher::channel(capacity);
                (Self(handle), feed)
            }
            #(#methods)*
        }

        impl ::core::ops::Deref for #events {
            type Target = #rt::EventPublisher;
            fn deref(&self) -> &#rt::EventPublisher { &self.0 }
        }
    })
}
