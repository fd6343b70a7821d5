// The controls of single values: text, numbers, choices, files, and JSON text.

import { useState } from "preact/hooks";
import { type Json, isSame } from "../json/json";
import { bytes } from "../text/format";
import { type Choice, type FormNode, labelOf } from "./node";
import type { SchemaSet } from "./schema_set";
import { ABSENT, type FormState, nextKey } from "./state";
import { type Path, type Problem, REQUIRED } from "./validate";

export interface FieldProps {
  set: SchemaSet;
  schema: Json;
  state: FormState;
  onChange: (state: FormState) => void;
  path: Path;
  /** Problems of this value and those inside. */
  problems: Problem[];
}

export interface ControlProps extends FieldProps {
  node: FormNode;
  id: string;
  describedBy: string;
}

/** Files above this size would exceed the limit of a request. */
const MAX_FILE_BYTES = 2_500_000;

/** What a screen reader says of a control. */
export function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "value";
  return typeof last === "number" ? `item ${last} of ${String(path.at(-2) ?? "list")}` : last === "" ? "member without a name" : last;
}

function invalid(problems: Problem[], path: Path): boolean {
  return problems.some((problem) => problem.path.length === path.length && problem.message !== REQUIRED);
}

export function TextField({ state, onChange, node, id, describedBy, problems, path }: ControlProps) {
  const example = node.info.examples.find((value) => typeof value === "string");
  const text = state.t === "text" ? state.text : "";
  const hint = state.t === "absent" ? "left out" : "empty text";
  return (
    <div class="with-copy">
      <textarea class="field" id={id} aria-label={nameOf(path)} rows={1} value={text} placeholder={example === undefined ? hint : `${hint}, for example ${String(example)}`} spellcheck={false} aria-invalid={invalid(problems, path)} aria-describedby={describedBy} onInput={(event) => onChange({ t: "text", text: event.currentTarget.value })} />
      {state.t === "absent" && <button type="button" class="button tiny" title="Send an empty text" onClick={() => onChange({ t: "text", text: "" })}>""</button>}
    </div>
  );
}

export function NumberField({ state, onChange, node, id, describedBy, problems, path }: ControlProps) {
  const text = state.t === "number" ? state.text : "";
  const integer = node.kind === "number" && node.integer;
  const set = (value: string) => onChange(value === "" ? ABSENT : { t: "number", text: value });
  return (
    <input class="field mono" id={id} aria-label={nameOf(path)} type="text" inputMode={integer ? "numeric" : "decimal"} value={text} placeholder="left out" autocomplete="off" aria-invalid={invalid(problems, path)} aria-describedby={describedBy} onInput={(event) => set(event.currentTarget.value)} />
  );
}

export function ChoiceField({ state, onChange, id, describedBy, problems, path, choices }: ControlProps & { choices: { label: string; value: Json }[] }) {
  const at = state.t === "value" ? choices.findIndex((choice) => isSame(choice.value, state.value)) : -1;
  const set = (value: string) => onChange(value === "" ? ABSENT : { t: "value", value: choices[Number(value)]!.value });
  return (
    <select class="field" id={id} aria-label={nameOf(path)} value={at < 0 ? "" : String(at)} aria-invalid={invalid(problems, path)} aria-describedby={describedBy} onChange={(event) => set(event.currentTarget.value)}>
      <option value="">left out</option>
      {choices.map((choice, index) => <option key={index} value={String(index)}>{optionText(choice)}</option>)}
    </select>
  );
}

function optionText({ label, value }: { label: string; value: Json }): string {
  const plain = labelOf(value);
  return label === plain || typeof value !== "string" ? label : `${label} (${plain})`;
}

export function RawField({ state, onChange, node, id, describedBy, problems, path }: ControlProps) {
  const text = state.t === "raw" ? state.text : "";
  const reason = node.kind === "raw" ? node.reason : null;
  return (
    <>
      {reason !== null && <div class="muted small">No form: {reason}.</div>}
      <textarea class="field code" id={id} value={text} placeholder="JSON; empty is left out" spellcheck={false} aria-label={`${nameOf(path)} as JSON`} aria-invalid={invalid(problems, path)} aria-describedby={describedBy} onInput={(event) => onChange(event.currentTarget.value === "" ? ABSENT : { t: "raw", text: event.currentTarget.value })} />
    </>
  );
}

export function FileField({ state, onChange, id, describedBy, problems, path }: ControlProps) {
  const [error, setError] = useState<string | null>(null);
  const text = state.t === "text" ? state.text : "";
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > MAX_FILE_BYTES) return setError(`${file.name} has ${bytes(file.size)}; at most ${bytes(MAX_FILE_BYTES)} can be sent`);
    setError(null);
    onChange({ t: "text", text: base64(new Uint8Array(await file.arrayBuffer())) });
  };
  return (
    <>
      <input class="field" id={id} aria-label={`File for ${nameOf(path)}`} type="file" aria-describedby={describedBy} aria-invalid={invalid(problems, path)} onChange={(event) => void read(event.currentTarget.files?.[0])} />
      {state.t === "text" && <textarea class="field code" rows={2} aria-label={`${nameOf(path)} as base64`} spellcheck={false} value={text} onInput={(event) => onChange({ t: "text", text: event.currentTarget.value })} />}
      {state.t === "text" && <div class="muted small">{bytes(text.length)} of base64</div>}
      {error !== null && <div class="form-problems">{error}</div>}
    </>
  );
}

export function base64(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000) text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(text);
}

/** Whether every item is another one of the choices. */
export function isPicked(state: FormState, choices: Choice[]): boolean {
  if (state.t !== "array") return false;
  const picks = state.items.map(({ state: item }) => (item.t === "value" ? choices.findIndex((choice) => isSame(choice.value, item.value)) : -1));
  return picks.every((pick, at) => pick >= 0 && picks.indexOf(pick) === at);
}

export function BoxesField({ state, onChange, choices, path }: ControlProps & { choices: Choice[] }) {
  const items = state.t === "array" ? state.items : [];
  const at = (choice: Choice) => items.findIndex(({ state: item }) => item.t === "value" && isSame(item.value, choice.value));
  const toggle = (choice: Choice) => {
    const found = at(choice);
    onChange({ t: "array", items: found >= 0 ? items.filter((_, index) => index !== found) : [...items, { key: nextKey(), state: { t: "value", value: choice.value } }] });
  };
  return (
    <div class="boxes" role="group" aria-label={nameOf(path)}>
      {choices.map((choice, index) => (
        <label key={index} class="check"><input type="checkbox" checked={at(choice) >= 0} onChange={() => toggle(choice)} />{optionText(choice)}</label>
      ))}
      <span class="muted small">{state.t === "absent" ? "left out" : items.length === 0 ? "empty list" : ""}</span>
    </div>
  );
}
