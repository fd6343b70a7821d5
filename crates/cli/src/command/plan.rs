//! `switchboard plan`: shows what a changed configuration of a gateway would change.

use crate::args::PlanArgs;
use crate::error::{CommandError, ExitKind};
use crate::gateway::{AppliedState, DigestKey, GatewaySettings};
use crate::output::{OutputStream, encode, print_json};
use crate::plan::{Differences, PlanSide, render};
use crate::sanitize::one_line;

/// Compares the file with what a gateway has applied, or with another file.
///
/// # Errors
/// Ends with the exit code 2 if there are differences, and with 1 if a file is not valid.
pub(crate) async fn run(args: &PlanArgs) -> Result<(), CommandError> {
    // 2 means differences here.
    let differences = compare(args).await.map_err(|error| error.with_exit(ExitKind::Other))?;
    let out = OutputStream::stdout();
    match args.json {
        true => print_json(&out, &encode(&differences)?)?,
        false => out.print(&render(&differences, &out))?,
    }
    match differences.is_empty() {
        true => Ok(()),
        false => Err(CommandError::AlreadyReported { exit: ExitKind::Usage }),
    }
}

async fn compare(args: &PlanArgs) -> Result<Differences, CommandError> {
    let mut settings = GatewaySettings::load_file(&args.config)?;
    let key = match &args.from {
        Some(_) => DigestKey::random()?,
        None => DigestKey::load(&settings.locations)?,
    };
    let mut after = PlanSide::from_settings(&mut settings, &key)?;
    let before = match &args.from {
        Some(file) => {
            let mut old = GatewaySettings::load_file(file)?;
            let mut before = PlanSide::from_settings(&mut old, &key)?;
            if args.connect {
                before.list_tools(&old).await?;
                after.list_tools(&settings).await?;
            }
            before.set_view_tools(&old.views);
            before
        }
        None => {
            let before = applied(args, &settings)?;
            match args.connect {
                true => after.list_tools(&settings).await?,
                false => after.take_known_tools(&before),
            }
            before
        }
    };
    after.set_view_tools(&settings.views);
    Ok(Differences::between(&before, &after))
}

fn applied(args: &PlanArgs, settings: &GatewaySettings) -> Result<PlanSide, CommandError> {
    let state = AppliedState::read(&settings.locations, &args.config)?.ok_or_else(|| {
        let file = one_line(&args.config.display().to_string());
        CommandError::other("plan", format!("no gateway of this user has applied {file} yet"))
            .hint("compare with a file: --from FILE")
    })?;
    PlanSide::from_applied(state)
}
