//! A whole service, read and checked.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{Expr, ItemTrait, LitStr, Path, TraitItem, Type, Visibility};

use crate::case::kebab;
use crate::docs::Docs;
use crate::method::Method;
use crate::options::Options;
use crate::problems::Problems;
use crate::role::Role;

/// A service: the trait, its options and its methods.
pub(crate) struct Service {
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) docs: Option<Docs>,
    pub(crate) options: ServiceOptions,
    pub(crate) methods: Vec<Method>,
}

/// What the attribute says of the service.
pub(crate) struct ServiceOptions {
    pub(crate) name: TokenStream,
    pub(crate) version: TokenStream,
    pub(crate) title: Option<Expr>,
    pub(crate) protocols: Vec<LitStr>,
    pub(crate) rpc: Option<LitStr>,
    pub(crate) quickstart: bool,
    pub(crate) error: Option<TokenStream>,
    /// What generated code refers to.
    pub(crate) rt: TokenStream,
    pub(crate) dyn_compatible: bool,
}

const KNOWN: [&str; 9] =
    ["name", "version", "title", "protocols", "rpc", "quickstart", "error", "crate", "dyn_compatible"];

impl ServiceOptions {
    pub(crate) fn read(tokens: TokenStream, ident: &Ident, problems: &mut Problems) -> Self {
        let mut options = Options::read(tokens, Span::call_site(), problems);
        let name = options.text("name", problems).map_or_else(
            || {
                let name = kebab(&ident.to_string());
                quote!(#name)
            },
            |name| name.to_token_stream(),
        );
        let version = options
            .text("version", problems)
            .map_or_else(|| quote!(::core::env!("CARGO_PKG_VERSION")), |version| version.to_token_stream());
        let rpc = options.literal("rpc", problems);
        if let Some(path) = rpc.as_ref().filter(|path| !path.value().starts_with('/')) {
            problems.at(path, "the path of the plain endpoint begins with `/`, like `/rpc`");
        }
        let error = options.tokens("error", problems).filter(|tokens| {
            let fits = syn::parse2::<Type>(tokens.clone()).is_ok();
            if !fits {
                problems.at(tokens, "`error` is the type that methods fail with: `error = MyError`");
            }
            fits
        });
        let krate = options.literal("crate", problems).and_then(|path| {
            let read = Path::parse_mod_style.parse_str(&path.value());
            if read.is_err() {
                problems.at(
                    &path,
                    "`crate` is the path of the crate `switchboard`, like `\"my_crate::switchboard\"`",
                );
            }
            read.ok()
        });
        let read = Self {
            name,
            version,
            title: options.text("title", problems),
            protocols: options.list("protocols", problems),
            rpc,
            quickstart: options.flag("quickstart", problems) != Some(false),
            error,
            rt: krate.map_or_else(|| quote!(::switchboard::__rt), |path| quote!(#path::__rt)),
            dyn_compatible: options.flag("dyn_compatible", problems) == Some(true),
        };
        options.finish("`#[service]`", &KNOWN, problems);
        read
    }
}

/// A method that lists the members of a resource and has no role of its own is the program's own.
fn mark_listing(methods: &mut [Method], problems: &mut Problems) {
    let listing = methods.iter().filter_map(|method| match &method.role {
        Role::Resource(resource) => Some((resource.list.clone()?, resource.is_fixed())),
        _ => None,
    });
    for (list, is_fixed) in listing.collect::<Vec<_>>() {
        if is_fixed {
            problems.at(&list, "a resource without variables in its path has no members to list");
        }
        let Some(method) = methods.iter_mut().find(|method| method.ident == list) else {
            problems.at(
                &list,
                format_args!(
                    "`{list}` lists the members: declare `async fn {list}(&self) -> Result<Vec<Resource>>;`"
                ),
            );
            continue;
        };
        if method.params.iter().any(|param| !matches!(param.kind, crate::param::ParamKind::Cx)) {
            problems.at(&method.ident, "a method that lists members takes nothing but `&Cx`");
        }
        if matches!(method.role, Role::Unmapped) {
            method.role = Role::Internal;
        }
    }
}

impl Service {
    pub(crate) fn read(attr: TokenStream, item: &ItemTrait, named: &Ident, problems: &mut Problems) -> Self {
        let options = ServiceOptions::read(attr, named, problems);
        if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
            problems.at(
                &item.generics,
                "a service cannot be generic: its design is written down once; what implements it can be generic",
            );
        }
        let mut methods = Vec::new();
        for item in &item.items {
            match item {
                TraitItem::Fn(method) => {
                    methods.push(Method::read(method, options.error.as_ref(), &options.rt, problems));
                }
                other => problems.at(other, "a service has methods only; put this into a trait of its own"),
            }
        }
        mark_listing(&mut methods, problems);
        let service = Self {
            vis: item.vis.clone(),
            ident: item.ident.clone(),
            docs: Docs::of(&item.attrs),
            options,
            methods,
        };
        service.check_names(problems);
        service.check_resources(problems);
        service.check_references(problems);
        service.check_unmapped(problems);
        service
    }

    /// The methods with a role that is picked, each with its number.
    pub(crate) fn numbered<'a, R: 'a>(
        &'a self,
        pick: impl Fn(&'a Role) -> Option<R> + 'a,
    ) -> impl Iterator<Item = (usize, &'a Method, R)> {
        let picked = self.methods.iter().filter_map(move |method| Some((method, pick(&method.role)?)));
        picked.enumerate().map(|(number, (method, role))| (number, method, role))
    }

    fn check_names(&self, problems: &mut Problems) {
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
            let named = (kind, method.wire_name());
            if known.contains(&named) {
                problems.here(
                    method.name_span(),
                    format_args!(
                        "there is another {kind} `{}`; give one of them a name: `#[{kind}(name = \"…\")]`",
                        named.1
                    ),
                );
            }
            known.push(named);
        }
    }

    fn check_resources(&self, problems: &mut Problems) {
        for method in &self.methods {
            let Role::Resource(resource) = &method.role else { continue };
            let takes = |name: &str| {
                method.params.iter().any(|param| param.arg().is_some_and(|arg| arg.wire == name))
            };
            let whole =
                method.params.iter().any(|param| matches!(param.kind, crate::param::ParamKind::Whole));
            for variable in resource.variables.iter().filter(|variable| !whole && !takes(&variable.name)) {
                problems.at(
                    &resource.uri,
                    format_args!(
                        "`{{{0}}}` has no parameter: `{1}` needs a parameter `{0}`",
                        variable.name, method.ident
                    ),
                );
            }
            // Parameters that the path does not name are in the query; when a query is written out, it must be whole.
            let query = resource.variables.iter().any(|variable| variable.in_query);
            for param in method.params.iter().filter(|_| query) {
                let Some(arg) = param.arg() else { continue };
                if !resource.variables.iter().any(|variable| variable.name == arg.wire) {
                    problems.at(
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

    fn check_references(&self, problems: &mut Problems) {
        let mut watched: Vec<String> = Vec::new();
        for method in &self.methods {
            match &method.role {
                Role::Subscription { resource } => {
                    let name = resource.value();
                    match self.resource(&name) {
                        None => problems.at(resource, self.unknown("resource", &name)),
                        Some(known) if !known.watch => problems.at(
                            resource,
                            format_args!(
                                "`{name}` cannot be subscribed to: add `watch` to its `#[resource]`"
                            ),
                        ),
                        Some(_) => {}
                    }
                    if watched.contains(&name) {
                        problems.at(resource, format_args!("`{name}` is watched by another method already"));
                    }
                    watched.push(name);
                }
                Role::Completion(completion) => self.check_completion(method, completion, problems),
                _ => {}
            }
        }
    }

    fn check_completion(
        &self,
        method: &Method,
        completion: &crate::role::Completion,
        problems: &mut Problems,
    ) {
        let kind = if completion.of_prompt { "prompt" } else { "resource" };
        let name = completion.of.value();
        let is_it = |other: &&Method| {
            other.wire_name() == name
                && match other.role {
                    Role::Prompt(_) => completion.of_prompt,
                    Role::Resource(_) => !completion.of_prompt,
                    _ => false,
                }
        };
        let Some(completed) = self.methods.iter().find(is_it) else {
            problems.at(&completion.of, self.unknown(kind, &name));
            return;
        };
        let argument = completion.argument.value();
        let has =
            |wire: &str| completed.params.iter().any(|param| param.arg().is_some_and(|arg| arg.wire == wire));
        let whole = completed.params.iter().any(|param| matches!(param.kind, crate::param::ParamKind::Whole));
        if !whole && !has(&argument) {
            problems
                .at(&completion.argument, format_args!("the {kind} `{name}` has no argument `{argument}`"));
        }
        if !method.params.iter().any(|param| param.arg().is_some()) {
            problems.at(
                &method.ident,
                format_args!(
                    "`{}` needs a parameter for what was typed so far: `value: String`",
                    method.ident
                ),
            );
        }
    }

    fn resource(&self, name: &str) -> Option<&crate::role::Resource> {
        self.methods.iter().find_map(|method| match &method.role {
            Role::Resource(resource) if method.wire_name() == name => Some(&**resource),
            _ => None,
        })
    }

    fn unknown(&self, kind: &str, name: &str) -> String {
        let names: Vec<String> = self
            .methods
            .iter()
            .filter(|method| match method.role {
                Role::Resource(_) => kind == "resource",
                Role::Prompt(_) => kind == "prompt",
                _ => false,
            })
            .map(Method::wire_name)
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match crate::nearest::nearest(name, &names) {
            Some(near) => format!("there is no {kind} `{name}`; did you mean `{near}`?"),
            None => format!("there is no {kind} `{name}` in this service"),
        }
    }

    fn check_unmapped(&self, problems: &mut Problems) {
        if self.options.rpc.is_some() {
            return;
        }
        for method in self.methods.iter().filter(|method| matches!(method.role, Role::Unmapped)) {
            let name = &method.ident;
            problems.at(
                name,
                format_args!(
                    "`{name}` has no role in MCP: say `#[tool]`, `#[resource]` or `#[prompt]`; or `#[internal]` when \
                     nobody outside calls it; or serve it at a plain endpoint with `#[service(rpc = \"/rpc\")]`"
                ),
            );
        }
    }
}
