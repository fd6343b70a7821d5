//! Arguments of `policy`.

use std::path::PathBuf;

use switchboard::gateway::policy::Subject;

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) action: PolicyAction,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum PolicyAction {
    /// Check a policy document: its errors, and rules that have no effect
    Check(PolicyCheckArgs),
    /// Tell what a policy decides about a call, and by which rule. Exits with 1 unless the call is allowed
    Test(PolicyTestArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyCheckArgs {
    /// The policy document, a TOML file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  switchboard policy test --policy policy.toml --as ada \\
      files/read_text path=notes.txt
  # arguments as JSON, where the spelling matters
  switchboard policy test --policy policy.toml files/read_text \\
      '{\"path\": \"a\", \"path\": \"b\"}'
  switchboard policy test --policy policy.toml --kind resource \\
      files/file:///etc/passwd")]
pub(crate) struct PolicyTestArgs {
    /// The policy document, a TOML file
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: PathBuf,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
    /// What the name is
    #[arg(long, value_name = "KIND", default_value = "tool")]
    pub(crate) kind: TargetKindArg,
    /// The server and its own name of the tool or prompt, or a URI: `server/name`
    #[arg(value_name = "SERVER/NAME")]
    pub(crate) target: String,
    /// The arguments: `key=text`, `key:=json`, or all of them as one JSON object
    #[arg(value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The caller of a gateway, as its policy sees it.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CallerArgs {
    /// The subject of the caller; without it the caller is anonymous
    #[arg(long = "as", value_name = "USER")]
    pub(crate) principal: Option<String>,
    /// The issuer of the caller's identity
    #[arg(long, value_name = "URL", requires = "principal")]
    pub(crate) issuer: Option<String>,
    /// A scope of the caller
    #[arg(long, value_name = "SCOPE", requires = "principal")]
    pub(crate) scope: Vec<String>,
    /// The view
    #[arg(long, value_name = "NAME")]
    pub(crate) view: Option<String>,
}

impl CallerArgs {
    /// Returns whether a caller or a view is named.
    pub(crate) fn is_given(&self) -> bool {
        self.principal.is_some() || self.view.is_some()
    }

    /// Returns the caller as rules see it.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            principal: self.principal.as_deref(),
            issuer: self.issuer.as_deref(),
            scopes: &self.scope,
            view: self.view.as_deref(),
        }
    }
}

/// The kind of a target.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum TargetKindArg {
    /// A call of a tool
    Tool,
    /// Reading a resource
    Resource,
    /// A resource template in a list
    Template,
    /// A prompt
    Prompt,
    /// Completion of an argument of a prompt
    PromptCompletion,
    /// Completion of a variable of a resource template
    TemplateCompletion,
    /// A task of a tool
    Task,
    /// A subscription to a resource
    Subscription,
    /// A handle of a result of a tool
    ResultHandle,
}
