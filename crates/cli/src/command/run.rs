//! Which file does which command.

use crate::args::Command;
use crate::command::{
    add, approve, call, catalogue, complete, demo, design, doctor, forget, import, info, list, listen, new,
    prompt, prompts, ps, quickstart, read, resources, routed, scripts, status, tools, why,
};
use crate::connect::with;
use crate::demo::serve;
use crate::failure::Failure;

/// Does what the command line says.
///
/// # Errors
/// Why it could not be done.
pub(crate) async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Info(args) => {
            let target = args.into_target();
            match target.is_configured() {
                true => routed::on_named(&target, info::run).await,
                false => with(&target, info::run).await,
            }
        }
        Command::Tools(mut args) => {
            if args.query.as_ref().is_some_and(|query| query.contains("://")) && args.target.is_configured() {
                args.target.remote.url = args.query.take();
            }
            match args.target.is_configured() {
                true => catalogue::tools(&args).await,
                false => with(&args.target, async |connected| tools::run(connected, &args).await).await,
            }
        }
        Command::Resources(args) => {
            let target = args.into_target();
            match target.is_configured() {
                true => catalogue::resources(&target).await,
                false => with(&target, resources::run).await,
            }
        }
        Command::Prompts(args) => {
            let target = args.into_target();
            match target.is_configured() {
                true => catalogue::prompts(&target).await,
                false => with(&target, prompts::run).await,
            }
        }
        Command::Call(args) => call::run(args).await,
        Command::Read(args) if args.target.is_configured() => routed::read(&args).await,
        Command::Read(args) => {
            with(&args.target, async |connected| read::run(connected, &args.uri, &args.save).await).await
        }
        Command::Prompt(args) if args.target.is_configured() => routed::prompt(&args).await,
        Command::Prompt(args) => {
            let run = async |connected: &_| prompt::run(connected, &args.name, &args.arguments).await;
            with(&args.target, run).await
        }
        Command::Complete(args) if args.target.is_configured() => routed::complete(&args).await,
        Command::Complete(args) => {
            with(&args.target, async |connected| complete::run(connected, &args, args.name()).await).await
        }
        Command::Listen(args) => {
            let run = async |connected: &_| listen::run(connected, &args).await;
            match args.target.is_configured() {
                true => routed::on_named(&args.target, run).await,
                false => with(&args.target, run).await,
            }
        }
        Command::Add(args) => add::add(&args),
        Command::Remove(args) => add::remove(&args),
        Command::List(args) => list::list(&args),
        Command::Get(args) => list::get(&args),
        Command::Enable(args) => list::switch(&args, true),
        Command::Disable(args) => list::switch(&args, false),
        Command::Approve(args) => approve::run(&args).await,
        Command::Forget(args) => forget::run(&args),
        Command::Import(args) => import::run(&args).await,
        Command::Status(args) => status::run(&args).await,
        Command::Reconnect(args) => status::reconnect(&args).await,
        Command::Why(args) => why::run(&args).await,
        Command::Ps(args) => ps::run(&args),
        Command::Doctor(args) => doctor::run(*args).await,
        Command::New(args) => new::run(&args).await,
        Command::Quickstart(args) => quickstart::run(&args).await,
        Command::Design(args) => design::run(&args).await,
        Command::Completions(args) => scripts::completions(&args),
        Command::Man(args) => scripts::man(&args),
        Command::Demo(args) => demo::run(args).await,
        Command::DemoServer(args) => serve(&args).await,
    }
}
