//! What stands between the brackets of an attribute: `name`, `name = value`, `name(list)`, in any order.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Token, token};

use crate::docs::ungroup;
use crate::nearest::nearest;
use crate::problems::Problems;

/// The options of one attribute. They are taken out one by one; what is left at the end is not known.
pub(crate) struct Options {
    /// The attribute, for messages about what is not there.
    pub(crate) span: Span,
    /// A text before all options: the short form of one of them.
    pub(crate) short: Option<LitStr>,
    entries: Vec<Entry>,
}

struct Entry {
    key: Ident,
    value: Value,
}

enum Value {
    /// `name`.
    Bare,
    /// `name = value`.
    Is(Expr),
    /// `name = { … }`.
    Object(TokenStream, Span),
    /// `name(…)`.
    List(TokenStream),
}

impl Options {
    /// The options of an attribute; what cannot be read is told and left out.
    pub(crate) fn of(attr: &Attribute, problems: &mut Problems) -> Self {
        let span = attr.path().segments.last().map_or_else(Span::call_site, |word| word.ident.span());
        match &attr.meta {
            Meta::Path(_) => Self { span, short: None, entries: Vec::new() },
            Meta::List(list) => Self::read(list.tokens.clone(), span, problems),
            Meta::NameValue(_) => {
                problems.at(attr, "options stand in brackets: `#[tool(name = \"…\")]`");
                Self { span, short: None, entries: Vec::new() }
            }
        }
    }

