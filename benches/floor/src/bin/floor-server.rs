//! The floor as a server.

use std::process::ExitCode;

use bench_floor::answer::Answers;
use bench_floor::pipes::own;
use bench_floor::web_server;
use bench_kit::{Binding, Era, Fail, ServerArgs, server};

fn main() -> ExitCode {
    server(&["wide"], |args| async move {
        match args.binding {
            Binding::Stdio => serve_stdio(args).await,
            Binding::Http => web_server::serve(args).await,
        }
    })
}

/// Answers all lines of one read with one write.
async fn serve_stdio(args: ServerArgs) -> Result<(), Fail> {
    let answers = Answers::new(args.tools);
    let mut lines = own(args.form == "wide")?;
    let mut era = Era::Modern;
    while lines.more().await? > 0 {
        while let Some(line) = lines.line() {
            let (message, out) = lines.both(line);
            if let Some(now) = answers.to(message, era, out) {
                era = now;
                out.push(b'\n');
            }
        }
        lines.flush().await?;
    }
    Ok(())
}
