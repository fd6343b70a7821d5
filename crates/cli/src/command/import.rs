//! `switchboard import`: servers from the files of other programs, shown first and then stored.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard::host::config::import::{Dialect, ImportedFile, ImportedServer};
use switchboard::host::config::{ConfigFile, Scope, ServerConfig};
use switchboard_terminal::confirm;

use crate::args::ImportArgs;
use crate::ask::Keyboard;
use crate::command::tools::encode;
use crate::configured::{Files, consent};
use crate::environment::variable;
use crate::failure::{Failure, Status};
use crate::output::{Paper, Screen, show_json};
use crate::sanitize::one_line;

/// A server that was found, and what becomes of it.
struct Item {
    file: PathBuf,
    dialect: Dialect,
    name: String,
    fate: Fate,
    /// Variables that have to be set, and what they are.
    needs: Vec<(String, String)>,
    /// It stands in a file of a project, which anybody may have written.
    is_foreign: bool,
}

enum Fate {
    /// It is stored there.
    Taken { scope: Scope, entry: Box<ServerConfig> },
    /// It is not, because of this.
    Skipped(String),
}

pub(crate) async fn run(args: &ImportArgs) -> Result<(), Failure> {
    let (files, screen, paper) = (Files::read()?, Screen::read_as(args.json), Paper::stdout());
    let found = find(args, &files, &screen)?;
    let mut items: Vec<Item> = Vec::new();
    for (file, imported) in found {
        for warning in &imported.warnings {
            screen.warn(&one_line(&warning.to_string()));
        }
        for server in imported.servers {
            let item = judge(args, &files, &items, &file, imported.dialect, server);
            items.push(item);
        }
    }
    // Without a choice of what to take over, everything there is is shown and nothing taken.
    let is_look = args.dry_run || (args.from.is_none() && args.file.is_none());
    if !args.json {
        paper.print(&listed(&items, &paper)?)?;
    }
    let count = items.iter().filter(|item| matches!(item.fate, Fate::Taken { .. })).count();
    if !is_look && count > 0 {
        agreed(args, &items, &screen).await?;
        store(args, &files, &items)?;
    }
    if args.json {
        let all: Vec<Value> = items.iter().map(|item| described(item, is_look)).collect();
        return show_json(&paper, &encode(&all)?);
    }
    screen.say(&match (is_look, count) {
        (_, 0) => "nothing to take over".to_owned(),
        (true, _) if args.dry_run => format!("{count} would be taken over; nothing was changed"),
        (true, _) => {
            "nothing was changed; name the program to take its servers over: switchboard import PROGRAM"
                .to_owned()
        }
        (false, _) => format!("took over {count}; `switchboard status` shows how they are doing"),
    });
    Ok(())
}

/// The files that are meant, as far as there are any.
fn find(args: &ImportArgs, files: &Files, screen: &Screen) -> Result<Vec<(PathBuf, ImportedFile)>, Failure> {
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
        return Err(Failure::new(
            Status::Other,
            "no_home",
            "HOME does not say where files of other programs are",
        )
        .hint("name the file: --file FILE"));
    };
    let places = dialects.iter().flat_map(|dialect| dialect.config_paths(&home, &files.at.project));
    // Our own file is nobody else's, although another program reads it too.
    let places = places.filter(|place| *place != files.at.project_file && place.is_file());
    let mut found = Vec::new();
    for place in places {
        match ImportedFile::open(&place, Some(&home)) {
            Ok(imported) => found.push((place, imported)),
            Err(fault) => screen.warn(&one_line(&fault.to_string())),
        }
    }
    Ok(found)
}

fn dialect(word: &str) -> Result<Dialect, Failure> {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect()
    };
    let wanted = plain(word);
    let is_meant = |dialect: &Dialect| plain(dialect.name()) == wanted || plain(dialect.id()) == wanted;
    Dialect::ALL.into_iter().find(is_meant).ok_or_else(|| {
        let names = Dialect::ALL.map(Dialect::id).join(", ");
        Failure::usage(format!("{:?} is not a known program", one_line(word)))
            .hint(format!("expected one of {names}; or name a file: --file FILE"))
    })
}

