//! The official JSON-Schema-Test-Suite: required and optional tests of 2020-12 and draft 7.
//!
//! What cannot pass is listed in `excluded.txt`, one `draft/file: group` or `draft/file: group: test` a line, with the
//! reason in the comment above. An excluded test that passes is an error, so the list cannot grow stale.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use switchboard_design::schema::{Validator, ValidatorOptions};

const EXCLUDED: &str = include_str!("../excluded.txt");
const DRAFTS: [(&str, &str); 2] = [
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
];

pub fn run(folder: &Path) -> Result<String, String> {
    let mut report = Report::default();
    for (draft, uri) in DRAFTS {
        for part in ["", "optional", "optional/format"] {
            report.folder(folder, draft, uri, part)?;
        }
    }
    report.finish()
}

#[derive(Default)]
struct Report {
    passed: usize,
    /// Excluded lines, with how many of their tests failed.
    used: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Report {
    fn folder(&mut self, root: &Path, draft: &str, uri: &str, part: &str) -> Result<(), String> {
        let folder = root.join(draft).join(part);
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        for file in files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let groups: Vec<Value> =
                serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
            let name =
                if part.is_empty() { format!("{draft}/{stem}") } else { format!("{draft}/{part}/{stem}") };
            let formats = part == "optional/format" || stem == "format-assertion";
            for group in groups {
                self.group(&name, uri, &group, formats);
            }
        }
        Ok(())
    }

    fn group(&mut self, file: &str, uri: &str, group: &Value, formats: bool) {
        let group_name = format!("{file}: {}", text(&group["description"]));
        let mut schema = group["schema"].clone();
        // Older suites do not say which draft they are for; without it the default would be 2020-12.
        if let Value::Object(map) = &mut schema {
            map.entry("$schema").or_insert_with(|| json!(uri));
        }
        let options = ValidatorOptions::new().assert_formats(formats);
        let validator = Validator::with_options(&schema, &options);
        for test in group["tests"].as_array().into_iter().flatten() {
            let name = format!("{group_name}: {}", text(&test["description"]));
            let found = match &validator {
                Ok(validator) => match validator.is_valid(&test["data"]) {
                    Ok(valid) if Value::Bool(valid) == test["valid"] => Ok(()),
                    Ok(valid) => Err(format!("says {valid}")),
                    Err(error) => Err(error.to_string()),
                },
                Err(error) => Err(error.to_string()),
            };
            self.judge(file, &group_name, &name, found);
        }
    }

    fn judge(&mut self, file: &str, group: &str, name: &str, found: Result<(), String>) {
        let lines = excluded();
        let line = [name, group, file].into_iter().find(|line| lines.contains(line));
        match (line, found) {
            (None, Ok(())) => self.passed += 1,
            (None, Err(reason)) => self.wrong.push(format!("{name}: {reason}")),
            (Some(line), Ok(())) if line == name => {
                self.wrong.push(format!("{name}: is excluded, but passes"))
            }
            (Some(line), Ok(())) => _ = self.used.entry(line.to_owned()).or_default(),
            (Some(line), Err(_)) => *self.used.entry(line.to_owned()).or_default() += 1,
        }
    }

    fn finish(mut self) -> Result<String, String> {
        for line in excluded() {
            match self.used.get(line) {
                None => self.wrong.push(format!("{line}: is excluded, but there is no such test")),
                Some(0) => self.wrong.push(format!("{line}: is excluded, but passes")),
                Some(_) => {}
            }
        }
        let excluded: usize = self.used.values().sum();
        let summary =
            format!("test suite: {} passed, {excluded} excluded, {} wrong", self.passed, self.wrong.len());
        if self.wrong.is_empty() { Ok(summary) } else { Err(format!("{}\n{summary}", self.wrong.join("\n"))) }
    }
}

fn excluded() -> BTreeSet<&'static str> {
    EXCLUDED.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# ")).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
