//! Both sides in one process, written with switchboard: its direct link, or with `--form pair` a pipe in memory.

use std::process::ExitCode;
use std::sync::Arc;

use bench_kit::inside;
use bench_switchboard::{Calling, client, server};
use switchboard::session::Peer;
use switchboard::session::link::{Once, pair};
use switchboard::{InProcess, PeerLimits};

fn main() -> ExitCode {
    inside(&["pair"], |args| async move {
        let (client, server) = (client(args.era), server(args.tools));
        let session = if args.form == "pair" {
            let (near, far) = pair();
            tokio::spawn(async move { Arc::clone(&server).serve(far).await });
            client.connect(Once::new(Peer::start(near, PeerLimits::default()))).await?
        } else {
            client.connect(InProcess::new(&server)).await?
        };
        Ok(Calling::from(session))
    })
}
