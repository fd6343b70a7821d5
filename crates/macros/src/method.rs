//! Parses and checks one method of a service.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{FnArg, ReturnType, Signature, TraitItemFn, Type};

use crate::diagnostics::Diagnostics;
use crate::docs::Docs;
use crate::param::{Param, ParamKind};
use crate::role::Role;
use crate::type_syntax;

/// A parsed method of a service.
pub(crate) struct ServiceMethod {
    pub(crate) ident: Ident,
    pub(crate) role: Role,
    pub(crate) docs: Option<Docs>,
    pub(crate) params: Vec<Param>,
    /// The output of its future: as written, but with the error type of the service.
    pub(crate) returns: TokenStream,
    /// The success type.
    pub(crate) value: TokenStream,
    /// The error type.
    pub(crate) error: TokenStream,
}

impl ServiceMethod {
    pub(crate) fn parse(
        item: &TraitItemFn,
        error: Option<&TokenStream>,
        rt: &TokenStream,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let role = Role::parse(&item.sig.ident, &item.attrs, diagnostics);
        let sig = &item.sig;
        let docs = Docs::from_attributes(&item.attrs);
        if docs.is_none() && !matches!(role, Role::Internal) {
            let name = &sig.ident;
            diagnostics.error_at(
                name,
                format_args!(
                    "`{name}` needs a doc comment: it is the description that callers and models read"
                ),
            );
        }
        if let Some(attr) = item.attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
            diagnostics.error_at(
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
        check_signature(sig, diagnostics);
        let is_notification = matches!(method.role, Role::Notification { .. });
        for input in &sig.inputs {
            match input {
                FnArg::Receiver(receiver) => {
                    if is_notification {
                        diagnostics.error_at(
                            receiver,
                            "a notification has no receiver: it is an event, not a call: `fn name(payload: T);`",
                        );
                    } else if receiver.to_token_stream().to_string() != quote!(&self).to_string() {
                        diagnostics
                            .error_at(receiver, "a method of a service takes `&self`: many calls share it");
                    }
                }
                FnArg::Typed(typed) => method.params.extend(Param::parse(typed, diagnostics)),
            }
        }
        if is_notification {
            method.check_notification(item, diagnostics);
        } else {
            method.check_call(sig, error, rt, diagnostics);
        }
        method.check_static_prompt(item, diagnostics);
        method.check_params(diagnostics);
        method
    }

    /// Returns the name in Rust.
    pub(crate) fn rust_name(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// Returns the name on the wire.
    pub(crate) fn wire_name(&self) -> String {
        self.explicit_name().map_or_else(|| self.rust_name(), syn::LitStr::value)
    }

    /// Returns the span of the name on the wire.
    pub(crate) fn name_span(&self) -> Span {
        self.explicit_name().map_or_else(|| self.ident.span(), syn::LitStr::span)
    }

    /// Returns the name in the role attribute.
    fn explicit_name(&self) -> Option<&syn::LitStr> {
        match &self.role {
            Role::Tool(tool) => tool.common.name.as_ref(),
            Role::Resource(resource) => resource.common.name.as_ref(),
            Role::Prompt(prompt) => prompt.common.name.as_ref(),
            Role::Notification { name } => name.as_ref(),
            _ => None,
        }
    }

    /// Returns the context parameter.
    pub(crate) fn context_param(&self) -> Option<&Param> {
        self.params.iter().find(|param| matches!(param.kind, ParamKind::Context))
    }

    /// Returns the type of the events of a streaming tool.
    pub(crate) fn event_type(&self) -> Option<&Type> {
        self.params.iter().find_map(|param| match &param.kind {
            ParamKind::Events(event) => Some(&**event),
            _ => None,
        })
    }

    /// Returns the parameter that receives the events.
    pub(crate) fn events_param(&self) -> Option<&Ident> {
        let sink = self.params.iter().find(|param| matches!(param.kind, ParamKind::Events(_)));
        sink.map(|param| &param.ident)
    }

    /// Returns the description as an expression; empty for an undocumented item.
    pub(crate) fn description(&self) -> TokenStream {
        self.docs.as_ref().map_or_else(|| quote!(""), Docs::to_expr)
    }

    fn check_call(
        &mut self,
        sig: &Signature,
        error: Option<&TokenStream>,
        rt: &TokenStream,
        diagnostics: &mut Diagnostics,
    ) {
        let name = &sig.ident;
        if sig.asyncness.is_none() {
            diagnostics.error_at(
                &sig.fn_token,
                format_args!("`{name}` must be an `async fn`: it may be called over a connection"),
            );
        }
        if sig.receiver().is_none() {
            diagnostics.error_at(name, format_args!("`{name}` must take `&self`"));
        }
        let ReturnType::Type(_, returned) = &sig.output else {
            diagnostics.error_at(
                name,
                format_args!("`{name}` must return a `Result`: over a connection, every call can fail"),
            );
            return;
        };
        let Some(segment) = type_syntax::last_segment(returned)
            .filter(|segment| segment.ident.to_string().ends_with("Result"))
        else {
            let shown = returned.to_token_stream();
            diagnostics.error_at(
                returned,
                format_args!("return `Result<{shown}>`: over a connection, every call can fail"),
            );
            return;
        };
        self.returns = returned.to_token_stream();
        // An associated type of the return type, with the span of the type that the author wrote.
        let associated_type = |name: &str, written: &Type| {
            let (start, end) = type_syntax::first_and_last_span(written);
            let name = Ident::new(name, end);
            let (open, rest) =
                (quote_spanned!(start=> <), quote_spanned!(end=> as #rt::MethodReturn>::#name));
            quote!(#open #returned #rest)
        };
        let types = type_syntax::type_arguments(segment);
        (self.value, self.error) = match (&types[..], error) {
            ([value], Some(error)) if segment.ident == "Result" => {
                self.returns = quote!(::core::result::Result<#value, #error>);
                (value.to_token_stream(), error.clone())
            }
            // An alias can have any type parameters: the second gives the span of the error, but not always its type.
            ([value, others @ ..], _) if segment.ident == "Result" => {
                (value.to_token_stream(), associated_type("Error", others.first().unwrap_or(&&**returned)))
            }
            _ => (associated_type("Value", returned), associated_type("Error", returned)),
        };
    }

    fn check_notification(&self, item: &TraitItemFn, diagnostics: &mut Diagnostics) {
        let sig = &item.sig;
        if let Some(asyncness) = &sig.asyncness {
            diagnostics.error_at(asyncness, "a notification is an event, not a call: `fn name(payload: T);`");
        }
        if let ReturnType::Type(_, returned) = &sig.output {
            diagnostics.error_at(returned, "a notification returns nothing: it has no response");
        }
        if let Some(body) = &item.default {
            diagnostics.error_at_span(
                body.brace_token.span.join(),
                "a notification has no body: it is an event, not a call",
            );
        }
        let payloads = self.params.iter().filter(|param| param.arg().is_some()).count();
        let typed = sig.inputs.iter().filter(|input| matches!(input, FnArg::Typed(_))).count();
        if payloads != 1 || typed != 1 {
            diagnostics.error_at(
                &sig.ident,
                format_args!("`{}` must carry one payload: `fn {}(payload: T);`", sig.ident, sig.ident),
            );
        }
    }

    /// Checks a static prompt: with `text`, it has neither arguments nor a body.
    fn check_static_prompt(&self, item: &TraitItemFn, diagnostics: &mut Diagnostics) {
        if !matches!(&self.role, Role::Prompt(prompt) if prompt.text.is_some()) {
            return;
        }
        let is_arg = |param: &&Param| matches!(param.kind, ParamKind::Arg(_) | ParamKind::AllArgs);
        if let Some(param) = self.params.iter().find(is_arg) {
            diagnostics.error_at(
                &param.ident,
                "a prompt with `text` always says the same and takes no arguments: leave `text` out and return \
                 `Prompt::user(format!(…))`",
            );
        }
        if let Some(body) = &item.default {
            diagnostics.error_at_span(
                body.brace_token.span.join(),
                "a prompt with `text` has no body: it would never be called",
            );
        }
    }

    /// Checks that the role allows each parameter, and that special parameters occur once.
    fn check_params(&self, diagnostics: &mut Diagnostics) {
        let mut seen: Vec<&str> = Vec::new();
        for param in &self.params {
            if let ParamKind::Arg(arg) = &param.kind {
                self.check_arg(param, &arg.wire, diagnostics);
                continue;
            }
            let (name, misplaced) = self.special_param(&param.kind);
            if let Some(message) = misplaced {
                diagnostics.error_at(&param.ty, message);
            }
            if seen.contains(&name) {
                diagnostics.error_at_span(
                    param.ident.span().join(param.ty.span()).unwrap_or_else(|| param.ident.span()),
                    format_args!("a method has at most one `{name}`"),
                );
            }
            seen.push(name);
        }
        self.check_all_args(diagnostics);
        if matches!(self.role, Role::Subscription { .. })
            && !self.params.iter().any(|param| matches!(param.kind, ParamKind::Changes))
        {
            diagnostics.error_at(
                &self.ident,
                format_args!("`{}` needs a parameter of type `Changes` to report changes", self.ident),
            );
        }
    }

    /// Returns the name of a special parameter, and the error if the role does not allow it.
    fn special_param(&self, kind: &ParamKind) -> (&'static str, Option<&'static str>) {
        let (name, is_allowed, message) = match kind {
            ParamKind::Context => (
                "&Cx",
                !matches!(self.role, Role::Notification { .. }),
                "a notification has no call context: it takes no `&Cx`",
            ),
            ParamKind::Events(_) => (
                "Events",
                matches!(self.role, Role::Tool(_) | Role::Invalid),
                "only a tool can stream: use `Events<T>` in a method with `#[tool]`",
            ),
            ParamKind::Changes => (
                "Changes",
                matches!(self.role, Role::Subscription { .. } | Role::Invalid),
                "`Changes` is for a method with `#[subscription]`, which watches a resource",
            ),
            ParamKind::AllArgs | ParamKind::Arg(_) => (
                "#[args]",
                !matches!(
                    self.role,
                    Role::Subscription { .. } | Role::Notification { .. } | Role::Completion(_)
                ),
                "`#[args]` is for tools, resources, prompts and methods without a role",
            ),
        };
        (name, (!is_allowed).then_some(message))
    }

    /// Checks that a method with `#[args]` has no other arguments.
    fn check_all_args(&self, diagnostics: &mut Diagnostics) {
        if !self.params.iter().any(|param| matches!(param.kind, ParamKind::AllArgs)) {
            return;
        }
        for param in self.params.iter().filter(|param| param.arg().is_some()) {
            diagnostics.error_at(
                &param.ident,
                format_args!("`#[args]` is all arguments: `{}` must be a field of that struct", param.ident),
            );
        }
    }

    /// Checks the name and the type of one argument.
    fn check_arg(&self, param: &Param, wire: &str, diagnostics: &mut Diagnostics) {
        let same = |other: &&Param| other.arg().is_some_and(|arg| arg.wire == wire);
        if self.params.iter().filter(same).count() > 1
            && self.params.iter().find(same).is_some_and(|first| first.ident != param.ident)
        {
            diagnostics.error_at(&param.ident, format_args!("the argument `{wire}` is declared twice"));
        }
        let text_carrier = match &self.role {
            Role::Resource(_) => "the URI of a resource",
            Role::Prompt(_) => "a prompt",
            Role::Subscription { .. } => {
                diagnostics
                    .error_at(&param.ident, "a subscription takes `&Cx` and `Changes`, and no arguments");
                return;
            }
            _ => return,
        };
        if let Some(kind) = type_syntax::why_not_text(&param.ty) {
            diagnostics.error_at(
                &param.ty,
                format_args!(
                    "{kind} cannot be an argument of {text_carrier}, where arguments are transmitted as text: use strings, \
                     numbers, booleans or choices"
                ),
            );
        } else if matches!(self.role, Role::Prompt(_)) && type_syntax::is_list(&param.ty) {
            diagnostics.error_at(&param.ty, "a list cannot be an argument of a prompt: each is one string");
        }
    }
}

fn check_signature(sig: &Signature, diagnostics: &mut Diagnostics) {
    if !sig.generics.params.is_empty() {
        diagnostics.error_at(
            &sig.generics,
            "a method of a service cannot be generic: its types are part of the design",
        );
    }
    if let Some(clause) = &sig.generics.where_clause {
        diagnostics.error_at(clause, "a method of a service has no `where`");
    }
    if let Some(variadic) = &sig.variadic {
        diagnostics.error_at(variadic, "a method of a service has a fixed number of parameters");
    }
    if let Some(constness) = &sig.constness {
        diagnostics.error_at(constness, "a method of a service is not `const`");
    }
}
