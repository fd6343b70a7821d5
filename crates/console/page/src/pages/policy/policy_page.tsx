// Policy: test a decision, read the rules, and see the last denials.

import { get } from "../../api/client";
import type { Denial, PolicyRule, PolicySnapshot } from "../../api/types";
import { isObject } from "../../json/json";
import { tryParse } from "../../json/parse";
import { printJson } from "../../json/print";
import type { ConsoleState } from "../../state/console_state";
import { dateAndTime } from "../../text/format";
import { JsonText } from "../../ui/json_tree";
import { Badge, Empty, ErrorNote, Note, TableScroll } from "../../ui/parts";
import { Text } from "../../ui/text";
import { useFetch } from "../../ui/use_fetch";
import { DecisionTest } from "./decision_test";

export function PolicyPage({ state }: { state: ConsoleState }) {
  const { data, error } = useFetch(() => get<PolicySnapshot>("/api/policy"), []);
  const denials = [...state.denials, ...(data?.denials ?? [])].filter((denial, at, all) => all.findIndex((other) => other.atMs === denial.atMs && other.name === denial.name) === at);
  return (
    <div class="page">
      <div class="page-inner">
        <div class="title-row"><h1>Policy</h1>{data !== null && <span class="muted"><Text value={data.source} max={200} /></span>}</div>
        {error !== null && <ErrorNote error={error} />}
        <DecisionTest state={state} />
        {data !== null && <Rules policy={data} />}
        <section class="card" aria-labelledby="policy-denials">
          <div class="card-head"><h2 id="policy-denials">Last denials</h2></div>
          {denials.length === 0 ? <Empty>Nothing was denied.</Empty> : <Denials denials={denials} />}
        </section>
      </div>
    </div>
  );
}

function Rules({ policy }: { policy: PolicySnapshot }) {
  return (
    <section class="card" aria-labelledby="policy-rules">
      <div class="card-head"><h2 id="policy-rules">Rules</h2><span class="muted small">everything else: {policy.defaultEffect}</span></div>
      {policy.warnings.length > 0 && <div class="card-body">{policy.warnings.map((warning) => <Note key={warning} tone="warn"><Text value={warning} /></Note>)}</div>}
      {policy.rules.length === 0 ? <Empty>There are no rules.</Empty> : <ul class="rows">{policy.rules.map((rule) => <Rule key={rule.index} rule={rule} />)}</ul>}
    </section>
  );
}

/** A rule without a name in one line: its pattern, if it has nothing else. */
function ruleText(rule: PolicyRule): string {
  const value = tryParse(rule.ruleJson);
  if (!isObject(value)) return rule.ruleJson;
  const members = [...value].filter(([name]) => name !== "effect");
  const [only] = members;
  const text = members.length === 1 && only !== undefined && typeof only[1] === "string" ? only[1] : printJson(new Map(members));
  // Its effect is beside it.
  return text.startsWith(`${rule.effect} `) ? text.slice(rule.effect.length + 1) : text;
}

function Rule({ rule }: { rule: PolicyRule }) {
  return (
    <li>
      <details class="rule-line" id={`rule-${rule.index}`}>
        <summary>
          <span class="muted number">{rule.index}</span>
          <Badge tone={rule.effect === "deny" ? "bad" : rule.effect === "allow" ? "ok" : "warn"}>{rule.effect}</Badge>
          {rule.name === null ? <code class="breaks"><Text value={ruleText(rule)} max={160} /></code> : <span class="breaks"><Text value={rule.name} max={120} /></span>}
          {rule.unused && <Badge>has matched nothing yet</Badge>}
        </summary>
        <JsonText text={rule.ruleJson} depth={4} />
      </details>
    </li>
  );
}

export function Denials({ denials }: { denials: Denial[] }) {
  return (
    <TableScroll>
      <table class="table">
        <thead><tr><th scope="col">Time</th><th scope="col">Caller</th><th scope="col">Target</th><th scope="col">Outcome</th><th scope="col">Why</th></tr></thead>
        <tbody>
          {denials.map((denial, at) => (
            <tr key={at}>
              <td class="nowrap">{dateAndTime(denial.atMs)}</td>
              <td><Text value={denial.principal ?? "this user"} max={80} /></td>
              <td class="mono"><Text value={`${denial.server ?? "?"}/${denial.name}`} max={160} /><div class="muted small">{denial.kind}</div></td>
              <td><Badge tone="bad">{{ denied: "denied", missingScope: "missing scope", rateLimited: "rate limited" }[denial.outcome]}</Badge></td>
              <td>{denial.rule !== null && <code class="rule"><Text value={denial.rule} max={160} /></code>} <Text value={denial.reason} max={300} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}
