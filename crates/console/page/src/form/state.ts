// The state of a form. It says what will be sent, without the schema: absent, null and "" differ, a number keeps its
// text, and whatever a schema cannot show is kept as the JSON text that the user typed.

import { type Json, JsonNumber, NUMBER, isObject, isSame } from "../json/json";
import { JsonError, parseJson } from "../json/parse";
import { printPretty } from "../json/print";
import { describe, type FormNode } from "./node";
import type { SchemaSet } from "./schema_set";
import { isValid, type Path, type Problem } from "./validate";

export type FormState =
  | { t: "absent" }
  | { t: "text"; text: string }
  /** As it was typed; may not be a number yet. */
  | { t: "number"; text: string }
  /** true, false, null or one of the choices of the schema. */
  | { t: "value"; value: Json }
  | { t: "object"; members: Member[] }
  | { t: "array"; items: Item[] }
  | { t: "union"; option: number; state: FormState }
  /** JSON as it was typed; may not be JSON yet. */
  | { t: "raw"; text: string };

export interface Member {
  key: number;
  name: string;
  state: FormState;
}

export interface Item {
  key: number;
  state: FormState;
}

export const ABSENT: FormState = { t: "absent" };
const MAX_DEPTH = 24;
/** Values of an empty form; a schema may require itself. */
const MAX_INITIAL = 200;
let lastKey = 0;

/** Returns a key that is unique in the page, for lists. */
export function nextKey(): number {
  return ++lastKey;
}

/** Returns the state of an empty form. Only what is required and has one possible value is filled in. */
export function initialState(set: SchemaSet, schema: Json, required: boolean, budget = { left: MAX_INITIAL }): FormState {
  if (!required || --budget.left < 0) return ABSENT;
  const node = describe(set, schema);
  if (node.info.default !== undefined) return stateOf(set, node, node.info.default);
  switch (node.kind) {
    case "choice":
      return node.choices.length === 1 ? { t: "value", value: node.choices[0]!.value } : ABSENT;
    case "null":
      return { t: "value", value: null };
    case "object": {
      const members = node.members.filter((member) => member.required);
      return {
        t: "object",
        members: members.map(({ name, schema }) => ({ key: nextKey(), name, state: initialState(set, schema, true, budget) })),
      };
    }
    case "array": {
      const count = Math.min(node.minItems, 10);
      const items = Array.from({ length: count }, (_, at) => {
        const own = node.prefix[at] ?? node.rest ?? true;
        return { key: nextKey(), state: initialState(set, own, true, budget) };
      });
      return { t: "array", items };
    }
    default:
      return ABSENT;
  }
}

/** Returns the state that stands for a value: exactly this value, as JSON text if the form cannot show it. */
export function stateOf(set: SchemaSet, node: FormNode, value: Json, depth = 0): FormState {
  const raw = (): FormState => ({ t: "raw", text: printPretty(value) });
  if (depth > MAX_DEPTH) return raw();
  switch (node.kind) {
    case "string":
      // A text field would change carriage returns.
      return typeof value === "string" && !value.includes("\r") ? { t: "text", text: value } : raw();
    case "number":
      return value instanceof JsonNumber ? { t: "number", text: value.text } : raw();
    case "boolean":
      return typeof value === "boolean" ? { t: "value", value } : raw();
    case "null":
      return value === null ? { t: "value", value } : raw();
    case "choice":
      return node.choices.some((choice) => isSame(choice.value, value)) ? { t: "value", value } : raw();
    case "object":
      return isObject(value) ? objectState(set, node, value, depth) : raw();
    case "array":
      return Array.isArray(value) ? arrayState(set, node, value, depth) : raw();
    case "union": {
      const option = node.options.findIndex((option) => isValid(set, option.schema, value));
      if (option < 0) return raw();
      return { t: "union", option, state: stateOf(set, describe(set, node.options[option]!.schema), value, depth + 1) };
    }
    default:
      return raw();
  }
}

function objectState(set: SchemaSet, node: FormNode & { kind: "object" }, value: Map<string, Json>, depth: number): FormState {
  const specs = new Map(node.members.map((member) => [member.name, member.schema]));
  const members = [...value].map(([name, member]) => {
    const own = describe(set, specs.get(name) ?? node.extra ?? true);
    return { key: nextKey(), name, state: stateOf(set, own, member, depth + 1) };
  });
  return { t: "object", members };
}

function arrayState(set: SchemaSet, node: FormNode & { kind: "array" }, value: Json[], depth: number): FormState {
  const items = value.map((item, at) => {
    const own = describe(set, node.prefix[at] ?? node.rest ?? true);
    return { key: nextKey(), state: stateOf(set, own, item, depth + 1) };
  });
  return { t: "array", items };
}

export interface FormOutput {
  /** What is sent; undefined if nothing is, or if a draft is not JSON. */
  value: Json | undefined;
  /** Drafts that are not JSON yet. Nothing is sent while there is one. */
  drafts: Problem[];
}

/** Returns the value of a form. */
export function outputOf(state: FormState): FormOutput {
  const drafts: Problem[] = [];
  const value = build(state, [], drafts);
  return { value: drafts.length > 0 ? undefined : value, drafts };
}

function build(state: FormState, path: Path, drafts: Problem[]): Json | undefined {
  switch (state.t) {
    case "absent":
      return undefined;
    case "text":
      return state.text;
    case "number":
      if (state.text.trim() === "") return undefined;
      if (!NUMBER.test(state.text.trim())) drafts.push({ path, message: "is not a number" });
      return new JsonNumber(state.text.trim());
    case "value":
      return state.value;
    case "union":
      return build(state.state, path, drafts);
    case "raw":
      return parseDraft(state.text, path, drafts);
    case "array":
      return state.items.map((item, at) => {
        const value = build(item.state, [...path, at], drafts);
        if (value === undefined && !drafts.some((draft) => draft.path[path.length] === at)) {
          drafts.push({ path: [...path, at], message: "has no value" });
        }
        return value ?? null;
      });
    case "object": {
      const members = new Map<string, Json>();
      for (const member of state.members) {
        const value = build(member.state, [...path, member.name], drafts);
        if (value === undefined) continue;
        if (members.has(member.name)) drafts.push({ path: [...path, member.name], message: "is there twice" });
        members.set(member.name, value);
      }
      return members;
    }
  }
}

function parseDraft(text: string, path: Path, drafts: Problem[]): Json | undefined {
  if (text.trim() === "") return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    drafts.push({ path, message: error instanceof JsonError ? `is not JSON: ${error.message}` : "is not JSON" });
    return undefined;
  }
}
