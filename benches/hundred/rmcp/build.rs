//! Writes a server of a hundred tools, each with three arguments and a result of its own.

use std::fmt::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut code = String::from("#[tool_router]\nimpl Service {\n");
    for number in 0..100 {
        write!(
            code,
            "#[tool(description = \"Does thing {number}.\", annotations(read_only_hint = true))]\n\
             async fn tool_{number}(&self, Parameters(In{number} {{ name, count, loud }}): Parameters<In{number}>) \
             -> Json<Out{number}> {{ \
             Json(Out{number} {{ name, total: u64::from(count) + {number}, loud: loud.unwrap_or(false) }}) }}\n"
        )?;
    }
    code.push_str("}\n");
    for number in 0..100 {
        write!(
            code,
            "\n/// What thing {number} takes.\n#[derive(Deserialize, JsonSchema)]\npub struct In{number} {{\n\
             /// The name\npub name: String,\n/// How often\npub count: u32,\n/// Whether loud\npub loud: Option<bool>,\n}}\n\
             \n/// What thing {number} gives.\n#[derive(Serialize, JsonSchema)]\npub struct Out{number} {{\n\
             /// The name\npub name: String,\n/// How many\npub total: u64,\n/// Whether it was loud\npub loud: bool,\n}}\n"
        )?;
    }
    let out = std::path::Path::new(&std::env::var("OUT_DIR")?).join("hundred.rs");
    Ok(std::fs::write(out, code)?)
}
