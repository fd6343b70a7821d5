// Catalog: everything that servers offer, with what is hidden and why.

import { useMemo } from "preact/hooks";
import { CATALOG_FIELDS, type CatalogRow, idOf } from "../../filter/fields";
import { parseFilter } from "../../filter/filter";
import { useCatalogRows } from "../../state/catalog";
import type { ConsoleState } from "../../state/console_state";
import { navigate, replaceRoute, useRoute } from "../../state/router";
import { count, tokens } from "../../text/format";
import { visibleLine } from "../../text/visible";
import { Badge, Empty, ErrorNote, Search, Segments } from "../../ui/parts";
import { Text } from "../../ui/text";
import { VirtualList } from "../../ui/virtual_list";
import { CatalogDetail } from "./catalog_detail";
import { hiddenRule } from "./hidden_text";

const KINDS = ["tools", "resources", "templates", "prompts"] as const;
type Kind = (typeof KINDS)[number];
const ROW_HEIGHT = 52;

export function keyOf(row: CatalogRow): string {
  return `${row.type}\n${row.server}\n${idOf(row)}`;
}

export function CatalogPage({ state }: { state: ConsoleState }) {
  const { path, query } = useRoute();
  const kind: Kind = KINDS.find((name) => name === path[1]) ?? "tools";
  const text = query["q"] ?? "";
  const { rows, error, isLoading } = useCatalogRows();
  const ofKind = useMemo(() => rows.filter((row) => `${row.type}s` === kind), [rows, kind]);
  const filter = useMemo(() => parseFilter(text, CATALOG_FIELDS), [text]);
  const shown = useMemo(() => (filter.isEmpty ? ofKind : ofKind.filter(filter.matches)), [ofKind, filter]);
  const selected = shown.find((row) => row.server === path[2] && idOf(row) === path[3]) ?? ofKind.find((row) => row.server === path[2] && idOf(row) === path[3]);
  const sum = useMemo(() => shown.reduce((total, row) => total + (row.hidden === null ? row.tokens : 0), 0), [shown]);
  const hidden = useMemo(() => ofKind.filter((row) => row.hidden !== null).length, [ofKind]);
  const counts = useMemo(() => new Map(KINDS.map((name) => [name, rows.filter((row) => `${row.type}s` === name).length])), [rows]);
  const setText = (next: string) => replaceRoute(["catalog", kind, ...path.slice(2, 4)], { q: next });
  const toggle = (word: string) => setText(text.split(" ").includes(word) ? text.split(" ").filter((one) => one !== word).join(" ") : `${text} ${word}`.trim());
  return (
    <div class={`split ${selected === undefined ? "" : "has-detail"} ${path[2] === undefined ? "list-only" : ""}`}>
      <div class="list-pane">
        <div class="page-head">
          <h1>Catalog</h1>
          <Segments<Kind> label="What to list" value={kind} options={KINDS.map((name) => [name, <>{name[0]!.toUpperCase() + name.slice(1)} <span class="muted small wide-only">{count(counts.get(name) ?? 0)}</span></>] as const)} onChange={(next) => navigate(["catalog", next], { q: text })} />
        </div>
        <div class="bar">
          <Search label={`Search ${kind}`} placeholder="Search, or server:files tokens:>500" value={text} onInput={setText} />
          {hidden > 0 && <button type="button" class="button" aria-pressed={text.split(" ").includes("is:hidden")} onClick={() => toggle("is:hidden")}>Hidden {hidden}</button>}
          {kind === "tools" && <button type="button" class="button wide-only" aria-pressed={text.split(" ").includes("is:drifted")} onClick={() => toggle("is:drifted")}>Drifted</button>}
          <span class="muted small nowrap" role="status">{count(shown.length)} of {count(ofKind.length)} · {tokens(sum)} tokens</span>
        </div>
        {filter.problems.map((problem) => <div key={problem} class="bar form-problems">{problem}</div>)}
        {error !== null && <ErrorNote error={error} />}
        {isLoading ? <Empty>Loading</Empty> : shown.length === 0 ? <Empty>{ofKind.length === 0 ? `No server offers ${kind}.` : "Nothing matches."}</Empty> : (
          <VirtualList
            id="catalog" label={kind} rows={shown} rowHeight={ROW_HEIGHT} keyOf={keyOf} selected={selected === undefined ? null : keyOf(selected)}
            onSelect={(row) => navigate(["catalog", kind, row.server, idOf(row)], { q: text })}
            render={(row) => <Row row={row} />}
          />
        )}
      </div>
      {path[2] !== undefined && (
        <section class="detail-pane" aria-label="Item">
          {selected === undefined ? <Empty>{isLoading ? "Loading" : "It is no longer in the catalog."}</Empty> : <CatalogDetail key={keyOf(selected)} row={selected} state={state} />}
        </section>
      )}
    </div>
  );
}

function Row({ row }: { row: CatalogRow }) {
  return (
    <div class={row.hidden === null ? "catalog-row" : "catalog-row is-hidden"}>
      <div class="catalog-line">
        <span class="catalog-name mono"><Text value={idOf(row)} max={160} /></span>
        {row.hidden !== null && <Badge tone="warn" title="Hidden from models">{visibleLine(hiddenRule(row.hidden), 40)}</Badge>}
        {row.type === "tool" && row.drifted && row.hidden?.type !== "drifted" && <Badge tone="bad">drifted</Badge>}
        {row.type === "tool" && row.hints.destructive === true && <Badge tone="bad">destructive</Badge>}
        {row.type === "tool" && row.hints.readOnly === true && <Badge tone="ok">read-only</Badge>}
        {row.type === "tool" && row.taskSupport !== "forbidden" && <Badge tone="violet">task</Badge>}
        <span class="head-space" />
        <span class="muted small nowrap">{tokens(row.tokens)} tok</span>
      </div>
      <div class="catalog-line muted small">
        <span class="catalog-server"><Text value={row.server} max={60} /></span>
        <span class="ellipsis"><Text value={(row.description || row.title || row.name).slice(0, 240)} max={240} /></span>
      </div>
    </div>
  );
}
