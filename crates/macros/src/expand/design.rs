//! The design, as code that makes it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::types;
use crate::docs::Docs;
use crate::method::Method;
use crate::param::{Arg, ArgDefault, Base64, Param, ParamKind};
use crate::role::{Common, Role};
use crate::service::Service;

pub(super) fn hidden(service: &Service) -> TokenStream {
    let rt = &service.options.rt;
    let options = &service.options;
    let (name, version) = (&options.name, &options.version);
    let mut made = quote!(#rt::design::Design::new(#name, #version));
    made.extend(title(service));
    if !options.protocols.is_empty() {
        let protocols = options.protocols.iter();
        made.extend(quote!(.with_protocols([#(::std::string::String::from(#protocols)),*])));
    }
    if let Some(path) = &options.rpc {
        made.extend(quote!(.with_rpc(#path)));
    }
    if !options.quickstart {
        made.extend(quote!(.with_quickstart(false)));
    }
    let mut lists: [(&str, &str, Vec<TokenStream>); 7] = [
        ("tools", "ToolDef", Vec::new()),
        ("resources", "ResourceDef", Vec::new()),
        ("prompts", "PromptDef", Vec::new()),
        ("watches", "WatchDef", Vec::new()),
        ("completions", "CompletionDef", Vec::new()),
        ("notifications", "NotificationDef", Vec::new()),
        ("rpc_only", "MethodDef", Vec::new()),
    ];
    for method in &service.methods {
        if let Some((list, item)) = item(service, method) {
            lists[list].2.push(item);
        }
    }
    for (list, kind, items) in lists.iter().filter(|(_, _, items)| !items.is_empty()) {
        let (with, kind) = (format_ident!("with_{list}"), format_ident!("{kind}"));
        made.extend(quote!(.#with(#rt::each::<#rt::design::#kind>(&[#(|| #items),*]))));
    }
    quote! {
        fn __design() -> &'static ::std::sync::Arc<#rt::design::Design> {
            static DESIGN: ::std::sync::LazyLock<::std::sync::Arc<#rt::design::Design>> =
                ::std::sync::LazyLock::new(|| ::std::sync::Arc::new(#made));
            &DESIGN
        }
    }
}

/// The title is said in the attribute. The first paragraph of the doc comment is the description, the others are
/// instructions.
fn title(service: &Service) -> TokenStream {
    let rt = &service.options.rt;
    let mut made = TokenStream::new();
    if let Some(title) = &service.options.title {
        made.extend(quote!(.with_title(#title)));
    }
    match &service.docs {
        None => {}
        Some(Docs::Text(text)) => {
            let first = text.split("\n\n").next().unwrap_or_default();
            let rest = text[first.len()..].trim();
            let first = first.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            if !first.is_empty() {
                made.extend(quote!(.with_description(#first)));
            }
            if !rest.is_empty() {
                made.extend(quote!(.with_instructions(#rest)));
            }
        }
        Some(Docs::Made(text)) => made.extend(quote! {
            .with_description(#rt::first_paragraph(#text))
            .with_instructions(#rt::other_paragraphs(#text))
        }),
    }
    made
}

/// The item of a method, with the number of the list it belongs to.
fn item(service: &Service, method: &Method) -> Option<(usize, TokenStream)> {
    let rt = &service.options.rt;
    let (rust_name, description) = (method.rust_name(), method.description());
    let named = |common: &Common| {
        let name = common.name.as_ref().map(|name| quote!(.with_name(#name)));
        let others = self::common(rt, common);
        quote!(#name #others)
    };
    let value = types::value(rt, method);
    Some(match &method.role {
        Role::Tool(tool) => {
            let takes = takes(rt, method);
            let mut made = quote!(#rt::tool_taking(#rust_name, #description, #takes, #value::describe()));
            made.extend(named(&tool.common));
            made.extend(annotations(rt, tool));
            if let Some(event) = method.events() {
                let event = types::event(rt, event);
                made.extend(quote!(.with_events(#event::describe())));
            }
            if let Some(example) = &tool.example {
                made.extend(quote!(.with_example(#rt::serde_json::json!({ #example }))));
            }
            if let Some(rule) = tool.task {
                let rule = format_ident!("{rule}");
                made.extend(quote!(.with_task(#rt::design::TaskRule::#rule)));
            }
            if let Some(schema) = &tool.schema {
                made.extend(quote!(.with_args(#rt::written(#rust_name, #schema))));
            }
            (0, made)
        }
        Role::Resource(resource) => {
            let (takes, uri) = (takes(rt, method), &resource.uri);
            let mut made = quote! {
                #rt::resource_taking(#rust_name, #uri, #description, #takes, #value::describe())
            };
            made.extend(named(&resource.common));
            if let Some(mime) = &resource.mime {
                made.extend(quote!(.with_mime(#mime)));
            }
            if let Some(list) = &resource.list {
                let list = syn::ext::IdentExt::unraw(list).to_string();
                made.extend(quote!(.with_list(#list)));
            }
            if resource.watch {
                made.extend(quote!(.with_watch(true)));
            }
            if let Some(ttl) = resource.ttl_ms {
                made.extend(quote!(.with_ttl_ms(#ttl)));
            }
            if let Some(public) = resource.public {
                let scope = if public { quote!(Public) } else { quote!(Private) };
                made.extend(quote!(.with_cache_scope(#rt::protocol::CacheScope::#scope)));
            }
            (1, made)
        }
        Role::Prompt(prompt) => {
            let takes = takes(rt, method);
            let mut made = quote!(#rt::prompt_taking(#rust_name, #description, #takes));
            made.extend(named(&prompt.common));
            if let Some(example) = &prompt.example {
                made.extend(quote!(.with_example(#rt::serde_json::json!({ #example }))));
            }
            if let Some(text) = &prompt.text {
                made.extend(quote!(.with_body(#rt::static_prompt(#text))));
            }
            (2, made)
        }
        Role::Subscription { resource } => {
            let described = method.docs.as_ref().map(|_| quote!(.with_description(#description)));
            (3, quote!(#rt::design::WatchDef::new(#resource, #rust_name) #described))
        }
        Role::Completion(completion) => {
            let kind = if completion.of_prompt { quote!(Prompt) } else { quote!(Resource) };
            let (of, argument) = (&completion.of, &completion.argument);
            let of = quote!(#rt::design::CompletionTarget::#kind(::std::string::String::from(#of)));
            (4, quote!(#rt::design::CompletionDef::new(#of, #argument, #rust_name)))
        }
        Role::Notification { name } => {
            let payload = types::payload(rt, &method.params.first()?.ty);
            let name = name.as_ref().map(|name| quote!(.with_name(#name)));
            (5, quote!(#payload::describe(#rust_name, #description) #name))
        }
        Role::Unmapped => {
            let takes = takes(rt, method);
            (6, quote!(#rt::method_taking(#rust_name, #description, #takes, #value::describe())))
        }
        Role::Internal => {
            let described = method.docs.as_ref().map(|_| quote!(.with_description(#description)));
            (
                6,
                quote! {
                    #rt::design::MethodDef::new(#rust_name)
                        .with_scope(#rt::design::MethodScope::Internal) #described
                },
            )
        }
        Role::Broken => return None,
    })
}

fn common(rt: &TokenStream, common: &Common) -> TokenStream {
    let mut made = TokenStream::new();
    if let Some(title) = &common.title {
        made.extend(quote!(.with_title(#title)));
    }
    if let Some(since) = &common.since {
        made.extend(quote!(.with_since(#since)));
    }
    if let Some(deprecated) = &common.deprecated {
        made.extend(quote!(.with_deprecated(#deprecated)));
    }
    for (with, texts) in [(quote!(with_scopes), &common.scopes), (quote!(with_tags), &common.tags)] {
        if !texts.is_empty() {
            made.extend(quote!(.#with([#(::std::string::String::from(#texts)),*])));
        }
    }
    if !common.icons.is_empty() {
        let icons = &common.icons;
        made.extend(quote!(.with_icons([#(#rt::protocol::Icon::new(#icons)),*])));
    }
    made
}

fn annotations(rt: &TokenStream, tool: &crate::role::Tool) -> Option<TokenStream> {
    let hints = [
        (quote!(with_read_only_hint), tool.read_only),
        (quote!(with_destructive_hint), tool.destructive),
        (quote!(with_idempotent_hint), tool.idempotent),
        (quote!(with_open_world_hint), tool.open_world),
    ];
    let said: Vec<TokenStream> =
        hints.iter().filter_map(|(with, said)| said.map(|said| quote!(.#with(#said)))).collect();
    (!said.is_empty()).then(|| quote!(.with_annotations(#rt::protocol::ToolAnnotations::new() #(#said)*)))
}

/// What a method takes.
fn takes(rt: &TokenStream, method: &Method) -> TokenStream {
    if let Some(whole) = method.params.iter().find(|param| matches!(param.kind, ParamKind::Whole)) {
        let ty = types::argument(rt, &whole.ty);
        return quote!(#ty::declare_all());
    }
    let mut made = quote!(#rt::Args::new());
    for param in &method.params {
        if let Some(arg) = param.arg() {
            made = taken(rt, &made, param, arg);
        }
    }
    made
}

/// The arguments before, and this one.
fn taken(rt: &TokenStream, before: &TokenStream, param: &Param, arg: &Arg) -> TokenStream {
    let (wire, ty) = (&arg.wire, param.wire_type(rt));
    let description = arg.docs.as_ref().map_or_else(|| quote!(""), Docs::tokens);
    let default = arg.default.as_ref().map(|default| {
        let default = match default {
            ArgDefault::Own => quote!(<#ty as ::core::default::Default>::default()),
            ArgDefault::From(path) => quote!(#path()),
            ArgDefault::Is(expr) => quote!(#expr),
        };
        let default = match arg.base64.filter(|_| !matches!(arg.default, Some(ArgDefault::Own))) {
            None => default,
            Some(Base64::Bytes) => quote!(#rt::Bytes::new(#default)),
            Some(Base64::Optional) => quote!((#default).map(#rt::Bytes::new)),
        };
        quote!(#rt::default_json::<#ty>(&(#default)))
    });
    let header = arg.header.as_ref().map(|header| quote!(.header(#wire, #header)));
    let like = (!arg.schema.is_empty()).then(|| like(rt, param, arg));
    let argument = types::argument(rt, &ty);
    let made = match default {
        None => quote!(#argument::declare(#before #like, #wire, #description)),
        Some(default) => quote!(#argument::declare_or(#before #like, #wire, #description, #default)),
    };
    quote!(#made #header)
}

/// The schema of a parameter that says more of it: that of a struct which has it as its one field.
fn like(rt: &TokenStream, param: &Param, arg: &Arg) -> TokenStream {
    let (ident, ty, attrs) = (&param.ident, param.wire_type(rt), &arg.schema);
    let krate = quote!(#rt::schemars).to_string().replace(' ', "");
    quote! {
        .like({
            #[derive(#rt::schemars::JsonSchema)]
            #[schemars(crate = #krate)]
            struct __Like { #(#attrs)* #ident: #ty }
            <__Like as #rt::schemars::JsonSchema>::json_schema
        })
    }
}
