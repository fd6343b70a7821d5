//! Why an item can or cannot be used: the checks in the order in which a call makes them.

use switchboard_host::{ServerListing, Status, WithheldReason};
use switchboard_protocol::Tool;

use super::permission_view::tool_permission;
use crate::api::ConsoleState;
use crate::contract::{CatalogItemKind, CheckOutcome, Permission, WhyAnswer, WhyCheck, WhyVerdict};

/// Explains an item. Without a server, the first server that lists it.
pub(super) fn explain(
    state: &ConsoleState,
    kind: CatalogItemKind,
    server: Option<&str>,
    name: &str,
) -> WhyAnswer {
    let catalog = state.host.catalog();
    let listed_by = || {
        let mut listings = catalog.listings().filter(|listing| !listing.is_application());
        listings.find(|listing| find_item(listing, kind, name).is_some()).map(|listing| &**listing.server())
    };
    let server = match kind {
        CatalogItemKind::Server => Some(name),
        _ => server.or_else(listed_by),
    };
    let mut explanation = Explanation::default();
    let verdict = match server {
        Some(server) => explanation.check_item(state, &catalog, kind, server, name),
        None => {
            explanation.fail("definition", format!("no server lists a {} `{name}`", kind_name(kind)), None);
            Some(WhyVerdict::Unknown)
        }
    };
    let verdict = verdict.unwrap_or(WhyVerdict::Available);
    let similar = match (kind, verdict) {
        (CatalogItemKind::Tool, WhyVerdict::Unknown) => {
            catalog.similar_names(name).iter().map(ToString::to_string).collect()
        }
        _ => Vec::new(),
    };
    let failed = explanation.checks.iter().find(|check| check.outcome == CheckOutcome::Fail);
    let subject = match kind {
        CatalogItemKind::Server => format!("server `{name}`"),
        _ => format!("{} `{name}`", kind_name(kind)),
    };
    let sentence = match (failed, verdict) {
        (Some(check), _) => format!("The {subject} cannot be used: {}.", check.message),
        (None, _) => format!("The {subject} can be used."),
    };
    WhyAnswer {
        kind,
        server: server.map(str::to_owned),
        name: name.to_owned(),
        verdict,
        sentence: state.mask(sentence),
        checks: explanation.checks.into_iter().map(|check| masked(state, check)).collect(),
        next_step: explanation.next_step,
        similar,
    }
}

/// The reason why a server is not connected is often what it has written itself.
fn masked(state: &ConsoleState, mut check: WhyCheck) -> WhyCheck {
    check.message = state.mask(check.message);
    check
}

/// The checks that were made.
#[derive(Default)]
struct Explanation {
    checks: Vec<WhyCheck>,
    next_step: Option<String>,
}

impl Explanation {
    /// Checks an item of a server. Returns the verdict of the check that failed.
    fn check_item(
        &mut self,
        state: &ConsoleState,
        catalog: &switchboard_host::Catalog,
        kind: CatalogItemKind,
        server: &str,
        name: &str,
    ) -> Option<WhyVerdict> {
        let mut verdict = self.check_server(state, server);
        if kind == CatalogItemKind::Server || verdict == Some(WhyVerdict::Unknown) {
            return verdict;
        }
        let listing = catalog.listing(server)?;
        let Some(item) = find_item(&listing, kind, name) else {
            // The item may be one that the server lists when it is ready.
            let message = format!("server `{server}` lists no {} `{name}`", kind_name(kind));
            self.fail("definition", message, None);
            return verdict.or(Some(WhyVerdict::Unknown));
        };
        let FoundItem::Tool(found) = item else {
            self.pass("definition", format!("server `{server}` lists it"));
            return verdict;
        };
        let (tool, withheld) = match found {
            Ok(found) => found,
            Err(reason) => {
                self.fail("definition", format!("its definition is invalid: {reason}"), None);
                self.suggest("correct the definition on the server");
                return verdict.or(Some(WhyVerdict::Hidden));
            }
        };
        verdict = verdict.or(self.check_definition(withheld));
        verdict = verdict.or(self.check_rules(&listing, withheld));
        verdict.or(self.check_permission(state, server, tool))
    }

    fn check_server(&mut self, state: &ConsoleState, server: &str) -> Option<WhyVerdict> {
        let Ok(status) = state.host.state(server) else {
            self.fail("configuration", format!("there is no server `{server}`"), None);
            self.suggest("add the server, or use one of those that are configured");
            return Some(WhyVerdict::Unknown);
        };
        match &status {
            Status::Disabled | Status::AwaitingApproval => {
                self.fail("configuration", format!("server `{server}` is {status}"), None);
                self.skip("connection");
                self.suggest(status.next_step());
                return Some(match status {
                    Status::Disabled => WhyVerdict::Hidden,
                    _ => WhyVerdict::NotReady,
                });
            }
            _ => self.pass("configuration", format!("server `{server}` is configured and enabled")),
        }
        match &status {
            Status::Ready(_) | Status::Degraded { .. } | Status::Asleep => {
                self.pass("connection", format!("server `{server}` is {status}"));
                None
            }
            Status::NeedsAuth(challenge) => {
                self.pass("connection", format!("server `{server}` answers"));
                self.fail("login", format!("server `{server}` requires a login: {challenge}"), None);
                self.suggest(status.next_step());
                Some(WhyVerdict::NotReady)
            }
            _ => {
                self.fail("connection", format!("server `{server}` is {status}"), None);
                self.skip("login");
                self.suggest(status.next_step());
                Some(WhyVerdict::NotReady)
            }
        }
    }

