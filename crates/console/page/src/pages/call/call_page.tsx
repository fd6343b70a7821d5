// Call: pick something, fill it in, and watch what comes of it.

import { useMemo, useState } from "preact/hooks";
import type { CallSnapshot } from "../../api/types";
import { CATALOG_FIELDS, type CatalogRow, idOf } from "../../filter/fields";
import { parseFilter } from "../../filter/filter";
import { useCatalogRows } from "../../state/catalog";
import type { ConsoleState } from "../../state/console_state";
import { href, navigate, useRoute } from "../../state/router";
import { clock } from "../../text/format";
import { Badge, Empty, Search } from "../../ui/parts";
import { Text } from "../../ui/text";
import { VirtualList } from "../../ui/virtual_list";
import { keyOf } from "../catalog/catalog_page";
import { outcomeBadge } from "./call_state";
import { CallView } from "./call_view";
import { PromptForm } from "./prompt_form";
import { ResourceForm } from "./resource_form";
import { ToolForm } from "./tool_form";

export function CallPage({ state }: { state: ConsoleState }) {
  const { path } = useRoute();
  if (path[1] === "run") return <OneCall state={state} call={Number(path[2])} />;
  if (path[1] !== undefined && path[2] !== undefined && path[3] !== undefined) {
    return <Target key={path.join("\n")} state={state} type={path[1]} server={path[2]} id={path[3]} />;
  }
  return <Picker state={state} />;
}

function Picker({ state }: { state: ConsoleState }) {
  const [text, setText] = useState("");
  const { rows } = useCatalogRows();
  const filter = useMemo(() => parseFilter(text, CATALOG_FIELDS), [text]);
  const shown = useMemo(() => rows.filter((row) => filter.matches(row)), [rows, filter]);
  const open = (row: CatalogRow) => navigate(["call", row.type, row.server, idOf(row)]);
  return (
    <div class="split call-picker">
      <div class="list-pane">
        <div class="page-head"><h1>Call</h1></div>
        <div class="bar"><Search label="Find a tool, resource or prompt" placeholder="Find a tool, resource or prompt" value={text} onInput={setText} /></div>
        {shown.length === 0 ? <Empty>Nothing matches.</Empty> : (
          <VirtualList
            id="targets" label="What can be called" rows={shown} rowHeight={36} keyOf={keyOf} selected={null} onSelect={open}
            render={(row) => (
              <div class="target-row">
                <Badge>{row.type}</Badge>
                <span class="mono ellipsis"><Text value={idOf(row)} max={120} /></span>
                <span class="head-space" />
                <span class="muted small nowrap"><Text value={row.server} max={40} /></span>
              </div>
            )}
          />
        )}
      </div>
      <section class="detail-pane stay" aria-labelledby="recent-calls">
        <div class="page-head"><h2 id="recent-calls">Recent calls</h2></div>
        <History calls={state.calls} />
      </section>
    </div>
  );
}

export function titleOf(call: CallSnapshot): string {
  const { request } = call;
  return request.type === "resource" ? request.uri : request.name;
}

function History({ calls }: { calls: CallSnapshot[] }) {
  if (calls.length === 0) return <Empty>No call was made from this console yet.</Empty>;
  return (
    <ul class="rows">
      {calls.map((call) => (
        <li key={call.call}>
          <a class="history-row" href={href(["call", "run", String(call.call)])}>
            <span class="muted small nowrap">{clock(call.startedAtMs)}</span>
            <span class="mono ellipsis"><Text value={titleOf(call)} max={120} /></span>
            <span class="muted small nowrap"><Text value={call.request.server} max={40} /></span>
            <span class="head-space" />
            {outcomeBadge(call.state)}
          </a>
        </li>
      ))}
    </ul>
  );
}

function OneCall({ state, call }: { state: ConsoleState; call: number }) {
  const found = state.calls.find((one) => one.call === call);
  if (found === undefined) return <Empty>This call is no longer kept.</Empty>;
  const { request } = found;
  const id = request.type === "resource" ? request.uri : request.name;
  return (
    <div class="page">
      <div class="page-inner">
        <div class="title-row">
          <h1 class="mono"><Text value={titleOf(found)} max={200} /></h1>
          <span class="muted"><Text value={request.server} max={60} /></span>
          <span class="head-space" />
          <a class="button" href={href(["call", request.type, request.server, id], { from: String(call) })}>Edit and call again</a>
          <a class="button" href={href(["call"])}>All calls</a>
        </div>
        <CallView call={found} state={state} />
      </div>
    </div>
  );
}

interface TargetProps {
  state: ConsoleState;
  type: string;
  server: string;
  id: string;
}

function Target({ state, type, server, id }: TargetProps) {
  const { query } = useRoute();
  const [current, setCurrent] = useState<number | null>(null);
  const { rows, isLoading } = useCatalogRows();
  const row = rows.find((one) => one.type === type && one.server === server && idOf(one) === id);
  const from = state.calls.find((call) => String(call.call) === query["from"])?.request ?? null;
  const call = state.calls.find((one) => one.call === current);
  const props = { state, onStarted: setCurrent, from };
  return (
    <div class="call-grid">
      <section class="call-form" aria-label="Request">
        <div class="title-row">
          <Badge>{type}</Badge>
          <h1 class="mono"><Text value={id} max={200} /></h1>
          <a class="muted small" href={href(["servers", server])}><Text value={server} max={60} /></a>
        </div>
        {row?.type === "tool" && <ToolForm row={row} {...props} />}
        {row?.type === "prompt" && <PromptForm row={row} {...props} />}
        {(row?.type === "resource" || row?.type === "template") && <ResourceForm row={row} {...props} />}
        {row === undefined && type === "resource" && !isLoading && <ResourceForm row={{ type: "resource", server, uri: id }} {...props} />}
        {row === undefined && (isLoading ? <div class="muted">Loading</div> : type !== "resource" && <Empty>It is not in the catalog.</Empty>)}
      </section>
      <section class="call-result" aria-label="Result" aria-live="polite">
        {call === undefined ? <Empty>The result appears here.</Empty> : <CallView key={call.call} call={call} state={state} />}
      </section>
    </div>
  );
}
