//! Dispatches the subcommands.

use std::sync::Arc;

use crate::args::Command;
use crate::command::{
    accounts, add, approve, audit, call, completions, demo, design, doctor, forget, import, info, key, list,
    listen, login, new, plan, policy, prompts, ps, quickstart, replay, resources, route, status, test, tools,
    why,
};
use crate::demo::serve;
use crate::error::CommandError;

/// Runs a subcommand.
///
/// # Errors
/// Returns the error of the subcommand.
pub(crate) async fn run(command: Command) -> Result<(), CommandError> {
    match command {
        Command::Info(args) => route::with_session(&args.into_target(), info::run).await,
        Command::Tools(args) => tools::run(args).await,
        Command::Resources(args) => resources::run(&args.into_target()).await,
        Command::Prompts(args) => prompts::run(&args.into_target()).await,
        Command::Call(args) => call::run(args).await,
        Command::Read(args) => route::read(&args).await,
        Command::Prompt(args) => route::prompt(&args).await,
        Command::Complete(args) => route::complete(&args).await,
        Command::Listen(args) => {
            let run = async |connection: &_| listen::run(connection, &args).await;
            route::with_session(&args.target, run).await
        }
        Command::Add(args) => add::add(&args).await,
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
        Command::Console(args) => Box::pin(crate::console::run(*args)).await,
        Command::Login(args) => login::run(&args, Arc::default()).await,
        Command::Logout(args) => accounts::logout(&args).await,
        Command::Accounts(args) => accounts::list(&args).await,
        Command::Key(args) => key::run(&args),
        Command::Gateway(args) => Box::pin(crate::gateway::run(&args)).await,
        Command::Plan(args) => plan::run(&args).await,
        Command::Policy(args) => policy::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Why(args) => why::run(&args).await,
        Command::Ps(args) => ps::run(&args),
        Command::Doctor(args) => doctor::run(*args).await,
        Command::Replay(args) => replay::run(&args).await,
        Command::Test(args) => Box::pin(test::run(*args)).await,
        Command::New(args) => new::run(&args).await,
        Command::Quickstart(args) => quickstart::run(&args).await,
        Command::Design(args) => design::run(&args).await,
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => completions::man(&args),
        Command::Demo(args) => demo::run(args).await,
        Command::DemoServer(args) => serve(&args).await,
    }
}
