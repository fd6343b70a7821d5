//! `XClient`: the trait over a session, and `XUnmapped`: what it needs for methods without a role in MCP.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use super::contract::calls;
use super::{declared, future, passed, types};
use crate::method::Method;
use crate::param::{Base64, ParamKind};
use crate::role::Role;
use crate::service::Service;
use crate::ty::at;

fn is_unmapped(method: &Method) -> bool {
    matches!(method.role, Role::Unmapped | Role::Internal)
}

pub(super) fn open(service: &Service) -> TokenStream {
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (client, unmapped) = (format_ident!("{ident}Client"), format_ident!("{ident}Unmapped"));
    let docs = format!("Calls [`{ident}`] over MCP.");
    let unmapped_docs = format!("How [`{client}`] calls methods without a role in MCP.");
    let missing: Vec<String> =
        calls(service).filter(|method| is_unmapped(method)).map(Method::rust_name).collect();
    let told = (!missing.is_empty()).then(|| {
        let message = format!("`{{Self}}` cannot call the methods of `{ident}` that are not mapped to MCP");
        let which = format!("not exposed over MCP: {}", missing.join(", "));
        quote! {
            #[diagnostic::on_unimplemented(
                message = #message,
                note = #which,
                note = "pass `.with_fallback(..)` a client for the original transport, or the service itself in an `Arc`",
            )]
        }
    });
    let methods = calls(service).filter(|method| is_unmapped(method)).map(|method| {
        let (name, declared, future) = (unmapped_name(method), declared(method), future(&method.returns));
        quote! {
            #[doc(hidden)]
            fn #name(&self, #(#declared),*) -> #future;
        }
    });
    quote! {
        #rt::if_client! {
            #[doc = #docs]
            #[derive(::core::fmt::Debug, ::core::clone::Clone)]
            #[allow(dead_code, reason = "for whoever calls the service")]
            #vis struct #client<F = ()> {
                caller: #rt::ServiceCaller,
                fallback: F,
            }

            #[doc = #unmapped_docs]
            #told
            #[allow(dead_code, reason = "for whoever calls the service")]
            #vis trait #unmapped: ::core::marker::Send + ::core::marker::Sync + 'static {
                #(#methods)*
            }
        }
    }
}

pub(super) fn unmapped_name(method: &Method) -> proc_macro2::Ident {
    format_ident!("__unmapped_{}", method.ident.unraw())
}

pub(super) fn hidden(service: &Service) -> TokenStream {
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (client, unmapped) = (format_ident!("{ident}Client"), format_ident!("{ident}Unmapped"));
    let streams = streams(service);
    let shared = calls(service).filter(|method| is_unmapped(method)).map(|method| {
        let (own, name) = (&method.ident, unmapped_name(method));
        let (declared, passed, future) = (declared(method), passed(method), future(&method.returns));
        quote! {
            fn #name(&self, #(#declared),*) -> #future { <__S as #ident>::#own(self, #(#passed),*) }
        }
    });
    // Without a fallback only the methods that need one fail, and only when they are called.
    let failing = calls(service).filter(|method| is_unmapped(method)).map(|method| {
        let (name, own, error) = (unmapped_name(method), method.rust_name(), types::error(rt, method));
        let (declared, passed, future) = (declared(method), passed(method), future(&method.returns));
        quote! {
            fn #name(&self, #(#declared),*) -> #future {
                let _ = (#(#passed,)*);
                async { ::core::result::Result::Err(#error::from_error(#rt::unmapped(#own))) }
            }
        }
    });
    let methods = methods(service);
    quote! {
        #rt::if_client! {
            impl #client {
                /// Calls over this session.
                #vis fn new(session: impl ::core::convert::Into<#rt::ClientSession>) -> Self {
                    let session = session.into();
                    Self { caller: #rt::ServiceCaller::new(session, ::std::sync::Arc::clone(__design())), fallback: () }
                }
            }

            impl<F> #client<F> {
                /// Calls methods without a role in MCP through this. Without a fallback they fail with `Error::Unmapped`.
                #vis fn with_fallback<G>(self, fallback: G) -> #client<G> {
                    #client { caller: self.caller, fallback }
                }

                /// What calls.
                #vis fn caller(&self) -> &#rt::ServiceCaller {
                    &self.caller
                }
                #streams
            }

            impl #unmapped for () { #(#failing)* }

            impl<__S: #ident> #unmapped for ::std::sync::Arc<__S> { #(#shared)* }

            impl<F: #unmapped> #ident for #client<F> { #methods }
        }
    }
}

