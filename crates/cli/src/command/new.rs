//! `switchboard new`: creates a service project, and an agent for it.
//!
//! Invariant: an existing file is never overwritten, and a generated file that the user deleted is not created again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use switchboard_design::Design;

use crate::args::NewArgs;
use crate::command::design::{io_error, read_file, run_program};
use crate::error::CommandError;
use crate::output::OutputStream;
use crate::scaffold::{
    DESIGN_TEMPLATE, Dependency, ProjectNames, SERVICE_TEMPLATES, WriteOutcome, agent_files, format_source,
    write_new,
};

/// Records the files of the agent that were written once.
const RECORD: &str = "agents/.scaffold";
const RECORD_HEAD: &str = "\
# The files that `switchboard new --agent` has written. It never writes one of them again, also when it is gone; without
# its line here it does.
";

/// Default program of a service.
const CARGO: [&str; 4] = ["cargo", "run", "--quiet", "--"];

pub(crate) async fn run(args: &NewArgs) -> Result<(), CommandError> {
    let names = ProjectNames::new(&args.name).map_err(CommandError::usage)?;
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    let dependency = Dependency::choose(args.switchboard_path.as_deref()).map_err(CommandError::usage)?;
    let is_new = !folder.join("Cargo.toml").exists();
    if !is_new && !args.agent {
        let why = format!("{} already contains a project", folder.display());
        return Err(CommandError::usage(why).hint("--agent adds an agent to it; --dir names another folder"));
    }
    let out = OutputStream::stdout();
    let mut writer = ProjectWriter { out: &out, folder: &folder, text: String::new(), kept: 0 };
    if is_new {
        let line = dependency.to_toml("service-cli");
        for (path, template) in SERVICE_TEMPLATES {
            writer.write(path, &names.fill(template, &line))?;
        }
    }
    if args.agent {
        let (design, command) = load_design(args, &names, &folder, is_new).await?;
        let mut record = ScaffoldRecord::read(&folder)?;
        for file in agent_files(&names, &design, &command, &dependency.to_toml("host")) {
            match record.has(&file.path) && !folder.join(&file.path).exists() {
                true => writer.log(&out.yellow("gone"), &file.path),
                false => writer.write(&file.path, &file.text)?,
            }
            record.add(&file.path);
        }
        record.write(&folder)?;
    }
    let kept = writer.kept;
    let mut text = writer.text;
    if kept > 0 {
        text += &format!("\n{kept} existing files were kept unchanged.\n");
    }
    text += &format!("\n  cd {}\n", folder.display());
    if is_new {
        text += "  cargo test\n  cargo run -- call add-note --text 'Oslo is rainy'\n  cargo run -- serve --stdio\n";
    }
    if args.agent {
        text += "  cd agents && cargo test        # starts the service, and runs the operator against it\n";
    }
    Ok(out.print(&text)?)
}

/// Returns the design for the agent, and the program of its service.
async fn load_design(
    args: &NewArgs,
    names: &ProjectNames,
    folder: &Path,
    is_new: bool,
) -> Result<(Design, Vec<String>), CommandError> {
    let mut command: Vec<String> =
        args.source.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if command.is_empty() {
        command = CARGO.map(str::to_owned).into();
    }
    let design = match &args.source.design {
        Some(path) => read_file(path)?,
        None if is_new => serde_json::from_str(&names.fill(DESIGN_TEMPLATE, ""))
            .map_err(|error| CommandError::other("design", format!("the design of the template: {error}")))?,
        None => {
            let words: Vec<std::ffi::OsString> = command.iter().map(Into::into).collect();
            let [program, rest @ ..] = &words[..] else {
                return Err(CommandError::usage("no program given"));
            };
            run_program(program, rest, Some(folder)).await?
        }
    };
    Ok((design, command))
}

/// Writes the files of a project and logs the outcome of each.
struct ProjectWriter<'a> {
    out: &'a OutputStream,
    folder: &'a Path,
    text: String,
    kept: usize,
}

impl ProjectWriter<'_> {
    fn write(&mut self, path: &str, text: &str) -> Result<(), CommandError> {
        let target = self.folder.join(path);
        fs::create_dir_all(self.folder).map_err(|error| io_error(self.folder, &error))?;
        let text = match path.ends_with(".rs") && !target.exists() {
            true => format_source(self.folder, text),
            false => text.to_owned(),
        };
        let outcome = write_new(&target, &text).map_err(|error| io_error(&target, &error))?;
        match outcome {
            WriteOutcome::Created => self.log(&self.out.green("wrote"), path),
            WriteOutcome::Kept => {
                self.kept += 1;
                self.log(&format!("{} ", self.out.yellow("kept")), path);
            }
        }
        Ok(())
    }

    fn log(&mut self, action: &str, path: &str) {
        self.text += &format!("{action}  {path}\n");
    }
}

/// Paths of the agent files that were written once.
struct ScaffoldRecord {
    paths: BTreeSet<String>,
}

impl ScaffoldRecord {
    fn read(folder: &Path) -> Result<Self, CommandError> {
        let path = folder.join(RECORD);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(io_error(&path, &error)),
        };
        let paths = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        Ok(Self { paths })
    }

    fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    fn add(&mut self, path: &str) {
        self.paths.insert(path.to_owned());
    }

    fn write(&self, folder: &Path) -> Result<(), CommandError> {
        let path = folder.join(RECORD);
        let lines: String = self.paths.iter().map(|path| format!("{path}\n")).collect();
        fs::write(&path, format!("{RECORD_HEAD}{lines}")).map_err(|error| io_error(&path, &error))
    }
}
