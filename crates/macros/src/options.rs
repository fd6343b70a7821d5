//! Parses the options of an attribute: `name`, `name = value` and `name(list)`, in any order.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Token, token};

use crate::diagnostics::Diagnostics;
use crate::docs::ungroup;
use crate::nearest::nearest;

/// The options of one attribute. Each accessor removes its option; the remaining ones are unknown.
pub(crate) struct AttributeOptions {
    /// The span of the attribute, for errors about missing options.
    pub(crate) span: Span,
    /// A string before all options: the short form of one of them.
    pub(crate) positional: Option<LitStr>,
    options: Vec<AttributeOption>,
}

struct AttributeOption {
    key: Ident,
    value: OptionValue,
}

enum OptionValue {
    /// `name`.
    Flag,
    /// `name = value`.
    Expr(Expr),
    /// `name = { … }`.
    Object(TokenStream, Span),
    /// `name(…)`.
    List(TokenStream),
}

impl AttributeOptions {
    /// Parses an attribute. Invalid options are reported and skipped.
    pub(crate) fn from_attribute(attr: &Attribute, diagnostics: &mut Diagnostics) -> Self {
        let span = attr.path().segments.last().map_or_else(Span::call_site, |word| word.ident.span());
        match &attr.meta {
            Meta::Path(_) => Self { span, positional: None, options: Vec::new() },
            Meta::List(list) => Self::parse(list.tokens.clone(), span, diagnostics),
            Meta::NameValue(_) => {
                diagnostics.error_at(attr, "options are in parentheses: `#[tool(name = \"…\")]`");
                Self { span, positional: None, options: Vec::new() }
            }
        }
    }

