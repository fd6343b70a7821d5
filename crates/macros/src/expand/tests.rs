//! Compares the expansion of a small service with a golden file.
//!
//! `UPDATE_GOLDEN=1` rewrites the file; review the diff.

use quote::quote;

use super::service;

fn expanded() -> String {
    let attr = quote!(name = "clock", version = "1.0.0", rpc = "/rpc", dyn_compatible);
    let item = quote! {
        /// Tells the time.
        ///
        /// In any zone.
        pub trait Clock {
            /// The time in a zone.
            #[tool(read_only, example = { "zone": "Europe/Oslo" })]
            async fn now(
                &self,
                cx: &Cx,
                /// Like Europe/Oslo.
                #[schemars(length(min = 1))]
                zone: Option<String>,
            ) -> Result<Time>;
            /// Ticks.
            #[tool(blocking)]
            async fn tick(&self, events: Events<u64>, #[arg(default = 3)] times: u64) -> Result<()>;
            /// One zone.
            #[resource(uri = "zone://{name}", watch)]
            async fn zone(&self, name: String) -> Result<Zone>;
            /// Watches a zone.
            #[subscription(resource = "zone")]
            async fn watch_zone(&self, changes: Changes) -> Result<()>;
            /// Asks for a plan.
            #[prompt(text = "Plan my day.")]
            async fn plan(&self) -> Result<PromptMessages>;
            /// Completes a zone.
            #[completion(resource = "zone", argument = "name")]
            async fn complete(&self, typed: String) -> Result<Vec<String>>;
            /// A zone changed.
            #[notification]
            fn changed(zone: Zone);
            /// Sets the clock.
            async fn set(&self, #[args] time: Time) -> Result<()>;
        }
    };
    let file = syn::parse2(service(attr, item)).expect("the expansion is valid Rust");
    prettyplease::unparse(&file)
}

#[test]
fn the_expansion_is_deterministic() {
    assert_eq!(expanded(), expanded());
}

#[test]
fn the_expansion_matches_the_golden_file() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/clock.rs.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, expanded()).expect("the golden file can be written");
    }
    let golden_text = std::fs::read_to_string(golden).expect("the golden file exists");
    assert!(golden_text == expanded(), "run with UPDATE_GOLDEN=1 and review the diff");
}
