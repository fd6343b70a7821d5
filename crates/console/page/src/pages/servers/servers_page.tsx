// Servers: the list, and one server in detail.

import { useState } from "preact/hooks";
import type { ServerSnapshot } from "../../api/types";
import type { ConsoleState } from "../../state/console_state";
import { href, navigate, useRoute } from "../../state/router";
import { plural, tokens } from "../../text/format";
import { Dialog } from "../../ui/dialog";
import { Badge, Empty } from "../../ui/parts";
import { Sparkline } from "../../ui/sparkline";
import { Text } from "../../ui/text";
import { AddServer } from "./add_server";
import { ServerDetail } from "./server_detail";
import { dotOf, identityText, stateDetail, stateName, transportName } from "./server_state";

export function ServersPage({ state }: { state: ConsoleState }) {
  const { path } = useRoute();
  const [isAdding, add] = useState(false);
  const selected = path[1] === undefined ? undefined : state.servers.find((server) => server.name === path[1]);
  return (
    <>
      <div class={`split ${selected === undefined ? "" : "has-detail"} ${path[1] === undefined ? "list-only" : ""}`}>
        <div class="list-pane">
          <div class="page-head">
            <h1>Servers</h1>
            <span class="muted">{summary(state.servers)}</span>
            {!state.console.readOnly && <button type="button" class="button" onClick={() => add(true)}>Add a server</button>}
          </div>
          <div class="scroll">
            {state.servers.length === 0 && <Empty>No server is configured.</Empty>}
            <ul class="servers" aria-label="Servers">
              {state.servers.map((server) => <ServerRow key={server.name} server={server} isSelected={server === selected} />)}
            </ul>
          </div>
        </div>
        {path[1] !== undefined && (
          <section class="detail-pane" aria-label="Server">
            {selected === undefined ? <Empty>There is no server of this name.</Empty> : <ServerDetail key={selected.name} server={selected} state={state} />}
          </section>
        )}
      </div>
      {isAdding && (
        <Dialog title="Add a server" onClose={() => add(false)}>
          <AddServer allowConfigEdit={state.console.allowConfigEdit} onDone={() => { add(false); navigate(["servers"]); }} />
        </Dialog>
      )}
    </>
  );
}

function summary(servers: ServerSnapshot[]): string {
  const connected = servers.filter((server) => server.state.type === "ready" || server.state.type === "degraded").length;
  const total = servers.reduce((sum, server) => sum + server.tokens, 0);
  return `${connected} of ${servers.length} connected · ${tokens(total)} tokens of tools`;
}

function ServerRow({ server, isSelected }: { server: ServerSnapshot; isSelected: boolean }) {
  const { name, state, session, transport, counts, identity } = server;
  const problem = stateDetail(state, Date.now());
  return (
    <li>
      <a class="server-row" href={href(["servers", name])} {...(isSelected ? { "aria-current": "true" as const } : {})}>
        <span class={`dot ${dotOf(state)}`} aria-hidden="true" />
        <span class="server-main">
          <span class="server-name"><Text value={name} max={120} /></span>
          <span class="muted small">{stateName(state)}</span>
          {problem !== null && <span class="server-problem small"><Text value={problem.error} max={160} /></span>}
        </span>
        <span class="server-facts">
          {session !== null && <Badge tone={session.era === "modern" ? "violet" : "plain"} title="Protocol era and revision">{session.era} · {session.revision}</Badge>}
          <Badge>{transportName(transport)}</Badge>
          {counts.hiddenTools > 0 && <Badge tone="warn">{counts.hiddenTools} hidden</Badge>}
        </span>
        <span class="server-identity muted small"><Text value={identityText(identity)} max={80} /></span>
        <span class="server-chart"><Sparkline samples={server.latency} label={`Latency of ${name}`} /></span>
        <span class="server-tools number">{(session !== null || counts.tools > 0) && <>{plural(counts.tools, "tool")}<span class="muted small"> {tokens(server.tokens)} tok</span></>}</span>
      </a>
    </li>
  );
}
