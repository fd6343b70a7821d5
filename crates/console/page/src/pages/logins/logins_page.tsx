// Logins: which account reaches which server, who waits for one, and what helps.

import { get, post } from "../../api/client";
import type { LoginRow, Logins, LoginState, ServerSnapshot } from "../../api/types";
import type { ConsoleState } from "../../state/console_state";
import { href } from "../../state/router";
import { relative } from "../../text/format";
import { Badge, Empty, ErrorNote, Note, TableScroll, type Tone } from "../../ui/parts";
import { Text } from "../../ui/text";
import { attempt } from "../../ui/toasts";
import { useFetch } from "../../ui/use_fetch";
import { LoginProgress } from "./login_progress";

export function LoginsPage({ state }: { state: ConsoleState }) {
  const { data, error } = useFetch(() => get<Logins>("/api/logins"), [state.loginsVersion]);
  const waiting = state.servers.filter((server) => server.state.type === "needsAuth");
  return (
    <div class="page">
      <div class="page-inner">
        <h1>Logins</h1>
        {waiting.length > 0 && (
          <section class="card" aria-labelledby="logins-waiting">
            <div class="card-head"><h2 id="logins-waiting">Waiting for a login</h2></div>
            <ul class="rows">{waiting.map((server) => <Waiting key={server.name} server={server} state={state} />)}</ul>
          </section>
        )}
        <section class="card" aria-labelledby="logins-stored">
          <div class="card-head"><h2 id="logins-stored">Stored logins</h2></div>
          {error !== null && <ErrorNote error={error} />}
          {data?.storeError != null && <Note tone="bad"><Text value={data.storeError} /></Note>}
          {data === null && error === null && <Empty>Loading</Empty>}
          {data !== null && data.logins.length === 0 && <Empty>No login is stored. Log in to a server that asks for it.</Empty>}
          {data !== null && data.logins.length > 0 && <LoginTable logins={data.logins} state={state} />}
        </section>
      </div>
    </div>
  );
}

function Waiting({ server, state }: { server: ServerSnapshot; state: ConsoleState }) {
  if (server.state.type !== "needsAuth") return null;
  const { login } = server.state;
  const running = state.loginAttempts.find((one) => one.server === server.name);
  const helps = ["login", "account"].includes(login.requirement);
  const start = (account: string | null) => void attempt(() => post("/api/logins", { server: server.name, account }));
  return (
    <li class="row-line wrap">
      <div class="grow">
        <a href={href(["servers", server.name])}><strong><Text value={server.name} /></strong></a>
        <div class="muted small"><Text value={login.nextStep} /></div>
        {login.scope !== null && <div class="muted small">asks for {login.scope}</div>}
        {login.redirectUri !== null && <div class="small">Register <code class="breaks">{login.redirectUri}</code> at <code class="breaks">{login.issuer}</code></div>}
        {running !== undefined && <LoginProgress attempt={running} />}
      </div>
      {helps && !state.console.readOnly && (
        <div class="buttons">
          {login.accounts.map((account) => <button key={account} type="button" class="button" onClick={() => start(account)}>Use {account}</button>)}
          <button type="button" class="button primary" onClick={() => start(null)}>Log in<span class="visually-hidden"> to {server.name}</span></button>
        </div>
      )}
      {!helps && <Badge tone="warn">logging in does not help</Badge>}
    </li>
  );
}

const STATES: Record<LoginState["type"], [Tone, string]> = {
  pending: ["info", "pending"],
  active: ["ok", "active"],
  needsLogin: ["warn", "needs a login"],
  needsUpdate: ["warn", "needs an update"],
  orphaned: ["bad", "no access"],
};

function LoginTable({ logins, state }: { logins: LoginRow[]; state: ConsoleState }) {
  const forget = (login: LoginRow) => {
    const { address, issuer, clientId, account } = login;
    void attempt(() => post("/api/logins/forget", { address, issuer, clientId, account }), `The login of ${account} is forgotten`);
  };
  const hasPrincipals = logins.some((login) => login.principal !== null);
  return (
    <TableScroll>
      <table class="table">
        <thead><tr>{hasPrincipals && <th scope="col">Caller</th>}<th scope="col">Server</th><th scope="col">Account</th><th scope="col">Issuer</th><th scope="col">State</th><th scope="col">Expires</th><th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead>
        <tbody>
          {logins.map((login) => (
            <tr key={`${login.address} ${login.issuer} ${login.account} ${login.principal ?? ""}`}>
              {hasPrincipals && <td><Text value={login.principal ?? "this user"} /></td>}
              <td><strong><Text value={login.servers.join(", ") || "not configured"} /></strong><div class="muted small mono"><Text value={login.address} max={120} /></div></td>
              <td><Text value={login.account} /><div class="muted small"><Text value={login.scopes.join(" ")} max={160} /></div></td>
              <td class="mono small"><Text value={login.issuer} max={120} /></td>
              <td><Badge tone={STATES[login.state.type][0]}>{STATES[login.state.type][1]}</Badge>{"reason" in login.state && <div class="small"><Text value={login.state.reason} /></div>}</td>
              <td class="nowrap">{login.expiresAtMs === null ? "no expiry" : relative(login.expiresAtMs, Date.now())}{login.canRefresh && <div class="muted small">refreshed by itself</div>}</td>
              <td>{!state.console.readOnly && <button type="button" class="button tiny danger" onClick={() => forget(login)}>Forget<span class="visually-hidden"> {login.account}</span></button>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}
