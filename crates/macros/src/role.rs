//! What a method is in MCP, and the options of each role.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, LitStr};

use crate::options::{Options, listed};
use crate::problems::Problems;
use crate::uri::{self, Variable};

/// What a method is in MCP.
pub(crate) enum Role {
    Tool(Box<Tool>),
    Resource(Box<Resource>),
    Prompt(Box<Prompt>),
    /// Watches the resource of this name.
    Subscription {
        resource: LitStr,
    },
    /// An event with this name, if not the method's own.
    Notification {
        name: Option<LitStr>,
    },
    Completion(Box<Completion>),
    /// Nothing that can be called from outside.
    Internal,
    /// Nothing in MCP; callers of the plain endpoint only.
    Unmapped,
    /// A role was meant and could not be read.
    Broken,
}

/// What tools, resources and prompts can all have.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<Expr>,
    pub(crate) scopes: Vec<LitStr>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) since: Option<Expr>,
    pub(crate) deprecated: Option<Expr>,
    pub(crate) icons: Vec<Expr>,
}

pub(crate) struct Tool {
    pub(crate) common: Common,
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
    pub(crate) example: Option<TokenStream>,
    pub(crate) blocking: bool,
    /// The rule for tasks, by its name in the design.
    pub(crate) task: Option<&'static str>,
    /// The schema of the arguments, written by hand.
    pub(crate) schema: Option<Expr>,
    pub(crate) shielded: bool,
}

pub(crate) struct Resource {
    pub(crate) common: Common,
    pub(crate) uri: LitStr,
    pub(crate) variables: Vec<Variable>,
    pub(crate) mime: Option<Expr>,
    /// The method that lists its members.
    pub(crate) list: Option<Ident>,
    pub(crate) watch: bool,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) public: Option<bool>,
}

pub(crate) struct Prompt {
    pub(crate) common: Common,
    pub(crate) example: Option<TokenStream>,
    /// The one message of a static prompt.
    pub(crate) text: Option<Expr>,
}

pub(crate) struct Completion {
    /// Of a prompt; else of a resource.
    pub(crate) of_prompt: bool,
    pub(crate) of: LitStr,
    pub(crate) argument: LitStr,
}

const ROLES: [&str; 7] =
    ["tool", "resource", "prompt", "subscription", "notification", "completion", "internal"];

/// Whether this attribute says what a method is in MCP.
pub(crate) fn is_role(attr: &Attribute) -> bool {
    ROLES.iter().any(|role| attr.path().is_ident(role))
}

impl Role {
    /// What the attributes of a method say.
    pub(crate) fn read(ident: &Ident, attrs: &[Attribute], problems: &mut Problems) -> Self {
        let mut roles = attrs.iter().filter(|attr| is_role(attr));
        let Some(attr) = roles.next() else { return Self::Unmapped };
        for other in roles {
            let words = [word(attr), word(other)];
            problems.at(
                other,
                format_args!(
                    "`{ident}` has two roles, {}: a method has one; write a second method for the other",
                    listed(&[&words[0], &words[1]])
                ),
            );
        }
        let mut options = Options::of(attr, problems);
        match word(attr).as_str() {
            "tool" => Self::Tool(Box::new(Tool::read(options, problems))),
            "resource" => {
                Resource::read(options, problems).map_or(Self::Broken, |it| Self::Resource(Box::new(it)))
            }
            "prompt" => Self::Prompt(Box::new(Prompt::read(options, problems))),
            "subscription" => {
                let span = options.span;
                let resource = options.literal("resource", problems).or_else(|| options.short.take());
                options.finish("`#[subscription]`", &["resource"], problems);
                match resource {
                    Some(resource) => Self::Subscription { resource },
                    None => {
                        problems
                            .here(span, "say which resource is watched: `#[subscription(resource = \"…\")]`");
                        Self::Broken
                    }
                }
            }
            "notification" => {
                let name = options.literal("name", problems);
                options.finish("`#[notification]`", &["name"], problems);
                Self::Notification { name }
            }
            "completion" => {
                Completion::read(options, problems).map_or(Self::Broken, |it| Self::Completion(Box::new(it)))
            }
            _ => {
                options.finish("`#[internal]`", &[], problems);
                Self::Internal
            }
        }
    }
}

fn word(attr: &Attribute) -> String {
    attr.path().get_ident().map(ToString::to_string).unwrap_or_default()
}

const COMMON: [&str; 7] = ["name", "title", "scopes", "tags", "since", "deprecated", "icon"];

impl Common {
    fn read(options: &mut Options, problems: &mut Problems) -> Self {
        let name = options.literal("name", problems);
        if let Some(name) = &name {
            check_name(name, problems);
        }
        Self {
            name,
            title: options.text("title", problems),
            scopes: options.list("scopes", problems),
            tags: options.list("tags", problems),
            since: options.text("since", problems),
            deprecated: options.text("deprecated", problems),
            icons: options.each_text("icon", problems),
        }
    }
}

