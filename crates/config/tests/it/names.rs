//! Names of tools: what they look like, and that no two pairs share one.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use switchboard_config::name::{NameLimit, QualifiedName};

fn name(server: &str, tool: &str) -> String {
    QualifiedName::new(server, tool, NameLimit::DEFAULT).to_string()
}

#[test]
fn plain_pairs_come_out_verbatim() {
    for (server, tool, expected) in [
        ("context7", "search", "mcp__context7__search"),
        ("filesystem", "read_file", "mcp__filesystem__read_file"),
        ("my-server", "do-it", "mcp__my-server__do-it"),
        ("a_b", "c__d", "mcp__a_b__c__d"),
        ("a", "_private", "mcp__a___private"),
        ("_a", "b_", "mcp___a__b_"),
        ("bank", "get_transactions", "mcp__bank__get_transactions"),
        ("GitHub", "X", "mcp__GitHub__X"),
    ] {
        assert_eq!(name(server, tool), expected);
    }
}

#[test]
fn what_is_not_plain_ends_in_a_hash_and_shows_what_it_can() {
    for (server, tool, visible) in [
        ("a__b", "c", "mcp__a__b__c_"),
        ("a_", "b", "mcp__a___b_"),
        ("", "tool", "mcp____tool_"),
        ("server", "", "mcp__server___"),
        ("", "", "mcp_____"),
        ("my server", "files.read", "mcp__my_server__files_read_"),
        ("сервер", "поиск", "mcp_______"),
        ("a&calc", "x", "mcp__a_calc__x_"),
    ] {
        let name = QualifiedName::new(server, tool, NameLimit::DEFAULT);
        assert!(name.is_hashed(), "{name}");
        assert_eq!(&name.as_str()[..name.as_str().len() - 13], visible, "{server:?} {tool:?}");
    }
}

#[test]
fn a_name_that_looks_hashed_gets_a_hash_of_its_own() {
    let hashed = name("a", "b.c");
    let tool = hashed.strip_prefix("mcp__a__").unwrap();
    let posing = name("a", tool);
    assert_ne!(posing, hashed);
    assert!(posing.len() > hashed.len() && posing.starts_with(&hashed));
    // And again: the name of that name is no verbatim one either.
    let tool = posing.strip_prefix("mcp__a__").unwrap();
    assert_ne!(name("a", tool), posing);
}

#[test]
fn names_keep_to_their_limit_and_its_least() {
    let long = "x".repeat(500);
    for characters in [0, 31, 32, 63, 64, 128] {
        let limit = NameLimit::new(characters);
        for (server, tool) in [(long.as_str(), "t"), ("s", long.as_str()), (&long, &long)] {
            let name = QualifiedName::new(server, tool, limit);
            assert!(name.as_str().len() <= characters.max(32), "{name}");
        }
    }
    // Both stay visible, the tool more of it.
    let name = QualifiedName::new(&"s".repeat(50), &"t".repeat(50), NameLimit::DEFAULT).to_string();
    assert_eq!(name.len(), 64);
    assert_eq!(name.matches('s').count().min(14), 14);
    assert!(name.matches('t').count() >= 29);
    // At the limit to the character: verbatim; one more: not.
    let tool = "t".repeat(64 - "mcp__s__".len());
    assert!(!QualifiedName::new("s", &tool, NameLimit::DEFAULT).is_hashed());
    assert!(QualifiedName::new("s", &format!("{tool}t"), NameLimit::DEFAULT).is_hashed());
}

/// Names are written into transcripts, permission rules and prompt caches, so they must not change between releases.
#[test]
fn hashed_names_stay_what_they_are() {
    assert_eq!(name("a__b", "c"), PINNED_DOUBLE);
    assert_eq!(name("my server", "files.read"), PINNED_ESCAPED);
}

const PINNED_DOUBLE: &str = "mcp__a__b__c_0qm27224d73kc";
const PINNED_ESCAPED: &str = "mcp__my_server__files_read_0nbmtn0kbh5f9";

/// Lossy names once let one server answer for another. One million pairs by default, ten in long runs.
#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T40_no_two_pairs_share_a_name_whatever_the_order() {
    let long = std::env::var_os("SWITCHBOARD_LONG").is_some_and(|value| value == "1");
    let count = if long { 10_000_000 } else { 1_000_000 };
    let mut pairs = HashSet::with_capacity(count);
    let mut names = HashMap::with_capacity(count);
    let mut seed = 0;
    while pairs.len() < count {
        let (server, tool) = pair(seed);
        if pairs.insert(fingerprint(&(&server, &tool))) {
            let name = QualifiedName::new(&server, &tool, NameLimit::DEFAULT);
            let text = name.as_str();
            assert!(text.len() <= 64, "{text}");
            // Looking at every character of every name would be most of the time.
            if seed % 16 == 0 {
                assert!(
                    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'),
                    "{text}"
                );
            }
            if let Some(other) = names.insert(fingerprint(text), seed) {
                panic!("{:?} and {:?} are both called {name}", pair(other), (server, tool));
            }
        }
        seed += 1;
    }
    assert!(seed < 2 * count as u64, "{seed} numbers gave {count} pairs");
    // Backwards, a part of them again: a name has no memory of what was named before.
    for again in (0..seed).rev().step_by(101) {
        let (server, tool) = pair(again);
        let name = QualifiedName::new(&server, &tool, NameLimit::DEFAULT);
        assert!(names.contains_key(&fingerprint(name.as_str())), "{name} was another before");
    }
}

/// Short enough to keep ten million of; two of those alike by chance are one in 300,000 runs, and this run is always
/// the same.
fn fingerprint<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The pair of this number: mostly of pieces that meet at `_`, are equal beyond any limit, or equal when escaped.
fn pair(seed: u64) -> (String, String) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    match dice.roll(8) {
        // Equal up to far beyond the limit.
        0 => (format!("{}{}", "s".repeat(70), dice.roll(1 << 40)), "t".into()),
        1 => ("s".into(), format!("{}{}", "t".repeat(70), dice.roll(1 << 40))),
        // Equal when escaped.
        2 => {
            let (a, b) = (odd(&mut dice), odd(&mut dice));
            (format!("my{a}server"), format!("tool{b}{}{a}", dice.roll(100_000)))
        }
        // The shape of a hashed name, by hand.
        3 => {
            let (server, tool) = (text(&mut dice), text(&mut dice));
            let name = name(&server, &tool);
            let cut = name.strip_prefix("mcp__").unwrap_or_default();
            match cut.split_once("__") {
                Some((server, tool)) if dice.roll(2) == 0 => (server.into(), tool.into()),
                _ => ("a".into(), cut.into()),
            }
        }
        // Everything from few pieces: the same letters, cut between server and tool at every place.
        _ => (text(&mut dice), text(&mut dice)),
    }
}

fn text(dice: &mut Dice) -> String {
    const PIECES: [&str; 10] = ["_", "__", "a", "b", "-", "a_", "_b", "mcp__", ".", "é"];
    (0..dice.roll(9)).map(|_| PIECES[dice.roll(10) as usize]).collect()
}

fn odd(dice: &mut Dice) -> char {
    ['.', ' ', '/', ':', 'ä', '字', '_', '\u{202e}', '\0', '~'][dice.roll(10) as usize]
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}
