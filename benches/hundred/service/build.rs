//! Writes a service of a hundred tools, each with three arguments and a result of its own.

use std::fmt::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut code = String::from("/// A hundred tools.\n#[switchboard::service]\npub trait Hundred {\n");
    for number in 0..100 {
        write!(
            code,
            "/// Does thing {number}.\n#[tool(read_only)]\nasync fn tool_{number}(&self, /** The name */ name: String, \
             /** How often */ count: u32, /** Whether loud */ loud: Option<bool>) -> Result<Out{number}>;\n"
        )?;
    }
    code.push_str("}\n\nimpl Hundred for Service {\n");
    for number in 0..100 {
        write!(
            code,
            "async fn tool_{number}(&self, name: String, count: u32, loud: Option<bool>) -> Result<Out{number}> {{ \
             Ok(Out{number} {{ name, total: u64::from(count) + {number}, loud: loud.unwrap_or(false) }}) }}\n"
        )?;
    }
    code.push_str("}\n");
    for number in 0..100 {
        write!(
            code,
            "\n/// What thing {number} gives.\n#[derive(Serialize, JsonSchema)]\npub struct Out{number} {{\n\
             /// The name\npub name: String,\n/// How many\npub total: u64,\n/// Whether it was loud\npub loud: bool,\n}}\n"
        )?;
    }
    let out = std::path::Path::new(&std::env::var("OUT_DIR")?).join("hundred.rs");
    Ok(std::fs::write(out, code)?)
}
