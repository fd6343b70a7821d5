//! Forms that nobody can fill in.

use switchboard::service::prelude::*;

#[derive(Deserialize)]
struct Address;

#[derive(Deserialize, Form)]
struct Nested {
    #[serde(skip)]
    seen: u32,
    name: String,
    numbers: Vec<u32>,
    address: Address,
}

#[derive(Form)]
struct Bounded {
    #[form(min = 1)]
    name: String,
    #[form(max_length = 3)]
    count: u32,
    #[form(format = "phone")]
    phone: String,
    #[form(minimum = 1)]
    age: u8,
}

#[derive(Form)]
struct Pair(u32, u32);

#[derive(Form)]
enum Either {
    This,
    That,
}

#[derive(FormChoice)]
enum Choice {
    Plain,
    Full(u32),
}

fn main() {}
