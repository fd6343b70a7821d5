//! Parked calls: a modern client answers a question of a running upstream call. What expires is cancelled, what is unknown is
//! refused, and nothing is started twice.

use std::time::Duration;

use switchboard::client::RevisionPolicy;
use switchboard::gateway::{GatewayOptions, ParkedLimits};
use switchboard::protocol::{InputRequired, Raw, RpcError};
use switchboard::server::Caller;
use switchboard::{CallError, Client, InProcess, json};
use switchboard_session::ClientSession;
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::cells::{Bench, Cell, Reach, Side};
use crate::raw_client::RawClient;

trials! {
    trial_leaving_tasks:
        a_question_is_answered_by_a_retry_with_its_state,
        an_expired_question_cancels_the_call_and_says_so,
        a_state_is_used_once_by_its_principal_for_its_request,
        answers_without_their_state_start_no_second_call,
        the_number_of_parked_calls_is_bounded,
        closing_the_gateway_cancels_parked_calls,
}

fn cells() -> Vec<Cell> {
    [Reach::InProcess, Reach::Child, Reach::Http]
        .map(|reach| Cell { client: Side::Modern, upstream: Side::Legacy, reach })
        .into()
}

fn reason(error: &RpcError) -> String {
    let data = error.data.clone().unwrap_or_else(Raw::empty_object);
    data.fields().find(|(name, _)| *name == "reason").and_then(|(_, value)| value.decode().ok()).unwrap_or_default()
}
