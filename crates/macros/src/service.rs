//! Parses and checks a whole service.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{Expr, ItemTrait, LitStr, Path, TraitItem, Type, Visibility};

use crate::case::kebab;
use crate::diagnostics::Diagnostics;
use crate::docs::Docs;
use crate::method::ServiceMethod;
use crate::options::AttributeOptions;
use crate::role::Role;

/// A parsed service: the trait, its options and its methods.
pub(crate) struct Service {
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) docs: Option<Docs>,
    pub(crate) options: ServiceOptions,
    pub(crate) methods: Vec<ServiceMethod>,
}

/// The options of the `#[service]` attribute.
pub(crate) struct ServiceOptions {
    pub(crate) name: TokenStream,
    pub(crate) version: TokenStream,
    pub(crate) title: Option<Expr>,
    pub(crate) protocols: Vec<LitStr>,
    pub(crate) rpc: Option<LitStr>,
    pub(crate) quickstart: bool,
    pub(crate) error: Option<TokenStream>,
    /// The path of the runtime module in generated code.
    pub(crate) rt: TokenStream,
    pub(crate) dyn_compatible: bool,
}

const SERVICE_OPTIONS: [&str; 9] =
    ["name", "version", "title", "protocols", "rpc", "quickstart", "error", "crate", "dyn_compatible"];

