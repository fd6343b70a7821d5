// Adding a server: a URL can be added here after a look at the plan; a program needs a command in the terminal unless the
// console may edit the configuration.

import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { AddPlan, AddRequest } from "../../api/types";
import { shellWords } from "../../text/shell_words";
import { JsonText } from "../../ui/json_tree";
import { Command, ErrorNote, Note, Segments } from "../../ui/parts";
import { Text } from "../../ui/text";
import { toast } from "../../ui/toasts";

type Kind = AddRequest["type"];

export function AddServer({ onDone, allowConfigEdit }: { onDone: () => void; allowConfigEdit: boolean }) {
  const [kind, setKind] = useState<Kind>("url");
  const [name, setName] = useState("");
  const [target, setTarget] = useState("");
  const [plan, setPlan] = useState<{ request: AddRequest; plan: AddPlan } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const command = kind === "url" ? [] : shellWords(target);
  const request: AddRequest = kind === "url"
    ? { type: "url", name: name.trim(), url: target.trim(), scope: "user" }
    : { type: "program", name: name.trim(), command: command ?? [], scope: "user" };
  const isReady = name.trim() !== "" && target.trim() !== "" && command !== null;
  const run = async (action: () => Promise<void>) => {
    setError(null);
    try {
      await action();
    } catch (problem) {
      setError(problem);
    }
  };
  const showPlan = () => run(async () => setPlan({ request, plan: await post<AddPlan>("/api/servers/plan", request) }));
  const apply = (shown: AddRequest) => run(async () => {
    await post("/api/servers", shown);
    toast(`${shown.name} was added`);
    onDone();
  });
  const change = (update: () => void) => {
    setPlan(null);
    update();
  };
  return (
    <section class="card" aria-labelledby="add-server">
      <div class="card-head">
        <h2 id="add-server">Add a server</h2>
        <Segments<Kind> label="Kind of server" options={[["url", "URL"], ["program", "Program"]]} value={kind} onChange={(next) => change(() => setKind(next))} />
      </div>
      <form class="card-body" onSubmit={(event) => { event.preventDefault(); if (isReady) void showPlan(); }}>
        <label class="form-field"><span class="form-name">Name</span>
          <input class="field" value={name} spellcheck={false} autocomplete="off" placeholder="files" onInput={(event) => change(() => setName(event.currentTarget.value))} />
        </label>
        <label class="form-field"><span class="form-name">{kind === "url" ? "URL" : "Command"}</span>
          <input class="field mono" value={target} spellcheck={false} autocomplete="off" placeholder={kind === "url" ? "https://example.com/mcp" : "npx -y @modelcontextprotocol/server-everything"} onInput={(event) => change(() => setTarget(event.currentTarget.value))} />
        </label>
        {kind === "program" && command === null && <p class="form-problems">A quote is not closed.</p>}
        {kind === "program" && !allowConfigEdit && <p class="muted small">This console does not write programs to the configuration. It shows the command that does.</p>}
        {error !== null && <ErrorNote error={error} />}
        {plan !== null && <Plan plan={plan.plan} />}
        <div class="buttons">
          {plan?.plan.type === "apply"
            ? <button type="button" class="button primary" onClick={() => void apply(plan.request)}>Write it</button>
            : <button type="submit" class="button primary" disabled={!isReady}>Show what happens</button>}
        </div>
      </form>
    </section>
  );
}

function Plan({ plan }: { plan: AddPlan }) {
  if (plan.type === "command") {
    return <div class="form-field"><p><Text value={plan.reason} /></p><Command text={plan.command} /></div>;
  }
  return (
    <div class="form-field">
      <p>This entry is written to <code class="breaks"><Text value={plan.path} /></code>:</p>
      <JsonText text={plan.entryJson} depth={4} />
      {plan.warnings.map((warning) => <Note key={warning} tone="warn"><Text value={warning} /></Note>)}
    </div>
  );
}
