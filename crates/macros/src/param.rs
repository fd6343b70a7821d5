//! The parameters of a method.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprPath, LitStr, Meta, Pat, PatType, Token, Type};

use crate::docs::Docs;
use crate::options::Options;
use crate::problems::Problems;
use crate::ty;

/// One parameter, without the receiver.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) kind: ParamKind,
}

/// What a parameter is for.
pub(crate) enum ParamKind {
    /// What the method knows of its call.
    Cx,
    /// The events of a streaming tool, of this type.
    Events(Box<Type>),
    /// The changes of a watched resource.
    Changes,
    /// All arguments as one type.
    Whole,
    /// One argument.
    Arg(Box<Arg>),
}

/// One argument.
pub(crate) struct Arg {
    /// Its name on the wire.
    pub(crate) wire: String,
    pub(crate) docs: Option<Docs>,
    /// `#[schemars(…)]`, as written.
    pub(crate) schema: Vec<Attribute>,
    pub(crate) default: Option<ArgDefault>,
    pub(crate) header: Option<LitStr>,
    /// Whether its bytes are base64 on the wire.
    pub(crate) base64: Option<Base64>,
}

/// Bytes that are base64 on the wire.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Base64 {
    /// `Vec<u8>`.
    Bytes,
    /// `Option<Vec<u8>>`.
    Optional,
}

impl Base64 {
    fn of(ty: &Type) -> Option<Self> {
        let word = ty::last_word(ty)?;
        let inner = ty::argument(word)?;
        match word.ident.to_string().as_str() {
            "Vec" if ty::is_named(inner, "u8") => Some(Self::Bytes),
            "Option" if Self::of(inner) == Some(Self::Bytes) => Some(Self::Optional),
            _ => None,
        }
    }
}

/// What an argument is when it is not given.
pub(crate) enum ArgDefault {
    /// The default of its type.
    Own,
    /// What this function gives.
    From(ExprPath),
    /// This.
    Is(Expr),
}

impl ArgDefault {
    /// As something that can be called without arguments.
    pub(crate) fn maker(&self) -> TokenStream {
        match self {
            Self::Own => quote!(::core::default::Default::default),
            Self::From(path) => path.to_token_stream(),
            Self::Is(expr) => quote!(|| #expr),
        }
    }
}

impl Param {
    pub(crate) fn read(typed: &PatType, problems: &mut Problems) -> Option<Self> {
        let ident = match &*typed.pat {
            Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => name.ident.clone(),
            other => {
                problems.at(other, "a parameter needs a name, since the name is that of the argument");
                return None;
            }
        };
        let kind = kind(&ident, typed, problems)?;
        Some(Self { ident, ty: ty::ungroup(&typed.ty).clone(), kind })
    }

