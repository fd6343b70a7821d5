// Gateway: limits, parked questions, who waits for a login, and the audit log. Nothing here changes anything.

import { get } from "../../api/client";
import type { GatewaySnapshot } from "../../api/types";
import type { ConsoleState } from "../../state/console_state";
import { dateAndTime, plural, relative } from "../../text/format";
import { Badge, Empty, ErrorNote, TableScroll } from "../../ui/parts";
import { Text } from "../../ui/text";
import { useFetch } from "../../ui/use_fetch";
import { AuditSearch } from "./audit_search";

export function GatewayPage({ state }: { state: ConsoleState }) {
  const { data, error } = useFetch(() => get<GatewaySnapshot>("/api/gateway"), [state.gatewayVersion]);
  if (state.console.mode !== "gateway") return <div class="page"><div class="page-inner"><h1>Gateway</h1><Empty>This console shows a host, not a gateway.</Empty></div></div>;
  return (
    <div class="page">
      <div class="page-inner">
        <div class="title-row"><h1>Gateway</h1>{data?.endpoints.map((endpoint) => <code key={endpoint} class="breaks"><Text value={endpoint} max={120} /></code>)}</div>
        {error !== null && <ErrorNote error={error} />}
        {data !== null && <GatewayBody gateway={data} />}
        <AuditSearch />
      </div>
    </div>
  );
}

function GatewayBody({ gateway }: { gateway: GatewaySnapshot }) {
  const now = Date.now();
  return (
    <>
      <div class="tiles">
        <div class="tile"><strong>{gateway.sessions}</strong><span>sessions</span></div>
        <div class="tile"><strong>{gateway.subscriptions}</strong><span>subscriptions</span></div>
        <div class="tile"><strong>{gateway.parked.length}</strong><span>parked questions</span></div>
        <div class="tile"><strong>{gateway.waitingForLogin.length}</strong><span>wait for a login</span></div>
      </div>
      {gateway.views.length > 0 && (
        <section class="card" aria-labelledby="gateway-views">
          <div class="card-head"><h2 id="gateway-views">Views</h2></div>
          <TableScroll><table class="table">
            <thead><tr><th scope="col">View</th><th scope="col">Path</th><th scope="col" class="number">Tools</th><th scope="col" class="number">Callers</th></tr></thead>
            <tbody>{gateway.views.map((view) => <tr key={view.name}><td><Text value={view.name} /></td><td class="mono"><Text value={view.path} /></td><td class="number">{view.tools}</td><td class="number">{view.callers}</td></tr>)}</tbody>
          </table></TableScroll>
        </section>
      )}
      <section class="card" aria-labelledby="gateway-limits">
        <div class="card-head"><h2 id="gateway-limits">Limits</h2></div>
        {gateway.limits.length === 0 ? <Empty>No limit is configured.</Empty> : (
          <TableScroll><table class="table">
            <thead><tr><th scope="col">Limit</th><th scope="col">By</th><th scope="col">Allows</th><th scope="col">Used</th><th scope="col" class="number">Refused</th></tr></thead>
            <tbody>
              {gateway.limits.map((limit) => (
                <tr key={`${limit.name} ${limit.key}`}>
                  <td><Text value={limit.name} /></td><td><Text value={limit.key} /></td><td><Text value={limit.limit} /></td>
                  <td>{limit.used !== null && limit.max !== null ? <meter value={limit.used} max={limit.max} aria-label={`${limit.used} of ${limit.max}`} /> : <span class="muted">–</span>}</td>
                  <td class="number">{limit.refused > 0 ? <Badge tone="warn">{limit.refused}</Badge> : 0}</td>
                </tr>
              ))}
            </tbody>
          </table></TableScroll>
        )}
      </section>
      {gateway.parked.length > 0 && (
        <section class="card" aria-labelledby="gateway-parked">
          <div class="card-head"><h2 id="gateway-parked">Parked questions</h2></div>
          <TableScroll><table class="table">
            <thead><tr><th scope="col">Caller</th><th scope="col">Call</th><th scope="col">Asked</th><th scope="col">Expires</th></tr></thead>
            <tbody>{gateway.parked.map((parked, at) => <tr key={at}><td><Text value={parked.principal ?? "anyone"} /></td><td class="mono"><Text value={`${parked.server}/${parked.name}`} /></td><td>{relative(parked.askedAtMs, now)}</td><td>{relative(parked.expiresAtMs, now)}</td></tr>)}</tbody>
          </table></TableScroll>
        </section>
      )}
      {gateway.waitingForLogin.length > 0 && (
        <section class="card" aria-labelledby="gateway-waiting">
          <div class="card-head"><h2 id="gateway-waiting">Waiting for a login</h2></div>
          <ul class="rows">{gateway.waitingForLogin.map((waiting, at) => <li key={at} class="row-line"><div><strong><Text value={waiting.principal} /></strong> at <Text value={waiting.server} /></div><span class="muted small">since {dateAndTime(waiting.sinceMs)}</span></li>)}</ul>
        </section>
      )}
      {gateway.withheld.length > 0 && (
        <section class="card" aria-labelledby="gateway-withheld">
          <div class="card-head"><h2 id="gateway-withheld">Withheld names</h2><span class="muted small">{plural(gateway.withheld.length, "name")} claimed by several items</span></div>
          <ul class="rows">{gateway.withheld.map((name) => <li key={name.name} class="row-line"><code><Text value={name.name} max={120} /></code><span class="muted small"><Text value={name.claims.map((claim) => `${claim.server}/${claim.name}`).join(", ")} max={200} /></span></li>)}</ul>
        </section>
      )}
    </>
  );
}
