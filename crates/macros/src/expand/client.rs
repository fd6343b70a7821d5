//! `XClient`: the typed client over a session, and `XUnmapped`: its fallback for methods that are not mapped to MCP.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use super::service_trait::callable_methods;
use super::{method_types, param_declarations, param_names, send_future};
use crate::method::ServiceMethod;
use crate::param::{Base64, ParamKind};
use crate::role::Role;
use crate::service::Service;
use crate::type_syntax::call_site_span;

fn is_unmapped(method: &ServiceMethod) -> bool {
    matches!(method.role, Role::Unmapped | Role::Internal)
}

pub(super) fn items(service: &Service) -> TokenStream {
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (client, unmapped) = (format_ident!("{ident}Client"), format_ident!("{ident}Unmapped"));
    let docs = format!("Calls [`{ident}`] over MCP.");
    let unmapped_docs = format!("How [`{client}`] calls methods without a role in MCP.");
    let missing: Vec<String> = callable_methods(service)
        .filter(|method| is_unmapped(method))
        .map(ServiceMethod::rust_name)
        .collect();
    let diagnostic = (!missing.is_empty()).then(|| {
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
    let methods = callable_methods(service).filter(|method| is_unmapped(method)).map(|method| {
        let (name, declared, future) =
            (unmapped_name(method), param_declarations(method), send_future(&method.returns));
        quote! {
            #[doc(hidden)]
            fn #name(&self, #(#declared),*) -> #future;
        }
    });
    quote! {
        #rt::if_client! {
            #[doc = #docs]
            #[derive(::core::fmt::Debug, ::core::clone::Clone)]
            #[allow(dead_code, reason = "for callers of the service")]
            #vis struct #client<F = ()> {
                caller: #rt::ServiceCaller,
                fallback: F,
            }

            #[doc = #unmapped_docs]
            #diagnostic
            #[allow(dead_code, reason = "for callers of the service")]
            #vis trait #unmapped: ::core::marker::Send + ::core::marker::Sync + 'static {
                #(#methods)*
            }
        }
    }
}

pub(super) fn unmapped_name(method: &ServiceMethod) -> proc_macro2::Ident {
    format_ident!("__unmapped_{}", method.ident.unraw())
}

