// "May X call Y with Z?": asks the policy without calling anything.

import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { PolicyDecision, PolicyTest } from "../../api/types";
import { tryParse } from "../../json/parse";
import type { ConsoleState } from "../../state/console_state";
import { ErrorNote, Note, type Tone } from "../../ui/parts";
import { Text } from "../../ui/text";

const KINDS = ["tool", "resource", "template", "prompt"];
const DECISIONS: Record<PolicyDecision["decision"], [Tone, string]> = {
  allow: ["ok", "Allowed"],
  ask: ["warn", "Asked about"],
  deny: ["bad", "Denied"],
  missingScope: ["warn", "Needs a scope"],
};

export function DecisionTest({ state }: { state: ConsoleState }) {
  const isGateway = state.console.mode === "gateway";
  const [form, setForm] = useState({ principal: "", scopes: "", view: "", server: state.servers[0]?.name ?? "", kind: "tool", name: "", args: "" });
  const [decision, setDecision] = useState<PolicyDecision | null>(null);
  const [error, setError] = useState<unknown>(null);
  const isJson = form.args.trim() === "" || tryParse(form.args) !== undefined;
  const put = (name: keyof typeof form) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement }) => {
    setDecision(null);
    setForm({ ...form, [name]: event.currentTarget.value });
  };
  const test: PolicyTest = {
    principal: form.principal || null, issuer: null, scopes: form.scopes.split(/\s+/).filter((scope) => scope !== ""), view: form.view || null,
    server: form.server, kind: form.kind, name: form.name, argumentsJson: form.args.trim() === "" ? null : form.args,
  };
  const run = async (event: Event) => {
    event.preventDefault();
    setError(null);
    try {
      setDecision(await post<PolicyDecision>("/api/policy/test", test));
    } catch (problem) {
      setDecision(null);
      setError(problem);
    }
  };
  return (
    <section class="card" aria-labelledby="policy-test">
      <div class="card-head"><h2 id="policy-test">Test a decision</h2><span class="muted small">nothing is called</span></div>
      <form class="card-body" onSubmit={(event) => void run(event)}>
        <div class="fields">
          {isGateway && <label class="form-field"><span class="form-name">Caller</span><input class="field" value={form.principal} placeholder="anyone" onInput={put("principal")} /></label>}
          {isGateway && <label class="form-field"><span class="form-name">Scopes</span><input class="field" value={form.scopes} placeholder="mcp:read mcp:write" onInput={put("scopes")} /></label>}
          {isGateway && <label class="form-field"><span class="form-name">View</span><input class="field" value={form.view} placeholder="default" onInput={put("view")} /></label>}
          <label class="form-field"><span class="form-name">Server</span><select class="field" value={form.server} onChange={put("server")}>{state.servers.map((server) => <option key={server.name}>{server.name}</option>)}</select></label>
          <label class="form-field"><span class="form-name">Kind</span><select class="field" value={form.kind} onChange={put("kind")}>{KINDS.map((kind) => <option key={kind}>{kind}</option>)}</select></label>
          <label class="form-field"><span class="form-name">Name</span><input class="field mono" value={form.name} spellcheck={false} placeholder="read_file" onInput={put("name")} /></label>
        </div>
        <label class="form-field"><span class="form-name">Arguments</span><textarea class="field code low" value={form.args} spellcheck={false} placeholder='{"path": "/etc/passwd"}' aria-invalid={!isJson} onInput={put("args")} />{!isJson && <span class="form-problems">is not JSON</span>}</label>
        {error !== null && <ErrorNote error={error} />}
        <div aria-live="polite">
          {decision !== null && (
            <Note tone={DECISIONS[decision.decision][0]}>
              <strong>{DECISIONS[decision.decision][1]}.</strong> <Text value={decision.sentence} max={500} />{decision.scopes.length > 0 && <> Scopes: <code>{decision.scopes.join(" ")}</code></>}
              <div class="muted small">{decision.listed ? "It is listed for this caller." : "It is not listed for this caller."}{decision.rule !== null && ` Rule ${decision.rule} decided.`}</div>
            </Note>
          )}
        </div>
        <div class="buttons"><button type="submit" class="button primary" disabled={form.server === "" || form.name === "" || !isJson}>Decide</button></div>
      </form>
    </section>
  );
}
