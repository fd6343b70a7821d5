//! One method of a service, read and checked.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{FnArg, ReturnType, Signature, TraitItemFn, Type};

use crate::docs::Docs;
use crate::param::{Param, ParamKind};
use crate::problems::Problems;
use crate::role::Role;
use crate::ty;

/// One method of a service.
pub(crate) struct Method {
    pub(crate) ident: Ident,
    pub(crate) role: Role,
    pub(crate) docs: Option<Docs>,
    pub(crate) params: Vec<Param>,
    /// What its future gives, as written but for the service's error.
    pub(crate) returns: TokenStream,
    /// What it gives when all goes well.
    pub(crate) value: TokenStream,
    /// What it gives when it fails.
    pub(crate) error: TokenStream,
}

impl Method {
    pub(crate) fn read(
        item: &TraitItemFn,
        error: Option<&TokenStream>,
        rt: &TokenStream,
        problems: &mut Problems,
    ) -> Self {
        let role = Role::read(&item.sig.ident, &item.attrs, problems);
        let sig = &item.sig;
        let docs = Docs::of(&item.attrs);
        if docs.is_none() && !matches!(role, Role::Internal) {
            let name = &sig.ident;
            problems.at(
                name,
                format_args!(
                    "`{name}` needs a doc comment: it is the description that callers and models read"
                ),
            );
        }
        if let Some(attr) = item.attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
            problems.at(
                attr,
                "a method of a service cannot depend on the configuration; the trait as a whole can",
            );
        }
        let mut method = Self {
            ident: sig.ident.clone(),
            role,
            docs,
            params: Vec::new(),
            returns: quote!(()),
            value: quote!(()),
            error: quote!(#rt::Error),
        };
        check_shape(sig, problems);
        let is_notification = matches!(method.role, Role::Notification { .. });
        for input in &sig.inputs {
            match input {
                FnArg::Receiver(receiver) => {
                    if is_notification {
                        problems.at(
                            receiver,
                            "a notification has no receiver: it is an event, not a call: `fn name(payload: T);`",
                        );
                    } else if receiver.to_token_stream().to_string() != quote!(&self).to_string() {
                        problems.at(receiver, "a method of a service takes `&self`: many calls share it");
                    }
                }
                FnArg::Typed(typed) => method.params.extend(Param::read(typed, problems)),
            }
        }
        if is_notification {
            method.check_notification(item, problems);
        } else {
            method.check_call(sig, error, rt, problems);
        }
        method.check_static(item, problems);
        method.check_params(problems);
        method
    }

