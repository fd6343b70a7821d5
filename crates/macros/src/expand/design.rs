//! The function that builds the design.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::method_types;
use crate::docs::Docs;
use crate::method::ServiceMethod;
use crate::param::{Arg, ArgDefault, Base64, Param, ParamKind};
use crate::role::{CommonOptions, PromptRole, ResourceRole, Role, ToolRole};
use crate::service::Service;

pub(super) fn impls(service: &Service) -> TokenStream {
    let rt = &service.options.rt;
    let options = &service.options;
    let (name, version) = (&options.name, &options.version);
    let mut builder = quote!(#rt::design::Design::new(#name, #version));
    builder.extend(title_and_docs(service));
    if !options.protocols.is_empty() {
        let protocols = options.protocols.iter();
        builder.extend(quote!(.with_protocols([#(::std::string::String::from(#protocols)),*])));
    }
    if let Some(path) = &options.rpc {
        builder.extend(quote!(.with_rpc(#path)));
    }
    if !options.quickstart {
        builder.extend(quote!(.with_quickstart(false)));
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
        builder.extend(quote!(.#with(#rt::construct_each::<#rt::design::#kind>(&[#(|| #items),*]))));
    }
    quote! {
        fn __design() -> &'static ::std::sync::Arc<#rt::design::Design> {
            static DESIGN: ::std::sync::LazyLock<::std::sync::Arc<#rt::design::Design>> =
                ::std::sync::LazyLock::new(|| ::std::sync::Arc::new(#builder));
            &DESIGN
        }
    }
}

/// Returns the setters of title, description and instructions. The first paragraph of the doc comment is the description,
/// the others are the instructions.
fn title_and_docs(service: &Service) -> TokenStream {
    let rt = &service.options.rt;
    let mut builder = TokenStream::new();
    if let Some(title) = &service.options.title {
        builder.extend(quote!(.with_title(#title)));
    }
    match &service.docs {
        None => {}
        Some(Docs::Text(text)) => {
            let first = text.split("\n\n").next().unwrap_or_default();
            let rest = text[first.len()..].trim();
            let first = first.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            if !first.is_empty() {
                builder.extend(quote!(.with_description(#first)));
            }
            if !rest.is_empty() {
                builder.extend(quote!(.with_instructions(#rest)));
            }
        }
        Some(Docs::Computed(text)) => builder.extend(quote! {
            .with_description(#rt::first_paragraph(#text))
            .with_instructions(#rt::other_paragraphs(#text))
        }),
    }
    builder
}

/// Returns the item of a method, with the index of its list.
fn item(service: &Service, method: &ServiceMethod) -> Option<(usize, TokenStream)> {
    let rt = &service.options.rt;
    let (rust_name, description) = (method.rust_name(), method.description());
    let described = || method.docs.as_ref().map(|_| quote!(.with_description(#description)));
    Some(match &method.role {
        Role::Tool(tool) => (0, tool_item(rt, method, tool)),
        Role::Resource(resource) => (1, resource_item(rt, method, resource)),
        Role::Prompt(prompt) => (2, prompt_item(rt, method, prompt)),
        Role::Subscription { resource } => {
            let described = described();
            (3, quote!(#rt::design::WatchDef::new(#resource, #rust_name) #described))
        }
        Role::Completion(completion) => {
            let kind = if completion.is_prompt { quote!(Prompt) } else { quote!(Resource) };
            let (target, argument) = (&completion.target, &completion.argument);
            let target = quote!(#rt::design::CompletionTarget::#kind(::std::string::String::from(#target)));
            (4, quote!(#rt::design::CompletionDef::new(#target, #argument, #rust_name)))
        }
        Role::Notification { name } => {
            let payload = method_types::payload(rt, &method.params.first()?.ty);
            let name = name.as_ref().map(|name| quote!(.with_name(#name)));
            (5, quote!(#payload::describe(#rust_name, #description) #name))
        }
        Role::Unmapped => {
            let (arguments, value) = (arguments(rt, method), method_types::value(rt, method));
            (6, quote!(#rt::method_with_args(#rust_name, #description, #arguments, #value::describe())))
        }
        Role::Internal => {
            let described = described();
            let scope = quote!(#rt::design::MethodScope::Internal);
            (6, quote!(#rt::design::MethodDef::new(#rust_name).with_scope(#scope) #described))
        }
        Role::Invalid => return None,
    })
}

/// Returns the item of a tool.
fn tool_item(rt: &TokenStream, method: &ServiceMethod, tool: &ToolRole) -> TokenStream {
    let (rust_name, description) = (method.rust_name(), method.description());
    let (arguments, value) = (arguments(rt, method), method_types::value(rt, method));
    let (common, annotations) = (common_setters(rt, &tool.common), annotations(rt, tool));
    let events = method.event_type().map(|event| {
        let event = method_types::event(rt, event);
        quote!(.with_events(#event::describe()))
    });
    let example =
        tool.example.as_ref().map(|example| quote!(.with_example(#rt::serde_json::json!({ #example }))));
    let task = tool.task.map(|rule| {
        let rule = format_ident!("{rule}");
        quote!(.with_task(#rt::design::TaskRule::#rule))
    });
    let schema =
        tool.schema.as_ref().map(|schema| quote!(.with_args(#rt::args_with_schema(#rust_name, #schema))));
    quote! {
        #rt::tool_with_args(#rust_name, #description, #arguments, #value::describe())
            #common #annotations #events #example #task #schema
    }
}

/// Returns the item of a resource.
fn resource_item(rt: &TokenStream, method: &ServiceMethod, resource: &ResourceRole) -> TokenStream {
    let (rust_name, description, uri) = (method.rust_name(), method.description(), &resource.uri);
    let (arguments, value) = (arguments(rt, method), method_types::value(rt, method));
    let common = common_setters(rt, &resource.common);
    let mime = resource.mime.as_ref().map(|mime| quote!(.with_mime(#mime)));
    let list = resource.list.as_ref().map(|list| {
        let list = syn::ext::IdentExt::unraw(list).to_string();
        quote!(.with_list(#list))
    });
    let watch = resource.watch.then(|| quote!(.with_watch(true)));
    let ttl = resource.ttl_ms.map(|ttl| quote!(.with_ttl_ms(#ttl)));
    let cache = resource.public.map(|public| {
        let scope = if public { quote!(Public) } else { quote!(Private) };
        quote!(.with_cache_scope(#rt::protocol::CacheScope::#scope))
    });
    quote! {
        #rt::resource_with_args(#rust_name, #uri, #description, #arguments, #value::describe())
            #common #mime #list #watch #ttl #cache
    }
}

/// Returns the item of a prompt.
fn prompt_item(rt: &TokenStream, method: &ServiceMethod, prompt: &PromptRole) -> TokenStream {
    let (rust_name, description, arguments) =
        (method.rust_name(), method.description(), arguments(rt, method));
    let common = common_setters(rt, &prompt.common);
    let example =
        prompt.example.as_ref().map(|example| quote!(.with_example(#rt::serde_json::json!({ #example }))));
    let body = prompt.text.as_ref().map(|text| quote!(.with_body(#rt::static_prompt(#text))));
    quote!(#rt::prompt_with_args(#rust_name, #description, #arguments) #common #example #body)
}

/// Returns the setters of the options that tools, resources and prompts have in common.
fn common_setters(rt: &TokenStream, common: &CommonOptions) -> TokenStream {
    let CommonOptions { name, title, scopes, tags, since, deprecated, icons } = common;
    let name = name.as_ref().map(|name| quote!(.with_name(#name)));
    let title = title.as_ref().map(|title| quote!(.with_title(#title)));
    let since = since.as_ref().map(|since| quote!(.with_since(#since)));
    let deprecated = deprecated.as_ref().map(|deprecated| quote!(.with_deprecated(#deprecated)));
    let texts = [(quote!(with_scopes), scopes), (quote!(with_tags), tags)];
    let texts = texts
        .iter()
        .filter(|(_, texts)| !texts.is_empty())
        .map(|(with, texts)| quote!(.#with([#(::std::string::String::from(#texts)),*])));
    let icons = (!icons.is_empty()).then(|| quote!(.with_icons([#(#rt::protocol::Icon::new(#icons)),*])));
    quote!(#name #title #since #deprecated #(#texts)* #icons)
}

fn annotations(rt: &TokenStream, tool: &ToolRole) -> Option<TokenStream> {
    let hints = [
        (quote!(with_read_only_hint), tool.read_only),
        (quote!(with_destructive_hint), tool.destructive),
        (quote!(with_idempotent_hint), tool.idempotent),
        (quote!(with_open_world_hint), tool.open_world),
    ];
    let setters: Vec<TokenStream> =
        hints.iter().filter_map(|(with, hint)| hint.map(|hint| quote!(.#with(#hint)))).collect();
    (!setters.is_empty())
        .then(|| quote!(.with_annotations(#rt::protocol::ToolAnnotations::new() #(#setters)*)))
}

/// Returns the declaration of the arguments of a method.
fn arguments(rt: &TokenStream, method: &ServiceMethod) -> TokenStream {
    if let Some(whole) = method.params.iter().find(|param| matches!(param.kind, ParamKind::AllArgs)) {
        let ty = method_types::argument(rt, &whole.ty);
        return quote!(#ty::declare_all());
    }
    let mut builder = quote!(#rt::ArgsBuilder::new());
    for param in &method.params {
        if let Some(arg) = param.arg() {
            builder = declare_argument(rt, &builder, param, arg);
        }
    }
    builder
}

/// Appends the declaration of one argument.
fn declare_argument(rt: &TokenStream, before: &TokenStream, param: &Param, arg: &Arg) -> TokenStream {
    let (wire, ty) = (&arg.wire, param.wire_type(rt));
    let description = arg.docs.as_ref().map_or_else(|| quote!(""), Docs::to_expr);
    let default = arg.default.as_ref().map(|default| {
        let default = match default {
            ArgDefault::TypeDefault => quote!(<#ty as ::core::default::Default>::default()),
            ArgDefault::Function(path) => quote!(#path()),
            ArgDefault::Expr(expr) => quote!(#expr),
        };
        let default = match arg.base64.filter(|_| !matches!(arg.default, Some(ArgDefault::TypeDefault))) {
            None => default,
            Some(Base64::Bytes) => quote!(#rt::Bytes::new(#default)),
            Some(Base64::Optional) => quote!((#default).map(#rt::Bytes::new)),
        };
        quote!(#rt::default_json::<#ty>(&(#default)))
    });
    let header = arg.header.as_ref().map(|header| quote!(.header(#wire, #header)));
    let like = (!arg.schema.is_empty()).then(|| schema_override(rt, param, arg));
    let argument = method_types::argument(rt, &ty);
    let builder = match default {
        None => quote!(#argument::declare(#before #like, #wire, #description)),
        Some(default) => quote!(#argument::declare_or(#before #like, #wire, #description, #default)),
    };
    quote!(#builder #header)
}

/// Returns the schema of a parameter with `#[schemars]` attributes: that of a struct with the parameter as its only field.
fn schema_override(rt: &TokenStream, param: &Param, arg: &Arg) -> TokenStream {
    let (ident, ty, attrs) = (&param.ident, param.wire_type(rt), &arg.schema);
    let krate = quote!(#rt::schemars).to_string().replace(' ', "");
    quote! {
        .schema_of_field({
            #[derive(#rt::schemars::JsonSchema)]
            #[schemars(crate = #krate)]
            struct __Like { #(#attrs)* #ident: #ty }
            <__Like as #rt::schemars::JsonSchema>::json_schema
        })
    }
}
