//! Both sides in one process, written with switchboard: its direct link, or with `--form pair` a pipe in memory. With
//! `--form initialize`, sessions of an HTTP service are opened.

use std::process::ExitCode;
use std::sync::Arc;

use bench_kit::inside;
use bench_switchboard::{Calling, Initializing, client, server};
use switchboard::InProcess;
use switchboard::transport::ConnectionLimits;
use switchboard::transport::MuxLink;
use switchboard::transport::link::{SingleLink, pair};

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "initialize") {
        return inside(
            &["initialize"],
            |args| async move { Initializing::new(args.tools, args.sessions).await },
        );
    }
    inside(&["pair"], |args| async move {
        let (client, server) = (client(args.era), server(args.tools));
        let session = if args.form == "pair" {
            let (near, far) = pair();
            tokio::spawn(async move { Arc::clone(&server).serve(far).await });
            client.connect(SingleLink::new(MuxLink::start(near, ConnectionLimits::default()))).await?
        } else {
            client.connect(InProcess::new(&server)).await?
        };
        Ok(Calling::from(session))
    })
}
