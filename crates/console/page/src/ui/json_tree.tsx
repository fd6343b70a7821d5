// A JSON value as a tree. Members are rendered when they are opened; long lists are shown in parts.

import { useState } from "preact/hooks";
import { type Json, JsonNumber, isObject } from "../json/json";
import { tryParse } from "../json/parse";
import { printPretty } from "../json/print";
import { CopyButton } from "./parts";
import { Text } from "./text";

const PART = 100;

export function JsonTree({ value, depth = 2 }: { value: Json; depth?: number }) {
  return (
    <div class="json">
      <Node name={null} value={value} open={depth} />
    </div>
  );
}

/** JSON text as a tree, or as it is if it is not JSON. */
export function JsonText({ text, depth = 2, copy = true }: { text: string; depth?: number; copy?: boolean }) {
  const value = tryParse(text);
  if (value === undefined) return <pre class="code-block"><Text value={text} max={20_000} expandable /></pre>;
  return (
    <div class="json-box">
      {copy && <div class="json-copy"><CopyButton text={() => printPretty(value)} /></div>}
      <JsonTree value={value} depth={depth} />
    </div>
  );
}

function Node({ name, value, open }: { name: string | number | null; value: Json; open: number }) {
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) {
    return <div class="json-line"><Name name={name} /><Scalar value={value} /></div>;
  }
  const entries: [string | number, Json][] = isList ? value.map((item, at) => [at, item]) : [...value];
  if (entries.length === 0) return <div class="json-line"><Name name={name} />{isList ? "[]" : "{}"}</div>;
  return <Branch name={name} isList={isList} entries={entries} open={open} />;
}

interface BranchProps {
  name: string | number | null;
  isList: boolean;
  entries: [string | number, Json][];
  open: number;
}

function Branch({ name, isList, entries, open }: BranchProps) {
  const [isOpen, setOpen] = useState(open > 0 && entries.length <= PART * 2);
  const [shown, setShown] = useState(PART);
  const summary = isList ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <div>
      <button type="button" class="json-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="json-arrow" aria-hidden="true" />
        <Name name={name} />
        <span class="muted">{summary}</span>
      </button>
      {isOpen && (
        <div class="json-children">
          {entries.slice(0, shown).map(([key, member]) => <Node key={key} name={key} value={member} open={open - 1} />)}
          {entries.length > shown && (
            <button type="button" class="button tiny" onClick={() => setShown(shown + PART * 10)}>Show more of {entries.length}</button>
          )}
        </div>
      )}
    </div>
  );
}

function Name({ name }: { name: string | number | null }) {
  if (name === null) return null;
  return typeof name === "number" ? <span class="muted">{name}: </span> : <span class="json-name"><Text value={name} max={200} />: </span>;
}

function Scalar({ value }: { value: null | boolean | string | JsonNumber }) {
  if (typeof value === "string") return <span class="json-string">"<Text value={value} max={400} expandable />"</span>;
  if (value instanceof JsonNumber) return <span class="json-number">{value.text}</span>;
  return <span class="json-word">{String(value)}</span>;
}