    /// The type that is read from the wire.
    pub(crate) fn wire_type(&self, rt: &TokenStream) -> TokenStream {
        let ty = &self.ty;
        match self.arg().and_then(|arg| arg.base64) {
            None => quote!(#ty),
            Some(Base64::Bytes) => quote!(#rt::Bytes),
            Some(Base64::Optional) => quote!(::core::option::Option<#rt::Bytes>),
        }
    }

    /// The argument that this is.
    pub(crate) fn arg(&self) -> Option<&Arg> {
        match &self.kind {
            ParamKind::Arg(arg) => Some(arg),
            _ => None,
        }
    }
}

/// Whether we read this attribute of a parameter, so that the compiler must not see it.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    ["args", "arg", "header", "schemars", "serde", "doc"].iter().any(|ours| attr.path().is_ident(ours))
}

fn kind(ident: &Ident, typed: &PatType, problems: &mut Problems) -> Option<ParamKind> {
    let ty = ty::ungroup(&typed.ty);
    if let Some(reference) = ty::reference(ty) {
        if ty::is_named(&reference.elem, "Cx") {
            if let Some(mutability) = &reference.mutability {
                problems.at(mutability, "the context is shared: take `&Cx`");
            }
            return Some(ParamKind::Cx);
        }
        let owned = match ty::ungroup(&reference.elem) {
            Type::Path(path) if path.path.is_ident("str") => "`String`".to_owned(),
            Type::Slice(slice) => format!("`Vec<{}>`", slice.elem.to_token_stream()),
            other => format!("`{}`", other.to_token_stream()),
        };
        problems
            .at(ty, format_args!("arguments are owned, since they are read from a message: take {owned}"));
        return None;
    }
    if let Type::ImplTrait(_) = ty {
        problems.at(ty, "an argument has one type, since it is read from a message: name the type");
        return None;
    }
    if ty::is_named(ty, "Cx") {
        problems.at(ty, "take the context by reference: `&Cx`");
        return Some(ParamKind::Cx);
    }
    if let Some(word) = ty::last_word(ty).filter(|word| word.ident == "Events") {
        let Some(event) = ty::argument(word) else {
            problems.at(ty, "say what the events are: `Events<T>`");
            return None;
        };
        return Some(ParamKind::Events(Box::new(event.clone())));
    }
    if ty::is_named(ty, "Changes") {
        return Some(ParamKind::Changes);
    }
    arg(ident, typed, problems)
}

fn arg(ident: &Ident, typed: &PatType, problems: &mut Problems) -> Option<ParamKind> {
    // `_text` is the argument `text` of a body that does not look at it.
    let wire = ident.unraw().to_string();
    let wire = wire.trim_start_matches('_').to_owned();
    let mut arg = Arg {
        wire,
        docs: Docs::of(&typed.attrs),
        schema: Vec::new(),
        default: None,
        header: None,
        base64: None,
    };
    let mut whole = false;
    for attr in typed.attrs.iter().filter(|attr| is_ours(attr)) {
        if attr.path().is_ident("args") {
            if !matches!(attr.meta, Meta::Path(_)) {
                problems.at(attr, "`#[args]` takes no options");
            }
            whole = true;
        } else if attr.path().is_ident("schemars") {
            arg.schema.push(attr.clone());
        } else if attr.path().is_ident("serde") {
            serde(attr, &mut arg, problems);
        } else if attr.path().is_ident("arg") {
            let mut options = Options::of(attr, problems);
            if let Some(expr) = options.value("default", "10", problems) {
                arg.default = Some(ArgDefault::Is(expr));
            }
            if let Some(name) = options.literal("name", problems) {
                arg.wire = name.value();
            }
            if options.flag("base64", problems) == Some(true) {
                arg.base64 = Base64::of(&typed.ty);
                if arg.base64.is_none() {
                    problems.at(
                        &typed.ty,
                        "only `Vec<u8>` and `Option<Vec<u8>>` can be base64; elsewhere, use the type `Bytes`",
                    );
                }
            }
            options.finish("`#[arg]`", &["base64", "default", "name"], problems);
        } else if attr.path().is_ident("header") {
            header(attr, typed, &mut arg, problems);
        }
    }
    for attr in typed.attrs.iter().filter(|attr| !is_ours(attr)) {
        // The compiler has an opinion on these.
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            problems.at(attr, "a parameter of a service cannot depend on the configuration");
        }
    }
    if arg.wire.is_empty() {
        problems.at(ident, "a parameter needs a name, since the name is that of the argument");
        return None;
    }
    Some(if whole { ParamKind::Whole } else { ParamKind::Arg(Box::new(arg)) })
}

fn header(attr: &Attribute, typed: &PatType, arg: &mut Arg, problems: &mut Problems) {
    let Ok(name) = attr.parse_args::<LitStr>() else {
        problems.at(attr, "a header has a name: `#[header(\"Region\")]`");
        return;
    };
    let legal = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    if name.value().is_empty() || !name.value().chars().all(legal) {
        problems.at(&name, "the name of a header has letters, digits and `-`");
    }
    if !ty::is_primitive(&typed.ty) {
        problems.at(
            &typed.ty,
            "only a text, a number or a truth value, or an option of one, can be repeated in a header",
        );
    }
    arg.header = Some(name);
}

fn serde(attr: &Attribute, arg: &mut Arg, problems: &mut Problems) {
    let read = attr.parse_nested_meta(|meta| {
        let value = |meta: &syn::meta::ParseNestedMeta<'_>| meta.value()?.parse::<LitStr>();
        if meta.path.is_ident("default") {
            arg.default = Some(if meta.input.peek(Token![=]) {
                ArgDefault::From(value(&meta)?.parse()?)
            } else {
                ArgDefault::Own
            });
            Ok(())
        } else if meta.path.is_ident("rename") {
            arg.wire = value(&meta)?.value();
            Ok(())
        } else {
            let word = meta.path.to_token_stream();
            Err(meta.error(format_args!(
                "`#[serde({word})]` cannot stand on a parameter, only `default` and `rename` can; for more, take a \
                 struct that has it: `#[args] args: MyArgs`"
            )))
        }
    });
    if let Err(error) = read {
        problems.add(error);
    }
}