fn judge(
    args: &ImportArgs,
    files: &Files,
    before: &[Item],
    file: &Path,
    dialect: Dialect,
    server: ImportedServer,
) -> Item {
    let ImportedServer { name, entry, project, needs, .. } = server;
    let is_ours = project
        .as_ref()
        .is_none_or(|project| project.canonicalize().unwrap_or_else(|_| project.clone()) == files.at.project);
    let scope = match (args.scope, &project) {
        (Some(place), _) => place.scope(),
        (None, Some(_)) => Scope::Local,
        (None, None) => Scope::User,
    };
    let is_taken = before.iter().any(|item| item.name == name && matches!(item.fate, Fate::Taken { .. }));
    let fate = match entry {
        Err(fault) => Fate::Skipped(fault.to_string()),
        Ok(_) if !is_ours && args.scope.is_none() => {
            Fate::Skipped("it is for another project; -s takes it all the same".to_owned())
        }
        Ok(_) if is_taken => Fate::Skipped("one of this name was found before".to_owned()),
        Ok(_) if !args.replace && files.resolved.server(&name).is_some() => {
            Fate::Skipped("there is one of this name already; --replace takes its place".to_owned())
        }
        Ok(entry) => Fate::Taken { scope, entry: Box::new(entry) },
    };
    let needs = needs.into_iter().map(|need| (need.variable, need.description)).collect();
    let is_below = |project: &Path| file.starts_with(project);
    let is_foreign = is_below(&files.at.project) || project.as_deref().is_some_and(is_below);
    Item { file: file.to_owned(), dialect, name, fate, needs, is_foreign }
}

/// What a project brings along is not run because it lies there: whoever takes it over has to agree.
async fn agreed(args: &ImportArgs, items: &[Item], screen: &Screen) -> Result<(), Failure> {
    let is_taken = |item: &&Item| matches!(item.fate, Fate::Taken { .. }) && item.is_foreign;
    let names: Vec<String> = items.iter().filter(is_taken).map(|item| one_line(&item.name)).collect();
    if args.yes || names.is_empty() {
        return Ok(());
    }
    if args.json {
        // The list goes to a program; whoever is asked has to see it too.
        screen.say(&listed(items, &screen.paper)?);
    }
    let question = format!("{} come from a file of a project. Take them over?", names.join(", "));
    match confirm(screen, &Keyboard::default(), &question).await {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::new(Status::Other, "declined", "nothing was changed")),
        None => Err(Failure::new(
            Status::Other,
            "not_approved",
            format!("{} come from a file of a project, and there is no terminal to ask at", names.join(", ")),
        )
        .hint("look at what they would run, then give --yes")),
    }
}

fn store(args: &ImportArgs, files: &Files, items: &[Item]) -> Result<(), Failure> {
    for scope in [Scope::Local, Scope::Project, Scope::User] {
        let mut file: Option<ConfigFile> = None;
        for item in items {
            let Fate::Taken { scope: meant, entry } = &item.fate else { continue };
            if *meant == scope {
                let open = match &mut file {
                    Some(open) => open,
                    None => file.insert(files.edit(scope)?),
                };
                match args.replace {
                    true => open.set(&item.name, entry)?,
                    // Not over one that was added since the files were read.
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

fn listed(items: &[Item], paper: &Paper) -> Result<String, Failure> {
    let mut text = String::new();
    let mut last: Option<&Path> = None;
    for item in items {
        if last != Some(&item.file) {
            text += &format!(
                "{} {}\n",
                paper.bold(item.dialect.name()),
                paper.dim(&one_line(&item.file.to_string_lossy()))
            );
            last = Some(&item.file);
        }
        let name = one_line(&item.name);
        text += &match &item.fate {
            Fate::Taken { scope, entry } => {
                let shown = consent(entry, *scope, None, paper)?;
                format!("  {} {name} ({scope}) would run or reach:\n{shown}", paper.green("+"))
            }
            Fate::Skipped(why) => format!("  {} {name}: {}\n", paper.yellow("-"), one_line(why)),
        };
        for (variable, what) in &item.needs {
            text += &format!("      needs ${{{}}}: {}\n", one_line(variable), one_line(what));
        }
    }
    Ok(text)
}

fn described(item: &Item, is_look: bool) -> Value {
    let needs: Vec<Value> =
        item.needs.iter().map(|(variable, what)| json!({ "variable": variable, "what": what })).collect();
    let mut told =
        json!({ "name": item.name, "from": item.dialect.name(), "file": item.file, "needs": needs });
    match &item.fate {
        Fate::Taken { scope, entry } => {
            told["taken"] = json!(!is_look);
            told["scope"] = json!(scope.as_str());
            told["config"] = entry.masked();
        }
        Fate::Skipped(why) => {
            told["taken"] = json!(false);
            told["skipped"] = json!(why);
        }
    }
    told
}
