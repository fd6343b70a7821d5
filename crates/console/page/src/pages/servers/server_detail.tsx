// One server: its state and actions, and tabs for the rest.

import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { ServerSnapshot } from "../../api/types";
import type { ConsoleState } from "../../state/console_state";
import { href, navigate } from "../../state/router";
import { dateAndTime, milliseconds, plural, relative, tokens } from "../../text/format";
import { JsonText } from "../../ui/json_tree";
import { Back, Badge, Command, Note, TabPanel, Tabs } from "../../ui/parts";
import { Sparkline } from "../../ui/sparkline";
import { Prose, Text } from "../../ui/text";
import { attempt } from "../../ui/toasts";
import { askWhy } from "../../ui/why";
import { LoginProgress } from "../logins/login_progress";
import { Doctor } from "./doctor";
import { dotOf, identityText, stateDetail, stateName, transportText } from "./server_state";
import { Stderr } from "./stderr";

type Tab = "overview" | "doctor" | "stderr" | "config";

export function ServerDetail({ server, state }: { server: ServerSnapshot; state: ConsoleState }) {
  const [tab, setTab] = useState<Tab>("overview");
  const tabs: [Tab, string][] = [["overview", "Overview"], ["doctor", "Doctor"], ["stderr", "Stderr"], ["config", "Configuration"]];
  const attemptOfLogin = state.loginAttempts.find((attempt) => attempt.server === server.name);
  return (
    <div class="detail">
      <div class="detail-head">
        <div><Back href={href(["servers"])}>Servers</Back></div>
        <div class="title-row">
          <span class={`dot ${dotOf(server.state)}`} aria-hidden="true" />
          <h1><Text value={server.name} max={200} /></h1>
          <span class="muted">{stateName(server.state)}</span>
        </div>
        <Actions server={server} state={state} />
        <Problem server={server} />
        {attemptOfLogin !== undefined && <LoginProgress attempt={attemptOfLogin} />}
      </div>
      <Tabs label="Parts of the server" id="server" tabs={tabs} value={tab} onChange={setTab} />
      <TabPanel id="server" tab={tab}>
        {tab === "overview" && <Overview server={server} />}
        {tab === "doctor" && <Doctor server={server} run={state.doctors[server.name]} readOnly={state.console.readOnly} />}
        {tab === "stderr" && <Stderr server={server} live={state.stderr[server.name]} />}
        {tab === "config" && <JsonText text={server.configJson} depth={5} />}
      </TabPanel>
    </div>
  );
}

function Actions({ server, state }: { server: ServerSnapshot; state: ConsoleState }) {
  const { readOnly } = state.console;
  const path = `/api/servers/${encodeURIComponent(server.name)}`;
  const act = (action: string, done: string) => () => void attempt(() => post(`${path}/${action}`), done);
  const type = server.state.type;
  const login = () => void attempt(() => post("/api/logins", { server: server.name, account: null }));
  const canLogIn = server.state.type === "needsAuth" && ["login", "account"].includes(server.state.login.requirement);
  return (
    <div class="buttons">
      {!readOnly && canLogIn && <button type="button" class="button primary" onClick={login}>Log in</button>}
      {!readOnly && type !== "disabled" && <button type="button" class="button" onClick={act("reconnect", `Reconnecting ${server.name}`)}>Reconnect</button>}
      {!readOnly && (server.enabled
        ? <button type="button" class="button" onClick={act("disable", `${server.name} is disabled`)}>Disable</button>
        : <button type="button" class="button primary" onClick={act("enable", `${server.name} is enabled`)}>Enable</button>)}
      {!readOnly && type !== "stopped" && type !== "disabled" && <button type="button" class="button" onClick={act("disconnect", `${server.name} is disconnected`)}>Disconnect</button>}
      <a class="button" href={href(["catalog"], { q: `server:${quoted(server.name)}` })}>Catalog</a>
      <button type="button" class="button" onClick={() => askWhy("server", server.name, server.name)}>Why?</button>
    </div>
  );
}