/// The arguments of a call, as they are written.
pub(super) fn arguments(rt: &TokenStream, method: &Method) -> TokenStream {
    let is_completion = matches!(method.role, Role::Completion(_));
    let mut made = quote!(#rt::CallArguments::new());
    let mut first = true;
    for param in &method.params {
        let ident = &param.ident;
        match &param.kind {
            ParamKind::Whole => {
                let ty = types::argument(rt, &param.ty);
                return quote_spanned!(at(&param.ty)=> #ty::write_all(&#ident));
            }
            ParamKind::Arg(arg) => {
                let wire = if is_completion && first { "value" } else { &arg.wire };
                let value = match arg.base64 {
                    None => quote!(#ident),
                    Some(Base64::Bytes) => quote!(#rt::Bytes::from(#ident)),
                    Some(Base64::Optional) => quote!(#ident.map(#rt::Bytes::from)),
                };
                let ty = types::argument(rt, &param.wire_type(rt));
                made = quote_spanned!(at(&param.ty)=> #ty::write(&#value, #made, #wire));
                first = false;
            }
            ParamKind::Cx | ParamKind::Events(_) | ParamKind::Changes => {}
        }
    }
    made
}

/// The context of a call, if the method has one.
pub(super) fn context(method: &Method) -> TokenStream {
    match method.cx() {
        Some(cx) => {
            let cx = &cx.ident;
            quote!(::core::option::Option::Some(#cx))
        }
        None => quote!(::core::option::Option::None),
    }
}

/// The sink that the events of a call go to, if the method has events.
pub(super) fn sink(rt: &TokenStream, method: &Method) -> Option<TokenStream> {
    let (events, event) = (method.sink()?, types::event(rt, method.events()?));
    Some(quote!(#event::into_sink(#events)))
}

/// A closure that reads the value and the error of a method from what a call answers.
pub(super) fn finish(rt: &TokenStream, method: &Method, read: &TokenStream) -> TokenStream {
    let (value, from_error) = (types::value(rt, method), types::from_error(rt, method));
    quote_spanned! {at(&method.value)=>
        |answer| answer.and_then(|answer| #value::#read).map_err(#from_error)
    }
}

fn methods(service: &Service) -> TokenStream {
    let rt = &service.options.rt;
    let mut numbers = [0_usize; 5];
    let mut next = |list: usize| {
        let number = numbers[list];
        numbers[list] += 1;
        number
    };
    let methods = calls(service).map(|method| {
        let (name, declared, future) = (&method.ident, declared(method), future(&method.returns));
        let (cx, args) = (context(method), arguments(rt, method));
        let call = match &method.role {
            Role::Tool(_) => {
                let number = next(0);
                let sink = match sink(rt, method) {
                    Some(sink) => quote!(::core::option::Option::Some(#sink)),
                    None => quote!(::core::option::Option::None),
                };
                let finish = finish(rt, method, &quote!(from_tool(answer)));
                quote_spanned!(at(&method.value)=> self.caller.tool_with(#number, #args, #cx, #sink, #finish))
            }
            Role::Resource(_) => {
                let number = next(1);
                let finish = finish(rt, method, &quote!(from_resource(answer)));
                quote_spanned!(at(&method.value)=> self.caller.resource_with(#number, #args, #cx, #finish))
            }
            Role::Prompt(_) => {
                let number = next(2);
                let from_error = types::from_error(rt, method);
                quote_spanned!(at(&method.value)=> self.caller.prompt_with(#number, #args, #cx, #from_error))
            }
            Role::Subscription { .. } => {
                let number = next(3);
                let changes = method.params.iter().find(|param| matches!(param.kind, ParamKind::Changes));
                let changes = changes.map(|param| &param.ident);
                let from_error = types::from_error(rt, method);
                quote!(self.caller.watch_with(#number, #cx, #changes, #from_error))
            }
            Role::Completion(_) => {
                let number = next(4);
                let from_error = types::from_error(rt, method);
                quote!(self.caller.complete_with(#number, #args, #cx, #from_error))
            }
            Role::Unmapped | Role::Internal | Role::Notification { .. } | Role::Broken => {
                let (name, passed) = (unmapped_name(method), passed(method));
                quote!(self.fallback.#name(#(#passed),*))
            }
        };
        quote!(fn #name(&self, #(#declared),*) -> #future { #call })
    });
    quote!(#(#methods)*)
}

/// A method for each streaming tool whose events and result are one stream.
fn streams(service: &Service) -> TokenStream {
    let (vis, rt) = (&service.vis, &service.options.rt);
    let tools = service.numbered(|role| matches!(role, Role::Tool(_)).then_some(()));
    let streams = tools.filter_map(|(number, method, ())| {
        let event = method.events()?;
        let name = format_ident!("{}_stream", method.ident.unraw());
        let value = &method.value;
        let (result, channel) = (types::value(rt, method), types::event(rt, event));
        let (cx, args) = (context(method), arguments(rt, method));
        let declared = method.params.iter().filter(|param| !matches!(param.kind, ParamKind::Events(_)));
        let declared = declared.map(|param| {
            let (ident, ty) = (&param.ident, &param.ty);
            quote!(#ident: #ty)
        });
        let docs = method.docs.as_ref().map(crate::docs::Docs::attribute);
        Some(quote! {
            #docs
            ///
            /// The events and the result as one stream.
            #vis fn #name(&self, #(#declared),*) -> #rt::CallStream<#event, #value> {
                #result::stream(&self.caller, #number, #args, #cx, #channel::channel())
            }
        })
    });
    quote!(#(#streams)*)
}
