//! Parses the parameters of a method.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprPath, LitStr, Meta, Pat, PatType, Token, Type};

use crate::diagnostics::Diagnostics;
use crate::docs::Docs;
use crate::options::AttributeOptions;
use crate::type_syntax;

/// A parameter of a method, other than the receiver.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) kind: ParamKind,
}

/// The kind of a parameter.
pub(crate) enum ParamKind {
    /// The context of the call: `&Cx`.
    Context,
    /// The event sink of a streaming tool, with the type of the events.
    Events(Box<Type>),
    /// The change sink of a subscription.
    Changes,
    /// All arguments as one type: `#[args]`.
    AllArgs,
    /// One argument.
    Arg(Box<Arg>),
}

/// One argument.
pub(crate) struct Arg {
    /// The name on the wire.
    pub(crate) wire: String,
    pub(crate) docs: Option<Docs>,
    /// The `#[schemars(…)]` attributes.
    pub(crate) schema: Vec<Attribute>,
    pub(crate) default: Option<ArgDefault>,
    pub(crate) header: Option<LitStr>,
    /// The type of bytes that are encoded as base64.
    pub(crate) base64: Option<Base64>,
}

/// A type of bytes that is encoded as base64.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Base64 {
    /// `Vec<u8>`.
    Bytes,
    /// `Option<Vec<u8>>`.
    Optional,
}

impl Base64 {
    fn from_type(ty: &Type) -> Option<Self> {
        let segment = type_syntax::last_segment(ty)?;
        let inner = type_syntax::first_type_argument(segment)?;
        match segment.ident.to_string().as_str() {
            "Vec" if type_syntax::is_named(inner, "u8") => Some(Self::Bytes),
            "Option" if Self::from_type(inner) == Some(Self::Bytes) => Some(Self::Optional),
            _ => None,
        }
    }
}

/// The default of an argument.
pub(crate) enum ArgDefault {
    /// `Default::default()` of its type.
    TypeDefault,
    /// The result of a function.
    Function(ExprPath),
    /// An expression.
    Expr(Expr),
}

impl ArgDefault {
    /// Returns an expression that can be called without arguments.
    pub(crate) fn to_callable(&self) -> TokenStream {
        match self {
            Self::TypeDefault => quote!(::core::default::Default::default),
            Self::Function(path) => path.to_token_stream(),
            Self::Expr(expr) => quote!(|| #expr),
        }
    }
}

impl Param {
    pub(crate) fn parse(typed: &PatType, diagnostics: &mut Diagnostics) -> Option<Self> {
        let ident = match &*typed.pat {
            Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => name.ident.clone(),
            other => {
                diagnostics
                    .error_at(other, "a parameter needs a name, because it is the name of the argument");
                return None;
            }
        };
        let kind = param_kind(&ident, typed, diagnostics)?;
        Some(Self { ident, ty: type_syntax::ungroup(&typed.ty).clone(), kind })
    }

