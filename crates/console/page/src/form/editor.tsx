// The editor of a value with a schema: a form, or its JSON text. Switching keeps the value; a draft that is not JSON keeps
// its text and blocks the switch.

import { useMemo, useState } from "preact/hooks";
import { JsonError, parseJson, tryParse } from "../json/parse";
import { printJson, printPretty } from "../json/print";
import { Note, Segments } from "../ui/parts";
import { Text } from "../ui/text";
import { Field, LabeledField } from "./fields";
import { describe } from "./node";
import { SchemaSet } from "./schema_set";
import { type FormState, initialState, outputOf, stateOf } from "./state";
import { type Problem, REQUIRED, validate } from "./validate";

export interface EditorState {
  mode: "form" | "raw";
  form: FormState;
  /** The text of the raw mode. */
  raw: string;
}

export interface Editor {
  set: SchemaSet;
  state: EditorState;
  setState: (state: EditorState) => void;
  /** The value as JSON text; null while a draft is not JSON. */
  json: string | null;
  problems: Problem[];
  /** Names of required members that are absent. */
  missing: string[];
}

/** Creates an editor; it starts anew when the schema is another one. */
export function useEditor(schemaJson: string, start: string | null = null): Editor {
  const set = useMemo(() => new SchemaSet(tryParse(schemaJson) ?? true), [schemaJson]);
  const initial = useMemo(() => startState(set, start), [set, start]);
  const [held, hold] = useState({ set, state: initial });
  const state = held.set === set ? held.state : initial;
  const setState = (next: EditorState) => hold({ set, state: next });
  const { json, problems } = useMemo(() => check(set, state), [set, state]);
  const missing = problems.filter((problem) => problem.message === REQUIRED).map((problem) => problem.path.join("."));
  return { set, state, setState, json, problems, missing };
}

function startState(set: SchemaSet, start: string | null): EditorState {
  const value = start === null ? undefined : tryParse(start);
  const form = value === undefined ? initialState(set, set.root, true) : stateOf(set, describe(set, set.root), value);
  return { mode: "form", form, raw: start ?? "" };
}

function check(set: SchemaSet, state: EditorState): { json: string | null; problems: Problem[] } {
  const form: FormState = state.mode === "raw" ? { t: "raw", text: state.raw } : state.form;
  const { value, drafts } = outputOf(form);
  if (drafts.length > 0) return { json: null, problems: drafts };
  const sent = value ?? new Map();
  return { json: printJson(sent), problems: validate(set, set.root, sent) };
}

/** Returns the state in the other mode; null if a draft is not JSON. */
export function switchMode(set: SchemaSet, state: EditorState): EditorState | null {
  if (state.mode === "form") {
    const { value, drafts } = outputOf(state.form);
    return drafts.length > 0 ? null : { ...state, mode: "raw", raw: printPretty(value ?? new Map()) };
  }
  try {
    const value = state.raw.trim() === "" ? new Map() : parseJson(state.raw);
    return { ...state, mode: "form", form: stateOf(set, describe(set, set.root), value) };
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}

export function SchemaEditor({ editor, label }: { editor: Editor; label: string }) {
  const { set, state, setState, problems } = editor;
  const node = describe(set, set.root);
  const other = switchMode(set, state);
  return (
    <div class="editor">
      <div class="form-label">
        <span class="form-name">{label}</span>
        <span class="head-space" />
        <Segments label={`Edit ${label} as`} options={[["form", "Form"], ["raw", "JSON"]]} value={state.mode} onChange={(mode) => mode !== state.mode && other !== null && setState(other)} />
      </div>
      {other === null && <Note tone="warn">Correct what is not JSON before you switch; nothing is lost.</Note>}
      {state.mode === "raw" ? (
        <>
          <textarea class="field code" aria-label={`${label} as JSON`} aria-describedby="editor-problems" value={state.raw} spellcheck={false} onInput={(event) => setState({ ...state, raw: event.currentTarget.value })} />
          <div id="editor-problems" class="form-problems">
            {problems.slice(0, 20).map((problem, at) => (
              <div key={at}>{problem.path.length > 0 && <code><Text value={`/${problem.path.join("/")}`} max={120} /></code>} {problem.message}</div>
            ))}
          </div>
        </>
      ) : node.kind === "object" && state.form.t === "object" ? (
        <Field set={set} schema={set.root} node={node} state={state.form} onChange={(form) => setState({ ...state, form })} path={[]} problems={problems} id="editor" describedBy="editor-problems" />
      ) : (
        <LabeledField set={set} schema={set.root} name={label} required path={[]} state={state.form} onChange={(form) => setState({ ...state, form })} onUnset={null} problems={problems} />
      )}
      {state.mode === "form" && node.kind === "object" && (
        <div id="editor-problems" class="form-problems">
          {problems.filter((problem) => problem.path.length === 0).map((problem) => <div key={problem.message}>{problem.message}</div>)}
        </div>
      )}
    </div>
  );
}