    /// Parses the tokens between the parentheses.
    pub(crate) fn parse(tokens: TokenStream, span: Span, diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self { span, positional: None, options: Vec::new() };
        let read = |input: ParseStream<'_>| {
            if input.peek(LitStr) {
                options.positional = Some(input.parse()?);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            while !input.is_empty() {
                options.options.push(AttributeOption::parse(input)?);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = read.parse2(tokens) {
            diagnostics.push(error);
        }
        options
    }

    fn take(&mut self, key: &str, diagnostics: &mut Diagnostics) -> Option<AttributeOption> {
        let index = self.options.iter().position(|option| option.key == key)?;
        let option = self.options.remove(index);
        while let Some(duplicate) = self.options.iter().position(|option| option.key == key) {
            diagnostics.error_at(&self.options.remove(duplicate).key, format_args!("`{key}` is given twice"));
        }
        Some(option)
    }

    /// Takes an option that must be a string literal.
    pub(crate) fn string_literal(&mut self, key: &str, diagnostics: &mut Diagnostics) -> Option<LitStr> {
        let option = self.take(key, diagnostics)?;
        let text = option.string_literal();
        if text.is_none() {
            diagnostics.error_at(&option.key, format_args!("`{key}` is a string: `{key} = \"…\"`"));
        }
        text
    }

    /// Takes an option whose value is any expression of type string.
    pub(crate) fn expr(&mut self, key: &str, diagnostics: &mut Diagnostics) -> Option<Expr> {
        self.take_expr(key, format_args!("`{key}` is a string: `{key} = \"…\"`"), diagnostics)
    }

    /// Takes an option whose value is any expression. `example` is shown if the value is missing.
    pub(crate) fn expr_like(
        &mut self,
        key: &str,
        example: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Expr> {
        self.take_expr(key, format_args!("`{key}` needs a value: `{key} = {example}`"), diagnostics)
    }

    /// Takes an option whose value is an expression; any other value is an error with this message.
    fn take_expr(
        &mut self,
        key: &str,
        message: impl std::fmt::Display,
        diagnostics: &mut Diagnostics,
    ) -> Option<Expr> {
        let option = self.take(key, diagnostics)?;
        match option.value {
            OptionValue::Expr(expr) => Some(expr),
            _ => {
                diagnostics.error_at(&option.key, message);
                None
            }
        }
    }

    /// Takes all occurrences of an option that can be repeated.
    pub(crate) fn repeated_exprs(&mut self, key: &str, diagnostics: &mut Diagnostics) -> Vec<Expr> {
        let mut texts = Vec::new();
        while let Some(index) = self.options.iter().position(|option| option.key == key) {
            let option = self.options.remove(index);
            match option.value {
                OptionValue::Expr(expr) => texts.push(expr),
                _ => diagnostics.error_at(&option.key, format_args!("`{key}` is a string: `{key} = \"…\"`")),
            }
        }
        texts
    }

    /// Takes a flag: `name`, or `name = true`.
    pub(crate) fn flag(&mut self, key: &str, diagnostics: &mut Diagnostics) -> Option<bool> {
        let option = self.take(key, diagnostics)?;
        let flag = match &option.value {
            OptionValue::Flag => Some(true),
            OptionValue::Expr(expr) => match ungroup(expr) {
                Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Some(value.value),
                _ => None,
            },
            _ => None,
        };
        if flag.is_none() {
            diagnostics
                .error_at(&option.key, format_args!("`{key}` is `{key}`, `{key} = true` or `{key} = false`"));
        }
        flag
    }

    /// Takes a flag that can also be one of these words: `name`, `name = false`, `name = "word"`.
    pub(crate) fn flag_or(
        &mut self,
        key: &str,
        words: &[&str],
        diagnostics: &mut Diagnostics,
    ) -> Option<String> {
        let option = self.take(key, diagnostics)?;
        let word = match &option.value {
            OptionValue::Flag => Some("true".to_owned()),
            OptionValue::Expr(expr) => match ungroup(expr) {
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
            diagnostics.error_at(
                &option.key,
                format_args!("`{key}` is `{key}`, `{key} = false`, {}", words.join(" or ")),
            );
        }
        word
    }

    /// Takes a list of strings: `name("a", "b")`.
    pub(crate) fn string_list(&mut self, key: &str, diagnostics: &mut Diagnostics) -> Vec<LitStr> {
        let Some(option) = self.take(key, diagnostics) else { return Vec::new() };
        let read = Punctuated::<LitStr, Token![,]>::parse_terminated;
        let list = match option.value {
            OptionValue::List(tokens) => read.parse2(tokens).ok(),
            _ => None,
        };
        match list {
            Some(list) if !list.is_empty() => list.into_iter().collect(),
            _ => {
                diagnostics.error_at(
                    &option.key,
                    format_args!("`{key}` is a list of strings: `{key}(\"…\", \"…\")`"),
                );
                Vec::new()
            }
        }
    }

    /// Takes a JSON object: `name = { "key": value }`.
    pub(crate) fn json_object(&mut self, key: &str, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
        let option = self.take(key, diagnostics)?;
        let message =
            format!("`{key}` is an object of the arguments by name: `{key} = {{ \"argument\": … }}`");
        match option.value {
            OptionValue::Object(tokens, span) => match crate::json_object::check_object(&tokens, span) {
                Ok(()) => return Some(tokens),
                Err(error) => diagnostics.push(error),
            },
            OptionValue::Expr(other) => diagnostics.error_at(&other, message),
            _ => diagnostics.error_at(&option.key, message),
        }
        None
    }

    /// Takes a type or a path as tokens.
    pub(crate) fn tokens(&mut self, key: &str, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
        let expr = self.take_expr(key, format_args!("`{key}` needs a value: `{key} = …`"), diagnostics)?;
        Some(expr.to_token_stream())
    }

    /// Reports the remaining options as unknown, each with a suggestion.
    pub(crate) fn reject_unknown(self, what: &str, known: &[&str], diagnostics: &mut Diagnostics) {
        if let Some(text) = &self.positional {
            diagnostics.error_at(text, format_args!("{what} has no short form: write `name = \"…\"`"));
        }
        for option in self.options {
            let word = option.key.unraw().to_string();
            let hint = match nearest(&word, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", quoted_list(known)),
            };
            diagnostics.error_at(&option.key, format_args!("{what} has no option `{word}`; {hint}"));
        }
    }
}

impl AttributeOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            if input.peek(token::Brace) {
                let content;
                let brace = syn::braced!(content in input);
                OptionValue::Object(content.parse()?, brace.span.join())
            } else {
                OptionValue::Expr(input.parse()?)
            }
        } else if input.peek(token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            OptionValue::List(content.parse()?)
        } else {
            OptionValue::Flag
        };
        Ok(Self { key, value })
    }

    fn string_literal(&self) -> Option<LitStr> {
        match &self.value {
            OptionValue::Expr(expr) => match ungroup(expr) {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Joins words for a message: `a`, `b` and `c`.
pub(crate) fn quoted_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => "none".into(),
    }
}
