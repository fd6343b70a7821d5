//! Plans of servers, with the usual settings.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard::host::config::{Plan, Reach, Restart, Start};

fn plan(reach: Reach) -> Plan {
    Plan {
        reach,
        start: Start::AtOnce,
        restart: Restart::Never,
        required: false,
        startup: Duration::from_secs(20),
        call: None,
        allow: Vec::new(),
        deny: Vec::new(),
    }
}

/// A program that is started.
pub fn stdio(command: &str, args: &[String]) -> Plan {
    plan(Reach::Stdio {
        command: command.to_owned(),
        args: args.to_vec(),
        env: BTreeMap::new(),
        inherit_env: Vec::new(),
        cwd: None,
    })
}

/// A server at an address.
pub fn http(url: &str) -> Plan {
    plan(Reach::Http { url: url.to_owned(), headers: BTreeMap::new(), sse: false, allow_plain: false })
}

/// A server in this program.
pub fn in_process(name: &str) -> Plan {
    plan(Reach::InProcess { name: name.to_owned() })
}
