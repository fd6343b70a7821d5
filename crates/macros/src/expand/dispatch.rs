//! The implementation of `Dispatch`: calls methods by number.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::method_types;
use crate::method::ServiceMethod;
use crate::param::{Base64, ParamKind};
use crate::role::Role;
use crate::service::Service;
use crate::type_syntax::call_site_span;

pub(super) fn impls(service: &Service) -> TokenStream {
    let (ident, rt) = (&service.ident, &service.options.rt);
    let server = format_ident!("{ident}Server");
    let tools = service.with_numbers(|role| matches!(role, Role::Tool(_)).then_some(()));
    let tools = tools.map(|(_, method, ())| {
        let (value, result) = (method_types::value(rt, method), awaited_result(service, method));
        let work = quote_spanned!(call_site_span(&method.value)=> #value::into_tool_result(#result?, &call));
        run_future(rt, method, &work)
    });
    let resources = service.with_numbers(|role| matches!(role, Role::Resource(_)).then_some(()));
    let resources = resources.map(|(_, method, ())| {
        let (value, result) = (method_types::value(rt, method), awaited_result(service, method));
        let work = quote_spanned!(call_site_span(&method.value)=> #value::into_contents(#result?));
        run_future(rt, method, &work)
    });
    let direct = |(_, method, ())| run_future(rt, method, &awaited_result(service, method));
    let prompts = service.with_numbers(|role| matches!(role, Role::Prompt(_)).then_some(())).map(direct);
    let completions =
        service.with_numbers(|role| matches!(role, Role::Completion(_)).then_some(())).map(direct);
    let mut functions = TokenStream::new();
    let mut dispatch = |name: &str, output: TokenStream, works: Vec<TokenStream>| {
        let (method, targets) = numbered_method(service, name, &output, works);
        functions.extend(targets);
        method
    };
    let tools = dispatch("call_tool", quote!(#rt::protocol::CallToolResult), tools.collect());
    let resources = dispatch("read_resource", quote!(#rt::Contents), resources.collect());
    let prompts = dispatch("get_prompt", quote!(#rt::PromptMessages), prompts.collect());
    let completions =
        dispatch("complete", quote!(::std::vec::Vec<::std::string::String>), completions.collect());
    let (watch, members) = (watch(service), list_members(service));
    let methods = methods(service);
    quote! {
        #functions
        impl<__S: #ident> #rt::Dispatch for #server<__S> {
            fn design(&self) -> &::std::sync::Arc<#rt::design::Design> { __design() }
            #tools
            #resources
            #members
            #prompts
            #completions
            #watch
            #methods
        }
    }
}

/// Returns a method of `Dispatch` that selects one of several futures by number, and the functions that create them.
fn numbered_method(
    service: &Service,
    name: &str,
    output: &TokenStream,
    works: Vec<TokenStream>,
) -> (TokenStream, TokenStream) {
    let (ident, rt) = (&service.ident, &service.options.rt);
    let name = format_ident!("{name}");
    let mut functions = TokenStream::new();
    if works.is_empty() {
        let method = quote! {
            fn #name(&self, _: usize, _: #rt::Call) -> #rt::CallFuture<#output> { #rt::unknown_index() }
        };
        return (method, functions);
    }
    let mut arms = Vec::new();
    for (number, work) in works.into_iter().enumerate() {
        // One function per method, so that no stack frame holds the futures of all methods.
        let function = format_ident!("__{name}_{number}");
        functions.extend(quote! {
            fn #function<__S: #ident>(
                service: ::std::sync::Arc<__S>,
                call: #rt::Call,
            ) -> #rt::CallFuture<#output> {
                #work
            }
        });
        let number = number_pattern(number);
        arms.push(quote!(#number => #function(service, call),));
    }
    let method = quote! {
        fn #name(&self, number: usize, call: #rt::Call) -> #rt::CallFuture<#output> {
            let service = ::std::sync::Arc::clone(&self.0);
            match number {
                #(#arms)*
                _ => #rt::unknown_index(),
            }
        }
    };
    (method, functions)
}

fn number_pattern(number: usize) -> TokenStream {
    let number = proc_macro2::Literal::usize_unsuffixed(number);
    quote!(#number)
}

/// Returns the awaited result of a method, with its error converted.
fn awaited_result(service: &Service, method: &ServiceMethod) -> TokenStream {
    method_types::returned(&service.options.rt, method, &method_call(service, method))
}

/// Returns the call of a method with the decoded arguments.
fn method_call(service: &Service, method: &ServiceMethod) -> TokenStream {
    let (ident, name, rt) = (&service.ident, &method.ident, &service.options.rt);
    let is_completion = matches!(method.role, Role::Completion(_));
    let mut wires = Vec::new();
    let mut passed = Vec::new();
    for param in &method.params {
        let ty = &param.ty;
        passed.push(match &param.kind {
            ParamKind::Context => quote!(&call.cx),
            ParamKind::Events(event) => {
                let event = method_types::event(rt, event);
                quote!(#event::events(&call))
            }
            ParamKind::Changes => quote!(changes),
            ParamKind::AllArgs => {
                let ty = method_types::argument(rt, ty);
                quote!(#ty::take_all(&call)?)
            }
            ParamKind::Arg(arg) => {
                // The first parameter of a completion is the typed text, under any name.
                wires.push(if is_completion && wires.is_empty() { "value" } else { &arg.wire });
                let wire = method_types::argument(rt, &param.wire_type(rt));
                let argument = match &arg.default {
                    None => quote_spanned!(call_site_span(&ty)=> #wire::take(&mut given)?),
                    Some(default_value) => {
                        let default = default_value.to_callable();
                        let default = match arg.base64 {
                            Some(Base64::Bytes) => quote!(|| (#default)().into()),
                            Some(Base64::Optional) => {
                                quote!(|| (#default)().map(::core::convert::Into::into))
                            }
                            None => default,
                        };
                        quote_spanned!(call_site_span(&ty)=> #wire::take_or(&mut given, #default)?)
                    }
                };
                match arg.base64 {
                    Some(Base64::Bytes) => quote!(#argument.into_vec()),
                    Some(Base64::Optional) => quote!(#argument.map(::core::convert::Into::into)),
                    None => argument,
                }
            }
        });
    }
    let has_all_args = method.params.iter().any(|param| matches!(param.kind, ParamKind::AllArgs));
    let read = if is_completion { quote!(read_known_args) } else { quote!(read_args) };
    let given = match (has_all_args, wires.is_empty()) {
        (true, _) => TokenStream::new(),
        (false, true) => quote!(call.#read(&[])?;),
        (false, false) => quote!(let mut given = call.#read(&[#(#wires),*])?;),
    };
    quote_spanned!(call_site_span(&method.value)=> { #given <__S as #ident>::#name(&service, #(#passed),*) })
}

/// Returns the future of a call: inline, blocking or shielded.
fn run_future(rt: &TokenStream, method: &ServiceMethod, work: &TokenStream) -> TokenStream {
    let work = quote!(::std::boxed::Box::pin(async move { #work }));
    match &method.role {
        Role::Tool(tool) if tool.blocking && tool.shielded => {
            quote!(#rt::run_shielded(#rt::run_blocking(#work)))
        }
        Role::Tool(tool) if tool.blocking => quote!(#rt::run_blocking(#work)),
        Role::Tool(tool) if tool.shielded => quote!(#rt::run_shielded(#work)),
        _ => work,
    }
}

/// Returns the method that lists the concrete resources of templates; `None` if no template has one.
fn list_members(service: &Service) -> Option<TokenStream> {
    let (ident, rt) = (&service.ident, &service.options.rt);
    let resources = service.with_numbers(|role| match role {
        Role::Resource(resource) => Some(resource),
        _ => None,
    });
    let arms: Vec<TokenStream> = resources
        .filter_map(|(number, _, resource)| {
            let list = resource.list.as_ref()?;
            let method = service.methods.iter().find(|method| method.ident == *list)?;
            let (number, cx) = (number_pattern(number), method.context_param().map(|_| quote!(&cx)));
            let called =
                quote_spanned!(call_site_span(&method.value)=> <__S as #ident>::#list(&service, #cx));
            let returned = method_types::returned(rt, method, &called);
            Some(quote_spanned! {call_site_span(&method.value)=>
                #number => ::std::boxed::Box::pin(async move { #returned }),
            })
        })
        .collect();
    (!arms.is_empty()).then(|| {
        quote! {
            #[allow(unused_variables, reason = "not every method uses its context")]
            fn list_members(
                &self,
                number: usize,
                cx: #rt::Cx,
            ) -> #rt::CallFuture<::std::vec::Vec<#rt::protocol::Resource>> {
                let service = ::std::sync::Arc::clone(&self.0);
                match number { #(#arms)* _ => #rt::unknown_index() }
            }
        }
    })
}

fn watch(service: &Service) -> TokenStream {
    let (ident, rt) = (&service.ident, &service.options.rt);
    let arms = service.with_numbers(|role| matches!(role, Role::Subscription { .. }).then_some(()));
    let arms: Vec<TokenStream> = arms
        .map(|(number, method, ())| {
            let (number, name) = (number_pattern(number), &method.ident);
            let passed = method.params.iter().map(|param| match &param.kind {
                ParamKind::Context => quote!(&cx),
                _ => quote!(changes),
            });
            let returned =
                method_types::returned(rt, method, &quote!(<__S as #ident>::#name(&service, #(#passed),*)));
            quote!(#number => ::std::boxed::Box::pin(async move { #returned }),)
        })
        .collect();
    if arms.is_empty() {
        return quote! {
            fn watch(&self, _: usize, _: #rt::Cx, _: #rt::Changes) -> #rt::CallFuture<()> { #rt::unknown_index() }
        };
    }
    quote! {
        fn watch(&self, number: usize, cx: #rt::Cx, changes: #rt::Changes) -> #rt::CallFuture<()> {
            let service = ::std::sync::Arc::clone(&self.0);
            match number { #(#arms)* _ => #rt::unknown_index() }
        }
    }
}

/// Returns the method that calls methods by name, for the plain JSON-RPC endpoint; `None` without an endpoint.
fn methods(service: &Service) -> Option<TokenStream> {
    service.options.rpc.as_ref()?;
    let rt = &service.options.rt;
    let arms = super::rpc_client::served_methods(service).map(|method| {
        let (name, value, returned) =
            (method.rust_name(), method_types::value(rt, method), awaited_result(service, method));
        let work = quote_spanned!(call_site_span(&method.value)=> #value::into_json(#returned?));
        let work = run_future(rt, method, &work);
        quote!(#name => #work,)
    });
    Some(quote! {
        fn call_method(
            &self,
            rust_name: &str,
            call: #rt::Call,
        ) -> ::core::option::Option<#rt::CallFuture<#rt::protocol::Raw>> {
            let service = ::std::sync::Arc::clone(&self.0);
            let work: #rt::CallFuture<#rt::protocol::Raw> = match rust_name {
                #(#arms)*
                _ => return ::core::option::Option::None,
            };
            ::core::option::Option::Some(work)
        }
    })
}
