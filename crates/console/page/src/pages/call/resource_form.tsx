// Reading a resource, or a template after its variables are filled in; and subscribing to changes.

import { useMemo, useState } from "preact/hooks";
import { post } from "../../api/client";
import type { CallRequest, ResourceRow, TemplateRow } from "../../api/types";
import type { ConsoleState } from "../../state/console_state";
import { clock, plural } from "../../text/format";
import { Note } from "../../ui/parts";
import { Text } from "../../ui/text";
import { attempt } from "../../ui/toasts";
import { expandTemplate, parseTemplate, type UriTemplate } from "../../uri/uri_template";
import { CompletionField } from "./completion_field";
import { RunBar } from "./run_bar";

type Row = ({ type: "resource" } & Partial<ResourceRow> & { server: string; uri: string }) | ({ type: "template" } & TemplateRow);

interface ResourceFormProps {
  row: Row;
  state: ConsoleState;
  onStarted: (call: number) => void;
  from: CallRequest | null;
}

export function ResourceForm({ row, state, onStarted }: ResourceFormProps) {
  const template = useMemo(() => (row.type === "template" ? readTemplate(row.uriTemplate) : null), [row]);
  const [values, setValues] = useState<Record<string, string>>({});
  const uri = row.type === "resource" ? row.uri : template?.parsed == null ? null : expandTemplate(template.parsed, values);
  const server = state.servers.find((one) => one.name === row.server);
  const canComplete = server?.session?.capabilities.includes("completions") ?? false;
  const canSubscribe = server?.session?.capabilities.includes("resources.subscribe") ?? false;
  const set = (name: string, value: string | undefined) => {
    const { [name]: _, ...others } = values;
    setValues(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <div class="stack">
      {row.description !== undefined && row.description !== "" && <p class="muted"><Text value={row.description} max={400} expandable /></p>}
      {template?.problem != null && <Note tone="bad">The template is invalid: <Text value={template.problem} /></Note>}
      {template?.parsed != null && row.type === "template" && template.parsed.variables.map((name) => {
        const { [name]: _, ...context } = values;
        return (
          <CompletionField
            key={name} label={name} description={null} required={false} value={values[name]} onChange={(value) => set(name, value)}
            complete={canComplete ? { server: row.server, reference: { type: "template", uriTemplate: row.uriTemplate }, argument: name, context } : null}
          />
        );
      })}
      {uri !== null && row.type === "template" && <div class="form-field"><span class="form-name">URI</span><code class="breaks"><Text value={uri} max={2000} /></code></div>}
      <RunBar label="Read" request={uri === null ? null : { type: "resource", server: row.server, uri }} hint={null} onStarted={onStarted} readOnly={state.console.readOnly} />
      {canSubscribe && uri !== null && <Subscription state={state} server={row.server} uri={uri} />}
    </div>
  );
}

function readTemplate(text: string): { parsed: UriTemplate | null; problem: string | null } {
  try {
    return { parsed: parseTemplate(text), problem: null };
  } catch (error) {
    return { parsed: null, problem: error instanceof Error ? error.message : String(error) };
  }
}

function Subscription({ state, server, uri }: { state: ConsoleState; server: string; uri: string }) {
  const current = state.subscriptions.find((one) => one.server === server && one.uri === uri);
  const change = (path: string) => () => void attempt(() => post(path, { server, uri }));
  if (state.console.readOnly) return null;
  return (
    <div class="buttons">
      {current === undefined
        ? <button type="button" class="button" onClick={change("/api/subscriptions")}>Subscribe to changes</button>
        : <button type="button" class="button" onClick={change("/api/subscriptions/end")}>End the subscription</button>}
      {current !== undefined && <span class="small" role="status">{plural(current.updates, "update")}{current.lastUpdateMs === null ? "" : `, last at ${clock(current.lastUpdateMs)}`}</span>}
    </div>
  );
}
