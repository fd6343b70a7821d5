//! A policy such as a team writes it: a hundred rules, most of them about other servers.

use std::fmt::Write as _;

use bench_kit::Fail;
use switchboard::gateway::policy::Policy;

/// How many rules are about servers that are not called.
const OTHERS: usize = 98;

/// The policy: everything is denied but what a rule allows, and one rule looks at an argument of `echo`.
pub fn policy() -> Result<Policy, Fail> {
    let mut text = String::from("default = \"deny\"\n");
    for number in 0..OTHERS {
        // Writing to a `String` does not fail.
        let _ = write!(
            text,
            "\n[[rule]]\nname = \"other-{number}\"\neffect = \"allow\"\nserver = \"other-{number}\"\ntool = \"read_*\"\n"
        );
    }
    text.push_str(
        "\n[[rule]]\nname = \"echo\"\neffect = \"allow\"\nserver = \"s*\"\ntool = [\"echo\", \"big\", \"usage\", \"tool_*\"]\n\
         \n[[rule]]\nname = \"no-secrets\"\neffect = \"deny\"\nserver = \"s*\"\ntool = \"echo\"\n\
         arguments = { text = { matches = \"secret.*\" } }\n",
    );
    Ok(Policy::parse(&text)?)
}
