//! What the programs with a gateway share.

mod rules;

use std::path::PathBuf;
use std::time::Duration;

use bench_kit::{Era, Fail, GatewayArgs, ServerNames};
use switchboard::client::RevisionPolicy;
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::host::ServerSpec;
use switchboard::{Host, Http, Stdio};

pub use rules::policy;

/// A gateway in front of echo servers, connected.
pub async fn gateway(args: &GatewayArgs) -> Result<Gateway, Fail> {
    let revisions = match args.era {
        Era::Legacy => RevisionPolicy::LegacyOnly,
        Era::Modern => RevisionPolicy::ModernOnly,
    };
    let host = Gateway::host_builder().with_revisions(revisions).build();
    connect(&host, args).await?;
    let mut options = GatewayOptions::default();
    if args.form == "policy" {
        options = options.with_policy(policy()?);
    }
    Ok(Gateway::new(host, options))
}

async fn connect(host: &Host, args: &GatewayArgs) -> Result<(), Fail> {
    let command = sibling("floor-server")?;
    for number in 0..args.servers {
        let spec = match &args.upstream {
            Some(url) => ServerSpec::from(Http::new(url)),
            None => {
                let words = ["--stdio", "--tools", &args.tools.to_string()].map(str::to_owned);
                ServerSpec::from(Stdio::new(&command).args(words))
            }
        };
        host.connect(ServerNames::server(number), spec.startup_timeout(Duration::from_secs(20))).await?;
    }
    Ok(())
}

/// A program beside this one.
fn sibling(name: &str) -> Result<PathBuf, Fail> {
    Ok(std::env::current_exe()?.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}