    fn check_definition(&mut self, withheld: Option<&WithheldReason>) -> Option<WhyVerdict> {
        if let Some(reason @ WithheldReason::Drifted) = withheld {
            self.fail("definition", reason.to_string(), None);
            self.suggest("compare the definitions, and accept the new one if you agree with it");
            return Some(WhyVerdict::Hidden);
        }
        self.pass("definition", "its server lists it with a valid definition".to_owned());
        None
    }

    fn check_rules(
        &mut self,
        listing: &ServerListing<'_>,
        withheld: Option<&WithheldReason>,
    ) -> Option<WhyVerdict> {
        let (check, rule) = match withheld {
            None | Some(WithheldReason::Drifted) => {
                self.pass("allow and deny rules", format!("the rules of `{}` show it", listing.server()));
                return None;
            }
            Some(WithheldReason::Denied { rule }) => ("allow and deny rules", Some(rule.to_string())),
            Some(WithheldReason::NotAllowed) => ("allow and deny rules", None),
            Some(WithheldReason::Clash { .. }) => ("name", None),
            Some(_) => ("limits", None),
        };
        let reason = withheld.map(ToString::to_string).unwrap_or_default();
        self.fail(check, reason, rule);
        self.suggest(match withheld {
            Some(WithheldReason::Clash { .. }) => "rename one of the servers",
            Some(WithheldReason::TooMany { .. }) => "hide tools by rules, or disable servers",
            _ => "change the rules of the server",
        });
        Some(WhyVerdict::Hidden)
    }

    fn check_permission(&mut self, state: &ConsoleState, server: &str, tool: &Tool) -> Option<WhyVerdict> {
        match tool_permission(&state.host, server, tool) {
            Permission::Allow { sentence } => self.pass("permission", sentence),
            Permission::Ask { sentence } => {
                self.pass("permission", sentence);
                self.suggest("confirm each call");
            }
            Permission::Deny { sentence, rule } => {
                self.fail("permission", sentence, rule);
                self.suggest("change the permission rules");
                return Some(WhyVerdict::Refused);
            }
        }
        None
    }

    fn pass(&mut self, check: &str, message: String) {
        self.push(check, CheckOutcome::Pass, message, None);
    }

    fn fail(&mut self, check: &str, message: String, rule: Option<String>) {
        self.push(check, CheckOutcome::Fail, message, rule);
    }

    fn skip(&mut self, check: &str) {
        self.push(check, CheckOutcome::Skipped, "an earlier check failed".to_owned(), None);
    }

    fn push(&mut self, check: &str, outcome: CheckOutcome, message: String, rule: Option<String>) {
        self.checks.push(WhyCheck { check: check.to_owned(), outcome, message, rule });
    }

    /// Sets what to do, unless an earlier check has said it.
    fn suggest(&mut self, next_step: impl Into<String>) {
        self.next_step.get_or_insert_with(|| next_step.into());
    }
}

/// An item that a server lists.
enum FoundItem<'a> {
    /// A tool with the reason why it is withheld, or the reason why its definition is invalid.
    Tool(Result<(&'a Tool, Option<&'a WithheldReason>), String>),
    Other,
}

/// Finds an item by its name on the server; a tool by either of its names.
fn find_item<'a>(listing: &ServerListing<'a>, kind: CatalogItemKind, name: &str) -> Option<FoundItem<'a>> {
    let lists = listing.lists();
    let is_listed = match kind {
        CatalogItemKind::Tool => {
            let by_name = || listing.tools().find(|(tool, _)| tool.name() == name);
            if let Some((tool, withheld)) = listing.tool(name).or_else(by_name) {
                return Some(FoundItem::Tool(Ok((tool.tool(), withheld))));
            }
            let rejected = listing.rejected().iter().find(|entry| entry.name.as_deref() == Some(name))?;
            return Some(FoundItem::Tool(Err(rejected.error.to_string())));
        }
        CatalogItemKind::Resource => lists.resources.iter().any(|resource| resource.uri == name),
        CatalogItemKind::Template => lists.templates.iter().any(|template| template.uri_template == name),
        CatalogItemKind::Prompt => lists.prompts.iter().any(|prompt| prompt.name == name),
        CatalogItemKind::Server => false,
    };
    is_listed.then_some(FoundItem::Other)
}

fn kind_name(kind: CatalogItemKind) -> &'static str {
    match kind {
        CatalogItemKind::Tool => "tool",
        CatalogItemKind::Resource => "resource",
        CatalogItemKind::Template => "resource template",
        CatalogItemKind::Prompt => "prompt",
        CatalogItemKind::Server => "server",
    }
}
