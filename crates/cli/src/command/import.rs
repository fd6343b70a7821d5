//! `switchboard import`: shows the servers in configuration files of other programs, and imports them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard::host::config::import::{Dialect, ImportedFile, ImportedServer};
use switchboard::host::config::{ConfigFile, Scope, ServerConfig};
use switchboard_terminal::confirm;

use crate::args::ImportArgs;
use crate::configured_servers::{ConfigFiles, render_consent, standard_paths};
use crate::elicitation::StdinLines;
use crate::environment::variable;
use crate::error::CommandError;
use crate::output::{OutputStream, Screen, encode, print_json};
use crate::sanitize::one_line;

/// A server that was found, and whether it is imported.
struct ImportItem {
    file: PathBuf,
    dialect: Dialect,
    name: String,
    decision: ImportDecision,
    /// Variables that must be set, with their descriptions.
    needs: Vec<(String, String)>,
    /// Whether it comes from a file of a project, which anyone may have written.
    is_from_project: bool,
}

enum ImportDecision {
    /// It is imported into the file of this scope.
    Import { scope: Scope, entry: Box<ServerConfig> },
    /// It is not imported, for this reason.
    Skipped(String),
}

pub(crate) async fn run(args: &ImportArgs) -> Result<(), CommandError> {
    let (files, screen, out) =
        (ConfigFiles::read()?, Screen::with_json_warnings(args.json), OutputStream::stdout());
    let found = find_files(args, &files, &screen)?;
    let mut items: Vec<ImportItem> = Vec::new();
    for (file, imported) in found {
        for warning in &imported.warnings {
            screen.warn(&one_line(&warning.to_string()));
        }
        for server in imported.servers {
            let item = decide(args, &files, &items, &file, imported.dialect, server);
            items.push(item);
        }
    }
    // Without a program or file, everything is shown and nothing imported.
    let is_preview = args.dry_run || (args.from.is_none() && args.file.is_none());
    if !args.json {
        out.print(&render_items(&items, &out)?)?;
    }
    let count = items.iter().filter(|item| matches!(item.decision, ImportDecision::Import { .. })).count();
    if !is_preview && count > 0 {
        confirm_project_servers(args, &items, &screen).await?;
        store(args, &files, &items)?;
    }
    if args.json {
        let all: Vec<Value> = items.iter().map(|item| item_json(item, is_preview)).collect();
        return print_json(&out, &encode(&all)?);
    }
    screen.say(&match (is_preview, count) {
        (_, 0) => "nothing to import".to_owned(),
        (true, _) if args.dry_run => format!("{count} would be imported; nothing was changed"),
        (true, _) => {
            "nothing was changed; name the program to import its servers: switchboard import PROGRAM"
                .to_owned()
        }
        (false, _) => format!("imported {count}; `switchboard status` shows their status"),
    });
    Ok(())
}

/// Finds and reads the files to import.
fn find_files(
    args: &ImportArgs,
    files: &ConfigFiles,
    screen: &Screen,
) -> Result<Vec<(PathBuf, ImportedFile)>, CommandError> {
    let home = variable("HOME").map(PathBuf::from);
    if let Some(file) = &args.file {
        let file = file.canonicalize().or_else(|_| std::path::absolute(file))?;
        let imported = ImportedFile::open(&file, home.as_deref())?;
        return Ok(vec![(file, imported)]);
    }
    let dialects = match &args.from {
        Some(word) => vec![dialect(word)?],
        None => Dialect::ALL.to_vec(),
    };
    let Some(home) = home else {
        return Err(CommandError::other(
            "no_home",
            "HOME is not set, so the files of other programs cannot be found",
        )
        .hint("name the file: --file FILE"));
    };
    let mut found = Vec::new();
    for (_, path) in standard_paths(&dialects, &home, files) {
        match ImportedFile::open(&path, Some(&home)) {
            Ok(imported) => found.push((path, imported)),
            Err(fault) => screen.warn(&one_line(&fault.to_string())),
        }
    }
    Ok(found)
}

fn dialect(word: &str) -> Result<Dialect, CommandError> {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect()
    };
    let wanted = plain(word);
    let is_match = |dialect: &Dialect| plain(dialect.name()) == wanted || plain(dialect.id()) == wanted;
    Dialect::ALL.into_iter().find(is_match).ok_or_else(|| {
        let names = Dialect::ALL.map(Dialect::id).join(", ");
        CommandError::usage(format!("{:?} is not a known program", one_line(word)))
            .hint(format!("expected one of {names}; or name a file: --file FILE"))
    })
}

