// A result by what it is: the content of a tool, the contents of a resource, the messages of a prompt.

import { useState } from "preact/hooks";
import type { CallRequest } from "../../api/types";
import { type Json, type JsonObject, isObject } from "../../json/json";
import { tryParse } from "../../json/parse";
import { JsonText, JsonTree } from "../../ui/json_tree";
import { Badge, Segments } from "../../ui/parts";
import { ContentBlock, ResourceContents } from "./content_block";

export function ResultView({ request, text }: { request: CallRequest; text: string }) {
  const [view, setView] = useState<"content" | "json">("content");
  const value = tryParse(text);
  if (!isObject(value)) return <JsonText text={text} />;
  return (
    <div class="stack">
      <div class="title-row">
        <h2>Result</h2>
        <span class="head-space" />
        <Segments label="Show the result as" options={[["content", "Content"], ["json", "JSON"]]} value={view} onChange={setView} />
      </div>
      {view === "json" ? <JsonText text={text} depth={4} /> : <Content request={request} value={value} />}
    </div>
  );
}

function listOf(value: JsonObject, name: string): Json[] {
  const list = value.get(name);
  return Array.isArray(list) ? list : [];
}

function Content({ request, value }: { request: CallRequest; value: JsonObject }) {
  const structured = value.get("structuredContent");
  if (request.type === "prompt") {
    return (
      <ol class="messages">
        {listOf(value, "messages").map((message, at) => isObject(message) && (
          <li key={at} class="message">
            <Badge tone={message.get("role") === "assistant" ? "violet" : "info"}>{String(message.get("role"))}</Badge>
            <ContentBlock block={message.get("content") ?? null} />
          </li>
        ))}
      </ol>
    );
  }
  if (request.type === "resource") {
    return <div class="stack">{listOf(value, "contents").map((contents, at) => <ResourceContents key={at} contents={contents} />)}</div>;
  }
  const blocks = listOf(value, "content");
  return (
    <div class="stack">
      {blocks.map((block, at) => <ContentBlock key={at} block={block} />)}
      {structured !== undefined && (
        <section class="card" aria-label="Structured content">
          <div class="card-head"><h2>Structured content</h2></div>
          <div class="card-body"><JsonTree value={structured} depth={4} /></div>
        </section>
      )}
      {blocks.length === 0 && structured === undefined && <p class="muted">The result has no content.</p>}
    </div>
  );
}