function quoted(name: string): string {
  return /[\s"]/.test(name) ? `"${name}"` : name;
}

function Problem({ server }: { server: ServerSnapshot }) {
  const detail = stateDetail(server.state, Date.now());
  if (detail === null) return null;
  const tail = server.state.type === "failed" ? server.state.stderrTail : null;
  return (
    <Note tone={server.state.type === "failed" ? "bad" : "warn"}>
      <Text value={detail.error} max={2000} expandable />
      {detail.nextStep !== null && <div><strong>Next:</strong> <Text value={detail.nextStep} /></div>}
      {server.state.type === "awaitingApproval" && <Command text={server.state.command} />}
      {tail !== null && <pre class="code-block"><Text value={tail} max={4000} expandable /></pre>}
    </Note>
  );
}

function Overview({ server }: { server: ServerSnapshot }) {
  const { session, metrics, identity, transport, counts } = server;
  const go = (kind: string) => navigate(["catalog", kind], { q: `server:${quoted(server.name)}` });
  return (
    <div class="stack">
      <dl class="facts">
        <dt>Era</dt>
        <dd>{session === null ? <span class="muted">not connected</span> : <><Badge tone={session.era === "modern" ? "violet" : "plain"}>{session.era}</Badge> revision {session.revision}</>}</dd>
        {session?.serverName != null && <><dt>Calls itself</dt><dd><Text value={`${session.serverName} ${session.serverVersion ?? ""}`} /></dd></>}
        <dt>Transport</dt>
        <dd class="mono"><Text value={transportText(transport)} max={300} expandable /></dd>
        {transport.type === "stdio" && transport.pid !== null && <><dt>Process</dt><dd class="mono">{transport.pid}</dd></>}
        <dt>Identity</dt>
        <dd>
          <Text value={identityText(identity)} max={200} />
          {identity.type === "oauth" && <div class="muted small">scopes {identity.scopes.join(" ") || "none"}; {identity.expiresAtMs === null ? "no expiry" : `expires ${relative(identity.expiresAtMs, Date.now())}`}{identity.canRefresh ? ", refreshed by itself" : ""}</div>}
        </dd>
        <dt>Configured in</dt>
        <dd>{server.scope ?? "this program"}</dd>
        {session !== null && <><dt>Connected</dt><dd>{dateAndTime(session.connectedAtMs)}</dd></>}
        {session !== null && <><dt>Capabilities</dt><dd class="chips">{session.capabilities.map((name) => <Badge key={name}><Text value={name} max={60} /></Badge>)}</dd></>}
      </dl>
      <div class="tiles">
        <button type="button" class="tile" onClick={() => go("tools")}><strong>{counts.tools}</strong><span>tools{counts.hiddenTools > 0 ? `, ${counts.hiddenTools} hidden` : ""}</span></button>
        <button type="button" class="tile" onClick={() => go("resources")}><strong>{counts.resources}</strong><span>resources</span></button>
        <button type="button" class="tile" onClick={() => go("templates")}><strong>{counts.templates}</strong><span>templates</span></button>
        <button type="button" class="tile" onClick={() => go("prompts")}><strong>{counts.prompts}</strong><span>prompts</span></button>
        <div class="tile"><strong>{tokens(server.tokens)}</strong><span>tokens</span></div>
      </div>
      <section class="card" aria-label="Calls">
        <div class="card-head"><h2>Calls</h2><Sparkline samples={server.latency} label={`Latency of ${server.name}`} /></div>
        <div class="card-body">
          <dl class="facts">
            <dt>Calls</dt><dd>{plural(metrics.calls, "call")}, {metrics.failures} failed, {metrics.toolErrors} with a tool error</dd>
            <dt>Latency</dt><dd>{metrics.p50Ms === null ? <span class="muted">no calls yet</span> : <>median {milliseconds(metrics.p50Ms)}, 95 % below {milliseconds(metrics.p95Ms ?? metrics.p50Ms)}</>}</dd>
            <dt>Reconnections</dt><dd>{metrics.reconnects}</dd>
          </dl>
        </div>
      </section>
      {server.unmatchedRules.length > 0 && (
        <Note tone="warn">Rules that match none of its tools, probably misspelled: {server.unmatchedRules.map((rule) => <code key={rule}><Text value={rule} max={100} /> </code>)}</Note>
      )}
      {session?.instructions != null && <section class="card" aria-label="Instructions"><div class="card-head"><h2>Instructions for the model</h2></div><div class="card-body"><Prose value={session.instructions} /></div></section>}
    </div>
  );
}
