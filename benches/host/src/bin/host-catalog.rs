//! What the catalogue costs: 10,000 tools over 100 servers in this process.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bench_host::{Figures, in_process, median, run};
use bench_kit::{Fail, fixture};
use parking_lot::Mutex;
use switchboard::host::HostEvent;
use switchboard::protocol::{Implementation, RpcError, ServerCapabilities, Tool};
use switchboard::protocol::{ListCapability, ListToolsResult};
use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
use switchboard::{Host, Server};

const SERVERS: usize = 100;
const TOOLS: usize = 100;
/// How often each thing is done; the middle counts.
const TIMES: usize = 200;

/// A list that can be changed.
struct Tools(Arc<Mutex<Vec<Tool>>>);

impl Handler for Tools {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => HandlerOutcome::now(ListToolsResult::new(self.0.lock().clone())),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn main() -> ExitCode {
    run(|| async {
        let definitions = fixture::tools(TOOLS + 3);
        let tool = |definition: fixture::Definition| -> Result<Tool, Fail> {
            let schema: serde_json::Value = serde_json::from_str(&definition.schema)?;
            Ok(Tool::new(definition.name, schema).with_description(definition.description))
        };
        let list = definitions.into_iter().skip(3).map(tool).collect::<Result<Vec<_>, _>>()?;
        let offers = ServerCapabilities::new().with_tools(ListCapability::new().with_list_changed(true));
        let lists: Vec<_> = (0..SERVERS).map(|_| Arc::new(Mutex::new(list.clone()))).collect();
        let servers: Vec<Arc<Server>> = lists
            .iter()
            .map(|list| {
                Server::builder(Implementation::new("bench", "1.0.0"), offers.clone())
                    .build(Tools(Arc::clone(list)))
            })
            .collect();
        let host = Host::builder().without_resource_tools().build();
        let names: Vec<String> = (0..SERVERS).map(|index| format!("server-{index:03}")).collect();
        for (name, server) in names.iter().zip(&servers) {
            host.register(name, server);
        }
        let set = host.set_servers(names.iter().map(|name| (name.clone(), in_process(name)))).await;
        if !set.errors.is_empty() || host.catalog().tools().len() != SERVERS * TOOLS {
            return Err(format!("the catalogue is not whole: {:?}", set.errors).into());
        }
        let mut figures = Figures::default();
        figures.add("snapshot_us", each(|_| drop(black_box(host.catalog()))));
        let qualified: Vec<Arc<str>> =
            host.catalog().tools().iter().map(|listed| listed.name().into()).collect();
        figures.add(
            "find_us",
            each(|index| drop(black_box(host.find_tool(&qualified[index * 7_919 % qualified.len()])))),
        );
        // Every server has one of that name: the first is found, and the others named.
        figures.add("find_shared_us", each(|_| drop(black_box(host.find_tool(&list[TOOLS / 2].name)))));
        figures.add("status_us", each(|_| drop(black_box(host.status()))));
        figures.add("changed_us", changed(&host, &lists, &servers).await?);
        host.close().await;
        Ok(figures)
    })
}

/// Microseconds of one of these, the middle of many.
fn each(mut work: impl FnMut(usize)) -> f64 {
    let once = |index| {
        let start = Instant::now();
        work(index);
        start.elapsed().as_secs_f64() * 1e6
    };
    median((0..TIMES).map(once).collect())
}

/// Microseconds from a server's word that its list has changed to the catalogue that shows it.
async fn changed(host: &Host, lists: &[Arc<Mutex<Vec<Tool>>>], servers: &[Arc<Server>]) -> Result<f64, Fail> {
    let mut events = host.events();
    let mut times = Vec::new();
    // One change for each server: a server that tells of many in a row is heard less often.
    for (list, server) in lists.iter().zip(servers).take(50) {
        list.lock().truncate(TOOLS - 1);
        let start = Instant::now();
        server.publisher().tools_changed();
        loop {
            match events.next().await {
                Some(HostEvent::Tools(change)) if change.removed.len() == 1 => break,
                Some(_) => {}
                None => return Err("the host is gone".into()),
            }
        }
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(times))
}
