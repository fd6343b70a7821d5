// One item of the catalog: its definition, what hides it, what it costs, how it has changed.

import { useState } from "preact/hooks";
import { get, post } from "../../api/client";
import type { ToolDetail } from "../../api/types";
import { type CatalogRow, idOf } from "../../filter/fields";
import type { ConsoleState } from "../../state/console_state";
import { href } from "../../state/router";
import { bytes, tokens } from "../../text/format";
import { Diff } from "../../ui/diff";
import { JsonText } from "../../ui/json_tree";
import { Back, Badge, CopyButton, ErrorNote, Note, TabPanel, Tabs } from "../../ui/parts";
import { Prose, Text } from "../../ui/text";
import { attempt } from "../../ui/toasts";
import { useFetch } from "../../ui/use_fetch";
import { askWhy } from "../../ui/why";
import { hiddenText } from "./hidden_text";

export function CatalogDetail({ row, state }: { row: CatalogRow; state: ConsoleState }) {
  const id = idOf(row);
  return (
    <div class="detail">
      <div class="detail-head">
        <div><Back href={href(["catalog", `${row.type}s`])}>Catalog</Back></div>
        <div class="title-row">
          <h1 class="mono"><Text value={id} max={300} expandable /></h1>
          <CopyButton text={row.type === "tool" ? row.qualifiedName : id} />
        </div>
        {row.title !== null && row.title !== id && <p><Text value={row.title} max={300} /></p>}
        <div class="buttons">
          <a class={row.hidden === null ? "button primary" : "button"} href={href(["call", row.type, row.server, id])}>{row.type === "tool" ? "Call" : row.type === "prompt" ? "Fill in" : "Read"}</a>
          <button type="button" class="button" onClick={() => askWhy(row.type, row.server, id)}>Why?</button>
          <a class="button" href={href(["servers", row.server])}>Server <Text value={row.server} max={40} /></a>
        </div>
        {row.hidden !== null && <Note tone="warn">Models do not see it: <Text value={hiddenText(row.hidden)} max={500} />.</Note>}
      </div>
      {row.type === "tool" ? <ToolBody row={row} state={state} /> : <OtherBody row={row} />}
    </div>
  );
}

type Tab = "about" | "schema" | "definition" | "drift";

function ToolBody({ row, state }: { row: CatalogRow & { type: "tool" }; state: ConsoleState }) {
  const [tab, setTab] = useState<Tab>(row.drifted ? "drift" : "about");
  const { data, error } = useFetch(() => get<ToolDetail>("/api/tool", { server: row.server, name: row.name }), [row.server, row.name, state.catalogRevision]);
  if (error !== null) return <ErrorNote error={error} />;
  if (data === null) return <div class="muted" role="status">Loading</div>;
  const tabs: [Tab, string][] = [["about", "About"], ["schema", "Schema"], ["definition", "Definition"]];
  if (data.drift !== null) tabs.push(["drift", "Drift"]);
  return (
    <>
      <Tabs label="Parts of the tool" id="tool" tabs={tabs} value={tab} onChange={setTab} />
      <TabPanel id="tool" tab={tab}>
        {tab === "about" && <About detail={data} />}
        {tab === "schema" && (
          <div class="stack">
            <h2>Arguments</h2>
            <JsonText text={data.inputSchemaJson} depth={3} />
            {data.outputSchemaJson !== null && <><h2>Structured result</h2><JsonText text={data.outputSchemaJson} depth={3} /></>}
          </div>
        )}
        {tab === "definition" && <JsonText text={data.definitionJson} depth={2} />}
        {tab === "drift" && data.drift !== null && <DriftBody detail={data} readOnly={state.console.readOnly} />}
      </TabPanel>
    </>
  );
}

function About({ detail }: { detail: ToolDetail }) {
  const { row, permission } = detail;
  const hints = [
    row.hints.readOnly === true ? "reads only" : null,
    row.hints.destructive === true ? "may destroy" : null,
    row.hints.idempotent === true ? "safe to repeat" : null,
    row.hints.openWorld === true ? "reaches outside" : null,
  ].filter((hint) => hint !== null);
  return (
    <div class="stack">
      <Prose value={detail.description === "" ? "No description." : detail.description} />
      <dl class="facts">
        <dt>Models call it</dt><dd class="mono"><Text value={row.qualifiedName} max={300} /></dd>
        <dt>A call is</dt><dd>{row.hidden !== null ? <><Badge tone="bad">refused</Badge> hidden tools are not called</> : <><Badge tone={permission.type === "allow" ? "ok" : permission.type === "ask" ? "warn" : "bad"}>{permission.type === "allow" ? "allowed" : permission.type === "ask" ? "asked about" : "denied"}</Badge> <Text value={permission.sentence} /></>}</dd>
        <dt>Cost</dt><dd>{row.hidden !== null && "none while it is hidden, otherwise "}about {tokens(row.tokens)} tokens in every request of a model</dd>
        <dt>Server claims</dt><dd>{hints.length === 0 ? <span class="muted">nothing</span> : hints.join(", ")}</dd>
        <dt>As a task</dt><dd>{row.taskSupport}</dd>
      </dl>
    </div>
  );
}

function DriftBody({ detail, readOnly }: { detail: ToolDetail; readOnly: boolean }) {
  const { drift, row } = detail;
  if (drift === null) return null;
  const accept = () => void attempt(() => post("/api/tool/accept", { server: row.server, name: row.name }), "The definition is pinned as it is now");
  return (
    <div class="stack">
      <p>The definition has changed since it was pinned. Read what changed before you accept it.</p>
      {drift.beforeJson === null ? <><Note>Only the digest of the pinned definition was kept; this is the definition now.</Note><JsonText text={drift.nowJson} depth={4} /></> : <Diff before={drift.beforeJson} after={drift.nowJson} />}
      {!readOnly && <div class="buttons"><button type="button" class="button" onClick={accept}>Accept the new definition</button></div>}
    </div>
  );
}

function OtherBody({ row }: { row: Exclude<CatalogRow, { type: "tool" }> }) {
  return (
    <div class="stack">
      {row.description !== "" && <Prose value={row.description} />}
      <dl class="facts">
        <dt>Name</dt><dd><Text value={row.name} max={200} /></dd>
        {row.type !== "prompt" && <><dt>Type</dt><dd>{row.mimeType === null ? <span class="muted">not declared</span> : <Text value={row.mimeType} max={100} />}</dd></>}
        {row.type === "resource" && row.size !== null && <><dt>Size</dt><dd>{bytes(row.size)}</dd></>}
        <dt>Cost</dt><dd>about {tokens(row.tokens)} tokens when listed</dd>
      </dl>
      {row.type === "prompt" && row.arguments.length > 0 && (
        <table class="table">
          <thead><tr><th scope="col">Argument</th><th scope="col">Description</th></tr></thead>
          <tbody>
            {row.arguments.map((argument) => (
              <tr key={argument.name}><td class="mono"><Text value={argument.name} />{argument.required && <span class="required"> *</span>}</td><td><Text value={argument.description ?? ""} /></td></tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
