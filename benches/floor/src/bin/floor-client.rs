//! The floor as a client.

use std::process::ExitCode;

use bench_floor::child::OverPipes;
use bench_floor::web_client::OverHttp;
use bench_kit::client;

fn main() -> ExitCode {
    let over_http = std::env::args().take_while(|word| word != "--").any(|word| word == "--url");
    if over_http { client::<OverHttp>(&["wide"]) } else { client::<OverPipes>(&["wide"]) }
}
