//! `switchboard why`: why a tool is missing or refused.

use serde_json::json;
use switchboard::host::ToolExplanation;
use switchboard::host::name::{NameLimit, QualifiedName};

use crate::args::{Options, WhyArgs};
use crate::command::tools::encode;
use crate::configured::{Wanted, Which, server_and_rest, with_host};
use crate::failure::Failure;
use crate::output::show_json;
use crate::sanitize::one_line;

pub(crate) async fn run(args: &WhyArgs) -> Result<(), Failure> {
    let options = Options { json: args.json, timeout: args.timeout, ..Options::default() };
    with_host(Wanted::once(Which::All, options), async |hosted| {
        let done = hosted.start().await;
        let names = hosted.files.resolved.servers.iter().map(|server| server.name.as_str());
        let named = server_and_rest(names, &args.tool);
        let asked = match named {
            Some((server, tool)) => QualifiedName::new(server, tool, NameLimit::DEFAULT).to_string(),
            None => args.tool.clone(),
        };
        let why = hosted.host.explain_tool(&asked);
        let mut said = why.to_string();
        // One server was named, so the others do not matter.
        if let (Some((server, tool)), ToolExplanation::Unknown { .. }) = (named, &why) {
            let (why_not, near) = hosted.why_not(server, tool);
            let near = near.map(|near| format!("; did you mean {}/{}?", one_line(server), one_line(&near)));
            said = why_not + &near.unwrap_or_default();
        }
        let permission = hosted.host.find_tool(&asked).map(|found| hosted.decide(&found.tool).to_string());
        let others = hosted.host.find_tool(&asked).map(|found| found.others).unwrap_or_default();
        // Servers whose entries cannot be run are not in the host, and may be the ones that have it.
        let is_meant = |name: &str| named.is_none_or(|(server, _)| server == name);
        let broken =
            done.errors.iter().filter(|(name, _)| is_meant(name) && hosted.host.state(name).is_err());
        let broken: Vec<String> = broken.map(|(name, error)| format!("{name}: {error}")).collect();
        if hosted.json {
            let (is_shown, server) = match &why {
                ToolExplanation::Shown { server, .. } => (true, Some(server)),
                ToolExplanation::Withheld { server, .. }
                | ToolExplanation::Disabled { server }
                | ToolExplanation::Rejected { server, .. } => (false, Some(server)),
                _ => (false, None),
            };
            let server = server.map(|name| &**name).or(named.map(|(server, _)| server));
            let told = json!({
                "tool": args.tool, "shown": is_shown, "server": server,
                "why": said, "permission": permission, "broken": broken,
            });
            return show_json(&hosted.paper, &encode(&told)?);
        }
        let mut text = format!("{}\n", one_line(&said));
        if let Some(permission) = permission {
            text += &format!("calling it: {}\n", one_line(&permission));
        }
        if !others.is_empty() {
            text += &format!("also of: {}\n", one_line(&others.join(", ")));
        }
        for line in broken.iter().filter(|_| matches!(why, ToolExplanation::Unknown { .. })) {
            text += &format!("cannot be run: {}\n", one_line(line));
        }
        Ok(hosted.paper.print(&text)?)
    })
    .await
}
