// The request of a tool: arguments by its schema, metadata, and whether it runs as a task.

import { useState } from "preact/hooks";
import { get } from "../../api/client";
import type { CallRequest, ToolDetail, ToolRow } from "../../api/types";
import { SchemaEditor, useEditor } from "../../form/editor";
import { isObject } from "../../json/json";
import { tryParse } from "../../json/parse";
import type { ConsoleState } from "../../state/console_state";
import { visibleLine } from "../../text/visible";
import { ErrorNote, Note } from "../../ui/parts";
import { Text } from "../../ui/text";
import { useFetch } from "../../ui/use_fetch";
import { askWhy } from "../../ui/why";
import { RunBar } from "./run_bar";

interface ToolFormProps {
  row: ToolRow;
  state: ConsoleState;
  onStarted: (call: number) => void;
  /** A call whose arguments are filled in. */
  from: CallRequest | null;
}

export function ToolForm(props: ToolFormProps) {
  const { row } = props;
  const { data, error } = useFetch(() => get<ToolDetail>("/api/tool", { server: row.server, name: row.name }), [row.server, row.name]);
  if (error !== null) return <ErrorNote error={error} />;
  if (data === null) return <div class="muted" role="status">Loading</div>;
  return <LoadedForm {...props} detail={data} />;
}

function LoadedForm({ row, state, onStarted, from, detail }: ToolFormProps & { detail: ToolDetail }) {
  const editor = useEditor(detail.inputSchemaJson, from?.type === "tool" ? from.argumentsJson : null);
  const [meta, setMeta] = useState(from?.type === "tool" ? (from.metaJson ?? "") : "");
  const [asTask, setAsTask] = useState(row.taskSupport === "required");
  const metaValue = meta.trim() === "" ? null : tryParse(meta);
  const isMetaValid = metaValue === null || isObject(metaValue);
  const request: CallRequest | null = editor.json === null || !isMetaValid
    ? null
    : { type: "tool", server: row.server, name: row.name, argumentsJson: editor.json, metaJson: meta.trim() === "" ? null : meta, asTask, confirmed: false, timeoutMs: null };
  const hint = editor.json === null ? "Correct the marked fields first."
    : editor.missing.length > 0 ? `Missing: ${visibleLine(editor.missing.slice(0, 5).join(", "), 120)}${editor.missing.length > 5 ? ", …" : ""}`
    : editor.problems.length > 0 ? "It does not fit the schema; the server will probably refuse it." : null;
  return (
    <div class="stack">
      {detail.description !== "" && <p class="muted pre"><Text value={detail.description} max={300} expandable /></p>}
      {row.hidden !== null && <Note tone="warn">Models do not see this tool. <button type="button" class="button tiny" onClick={() => askWhy("tool", row.server, row.name)}>Why?</button></Note>}
      {detail.permission.type === "deny" && <Note tone="bad"><Text value={detail.permission.sentence} /></Note>}
      <SchemaEditor editor={editor} label="Arguments" />
      <details class="more" open={meta !== ""}>
        <summary>Metadata and options</summary>
        <div class="stack">
          <label class="form-field"><span class="form-name">_meta</span>
            <textarea class="field code" value={meta} placeholder='{"key": {"any": "JSON"}}' spellcheck={false} aria-invalid={!isMetaValid} onInput={(event) => setMeta(event.currentTarget.value)} />
            {!isMetaValid && <span class="form-problems">must be a JSON object</span>}
          </label>
          {row.taskSupport !== "forbidden" && <label class="check"><input type="checkbox" checked={asTask} disabled={row.taskSupport === "required"} onChange={(event) => setAsTask(event.currentTarget.checked)} />Run as a task</label>}
        </div>
      </details>
      <RunBar label="Call" request={request} hint={hint} onStarted={onStarted} readOnly={state.console.readOnly} />
    </div>
  );
}
