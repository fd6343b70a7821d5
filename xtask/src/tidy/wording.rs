//! Nothing branches on the text of an error. Tests may check texts.

use super::Finding;
use super::source::Source;

const CHAIN: &str = ".to_string().contains(";

/// Finds the call chain, even if it spans several lines.
pub(super) fn check(source: &Source<'_>) -> Vec<Finding> {
    let (places, squeezed): (Vec<usize>, String) =
        source.bare.char_indices().filter(|(_, character)| !character.is_whitespace()).unzip();
    // `places` counts characters, `match_indices` bytes: they differ after a character beyond ASCII.
    let places: Vec<usize> = places
        .into_iter()
        .zip(squeezed.chars())
        .flat_map(|(at, character)| vec![at; character.len_utf8()])
        .collect();
    let remedy = "search in the text of a value; match on the variant or the code";
    let found = squeezed.match_indices(CHAIN).map(|(at, _)| places[at]);
    found.filter(|at| !source.is_test(*at)).map(|at| source.finding(at, remedy)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;

    fn lines(text: &str) -> Vec<usize> {
        let file = File::new("crates/x/src/lib.rs", text);
        check(&Source::new(&file)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn the_chain_is_found_on_one_line_and_over_several() {
        assert_eq!(lines("let é = 1;\nif e.to_string().contains(\"401\") {}\n"), [2]);
        assert_eq!(lines("\nerror\n    .to_string()\n    .contains(text)\n"), [3]);
    }

    #[test]
    fn tests_may_check_texts() {
        assert_eq!(
            lines("#[cfg(test)]\nmod tests {\n    fn a() { e.to_string().contains(\"401\") }\n}\n"),
            [0; 0]
        );
    }

    #[test]
    fn comments_strings_and_other_chains_are_allowed() {
        assert_eq!(
            lines("// e.to_string().contains(\n\"e.to_string().contains(\"; a.contains(&b.to_string())"),
            [0; 0]
        );
    }
}