    /// Its name in Rust.
    pub(crate) fn rust_name(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// Its name on the wire.
    pub(crate) fn wire_name(&self) -> String {
        let given = match &self.role {
            Role::Tool(tool) => tool.common.name.as_ref(),
            Role::Resource(resource) => resource.common.name.as_ref(),
            Role::Prompt(prompt) => prompt.common.name.as_ref(),
            Role::Notification { name } => name.as_ref(),
            _ => None,
        };
        given.map_or_else(|| self.rust_name(), syn::LitStr::value)
    }

    /// Where its name on the wire was written.
    pub(crate) fn name_span(&self) -> Span {
        let given = match &self.role {
            Role::Tool(tool) => tool.common.name.as_ref(),
            Role::Resource(resource) => resource.common.name.as_ref(),
            Role::Prompt(prompt) => prompt.common.name.as_ref(),
            Role::Notification { name } => name.as_ref(),
            _ => None,
        };
        given.map_or_else(|| self.ident.span(), syn::LitStr::span)
    }

    /// The parameter with what it knows of its call.
    pub(crate) fn cx(&self) -> Option<&Param> {
        self.params.iter().find(|param| matches!(param.kind, ParamKind::Cx))
    }

    /// What its events are, when it is a streaming tool.
    pub(crate) fn events(&self) -> Option<&Type> {
        self.params.iter().find_map(|param| match &param.kind {
            ParamKind::Events(event) => Some(&**event),
            _ => None,
        })
    }

    /// The parameter that its events go to.
    pub(crate) fn sink(&self) -> Option<&Ident> {
        let sink = self.params.iter().find(|param| matches!(param.kind, ParamKind::Events(_)));
        sink.map(|param| &param.ident)
    }

    /// Its description, as an expression; empty when there is none.
    pub(crate) fn description(&self) -> TokenStream {
        self.docs.as_ref().map_or_else(|| quote!(""), Docs::tokens)
    }

    fn check_call(
        &mut self,
        sig: &Signature,
        error: Option<&TokenStream>,
        rt: &TokenStream,
        problems: &mut Problems,
    ) {
        let name = &sig.ident;
        if sig.asyncness.is_none() {
            problems.at(
                &sig.fn_token,
                format_args!("`{name}` must be an `async fn`: it may be called over a connection"),
            );
        }
        if sig.receiver().is_none() {
            problems.at(name, format_args!("`{name}` must take `&self`"));
        }
        let ReturnType::Type(_, returned) = &sig.output else {
            problems.at(
                name,
                format_args!("`{name}` must return a `Result`: over a connection, every call can fail"),
            );
            return;
        };
        let Some(word) = ty::last_word(returned).filter(|word| word.ident.to_string().ends_with("Result"))
        else {
            let shown = returned.to_token_stream();
            problems.at(
                returned,
                format_args!("return `Result<{shown}>`: over a connection, every call can fail"),
            );
            return;
        };
        self.returns = returned.to_token_stream();
        // One of the types of what is returned, which the compiler marks at the type that was written for it.
        let part = |name: &str, written: &Type| {
            let (start, end) = ty::ends(written);
            let name = Ident::new(name, end);
            let (open, rest) =
                (quote_spanned!(start=> <), quote_spanned!(end=> as #rt::MethodReturn>::#name));
            quote!(#open #returned #rest)
        };
        let types = ty::arguments(word);
        (self.value, self.error) = match (&types[..], error) {
            ([value], Some(error)) if word.ident == "Result" => {
                self.returns = quote!(::core::result::Result<#value, #error>);
                (value.to_token_stream(), error.clone())
            }
            // An alias may take any types, so the second is where the error is written and not always the error.
            ([value, others @ ..], _) if word.ident == "Result" => {
                (value.to_token_stream(), part("Error", others.first().unwrap_or(&&**returned)))
            }
            _ => (part("Value", returned), part("Error", returned)),
        };
    }

    fn check_notification(&self, item: &TraitItemFn, problems: &mut Problems) {
        let sig = &item.sig;
        if let Some(asyncness) = &sig.asyncness {
            problems.at(asyncness, "a notification is an event, not a call: `fn name(payload: T);`");
        }
        if let ReturnType::Type(_, returned) = &sig.output {
            problems.at(returned, "a notification returns nothing: nobody answers it");
        }
        if let Some(body) = &item.default {
            problems
                .here(body.brace_token.span.join(), "a notification has no body: it is an event, not a call");
        }
        let payloads = self.params.iter().filter(|param| param.arg().is_some()).count();
        let typed = sig.inputs.iter().filter(|input| matches!(input, FnArg::Typed(_))).count();
        if payloads != 1 || typed != 1 {
            problems.at(
                &sig.ident,
                format_args!("`{}` must carry one payload: `fn {}(payload: T);`", sig.ident, sig.ident),
            );
        }
    }

    /// A prompt with `text` is answered from the design.
    fn check_static(&self, item: &TraitItemFn, problems: &mut Problems) {
        if !matches!(&self.role, Role::Prompt(prompt) if prompt.text.is_some()) {
            return;
        }
        let is_arg = |param: &&Param| matches!(param.kind, ParamKind::Arg(_) | ParamKind::Whole);
        if let Some(param) = self.params.iter().find(is_arg) {
            problems.at(
                &param.ident,
                "a prompt with `text` always says the same and takes no arguments: leave `text` out and return \
                 `PromptMessages::user(format!(…))`",
            );
        }
        if let Some(body) = &item.default {
            problems.here(
                body.brace_token.span.join(),
                "a prompt with `text` has no body: nothing would call it",
            );
        }
    }

    fn check_params(&self, problems: &mut Problems) {
        let mut seen: Vec<&str> = Vec::new();
        for param in &self.params {
            let (word, allowed) = match &param.kind {
                ParamKind::Cx => ("&Cx", !matches!(self.role, Role::Notification { .. })),
                ParamKind::Events(_) => ("Events", matches!(self.role, Role::Tool(_) | Role::Broken)),
                ParamKind::Changes => {
                    ("Changes", matches!(self.role, Role::Subscription { .. } | Role::Broken))
                }
                ParamKind::Whole => (
                    "#[args]",
                    !matches!(
                        self.role,
                        Role::Subscription { .. } | Role::Notification { .. } | Role::Completion(_)
                    ),
                ),
                ParamKind::Arg(arg) => {
                    self.check_arg(param, &arg.wire, problems);
                    continue;
                }
            };
            if !allowed {
                let where_to = match &param.kind {
                    ParamKind::Events(_) => {
                        "only a tool can stream: `Events<T>` stands in a method with `#[tool]`"
                    }
                    ParamKind::Changes => {
                        "`Changes` stands in a method with `#[subscription]`, which watches a resource"
                    }
                    ParamKind::Cx => "an event knows nothing of a call: it takes no `&Cx`",
                    _ => "`#[args]` stands in tools, resources, prompts and methods without a role",
                };
                problems.at(&param.ty, where_to);
            }
            if seen.contains(&word) {
                problems.here(
                    param.ident.span().join(param.ty.span()).unwrap_or_else(|| param.ident.span()),
                    format_args!("a method has at most one `{word}`"),
                );
            }
            seen.push(word);
        }
        let whole = self.params.iter().any(|param| matches!(param.kind, ParamKind::Whole));
        if whole {
            for param in self.params.iter().filter(|param| param.arg().is_some()) {
                problems.at(
                    &param.ident,
                    format_args!(
                        "`#[args]` is all arguments: `{}` must be a field of that struct",
                        param.ident
                    ),
                );
            }
        }
        if matches!(self.role, Role::Subscription { .. })
            && !self.params.iter().any(|param| matches!(param.kind, ParamKind::Changes))
        {
            problems.at(
                &self.ident,
                format_args!("`{}` needs a parameter of type `Changes` to tell of changes with", self.ident),
            );
        }
    }

    fn check_arg(&self, param: &Param, wire: &str, problems: &mut Problems) {
        let same = |other: &&Param| other.arg().is_some_and(|arg| arg.wire == wire);
        if self.params.iter().filter(same).count() > 1
            && self.params.iter().find(same).is_some_and(|first| first.ident != param.ident)
        {
            problems.at(&param.ident, format_args!("the argument `{wire}` is declared twice"));
        }
        let text_only = match &self.role {
            Role::Resource(_) => "the URI of a resource",
            Role::Prompt(_) => "a prompt",
            Role::Subscription { .. } => {
                problems.at(&param.ident, "a subscription takes `&Cx` and `Changes`, and no arguments");
                return;
            }
            _ => return,
        };
        if let Some(what) = ty::never_text(&param.ty) {
            problems.at(
                &param.ty,
                format_args!(
                    "{what} cannot be an argument of {text_only}, where arguments travel as text: take texts, \
                     numbers, truth values or choices"
                ),
            );
        } else if matches!(self.role, Role::Prompt(_)) && ty::is_list(&param.ty) {
            problems.at(&param.ty, "a list cannot be an argument of a prompt: each is one text");
        }
    }
}

fn check_shape(sig: &Signature, problems: &mut Problems) {
    if !sig.generics.params.is_empty() {
        problems.at(
            &sig.generics,
            "a method of a service cannot be generic: what it takes and returns is written down in the design",
        );
    }
    if let Some(clause) = &sig.generics.where_clause {
        problems.at(clause, "a method of a service has no `where`");
    }
    if let Some(variadic) = &sig.variadic {
        problems.at(variadic, "a method of a service has a fixed number of parameters");
    }
    if let Some(constness) = &sig.constness {
        problems.at(constness, "a method of a service is not `const`");
    }
}