    /// Returns the type that is deserialized.
    pub(crate) fn wire_type(&self, rt: &TokenStream) -> TokenStream {
        let ty = &self.ty;
        match self.arg().and_then(|arg| arg.base64) {
            None => quote!(#ty),
            Some(Base64::Bytes) => quote!(#rt::Bytes),
            Some(Base64::Optional) => quote!(::core::option::Option<#rt::Bytes>),
        }
    }

    /// Returns the argument, if the parameter is one.
    pub(crate) fn arg(&self) -> Option<&Arg> {
        match &self.kind {
            ParamKind::Arg(arg) => Some(arg),
            _ => None,
        }
    }
}

/// Returns whether the macro handles an attribute of a parameter, so that it must be removed from the output.
pub(crate) fn is_macro_attribute(attr: &Attribute) -> bool {
    ["args", "arg", "header", "schemars", "serde", "doc"].iter().any(|ours| attr.path().is_ident(ours))
}

fn param_kind(ident: &Ident, typed: &PatType, diagnostics: &mut Diagnostics) -> Option<ParamKind> {
    let ty = type_syntax::ungroup(&typed.ty);
    if let Some(reference) = type_syntax::as_reference(ty) {
        if type_syntax::is_named(&reference.elem, "Cx") {
            if let Some(mutability) = &reference.mutability {
                diagnostics.error_at(mutability, "the context is shared: take `&Cx`");
            }
            return Some(ParamKind::Context);
        }
        let owned = match type_syntax::ungroup(&reference.elem) {
            Type::Path(path) if path.path.is_ident("str") => "`String`".to_owned(),
            Type::Slice(slice) => format!("`Vec<{}>`", slice.elem.to_token_stream()),
            other => format!("`{}`", other.to_token_stream()),
        };
        diagnostics.error_at(
            ty,
            format_args!("arguments are owned, because they are decoded from a message: take {owned}"),
        );
        return None;
    }
    if let Type::ImplTrait(_) = ty {
        diagnostics
            .error_at(ty, "an argument has one type, because it is decoded from a message: name the type");
        return None;
    }
    if type_syntax::is_named(ty, "Cx") {
        diagnostics.error_at(ty, "take the context by reference: `&Cx`");
        return Some(ParamKind::Context);
    }
    if let Some(segment) = type_syntax::last_segment(ty).filter(|segment| segment.ident == "Events") {
        let Some(event) = type_syntax::first_type_argument(segment) else {
            diagnostics.error_at(ty, "say what the events are: `Events<T>`");
            return None;
        };
        return Some(ParamKind::Events(Box::new(event.clone())));
    }
    if type_syntax::is_named(ty, "Changes") {
        return Some(ParamKind::Changes);
    }
    parse_arg(ident, typed, diagnostics)
}

fn parse_arg(ident: &Ident, typed: &PatType, diagnostics: &mut Diagnostics) -> Option<ParamKind> {
    // `_text` is the argument `text` of a body that does not use it.
    let wire = ident.unraw().to_string();
    let wire = wire.trim_start_matches('_').to_owned();
    let mut arg = Arg {
        wire,
        docs: Docs::from_attributes(&typed.attrs),
        schema: Vec::new(),
        default: None,
        header: None,
        base64: None,
    };
    let mut is_all_args = false;
    for attr in typed.attrs.iter().filter(|attr| is_macro_attribute(attr)) {
        if attr.path().is_ident("args") {
            if !matches!(attr.meta, Meta::Path(_)) {
                diagnostics.error_at(attr, "`#[args]` takes no options");
            }
            is_all_args = true;
        } else if attr.path().is_ident("schemars") {
            arg.schema.push(attr.clone());
        } else if attr.path().is_ident("serde") {
            parse_serde(attr, &mut arg, diagnostics);
        } else if attr.path().is_ident("arg") {
            let mut options = AttributeOptions::from_attribute(attr, diagnostics);
            if let Some(expr) = options.expr_like("default", "10", diagnostics) {
                arg.default = Some(ArgDefault::Expr(expr));
            }
            if let Some(name) = options.string_literal("name", diagnostics) {
                arg.wire = name.value();
            }
            if options.flag("base64", diagnostics) == Some(true) {
                arg.base64 = Base64::from_type(&typed.ty);
                if arg.base64.is_none() {
                    diagnostics.error_at(
                        &typed.ty,
                        "only `Vec<u8>` and `Option<Vec<u8>>` can be base64; elsewhere, use the type `Bytes`",
                    );
                }
            }
            options.reject_unknown("`#[arg]`", &["base64", "default", "name"], diagnostics);
        } else if attr.path().is_ident("header") {
            parse_header(attr, typed, &mut arg, diagnostics);
        }
    }
    for attr in typed.attrs.iter().filter(|attr| !is_macro_attribute(attr)) {
        // The compiler would apply these to the parameter.
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            diagnostics.error_at(attr, "a parameter of a service cannot depend on the configuration");
        }
    }
    if arg.wire.is_empty() {
        diagnostics.error_at(ident, "a parameter needs a name, because it is the name of the argument");
        return None;
    }
    Some(if is_all_args { ParamKind::AllArgs } else { ParamKind::Arg(Box::new(arg)) })
}

fn parse_header(attr: &Attribute, typed: &PatType, arg: &mut Arg, diagnostics: &mut Diagnostics) {
    let Ok(name) = attr.parse_args::<LitStr>() else {
        diagnostics.error_at(attr, "a header has a name: `#[header(\"Region\")]`");
        return;
    };
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    if name.value().is_empty() || !name.value().chars().all(is_allowed) {
        diagnostics.error_at(&name, "the name of a header has letters, digits and `-`");
    }
    if !type_syntax::is_primitive(&typed.ty) {
        diagnostics.error_at(
            &typed.ty,
            "only a string, a number, a boolean or an option of one can be mirrored in a header",
        );
    }
    arg.header = Some(name);
}

fn parse_serde(attr: &Attribute, arg: &mut Arg, diagnostics: &mut Diagnostics) {
    let read = attr.parse_nested_meta(|meta| {
        let value = |meta: &syn::meta::ParseNestedMeta<'_>| meta.value()?.parse::<LitStr>();
        if meta.path.is_ident("default") {
            arg.default = Some(if meta.input.peek(Token![=]) {
                ArgDefault::Function(value(&meta)?.parse()?)
            } else {
                ArgDefault::TypeDefault
            });
            Ok(())
        } else if meta.path.is_ident("rename") {
            arg.wire = value(&meta)?.value();
            Ok(())
        } else {
            let segment = meta.path.to_token_stream();
            Err(meta.error(format_args!(
                "`#[serde({segment})]` is not supported on a parameter, only `default` and `rename` can; for more, take a \
                 struct that has it: `#[args] args: MyArgs`"
            )))
        }
    });
    if let Err(error) = read {
        diagnostics.push(error);
    }
}
