//! The guide, compiled: every chapter's program is a documentation test of this package.
//!
//! `cargo test --manifest-path docs/guide/Cargo.toml` runs them all. They import from `switchboard` and the crates a user
//! would add, and nothing else of this repository.

/// Declares the chapters: each file's programs become documentation tests.
macro_rules! chapters {
    ($($name:ident = $file:literal,)*) => {
        $(
            #[doc = include_str!($file)]
            pub mod $name {}
        )*

        /// The files of the guide.
        pub const CHAPTERS: &[&str] = &[$($file),*];
    };
}

chapters! {
    first_service = "first-service.md",
    tools = "tools.md",
    errors = "errors.md",
    content = "content.md",
    resources = "resources.md",
    subscriptions = "subscriptions.md",
    prompts = "prompts.md",
    context = "context.md",
    forms = "forms.md",
    answering = "answering.md",
    streaming = "streaming.md",
    notifications = "notifications.md",
    tasks = "tasks.md",
    authentication = "authentication.md",
    http = "http.md",
    layers = "layers.md",
    rpc = "rpc.md",
    command_line = "command-line.md",
    client = "client.md",
    testing = "testing.md",
    composing = "composing.md",
    small_servers = "small-servers.md",
    sessions = "sessions.md",
    hosts = "hosts.md",
    configuration = "configuration.md",
}

#[cfg(test)]
mod tests {
    use super::CHAPTERS;

    #[test]
    fn v9_every_chapter_is_compiled_and_in_the_index() {
        let index = include_str!("README.md");
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for file in std::fs::read_dir(folder).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            if !name.ends_with(".md") || name == "README.md" {
                continue;
            }
            assert!(CHAPTERS.contains(&name.as_str()), "{name} is not compiled: add it to `chapters!`");
            assert!(index.contains(&format!("({name})")), "{name} is missing in README.md");
        }
    }

    #[test]
    fn v9_every_chapter_has_a_program_that_imports_from_switchboard_alone() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for chapter in CHAPTERS {
            let text = std::fs::read_to_string(folder.join(chapter)).unwrap();
            assert!(text.contains("```rust"), "{chapter} has no program");
            assert!(text.contains("fn main()"), "{chapter} has no complete program");
            assert!(!text.contains("switchboard_"), "{chapter} imports a part that users do not depend on");
            assert!(!text.contains("```rust,ignore"), "{chapter} has a program that is not compiled");
        }
    }
}
