//! `switchboard new`: a project of the user's own, written once, and an agent for it.
//!
//! Invariant: a file that is there is never written over, and one that was written before and is gone stays gone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use switchboard_design::Design;

use crate::args::NewArgs;
use crate::command::design::{at, file, parse, printed};
use crate::failure::{Failure, Status};
use crate::output::Paper;
use crate::scaffold::{Dependency, Names, Outcome, agent, design, formatted, service, write};

/// Names the files of the agent that were written once.
const RECORD: &str = "agents/.scaffold";
const RECORD_HEAD: &str = "\
# The files that `switchboard new --agent` has written. It never writes one of them again, also when it is gone; without
# its line here it does.
";

/// The program of a project whose program was not named.
const CARGO: [&str; 4] = ["cargo", "run", "--quiet", "--"];

pub(crate) async fn run(args: &NewArgs) -> Result<(), Failure> {
    let names = Names::new(&args.name).map_err(Failure::usage)?;
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    let dependency = Dependency::choose(args.switchboard_path.as_deref()).map_err(Failure::usage)?;
    let is_new = !folder.join("Cargo.toml").exists();
    if !is_new && !args.agent {
        let why = format!("{} already holds a project", folder.display());
        return Err(Failure::usage(why).hint("--agent adds an agent to it; --dir names another folder"));
    }
    let paper = Paper::stdout();
    let mut done = Done { paper: &paper, folder: &folder, text: String::new(), kept: 0 };
    if is_new {
        let line = dependency.line("service-cli");
        for (place, template) in service() {
            done.write(place, &names.fill(template, &line))?;
        }
    }
    if args.agent {
        let (design, command) = designed(args, &names, &folder, is_new).await?;
        let mut record = Record::read(&folder)?;
        for file in agent(&names, &design, &command, &dependency.line("host")) {
            match record.has(&file.place) && !folder.join(&file.place).exists() {
                true => done.tell(&paper.yellow("gone"), &file.place),
                false => done.write(&file.place, &file.text)?,
            }
            record.add(&file.place);
        }
        record.write(&folder)?;
    }
    let kept = done.kept;
    let mut text = done.text;
    if kept > 0 {
        text += &format!("\n{kept} kept as they were: nothing is ever written over.\n");
    }
    text += &format!("\n  cd {}\n", folder.display());
    if is_new {
        text += "  cargo test\n  cargo run -- call add-note --text 'Oslo is rainy'\n  cargo run -- serve --stdio\n";
    }
    if args.agent {
        text += "  cd agents && cargo test        # starts the service, and runs the operator against it\n";
    }
    Ok(paper.print(&text)?)
}

/// The design that an agent is written for, and the program of its service.
async fn designed(
    args: &NewArgs,
    names: &Names,
    folder: &Path,
    is_new: bool,
) -> Result<(Design, Vec<String>), Failure> {
    let mut command: Vec<String> =
        args.source.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if command.is_empty() {
        command = CARGO.map(str::to_owned).into();
    }
    let design = match &args.source.design {
        Some(path) => file(path)?,
        None if is_new => parse(&names.fill(design(), "")).map_err(|error| {
            Failure::new(Status::Other, "design", format!("the design of the template: {error}"))
        })?,
        None => {
            let words: Vec<std::ffi::OsString> = command.iter().map(Into::into).collect();
            let [program, rest @ ..] = &words[..] else { return Err(Failure::usage("no program is named")) };
            printed(program, rest, Some(folder)).await?
        }
    };
    Ok((design, command))
}

/// What was done so far.
struct Done<'a> {
    paper: &'a Paper,
    folder: &'a Path,
    text: String,
    kept: usize,
}

impl Done<'_> {
    fn write(&mut self, place: &str, text: &str) -> Result<(), Failure> {
        let path = self.folder.join(place);
        fs::create_dir_all(self.folder).map_err(|error| at(self.folder, &error))?;
        let text = match place.ends_with(".rs") && !path.exists() {
            true => formatted(self.folder, text),
            false => text.to_owned(),
        };
        let outcome = write(&path, &text).map_err(|error| at(&path, &error))?;
        match outcome {
            Outcome::Written => self.tell(&self.paper.green("wrote"), place),
            Outcome::Kept => {
                self.kept += 1;
                self.tell(&format!("{} ", self.paper.yellow("kept")), place);
            }
        }
        Ok(())
    }

    fn tell(&mut self, what: &str, place: &str) {
        self.text += &format!("{what}  {place}\n");
    }
}

/// The files of an agent that were written once.
struct Record {
    places: BTreeSet<String>,
}

impl Record {
    fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(RECORD);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(at(&path, &error)),
        };
        let places = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        Ok(Self { places })
    }

    fn has(&self, place: &str) -> bool {
        self.places.contains(place)
    }

    fn add(&mut self, place: &str) {
        self.places.insert(place.to_owned());
    }

    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(RECORD);
        let lines: String = self.places.iter().map(|place| format!("{place}\n")).collect();
        fs::write(&path, format!("{RECORD_HEAD}{lines}")).map_err(|error| at(&path, &error))
    }
}