    /// The options in these tokens.
    pub(crate) fn read(tokens: TokenStream, span: Span, problems: &mut Problems) -> Self {
        let mut options = Self { span, short: None, entries: Vec::new() };
        let read = |input: ParseStream<'_>| {
            if input.peek(LitStr) {
                options.short = Some(input.parse()?);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            while !input.is_empty() {
                options.entries.push(Entry::read(input)?);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = read.parse2(tokens) {
            problems.add(error);
        }
        options
    }

    fn entry(&mut self, key: &str, problems: &mut Problems) -> Option<Entry> {
        let place = self.entries.iter().position(|entry| entry.key == key)?;
        let entry = self.entries.remove(place);
        while let Some(again) = self.entries.iter().position(|entry| entry.key == key) {
            problems.at(&self.entries.remove(again).key, format_args!("`{key}` is given twice"));
        }
        Some(entry)
    }

    /// A text that must be known here.
    pub(crate) fn literal(&mut self, key: &str, problems: &mut Problems) -> Option<LitStr> {
        let entry = self.entry(key, problems)?;
        let text = entry.literal();
        if text.is_none() {
            problems.at(&entry.key, format_args!("`{key}` is a text: `{key} = \"…\"`"));
        }
        text
    }

    /// A text, as any expression.
    pub(crate) fn text(&mut self, key: &str, problems: &mut Problems) -> Option<Expr> {
        let entry = self.entry(key, problems)?;
        match entry.value {
            Value::Is(expr) => Some(expr),
            _ => {
                problems.at(&entry.key, format_args!("`{key}` is a text: `{key} = \"…\"`"));
                None
            }
        }
    }

    /// Any expression, with one to show when there is none.
    pub(crate) fn value(&mut self, key: &str, shown: &str, problems: &mut Problems) -> Option<Expr> {
        let entry = self.entry(key, problems)?;
        match entry.value {
            Value::Is(expr) => Some(expr),
            _ => {
                problems.at(&entry.key, format_args!("`{key}` needs a value: `{key} = {shown}`"));
                None
            }
        }
    }

    /// Texts that may be given as often as one likes.
    pub(crate) fn each_text(&mut self, key: &str, problems: &mut Problems) -> Vec<Expr> {
        let mut texts = Vec::new();
        while let Some(place) = self.entries.iter().position(|entry| entry.key == key) {
            let entry = self.entries.remove(place);
            match entry.value {
                Value::Is(expr) => texts.push(expr),
                _ => problems.at(&entry.key, format_args!("`{key}` is a text: `{key} = \"…\"`")),
            }
        }
        texts
    }

    /// Whether something holds: `name`, or `name = true`.
    pub(crate) fn flag(&mut self, key: &str, problems: &mut Problems) -> Option<bool> {
        let entry = self.entry(key, problems)?;
        let flag = match &entry.value {
            Value::Bare => Some(true),
            Value::Is(expr) => match ungroup(expr) {
                Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Some(value.value),
                _ => None,
            },
            _ => None,
        };
        if flag.is_none() {
            problems.at(&entry.key, format_args!("`{key}` is `{key}`, `{key} = true` or `{key} = false`"));
        }
        flag
    }

    /// Whether something holds, or one of these words: `name`, `name = false`, `name = "word"`.
    pub(crate) fn flag_or(&mut self, key: &str, words: &[&str], problems: &mut Problems) -> Option<String> {
        let entry = self.entry(key, problems)?;
        let word = match &entry.value {
            Value::Bare => Some("true".to_owned()),
            Value::Is(expr) => match ungroup(expr) {
                Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Some(value.value.to_string()),
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                    Some(text.value()).filter(|text| words.contains(&text.as_str()))
                }
                _ => None,
            },
            _ => None,
        };
        if word.is_none() {
            let words: Vec<String> = words.iter().map(|word| format!("`{key} = \"{word}\"`")).collect();
            problems
                .at(&entry.key, format_args!("`{key}` is `{key}`, `{key} = false`, {}", words.join(" or ")));
        }
        word
    }

    /// A list of texts: `name("a", "b")`.
    pub(crate) fn list(&mut self, key: &str, problems: &mut Problems) -> Vec<LitStr> {
        let Some(entry) = self.entry(key, problems) else { return Vec::new() };
        let read = Punctuated::<LitStr, Token![,]>::parse_terminated;
        let list = match entry.value {
            Value::List(tokens) => read.parse2(tokens).ok(),
            _ => None,
        };
        match list {
            Some(list) if !list.is_empty() => list.into_iter().collect(),
            _ => {
                problems.at(&entry.key, format_args!("`{key}` is a list of texts: `{key}(\"…\", \"…\")`"));
                Vec::new()
            }
        }
    }

    /// An object of JSON: `name = { "key": value }`.
    pub(crate) fn object(&mut self, key: &str, problems: &mut Problems) -> Option<TokenStream> {
        let entry = self.entry(key, problems)?;
        match entry.value {
            Value::Object(tokens, span) => {
                if let Err(why) = crate::json::check_object(&tokens, span) {
                    problems.add(why);
                    return None;
                }
                Some(tokens)
            }
            Value::Is(other) => {
                problems.at(
                    &other,
                    format_args!(
                        "`{key}` is an object of the arguments by name: `{key} = {{ \"argument\": … }}`"
                    ),
                );
                None
            }
            _ => {
                problems.at(
                    &entry.key,
                    format_args!(
                        "`{key}` is an object of the arguments by name: `{key} = {{ \"argument\": … }}`"
                    ),
                );
                None
            }
        }
    }

    /// A type or a path, as it is.
    pub(crate) fn tokens(&mut self, key: &str, problems: &mut Problems) -> Option<TokenStream> {
        let entry = self.entry(key, problems)?;
        match entry.value {
            Value::Is(expr) => Some(expr.to_token_stream()),
            _ => {
                problems.at(&entry.key, format_args!("`{key}` needs a value: `{key} = …`"));
                None
            }
        }
    }

    /// Tells of what was not taken out, with what may have been meant.
    pub(crate) fn finish(self, what: &str, known: &[&str], problems: &mut Problems) {
        if let Some(short) = &self.short {
            problems.at(short, format_args!("{what} has no short form: write `name = \"…\"`"));
        }
        for entry in self.entries {
            let word = entry.key.unraw().to_string();
            let meant = match nearest(&word, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", listed(known)),
            };
            problems.at(&entry.key, format_args!("{what} has no option `{word}`; {meant}"));
        }
    }
}

impl Entry {
    fn read(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            if input.peek(token::Brace) {
                let content;
                let brace = syn::braced!(content in input);
                Value::Object(content.parse()?, brace.span.join())
            } else {
                Value::Is(input.parse()?)
            }
        } else if input.peek(token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            Value::List(content.parse()?)
        } else {
            Value::Bare
        };
        Ok(Self { key, value })
    }

    fn literal(&self) -> Option<LitStr> {
        match &self.value {
            Value::Is(expr) => match ungroup(expr) {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Words for a message: `a`, `b` and `c`.
pub(crate) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => "none".into(),
    }
}
