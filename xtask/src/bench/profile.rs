//! Parser of callgrind output: instructions and allocations by source line.
//!
//! The format names a file, function or object once, `(12) name`, and by its number from then on; positions are
//! numbers, or relative to the cost line before. The cost after a `calls=` line is what the callee took, and is no
//! cost of the line itself.

use std::collections::HashMap;

/// Allocation functions of the C library. Calls between them are not counted: inside the library
/// those calls have other names.
const ALLOCATORS: [&str; 7] =
    ["malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc", "valloc"];

/// One output file of callgrind.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Profile {
    pub(super) instructions: u64,
    pub(super) allocations: u64,
    /// Instructions by source file and line, wherever the code was inlined to.
    pub(super) lines: HashMap<String, HashMap<u32, u64>>,
}

impl Profile {
    /// Returns `None` unless it is callgrind output with one event, lines and no instruction addresses.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader::default();
        let mut profile = Self::default();
        let mut total = None;
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some((name, value)) = line.split_once(": ").filter(|(name, _)| is_header(name)) {
                match name {
                    "positions" if value != "line" => return None,
                    "events" if value != "Ir" => return None,
                    "totals" => total = value.trim().parse().ok(),
                    _ => {}
                }
            } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
                reader.cost(line, &mut profile)?;
            } else if let Some((kind, value)) = line.split_once('=') {
                reader.position(kind, value, &mut profile)?;
            }
        }
        profile.instructions = total?;
        Some(profile)
    }
}

fn is_header(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

#[derive(Debug, Default)]
struct Reader {
    files: HashMap<u32, String>,
    functions: HashMap<u32, String>,
    file: String,
    line: u32,
    callee: String,
    /// Whether the next cost line belongs to a callee.
    in_call: bool,
}

impl Reader {
    fn position(&mut self, kind: &str, value: &str, profile: &mut Profile) -> Option<()> {
        match kind {
            "fl" | "fi" | "fe" => self.file = name(&mut self.files, value)?,
            // They may be the first to name a file.
            "cfi" | "cfl" => _ = name(&mut self.files, value)?,
            "fn" => _ = name(&mut self.functions, value)?,
            "cfn" => self.callee = name(&mut self.functions, value)?,
            "calls" => {
                let count: u64 = value.split(' ').next()?.parse().ok()?;
                if ALLOCATORS.contains(&bare(&self.callee)) {
                    profile.allocations += count;
                }
                self.in_call = true;
            }
            // Objects, and what a version newer than ours may add.
            _ => {}
        }
        Some(())
    }

    fn cost(&mut self, line: &str, profile: &mut Profile) -> Option<()> {
        let mut parts = line.split(' ');
        let position = parts.next()?;
        self.line = match position.as_bytes().first()? {
            b'*' => self.line,
            b'+' => self.line.checked_add(position[1..].parse().ok()?)?,
            b'-' => self.line.checked_sub(position[1..].parse().ok()?)?,
            _ => position.parse().ok()?,
        };
        let cost: u64 = parts.next().map_or(Some(0), |cost| cost.parse().ok())?;
        if !std::mem::take(&mut self.in_call) {
            // Most costs are at a file that was seen before: look first, and copy the name only once.
            match profile.lines.get_mut(&self.file) {
                Some(lines) => *lines.entry(self.line).or_default() += cost,
                None => _ = profile.lines.insert(self.file.clone(), HashMap::from([(self.line, cost)])),
            }
        }
        Some(())
    }
}

/// Returns the name after `(12)`, which is written at its first use.
fn name(known: &mut HashMap<u32, String>, value: &str) -> Option<String> {
    let Some((number, name)) = value.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Some(value.to_owned());
    };
    let number = number.parse().ok()?;
    match name.trim_start() {
        "" => known.get(&number).cloned(),
        name => {
            known.insert(number, name.to_owned());
            Some(name.to_owned())
        }
    }
}

/// Removes the recursion level and the symbol version.
fn bare(function: &str) -> &str {
    function.split(['\'', '@']).next().unwrap_or(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "\
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd:  ./x --calls 3
part: 1

desc: I1 cache: 
desc: Trigger: Program termination

positions: line
events: Ir
summary: 1000

ob=(1) /bin/x
fl=(1) src/main.rs
fn=(1) x::main
10 5
+2 7
fi=(2) src/scan.rs
40 11
* 1
-3 2
fe=(1)
12 3
cob=(2) /lib/libc.so.6
cfi=(3) ./malloc/malloc.c
cfn=(2) malloc
calls=4 3300
+1 400
13 6
cfi=(3)
cfn=(3) realloc'2
calls=2 3400
* 90

fn=(4) x::other
cfn=(2)
calls=1 3300
20 100
cfn=(1)
calls=9 10
20 100

ob=(2)
fl=(3)
fn=(2)
3300 965

totals: 1000
";

    #[test]
    fn names_and_positions_are_expanded() {
        let profile = Profile::parse(WRITTEN).unwrap();
        let line = |file: &str, line: u32| profile.lines[file].get(&line).copied();
        assert_eq!(profile.instructions, 1000);
        assert_eq!(line("src/main.rs", 10), Some(5));
        assert_eq!(line("src/main.rs", 12), Some(10));
        assert_eq!(line("src/scan.rs", 40), Some(12));
        assert_eq!(line("src/scan.rs", 37), Some(2));
        assert_eq!(line("./malloc/malloc.c", 3300), Some(965));
    }

    #[test]
    fn what_a_callee_took_is_no_cost_of_the_line() {
        let profile = Profile::parse(WRITTEN).unwrap();
        assert_eq!(profile.lines["src/main.rs"].get(&13), Some(&6));
        assert_eq!(profile.lines["src/main.rs"].get(&20), None);
        let all: u64 = profile.lines.values().flat_map(HashMap::values).sum();
        assert_eq!(all, profile.instructions);
    }

    #[test]
    fn allocations_are_the_calls_of_whoever_hands_out_memory() {
        assert_eq!(Profile::parse(WRITTEN).unwrap().allocations, 4 + 2 + 1);
    }

    #[test]
    fn another_format_is_none() {
        assert_eq!(Profile::parse(""), None);
        assert_eq!(Profile::parse(&WRITTEN.replace("events: Ir", "events: Ir Dr")), None);
        assert_eq!(Profile::parse(&WRITTEN.replace("positions: line", "positions: instr line")), None);
        assert_eq!(Profile::parse(&WRITTEN.replace("totals: 1000\n", "")), None);
        assert_eq!(Profile::parse(&WRITTEN.replace("cfi=(3)\n", "cfi=(9)\n")), None);
    }
}
