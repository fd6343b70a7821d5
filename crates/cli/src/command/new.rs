//! `switchboard new`: a project of the user's own, written once.

use std::path::PathBuf;

use crate::args::NewArgs;
use crate::command::design::at;
use crate::failure::Failure;
use crate::output::Paper;
use crate::scaffold::{Dependency, Names, Outcome, agent, service, write};

pub(crate) fn run(args: &NewArgs) -> Result<(), Failure> {
    let names = Names::new(&args.name).map_err(Failure::usage)?;
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    let dependency = args.switchboard_path.as_deref().map_or(Dependency::Published, Dependency::at);
    let dependency = dependency.line();
    let paper = Paper::stdout();
    let agent = if args.agent { agent() } else { &[] };
    let mut text = String::new();
    let mut kept = 0;
    for (place, template) in service().iter().chain(agent) {
        let path = folder.join(place);
        let outcome = write(&path, &names.fill(template, &dependency)).map_err(|error| at(&path, &error))?;
        text += &match outcome {
            Outcome::Written => format!("{}  {place}\n", paper.green("wrote")),
            Outcome::Kept => format!("{}   {place}\n", paper.yellow("kept")),
        };
        kept += usize::from(outcome == Outcome::Kept);
    }
    if kept > 0 {
        text += &format!("\n{kept} kept as they were: nothing is ever written over.\n");
    }
    let shown = folder.display();
    text += &format!("\n  cd {shown}\n  cargo test{}\n", if args.agent { " --workspace" } else { "" });
    text += "  cargo run -- call add-note --text 'Oslo is rainy'\n  cargo run -- serve --stdio\n";
    paper.print(&text)
}
