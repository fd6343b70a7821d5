//! The role of a method in MCP, and the options of each role.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, LitStr};

use crate::diagnostics::Diagnostics;
use crate::options::{AttributeOptions, quoted_list};
use crate::uri_template::{self, UriVariable};

/// The role of a method in MCP.
pub(crate) enum Role {
    Tool(Box<ToolRole>),
    Resource(Box<ResourceRole>),
    Prompt(Box<PromptRole>),
    /// Watches a resource while a client is subscribed.
    Subscription {
        resource: LitStr,
    },
    /// A notification; without a name, that of the method.
    Notification {
        name: Option<LitStr>,
    },
    Completion(Box<CompletionRole>),
    /// Not callable by clients.
    Internal,
    /// Not mapped to MCP; served by the plain JSON-RPC endpoint only.
    Unmapped,
    /// A role attribute that could not be parsed.
    Invalid,
}

/// The options that tools, resources and prompts have in common.
#[derive(Default)]
pub(crate) struct CommonOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<Expr>,
    pub(crate) scopes: Vec<LitStr>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) since: Option<Expr>,
    pub(crate) deprecated: Option<Expr>,
    pub(crate) icons: Vec<Expr>,
}

pub(crate) struct ToolRole {
    pub(crate) common: CommonOptions,
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
    pub(crate) example: Option<TokenStream>,
    pub(crate) blocking: bool,
    /// The name of the variant of `TaskRule`.
    pub(crate) task: Option<&'static str>,
    /// A handwritten schema of the arguments.
    pub(crate) schema: Option<Expr>,
    pub(crate) shielded: bool,
}

pub(crate) struct ResourceRole {
    pub(crate) common: CommonOptions,
    pub(crate) uri: LitStr,
    pub(crate) variables: Vec<UriVariable>,
    pub(crate) mime: Option<Expr>,
    /// The method that lists the concrete resources of a template.
    pub(crate) list: Option<Ident>,
    pub(crate) watch: bool,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) public: Option<bool>,
}

pub(crate) struct PromptRole {
    pub(crate) common: CommonOptions,
    pub(crate) example: Option<TokenStream>,
    /// The message of a static prompt.
    pub(crate) text: Option<Expr>,
}

pub(crate) struct CompletionRole {
    /// Whether the target is a prompt; else it is a resource.
    pub(crate) is_prompt: bool,
    pub(crate) target: LitStr,
    pub(crate) argument: LitStr,
}

const ROLES: [&str; 7] =
    ["tool", "resource", "prompt", "subscription", "notification", "completion", "internal"];

/// Returns whether an attribute is a role.
pub(crate) fn is_role(attr: &Attribute) -> bool {
    ROLES.iter().any(|role| attr.path().is_ident(role))
}

impl Role {
    /// Parses the role attribute of a method.
    pub(crate) fn parse(ident: &Ident, attrs: &[Attribute], diagnostics: &mut Diagnostics) -> Self {
        let mut roles = attrs.iter().filter(|attr| is_role(attr));
        let Some(attr) = roles.next() else { return Self::Unmapped };
        for other in roles {
            let names = [role_name(attr), role_name(other)];
            diagnostics.error_at(
                other,
                format_args!(
                    "`{ident}` has two roles, {}: a method has one; write a second method for the other",
                    quoted_list(&[&names[0], &names[1]])
                ),
            );
        }
        let mut options = AttributeOptions::from_attribute(attr, diagnostics);
        match role_name(attr).as_str() {
            "tool" => Self::Tool(Box::new(ToolRole::parse(options, diagnostics))),
            "resource" => ResourceRole::parse(options, diagnostics)
                .map_or(Self::Invalid, |role| Self::Resource(Box::new(role))),
            "prompt" => Self::Prompt(Box::new(PromptRole::parse(options, diagnostics))),
            "subscription" => {
                let span = options.span;
                let resource =
                    options.string_literal("resource", diagnostics).or_else(|| options.positional.take());
                options.reject_unknown("`#[subscription]`", &["resource"], diagnostics);
                match resource {
                    Some(resource) => Self::Subscription { resource },
                    None => {
                        diagnostics.error_at_span(
                            span,
                            "say which resource is watched: `#[subscription(resource = \"…\")]`",
                        );
                        Self::Invalid
                    }
                }
            }
            "notification" => {
                let name = options.string_literal("name", diagnostics);
                options.reject_unknown("`#[notification]`", &["name"], diagnostics);
                Self::Notification { name }
            }
            "completion" => CompletionRole::parse(options, diagnostics)
                .map_or(Self::Invalid, |role| Self::Completion(Box::new(role))),
            _ => {
                options.reject_unknown("`#[internal]`", &[], diagnostics);
                Self::Internal
            }
        }
    }
}

