//! `DynX`: the dyn-compatible version of the trait. Generated with `dyn_compatible` only.
//!
//! Its methods have other names, so that calls are not ambiguous if both traits are in scope.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::service_trait::callable_methods;
use super::{param_declarations, param_names, send_future};
use crate::method::ServiceMethod;
use crate::param::ParamKind;
use crate::service::Service;

pub(super) fn items(service: &Service) -> Option<TokenStream> {
    if !service.options.dyn_compatible {
        return None;
    }
    let (vis, ident) = (&service.vis, &service.ident);
    let (dynamic, docs) = (
        format_ident!("Dyn{ident}"),
        format!(
            "The dyn-compatible version of [`{ident}`], which every implementation of it implements; `Box<dyn Dyn{ident}>` implements [`{ident}`]."
        ),
    );
    let methods = callable_methods(service).map(|method| {
        let signature = signature(method);
        quote! {
            #[doc(hidden)]
            #signature;
        }
    });
    Some(quote! {
        #[doc = #docs]
        #[allow(dead_code, reason = "for collections of services")]
        #vis trait #dynamic: ::core::marker::Send + ::core::marker::Sync + 'static { #(#methods)* }
    })
}

fn name(method: &ServiceMethod) -> proc_macro2::Ident {
    format_ident!("__dyn_{}", method.ident.unraw())
}

fn signature(method: &ServiceMethod) -> TokenStream {
    let (name, returns) = (name(method), &method.returns);
    let declared = method.params.iter().map(|param| {
        let (ident, ty) = (&param.ident, &param.ty);
        match (&param.kind, crate::type_syntax::as_reference(ty)) {
            (ParamKind::Context, Some(reference)) => {
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

pub(super) fn impls(service: &Service) -> Option<TokenStream> {
    if !service.options.dyn_compatible {
        return None;
    }
    let ident = &service.ident;
    let dynamic = format_ident!("Dyn{ident}");
    let boxing = callable_methods(service).map(|method| {
        let (signature, own, passed) = (signature(method), &method.ident, param_names(method));
        quote!(#signature { ::std::boxed::Box::pin(<__S as #ident>::#own(self, #(#passed),*)) })
    });
    let forward = callable_methods(service).map(|method| {
        let (own, name, passed) = (&method.ident, name(method), param_names(method));
        let (declared, future) = (param_declarations(method), send_future(&method.returns));
        // Awaited within another future, which captures the lifetimes of both the pointer and the context.
        quote!(fn #own(&self, #(#declared),*) -> #future { async move { (**self).#name(#(#passed),*).await } })
    });
    Some(quote! {
        impl<__S: #ident> #dynamic for __S { #(#boxing)* }

        impl #ident for ::std::boxed::Box<dyn #dynamic> { #(#forward)* }
    })
}