/// Names that every client takes have 1 to 128 letters, digits, `_`, `-` and `.`.
pub(crate) fn check_name(name: &LitStr, problems: &mut Problems) {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let text = name.value();
    if text.is_empty() || text.len() > 128 || !text.chars().all(legal) {
        problems.at(
            name,
            format_args!(
                "`{text}` cannot be a name: a name has 1 to 128 letters, digits, `_`, `-` and `.`, and no others"
            ),
        );
    }
}

impl Tool {
    const KNOWN: [&str; 9] = [
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

    fn read(mut options: Options, problems: &mut Problems) -> Self {
        let tool = Self {
            common: Common::read(&mut options, problems),
            read_only: options.flag("read_only", problems),
            destructive: options.flag("destructive", problems),
            idempotent: options.flag("idempotent", problems),
            open_world: options.flag("open_world", problems),
            example: options.object("example", problems),
            blocking: options.flag("blocking", problems) == Some(true),
            task: match options.flag_or("task", &["required", "later"], problems).as_deref() {
                Some("true") => Some("Allowed"),
                Some("required") => Some("Required"),
                Some("later") => Some("Later"),
                _ => None,
            },
            schema: options.text("schema", problems),
            shielded: options.flag("shielded", problems) == Some(true),
        };
        options.finish("`#[tool]`", &[&COMMON[..], &Self::KNOWN].concat(), problems);
        tool
    }
}

impl Resource {
    const KNOWN: [&str; 6] = ["uri", "mime", "list", "watch", "ttl", "cache"];

    fn read(mut options: Options, problems: &mut Problems) -> Option<Self> {
        let span = options.span;
        let uri = options.literal("uri", problems).or_else(|| options.short.take());
        let common = Common::read(&mut options, problems);
        let mime = options.text("mime", problems);
        let list = options.tokens("list", problems).and_then(|tokens| {
            let read = syn::parse2::<Ident>(tokens.clone()).ok();
            if read.is_none() {
                problems.at(&tokens, "`list` is the method that lists the members: `list = list_documents`");
            }
            read
        });
        let watch = options.flag("watch", problems) == Some(true);
        let ttl_ms = options.literal("ttl", problems).and_then(|ttl| {
            let read = milliseconds(&ttl.value());
            if read.is_none() {
                problems.at(
                    &ttl,
                    "a time to live is a number with a unit, like `500ms`, `30s`, `5m`, `1h`, `7d`",
                );
            }
            read
        });
        let public = options.literal("cache", problems).and_then(|cache| match cache.value().as_str() {
            "public" => Some(true),
            "private" => Some(false),
            _ => {
                problems.at(&cache, "`cache` is `\"public\"` (anyone may share it) or `\"private\"`");
                None
            }
        });
        options.finish("`#[resource]`", &[&COMMON[..], &Self::KNOWN].concat(), problems);
        let Some(uri) = uri else {
            problems.here(span, "a resource needs a URI: `#[resource(uri = \"doc://{id}\")]`");
            return None;
        };
        match uri::variables(&uri.value()) {
            Ok(variables) => Some(Self { common, uri, variables, mime, list, watch, ttl_ms, public }),
            Err(why) => {
                problems.at(&uri, why);
                None
            }
        }
    }

    /// Whether it has one URI, but for its query.
    pub(crate) fn is_fixed(&self) -> bool {
        self.variables.iter().all(|variable| variable.in_query)
    }

    /// The URI without its query.
    pub(crate) fn base(&self) -> String {
        let uri = self.uri.value();
        uri.split_once("{?").map_or(uri.clone(), |(base, _)| base.to_owned())
    }
}

/// `30s` and the like.
fn milliseconds(text: &str) -> Option<u64> {
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

impl Prompt {
    const KNOWN: [&str; 2] = ["example", "text"];

    fn read(mut options: Options, problems: &mut Problems) -> Self {
        let prompt = Self {
            common: Common::read(&mut options, problems),
            example: options.object("example", problems),
            text: options.text("text", problems),
        };
        options.finish("`#[prompt]`", &[&COMMON[..], &Self::KNOWN].concat(), problems);
        prompt
    }
}

impl Completion {
    fn read(mut options: Options, problems: &mut Problems) -> Option<Self> {
        let span: Span = options.span;
        let prompt = options.literal("prompt", problems);
        let resource = options.literal("resource", problems);
        let argument = options.literal("argument", problems);
        options.finish("`#[completion]`", &["prompt", "resource", "argument"], problems);
        match (prompt, resource, argument) {
            (Some(of), None, Some(argument)) => Some(Self { of_prompt: true, of, argument }),
            (None, Some(of), Some(argument)) => Some(Self { of_prompt: false, of, argument }),
            _ => {
                problems.here(
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
    use super::milliseconds;

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
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