fn role_name(attr: &Attribute) -> String {
    attr.path().get_ident().map(ToString::to_string).unwrap_or_default()
}

const COMMON_OPTIONS: [&str; 7] = ["name", "title", "scopes", "tags", "since", "deprecated", "icon"];

impl CommonOptions {
    fn parse(options: &mut AttributeOptions, diagnostics: &mut Diagnostics) -> Self {
        let name = options.string_literal("name", diagnostics);
        if let Some(name) = &name {
            check_name(name, diagnostics);
        }
        Self {
            name,
            title: options.expr("title", diagnostics),
            scopes: options.string_list("scopes", diagnostics),
            tags: options.string_list("tags", diagnostics),
            since: options.expr("since", diagnostics),
            deprecated: options.expr("deprecated", diagnostics),
            icons: options.repeated_exprs("icon", diagnostics),
        }
    }
}

/// Checks that a name has 1 to 128 letters, digits, `_`, `-` and `.`, which every client accepts.
pub(crate) fn check_name(name: &LitStr, diagnostics: &mut Diagnostics) {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let text = name.value();
    if text.is_empty() || text.len() > 128 || !text.chars().all(is_allowed) {
        diagnostics.error_at(
            name,
            format_args!(
                "`{text}` cannot be a name: a name has 1 to 128 letters, digits, `_`, `-` and `.`, and no others"
            ),
        );
    }
}

impl ToolRole {
    const OPTIONS: [&str; 9] = [
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "example",
        "blocking",
        "task",
        "shielded",
        "schema",
    ];

    fn parse(mut options: AttributeOptions, diagnostics: &mut Diagnostics) -> Self {
        let tool = Self {
            common: CommonOptions::parse(&mut options, diagnostics),
            read_only: options.flag("read_only", diagnostics),
            destructive: options.flag("destructive", diagnostics),
            idempotent: options.flag("idempotent", diagnostics),
            open_world: options.flag("open_world", diagnostics),
            example: options.json_object("example", diagnostics),
            blocking: options.flag("blocking", diagnostics) == Some(true),
            task: match options.flag_or("task", &["required", "later"], diagnostics).as_deref() {
                Some("true") => Some("Allowed"),
                Some("required") => Some("Required"),
                Some("later") => Some("Later"),
                _ => None,
            },
            schema: options.expr("schema", diagnostics),
            shielded: options.flag("shielded", diagnostics) == Some(true),
        };
        options.reject_unknown("`#[tool]`", &[&COMMON_OPTIONS[..], &Self::OPTIONS].concat(), diagnostics);
        tool
    }
}

impl ResourceRole {
    const OPTIONS: [&str; 6] = ["uri", "mime", "list", "watch", "ttl", "cache"];

