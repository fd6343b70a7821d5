//! `DynX`: the trait behind a pointer. Only when asked for.
//!
//! Its methods have names of their own: with the same ones, whoever imports both traits could call neither.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::contract::calls;
use super::{declared, future, passed};
use crate::method::Method;
use crate::param::ParamKind;
use crate::service::Service;

pub(super) fn open(service: &Service) -> Option<TokenStream> {
    if !service.options.dyn_compatible {
        return None;
    }
    let (vis, ident) = (&service.vis, &service.ident);
    let (dynamic, docs) = (
        format_ident!("Dyn{ident}"),
        format!(
            "[`{ident}`] behind a pointer: `Box<dyn Dyn{ident}>` is a [`{ident}`], and every one becomes such."
        ),
    );
    let methods = calls(service).map(|method| {
        let signature = signature(method);
        quote! {
            #[doc(hidden)]
            #signature;
        }
    });
    Some(quote! {
        #[doc = #docs]
        #[allow(dead_code, reason = "for whoever keeps services of several types")]
        #vis trait #dynamic: ::core::marker::Send + ::core::marker::Sync + 'static { #(#methods)* }
    })
}

fn name(method: &Method) -> proc_macro2::Ident {
    format_ident!("__dyn_{}", method.ident.unraw())
}

fn signature(method: &Method) -> TokenStream {
    let (name, returns) = (name(method), &method.returns);
    let declared = method.params.iter().map(|param| {
        let (ident, ty) = (&param.ident, &param.ty);
        match (&param.kind, crate::ty::reference(ty)) {
            (ParamKind::Cx, Some(reference)) => {
                let cx = &reference.elem;
                quote!(#ident: &'a #cx)
            }
            _ => quote!(#ident: #ty),
        }
    });
    quote! {
        fn #name<'a>(&'a self, #(#declared),*) -> ::core::pin::Pin<::std::boxed::Box<
            dyn ::core::future::Future<Output = #returns> + ::core::marker::Send + 'a
        >>
    }
}

pub(super) fn hidden(service: &Service) -> Option<TokenStream> {
    if !service.options.dyn_compatible {
        return None;
    }
    let ident = &service.ident;
    let dynamic = format_ident!("Dyn{ident}");
    let boxing = calls(service).map(|method| {
        let (signature, own, passed) = (signature(method), &method.ident, passed(method));
        quote!(#signature { ::std::boxed::Box::pin(<__S as #ident>::#own(self, #(#passed),*)) })
    });
    let forward = calls(service).map(|method| {
        let (own, name, passed) = (&method.ident, name(method), passed(method));
        let (declared, future) = (declared(method), future(&method.returns));
        // Awaited within another future, which may have the lifetime of the pointer and that of the context.
        quote!(fn #own(&self, #(#declared),*) -> #future { async move { (**self).#name(#(#passed),*).await } })
    });
    Some(quote! {
        impl<__S: #ident> #dynamic for __S { #(#boxing)* }

        impl #ident for ::std::boxed::Box<dyn #dynamic> { #(#forward)* }
    })
}