impl ServiceOptions {
    pub(crate) fn parse(tokens: TokenStream, ident: &Ident, diagnostics: &mut Diagnostics) -> Self {
        let mut options = AttributeOptions::parse(tokens, Span::call_site(), diagnostics);
        let name = options.expr("name", diagnostics).map_or_else(
            || {
                let name = kebab(&ident.to_string());
                quote!(#name)
            },
            |name| name.to_token_stream(),
        );
        let version = options
            .expr("version", diagnostics)
            .map_or_else(|| quote!(::core::env!("CARGO_PKG_VERSION")), |version| version.to_token_stream());
        let rpc = options.string_literal("rpc", diagnostics);
        if let Some(path) = rpc.as_ref().filter(|path| !path.value().starts_with('/')) {
            diagnostics.error_at(path, "the path of the RPC endpoint starts with `/`, like `/rpc`");
        }
        let error = options.tokens("error", diagnostics).filter(|tokens| {
            let fits = syn::parse2::<Type>(tokens.clone()).is_ok();
            if !fits {
                diagnostics.error_at(tokens, "`error` is the type that methods fail with: `error = MyError`");
            }
            fits
        });
        let krate = options.string_literal("crate", diagnostics).and_then(|path| {
            let read = Path::parse_mod_style.parse_str(&path.value());
            if read.is_err() {
                diagnostics.error_at(
                    &path,
                    "`crate` is the path of the crate `switchboard`, like `\"my_crate::switchboard\"`",
                );
            }
            read.ok()
        });
        let parsed = Self {
            name,
            version,
            title: options.expr("title", diagnostics),
            protocols: options.string_list("protocols", diagnostics),
            rpc,
            quickstart: options.flag("quickstart", diagnostics) != Some(false),
            error,
            rt: krate.map_or_else(|| quote!(::switchboard::__rt), |path| quote!(#path::__rt)),
            dyn_compatible: options.flag("dyn_compatible", diagnostics) == Some(true),
        };
        options.reject_unknown("`#[service]`", &SERVICE_OPTIONS, diagnostics);
        parsed
    }
}

/// Checks the list methods of resource templates. Without a role of their own they become internal.
fn mark_list_methods(methods: &mut [ServiceMethod], diagnostics: &mut Diagnostics) {
    let listing = methods.iter().filter_map(|method| match &method.role {
        Role::Resource(resource) => Some((resource.list.clone()?, resource.is_fixed())),
        _ => None,
    });
    for (list, is_fixed) in listing.collect::<Vec<_>>() {
        if is_fixed {
            diagnostics.error_at(&list, "a resource without variables in its path has no members to list");
        }
        let Some(method) = methods.iter_mut().find(|method| method.ident == list) else {
            diagnostics.error_at(
                &list,
                format_args!(
                    "`{list}` lists the members: declare `async fn {list}(&self) -> Result<Vec<Resource>>;`"
                ),
            );
            continue;
        };
        if method.params.iter().any(|param| !matches!(param.kind, crate::param::ParamKind::Context)) {
            diagnostics.error_at(&method.ident, "a method that lists members takes nothing but `&Cx`");
        }
        if matches!(method.role, Role::Unmapped) {
            method.role = Role::Internal;
        }
    }
}

impl Service {
    pub(crate) fn parse(
        attr: TokenStream,
        item: &ItemTrait,
        type_name: &Ident,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let options = ServiceOptions::parse(attr, type_name, diagnostics);
        if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
            diagnostics.error_at(
                &item.generics,
                "a service cannot be generic: it has one design; its implementation can be generic",
            );
        }
        let mut methods = Vec::new();
        for item in &item.items {
            match item {
                TraitItem::Fn(method) => {
                    methods.push(ServiceMethod::parse(
                        method,
                        options.error.as_ref(),
                        &options.rt,
                        diagnostics,
                    ));
                }
                other => diagnostics
                    .error_at(other, "a service has methods only; put this into a trait of its own"),
            }
        }
        mark_list_methods(&mut methods, diagnostics);
        let service = Self {
            vis: item.vis.clone(),
            ident: item.ident.clone(),
            docs: Docs::from_attributes(&item.attrs),
            options,
            methods,
        };
        service.check_names(diagnostics);
        service.check_resources(diagnostics);
        service.check_references(diagnostics);
        service.check_unmapped(diagnostics);
        service
    }

    /// Iterates over the methods whose role `pick` selects, each with its number in the list of the design.
    pub(crate) fn with_numbers<'a, R: 'a>(
        &'a self,
        pick: impl Fn(&'a Role) -> Option<R> + 'a,
    ) -> impl Iterator<Item = (usize, &'a ServiceMethod, R)> {
        let picked = self.methods.iter().filter_map(move |method| Some((method, pick(&method.role)?)));
        picked.enumerate().map(|(number, (method, role))| (number, method, role))
    }

    fn check_names(&self, diagnostics: &mut Diagnostics) {
        let kind = |role: &Role| match role {
            Role::Tool(_) => Some("tool"),
            Role::Resource(_) => Some("resource"),
            Role::Prompt(_) => Some("prompt"),
            Role::Notification { .. } => Some("notification"),
            _ => None,
        };
        let mut known: Vec<(&str, String)> = Vec::new();
        for method in &self.methods {
            let Some(kind) = kind(&method.role) else { continue };
            let key = (kind, method.wire_name());
            if known.contains(&key) {
                diagnostics.error_at_span(
                    method.name_span(),
                    format_args!(
                        "there is another {kind} `{}`; give one of them a name: `#[{kind}(name = \"…\")]`",
                        key.1
                    ),
                );
            }
            known.push(key);
        }
    }

    fn check_resources(&self, diagnostics: &mut Diagnostics) {
        for method in &self.methods {
            let Role::Resource(resource) = &method.role else { continue };
            let takes = |name: &str| {
                method.params.iter().any(|param| param.arg().is_some_and(|arg| arg.wire == name))
            };
            let has_all_args =
                method.params.iter().any(|param| matches!(param.kind, crate::param::ParamKind::AllArgs));
            for variable in
                resource.variables.iter().filter(|variable| !has_all_args && !takes(&variable.name))
            {
                diagnostics.error_at(
                    &resource.uri,
                    format_args!(
                        "`{{{0}}}` has no parameter: `{1}` needs a parameter `{0}`",
                        variable.name, method.ident
                    ),
                );
            }
            // Parameters that are not in the path are in the query. An explicit query must name all of them.
            let has_query = resource.variables.iter().any(|variable| variable.in_query);
            for param in method.params.iter().filter(|_| has_query) {
                let Some(arg) = param.arg() else { continue };
                if !resource.variables.iter().any(|variable| variable.name == arg.wire) {
                    diagnostics.error_at(
                        &param.ident,
                        format_args!(
                            "`{0}` is not in the URI: add it to the query, `{{?…,{0}}}`, or leave the query out \
                             to have it written for you",
                            arg.wire
                        ),
                    );
                }
            }
        }
    }

    fn check_references(&self, diagnostics: &mut Diagnostics) {
        let mut watched: Vec<String> = Vec::new();
        for method in &self.methods {
            match &method.role {
                Role::Subscription { resource } => {
                    let name = resource.value();
                    match self.resource(&name) {
                        None => diagnostics.error_at(resource, self.unknown_message("resource", &name)),
                        Some(known) if !known.watch => diagnostics.error_at(
                            resource,
                            format_args!(
                                "`{name}` cannot be subscribed to: add `watch` to its `#[resource]`"
                            ),
                        ),
                        Some(_) => {}
                    }
                    if watched.contains(&name) {
                        diagnostics.error_at(
                            resource,
                            format_args!("`{name}` is watched by another method already"),
                        );
                    }
                    watched.push(name);
                }
                Role::Completion(completion) => self.check_completion(method, completion, diagnostics),
                _ => {}
            }
        }
    }

    fn check_completion(
        &self,
        method: &ServiceMethod,
        completion: &crate::role::CompletionRole,
        diagnostics: &mut Diagnostics,
    ) {
        let kind = if completion.is_prompt { "prompt" } else { "resource" };
        let name = completion.target.value();
        let is_target = |other: &&ServiceMethod| {
            other.wire_name() == name
                && match other.role {
                    Role::Prompt(_) => completion.is_prompt,
                    Role::Resource(_) => !completion.is_prompt,
                    _ => false,
                }
        };
        let Some(completed) = self.methods.iter().find(is_target) else {
            diagnostics.error_at(&completion.target, self.unknown_message(kind, &name));
            return;
        };
        let argument = completion.argument.value();
        let has =
            |wire: &str| completed.params.iter().any(|param| param.arg().is_some_and(|arg| arg.wire == wire));
        let has_all_args =
            completed.params.iter().any(|param| matches!(param.kind, crate::param::ParamKind::AllArgs));
        if !has_all_args && !has(&argument) {
            diagnostics.error_at(
                &completion.argument,
                format_args!("the {kind} `{name}` has no argument `{argument}`"),
            );
        }
        if !method.params.iter().any(|param| param.arg().is_some()) {
            diagnostics.error_at(
                &method.ident,
                format_args!(
                    "`{}` needs a parameter for what was typed so far: `value: String`",
                    method.ident
                ),
            );
        }
    }

    fn resource(&self, name: &str) -> Option<&crate::role::ResourceRole> {
        self.methods.iter().find_map(|method| match &method.role {
            Role::Resource(resource) if method.wire_name() == name => Some(&**resource),
            _ => None,
        })
    }

    fn unknown_message(&self, kind: &str, name: &str) -> String {
        let names: Vec<String> = self
            .methods
            .iter()
            .filter(|method| match method.role {
                Role::Resource(_) => kind == "resource",
                Role::Prompt(_) => kind == "prompt",
                _ => false,
            })
            .map(ServiceMethod::wire_name)
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match crate::nearest::nearest(name, &names) {
            Some(near) => format!("there is no {kind} `{name}`; did you mean `{near}`?"),
            None => format!("there is no {kind} `{name}` in this service"),
        }
    }

    fn check_unmapped(&self, diagnostics: &mut Diagnostics) {
        if self.options.rpc.is_some() {
            return;
        }
        for method in self.methods.iter().filter(|method| matches!(method.role, Role::Unmapped)) {
            let name = &method.ident;
            diagnostics.error_at(
                name,
                format_args!(
                    "`{name}` has no role in MCP: use `#[tool]`, `#[resource]` or `#[prompt]`; or `#[internal]` when \
                     nobody outside calls it; or serve it at a plain endpoint with `#[service(rpc = \"/rpc\")]`"
                ),
            );
        }
    }
}