    fn parse(mut options: AttributeOptions, diagnostics: &mut Diagnostics) -> Option<Self> {
        let span = options.span;
        let uri = options.string_literal("uri", diagnostics).or_else(|| options.positional.take());
        let common = CommonOptions::parse(&mut options, diagnostics);
        let mime = options.expr("mime", diagnostics);
        let list = options.tokens("list", diagnostics).and_then(|tokens| {
            let read = syn::parse2::<Ident>(tokens.clone()).ok();
            if read.is_none() {
                diagnostics.error_at(
                    &tokens,
                    "`list` is the method that lists the members: `list = list_documents`",
                );
            }
            read
        });
        let watch = options.flag("watch", diagnostics) == Some(true);
        let ttl_ms = options.string_literal("ttl", diagnostics).and_then(|ttl| {
            let read = parse_milliseconds(&ttl.value());
            if read.is_none() {
                diagnostics.error_at(
                    &ttl,
                    "a time to live is a number with a unit, like `500ms`, `30s`, `5m`, `1h`, `7d`",
                );
            }
            read
        });
        let public =
            options.string_literal("cache", diagnostics).and_then(|cache| match cache.value().as_str() {
                "public" => Some(true),
                "private" => Some(false),
                _ => {
                    diagnostics
                        .error_at(&cache, "`cache` is `\"public\"` (anyone may share it) or `\"private\"`");
                    None
                }
            });
        options.reject_unknown("`#[resource]`", &[&COMMON_OPTIONS[..], &Self::OPTIONS].concat(), diagnostics);
        let Some(uri) = uri else {
            diagnostics.error_at_span(span, "a resource needs a URI: `#[resource(uri = \"doc://{id}\")]`");
            return None;
        };
        match uri_template::parse_variables(&uri.value()) {
            Ok(variables) => Some(Self { common, uri, variables, mime, list, watch, ttl_ms, public }),
            Err(message) => {
                diagnostics.error_at(&uri, message);
                None
            }
        }
    }

    /// Returns whether the path of the URI has no variables.
    pub(crate) fn is_fixed(&self) -> bool {
        self.variables.iter().all(|variable| variable.in_query)
    }

    /// Returns the URI without its query.
    pub(crate) fn base(&self) -> String {
        let uri = self.uri.value();
        uri.split_once("{?").map_or(uri.clone(), |(base, _)| base.to_owned())
    }
}

/// Parses a duration like `30s`.
fn parse_milliseconds(text: &str) -> Option<u64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

impl PromptRole {
    const OPTIONS: [&str; 2] = ["example", "text"];

    fn parse(mut options: AttributeOptions, diagnostics: &mut Diagnostics) -> Self {
        let prompt = Self {
            common: CommonOptions::parse(&mut options, diagnostics),
            example: options.json_object("example", diagnostics),
            text: options.expr("text", diagnostics),
        };
        options.reject_unknown("`#[prompt]`", &[&COMMON_OPTIONS[..], &Self::OPTIONS].concat(), diagnostics);
        prompt
    }
}

impl CompletionRole {
    fn parse(mut options: AttributeOptions, diagnostics: &mut Diagnostics) -> Option<Self> {
        let span: Span = options.span;
        let prompt = options.string_literal("prompt", diagnostics);
        let resource = options.string_literal("resource", diagnostics);
        let argument = options.string_literal("argument", diagnostics);
        options.reject_unknown("`#[completion]`", &["prompt", "resource", "argument"], diagnostics);
        match (prompt, resource, argument) {
            (Some(target), None, Some(argument)) => Some(Self { is_prompt: true, target, argument }),
            (None, Some(target), Some(argument)) => Some(Self { is_prompt: false, target, argument }),
            _ => {
                diagnostics.error_at_span(
                    span,
                    "say what is completed: `#[completion(prompt = \"…\", argument = \"…\")]`, or `resource = \"…\"`",
                );
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse_milliseconds;

    #[test]
    fn times_are_read_with_their_units() {
        for (text, expected) in [
            ("500ms", Some(500)),
            ("30s", Some(30_000)),
            ("5m", Some(300_000)),
            ("1h", Some(3_600_000)),
            ("7d", Some(604_800_000)),
            ("30", None),
            ("s", None),
            ("-1s", None),
            ("1 fortnight", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(parse_milliseconds(text), expected, "{text}");
        }
    }
}