fn decide(
    args: &ImportArgs,
    files: &ConfigFiles,
    before: &[ImportItem],
    file: &Path,
    dialect: Dialect,
    server: ImportedServer,
) -> ImportItem {
    let ImportedServer { name, entry, project, needs, .. } = server;
    let is_ours = project.as_ref().is_none_or(|project| {
        project.canonicalize().unwrap_or_else(|_| project.clone()) == files.locations.project
    });
    let scope = match (args.scope, &project) {
        (Some(scope), _) => scope.scope(),
        (None, Some(_)) => Scope::Local,
        (None, None) => Scope::User,
    };
    let is_taken =
        before.iter().any(|item| item.name == name && matches!(item.decision, ImportDecision::Import { .. }));
    let decision = match entry {
        Err(fault) => ImportDecision::Skipped(fault.to_string()),
        Ok(_) if !is_ours && args.scope.is_none() => {
            ImportDecision::Skipped("it belongs to another project; pass -s to import it anyway".to_owned())
        }
        Ok(_) if is_taken => ImportDecision::Skipped("a server of this name was already found".to_owned()),
        Ok(_) if !args.replace && files.resolved.server(&name).is_some() => {
            ImportDecision::Skipped("a server of this name exists; replace it with --replace".to_owned())
        }
        Ok(entry) => ImportDecision::Import { scope, entry: Box::new(entry) },
    };
    let needs = needs.into_iter().map(|need| (need.variable, need.description)).collect();
    let is_below = |project: &Path| file.starts_with(project);
    let is_from_project = is_below(&files.locations.project) || project.as_deref().is_some_and(is_below);
    ImportItem { file: file.to_owned(), dialect, name, decision, needs, is_from_project }
}

/// Asks before importing servers from a project's files: they must not run just because the project contains them.
async fn confirm_project_servers(
    args: &ImportArgs,
    items: &[ImportItem],
    screen: &Screen,
) -> Result<(), CommandError> {
    let is_taken =
        |item: &&ImportItem| matches!(item.decision, ImportDecision::Import { .. }) && item.is_from_project;
    let names: Vec<String> = items.iter().filter(is_taken).map(|item| one_line(&item.name)).collect();
    if args.yes || names.is_empty() {
        return Ok(());
    }
    if args.json {
        // The JSON goes to a program; show the list to the user who is asked.
        screen.say(&render_items(items, &screen.out)?);
    }
    let question = format!("{} come from a file of a project. Import them?", names.join(", "));
    match confirm(screen, &StdinLines::default(), &question).await {
        Some(true) => Ok(()),
        Some(false) => Err(CommandError::other("declined", "nothing was changed")),
        None => Err(CommandError::other(
            "not_approved",
            format!("{} come from a file of a project, and there is no terminal to ask at", names.join(", ")),
        )
        .hint("review what they would run, then pass --yes")),
    }
}

fn store(args: &ImportArgs, files: &ConfigFiles, items: &[ImportItem]) -> Result<(), CommandError> {
    for scope in [Scope::Local, Scope::Project, Scope::User] {
        let mut file: Option<ConfigFile> = None;
        for item in items {
            let ImportDecision::Import { scope: target, entry } = &item.decision else { continue };
            if *target == scope {
                let open = match &mut file {
                    Some(open) => open,
                    None => file.insert(files.edit(scope)?),
                };
                match args.replace {
                    true => open.set(&item.name, entry)?,
                    // Does not replace one that was added since the files were read.
                    false => open.add(&item.name, entry)?,
                }
            }
        }
        if let Some(mut file) = file {
            file.write()?;
        }
    }
    Ok(())
}

fn render_items(items: &[ImportItem], out: &OutputStream) -> Result<String, CommandError> {
    let mut text = String::new();
    let mut last: Option<&Path> = None;
    for item in items {
        if last != Some(&item.file) {
            text += &format!(
                "{} {}\n",
                out.bold(item.dialect.name()),
                out.dim(&one_line(&item.file.to_string_lossy()))
            );
            last = Some(&item.file);
        }
        let name = one_line(&item.name);
        text += &match &item.decision {
            ImportDecision::Import { scope, entry } => {
                let shown = render_consent(entry, *scope, None, out)?;
                format!("  {} {name} ({scope}) would run or connect to:\n{shown}", out.green("+"))
            }
            ImportDecision::Skipped(why) => format!("  {} {name}: {}\n", out.yellow("-"), one_line(why)),
        };
        for (variable, what) in &item.needs {
            text += &format!("      needs ${{{}}}: {}\n", one_line(variable), one_line(what));
        }
    }
    Ok(text)
}

fn item_json(item: &ImportItem, is_preview: bool) -> Value {
    let needs: Vec<Value> =
        item.needs.iter().map(|(variable, what)| json!({ "variable": variable, "what": what })).collect();
    let mut object =
        json!({ "name": item.name, "from": item.dialect.name(), "file": item.file, "needs": needs });
    match &item.decision {
        ImportDecision::Import { scope, entry } => {
            object["taken"] = json!(!is_preview);
            object["scope"] = json!(scope.as_str());
            object["config"] = entry.masked();
        }
        ImportDecision::Skipped(why) => {
            object["taken"] = json!(false);
            object["skipped"] = json!(why);
        }
    }
    object
}