pub(super) fn impls(service: &Service) -> TokenStream {
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (client, unmapped) = (format_ident!("{ident}Client"), format_ident!("{ident}Unmapped"));
    let streams = stream_methods(service);
    let shared = callable_methods(service).filter(|method| is_unmapped(method)).map(|method| {
        let (own, name) = (&method.ident, unmapped_name(method));
        let (declared, passed, future) =
            (param_declarations(method), param_names(method), send_future(&method.returns));
        quote! {
            fn #name(&self, #(#declared),*) -> #future { <__S as #ident>::#own(self, #(#passed),*) }
        }
    });
    // Without a fallback, only calls of unmapped methods fail.
    let failing = callable_methods(service).filter(|method| is_unmapped(method)).map(|method| {
        let (name, own, error) = (unmapped_name(method), method.rust_name(), method_types::error(rt, method));
        let (declared, passed, future) =
            (param_declarations(method), param_names(method), send_future(&method.returns));
        quote! {
            fn #name(&self, #(#declared),*) -> #future {
                let _ = (#(#passed,)*);
                async { ::core::result::Result::Err(#error::from_error(#rt::unmapped(#own))) }
            }
        }
    });
    let methods = trait_methods(service);
    quote! {
        #rt::if_client! {
            impl #client {
                /// Creates a client that calls over a session.
                #vis fn new(session: impl ::core::convert::Into<#rt::ClientSession>) -> Self {
                    let session = session.into();
                    Self { caller: #rt::ServiceCaller::new(session, ::std::sync::Arc::clone(__design())), fallback: () }
                }
            }

            impl<F> #client<F> {
                /// Sets the client for methods without a role in MCP. Without a fallback they fail with `Error::Unmapped`.
                #vis fn with_fallback<G>(self, fallback: G) -> #client<G> {
                    #client { caller: self.caller, fallback }
                }

                /// Returns the underlying caller.
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

/// Returns the expression that encodes the arguments of a call.
pub(super) fn encode_arguments(rt: &TokenStream, method: &ServiceMethod) -> TokenStream {
    let is_completion = matches!(method.role, Role::Completion(_));
    let mut arguments = quote!(#rt::CallArguments::new());
    let mut first = true;
    for param in &method.params {
        let ident = &param.ident;
        match &param.kind {
            ParamKind::AllArgs => {
                let ty = method_types::argument(rt, &param.ty);
                return quote_spanned!(call_site_span(&param.ty)=> #ty::write_all(&#ident));
            }
            ParamKind::Arg(arg) => {
                let wire = if is_completion && first { "value" } else { &arg.wire };
                let value = match arg.base64 {
                    None => quote!(#ident),
                    Some(Base64::Bytes) => quote!(#rt::Bytes::from(#ident)),
                    Some(Base64::Optional) => quote!(#ident.map(#rt::Bytes::from)),
                };
                let ty = method_types::argument(rt, &param.wire_type(rt));
                arguments =
                    quote_spanned!(call_site_span(&param.ty)=> #ty::write(&#value, #arguments, #wire));
                first = false;
            }
            ParamKind::Context | ParamKind::Events(_) | ParamKind::Changes => {}
        }
    }
    arguments
}

/// Returns the context of a call as an `Option`.
pub(super) fn context_option(method: &ServiceMethod) -> TokenStream {
    match method.context_param() {
        Some(cx) => {
            let cx = &cx.ident;
            quote!(::core::option::Option::Some(#cx))
        }
        None => quote!(::core::option::Option::None),
    }
}

/// Returns the event sink of a call, if the method has events.
pub(super) fn event_sink(rt: &TokenStream, method: &ServiceMethod) -> Option<TokenStream> {
    let (events, event) = (method.events_param()?, method_types::event(rt, method.event_type()?));
    Some(quote!(#event::into_sink(#events)))
}

/// Returns the closure that decodes the response of a call to the value and the error of a method.
pub(super) fn decode_response(rt: &TokenStream, method: &ServiceMethod, read: &TokenStream) -> TokenStream {
    let (value, from_error) = (method_types::value(rt, method), method_types::from_error(rt, method));
    quote_spanned! {call_site_span(&method.value)=>
        |answer| answer.and_then(|answer| #value::#read).map_err(#from_error)
    }
}

fn trait_methods(service: &Service) -> TokenStream {
    let rt = &service.options.rt;
    let mut numbers = [0_usize; 5];
    let mut next = |list: usize| {
        let number = numbers[list];
        numbers[list] += 1;
        number
    };
    let methods = callable_methods(service).map(|method| {
        let (name, declared, future) = (&method.ident, param_declarations(method), send_future(&method.returns));
        let (cx, args) = (context_option(method), encode_arguments(rt, method));
        let call = match &method.role {
            Role::Tool(_) => {
                let number = next(0);
                let sink = match event_sink(rt, method) {
                    Some(sink) => quote!(::core::option::Option::Some(#sink)),
                    None => quote!(::core::option::Option::None),
                };
                let decode = decode_response(rt, method, &quote!(from_tool(answer)));
                quote_spanned!(call_site_span(&method.value)=> self.caller.tool_with(#number, #args, #cx, #sink, #decode))
            }
            Role::Resource(_) => {
                let number = next(1);
                let decode = decode_response(rt, method, &quote!(from_resource(answer)));
                quote_spanned!(call_site_span(&method.value)=> self.caller.resource_with(#number, #args, #cx, #decode))
            }
            Role::Prompt(_) => {
                let number = next(2);
                let from_error = method_types::from_error(rt, method);
                quote_spanned!(call_site_span(&method.value)=> self.caller.prompt_with(#number, #args, #cx, #from_error))
            }
            Role::Subscription { .. } => {
                let number = next(3);
                let changes = method.params.iter().find(|param| matches!(param.kind, ParamKind::Changes));
                let changes = changes.map(|param| &param.ident);
                let from_error = method_types::from_error(rt, method);
                quote!(self.caller.watch_with(#number, #cx, #changes, #from_error))
            }
            Role::Completion(_) => {
                let number = next(4);
                let from_error = method_types::from_error(rt, method);
                quote!(self.caller.complete_with(#number, #args, #cx, #from_error))
            }
            Role::Unmapped | Role::Internal | Role::Notification { .. } | Role::Invalid => {
                let (name, passed) = (unmapped_name(method), param_names(method));
                quote!(self.fallback.#name(#(#passed),*))
            }
        };
        quote!(fn #name(&self, #(#declared),*) -> #future { #call })
    });
    quote!(#(#methods)*)
}

/// Returns a method for each streaming tool that returns events and result as one stream.
fn stream_methods(service: &Service) -> TokenStream {
    let (vis, rt) = (&service.vis, &service.options.rt);
    let tools = service.with_numbers(|role| matches!(role, Role::Tool(_)).then_some(()));
    let streams = tools.filter_map(|(number, method, ())| {
        let event = method.event_type()?;
        let name = format_ident!("{}_stream", method.ident.unraw());
        let value = &method.value;
        let (result, channel) = (method_types::value(rt, method), method_types::event(rt, event));
        let (cx, args) = (context_option(method), encode_arguments(rt, method));
        let declared = method.params.iter().filter(|param| !matches!(param.kind, ParamKind::Events(_)));
        let declared = declared.map(|param| {
            let (ident, ty) = (&param.ident, &param.ty);
            quote!(#ident: #ty)
        });
        let docs = method.docs.as_ref().map(crate::docs::Docs::to_attribute);
        Some(quote! {
            #docs
            ///
            /// Returns the events and the result as one stream.
            #vis fn #name(&self, #(#declared),*) -> #rt::CallStream<#event, #value> {
                #result::stream(&self.caller, #number, #args, #cx, #channel::channel())
            }
        })
    });
    quote!(#(#streams)*)
}
