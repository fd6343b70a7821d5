//! How calls by number reach the methods.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::types;
use crate::method::Method;
use crate::param::{Base64, ParamKind};
use crate::role::Role;
use crate::service::Service;
use crate::ty::at;

pub(super) fn hidden(service: &Service) -> TokenStream {
    let (ident, rt) = (&service.ident, &service.options.rt);
    let server = format_ident!("{ident}Server");
    let mut functions = TokenStream::new();
    let mut verb = |verb: &str, what: TokenStream, arms: Vec<(TokenStream, TokenStream)>| {
        let verb = format_ident!("{verb}");
        if arms.is_empty() {
            return quote! {
                fn #verb(&self, _: usize, _: #rt::Call) -> #rt::CallFuture<#what> { #rt::unknown_index() }
            };
        }
        let mut numbers = Vec::new();
        let mut names = Vec::new();
        for (number, (pattern, work)) in arms.into_iter().enumerate() {
            // A function for each, so that no frame has to hold the futures of all.
            let name = format_ident!("__{verb}_{number}");
            functions.extend(quote! {
                fn #name<__S: #ident>(
                    service: ::std::sync::Arc<__S>,
                    call: #rt::Call,
                ) -> #rt::CallFuture<#what> {
                    #work
                }
            });
            numbers.push(pattern);
            names.push(name);
        }
        quote! {
            fn #verb(&self, number: usize, call: #rt::Call) -> #rt::CallFuture<#what> {
                let service = ::std::sync::Arc::clone(&self.0);
                match number {
                    #(#numbers => #names(service, call),)*
                    _ => #rt::unknown_index(),
                }
            }
        }
    };
    let tools = service.numbered(|role| match role {
        Role::Tool(tool) => Some(tool),
        _ => None,
    });
    let tools = tools.map(|(number, method, _)| {
        let (value, returned) = (types::value(rt, method), returned(service, method));
        let work = quote_spanned!(at(&method.value)=> #value::into_tool_result(#returned?, &call));
        (number_pattern(number), ran(rt, method, &work))
    });
    let tools = verb("call_tool", quote!(#rt::protocol::CallToolResult), tools.collect());
    let resources = service.numbered(|role| matches!(role, Role::Resource(_)).then_some(()));
    let resources = resources.map(|(number, method, ())| {
        let (value, returned) = (types::value(rt, method), returned(service, method));
        let work = quote_spanned!(at(&method.value)=> #value::into_contents(#returned?));
        (number_pattern(number), ran(rt, method, &work))
    });
    let resources = verb("read_resource", quote!(#rt::Contents), resources.collect());
    let prompts = service.numbered(|role| matches!(role, Role::Prompt(_)).then_some(()));
    let prompts = prompts
        .map(|(number, method, ())| (number_pattern(number), ran(rt, method, &returned(service, method))));
    let prompts = verb("get_prompt", quote!(#rt::PromptMessages), prompts.collect());
    let completions = service.numbered(|role| matches!(role, Role::Completion(_)).then_some(()));
    let completions = completions
        .map(|(number, method, ())| (number_pattern(number), ran(rt, method, &returned(service, method))));
    let completions = verb("complete", quote!(::std::vec::Vec<::std::string::String>), completions.collect());
    let (watch, members) = (watch(service), members(service));
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

fn number_pattern(number: usize) -> TokenStream {
    let number = proc_macro2::Literal::usize_unsuffixed(number);
    quote!(#number)
}

/// What a call of a method returns, its error converted.
fn returned(service: &Service, method: &Method) -> TokenStream {
    types::returned(&service.options.rt, method, &called(service, method))
}

/// The call of a method, with the arguments that the call gives.
fn called(service: &Service, method: &Method) -> TokenStream {
    let (ident, name, rt) = (&service.ident, &method.ident, &service.options.rt);
    let is_completion = matches!(method.role, Role::Completion(_));
    let mut wires = Vec::new();
    let mut passed = Vec::new();
    for param in &method.params {
        let ty = &param.ty;
        passed.push(match &param.kind {
            ParamKind::Cx => quote!(&call.cx),
            ParamKind::Events(event) => {
                let event = types::event(rt, event);
                quote!(#event::events(&call))
            }
            ParamKind::Changes => quote!(changes),
            ParamKind::Whole => {
                let ty = types::argument(rt, ty);
                quote!(#ty::take_all(&call)?)
            }
            ParamKind::Arg(arg) => {
                // What was typed so far is the first, whatever it is called.
                wires.push(if is_completion && wires.is_empty() { "value" } else { &arg.wire });
                let wire = types::argument(rt, &param.wire_type(rt));
                let taken = match &arg.default {
                    None => quote_spanned!(at(&ty)=> #wire::take(&mut given)?),
                    Some(default) => {
                        let maker = default.maker();
                        let maker = match arg.base64 {
                            Some(Base64::Bytes) => quote!(|| (#maker)().into()),
                            Some(Base64::Optional) => quote!(|| (#maker)().map(::core::convert::Into::into)),
                            None => maker,
                        };
                        quote_spanned!(at(&ty)=> #wire::take_or(&mut given, #maker)?)
                    }
                };
                match arg.base64 {
                    Some(Base64::Bytes) => quote!(#taken.into_vec()),
                    Some(Base64::Optional) => quote!(#taken.map(::core::convert::Into::into)),
                    None => taken,
                }
            }
        });
    }
    let whole = method.params.iter().any(|param| matches!(param.kind, ParamKind::Whole));
    let read = if is_completion { quote!(read_known_args) } else { quote!(read_args) };
    let given = match (whole, wires.is_empty()) {
        (true, _) => TokenStream::new(),
        (false, true) => quote!(call.#read(&[])?;),
        (false, false) => quote!(let mut given = call.#read(&[#(#wires),*])?;),
    };
    quote_spanned!(at(&method.value)=> { #given <__S as #ident>::#name(&service, #(#passed),*) })
}

/// The work of a call, where its author wants it run.
fn ran(rt: &TokenStream, method: &Method, work: &TokenStream) -> TokenStream {
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

/// How the members of resources are listed; nothing where none are.
fn members(service: &Service) -> Option<TokenStream> {
    let (ident, rt) = (&service.ident, &service.options.rt);
    let resources = service.numbered(|role| match role {
        Role::Resource(resource) => Some(resource),
        _ => None,
    });
    let arms: Vec<TokenStream> = resources
        .filter_map(|(number, _, resource)| {
            let list = resource.list.as_ref()?;
            let method = service.methods.iter().find(|method| method.ident == *list)?;
            let (number, cx) = (number_pattern(number), method.cx().map(|_| quote!(&cx)));
            let called = quote_spanned!(at(&method.value)=> <__S as #ident>::#list(&service, #cx));
            let returned = types::returned(rt, method, &called);
            Some(quote_spanned! {at(&method.value)=>
                #number => ::std::boxed::Box::pin(async move { #returned }),
            })
        })
        .collect();
    (!arms.is_empty()).then(|| {
        quote! {
            #[allow(unused_variables, reason = "not every method looks at its context")]
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
    let arms = service.numbered(|role| matches!(role, Role::Subscription { .. }).then_some(()));
    let arms: Vec<TokenStream> = arms
        .map(|(number, method, ())| {
            let (number, name) = (number_pattern(number), &method.ident);
            let passed = method.params.iter().map(|param| match &param.kind {
                ParamKind::Cx => quote!(&cx),
                _ => quote!(changes),
            });
            let returned =
                types::returned(rt, method, &quote!(<__S as #ident>::#name(&service, #(#passed),*)));
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

/// Every method by its name, for the plain endpoint; nothing without one.
fn methods(service: &Service) -> Option<TokenStream> {
    service.options.rpc.as_ref()?;
    let rt = &service.options.rt;
    let arms = super::plain::served(service).map(|method| {
        let (name, value, returned) =
            (method.rust_name(), types::value(rt, method), returned(service, method));
        let work = quote_spanned!(at(&method.value)=> #value::into_json(#returned?));
        let work = ran(rt, method, &work);
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
