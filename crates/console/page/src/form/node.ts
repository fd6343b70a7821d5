// What a schema looks like as a form: one node for each value. Children are schemas, described when they are shown,
// so that a schema that refers to itself has a finite form.

import { type Json, type JsonObject, JsonNumber, isObject } from "../json/json";
import { printJson } from "../json/print";
import { type SchemaSet, includes } from "./schema_set";

export interface NodeInfo {
  title: string | null;
  description: string | null;
  default: Json | undefined;
  examples: Json[];
  deprecated: boolean;
  /** Limits in words, such as `1 to 10 characters`. */
  limits: string | null;
}

export interface Choice {
  label: string;
  value: Json;
}

export interface UnionOption {
  label: string;
  schema: Json;
}

export interface MemberSpec {
  name: string;
  schema: Json;
  required: boolean;
}

export type FormNode = { info: NodeInfo } & (
  | { kind: "string"; format: string | null; isFile: boolean }
  | { kind: "number"; integer: boolean }
  | { kind: "boolean" }
  | { kind: "null" }
  | { kind: "choice"; choices: Choice[] }
  /** `extra`: the schema of members without a name in the schema; null if there may be none. */
  | { kind: "object"; members: MemberSpec[]; extra: Json | null }
  /** `rest`: the schema of items after the prefix; null if there may be none. */
  | { kind: "array"; prefix: Json[]; rest: Json | null; minItems: number; maxItems: number }
  | { kind: "union"; options: UnionOption[] }
  /** `reason`: why there is no form; null if any JSON is fine. */
  | { kind: "raw"; reason: string | null }
);

const ANNOTATIONS = new Set([
  "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$schema", "$id",
  "$defs", "definitions", "discriminator", "nullable",
]);
const FILE_FORMATS = new Set(["byte", "binary", "base64", "file", "data-url"]);
const TYPES = new Set(["string", "number", "integer", "boolean", "null", "object", "array"]);
/** More choices than this cannot be shown in one list. */
const MAX_CHOICES = 2000;

/** A union of one alternative is that alternative; so many of them within each other are followed. */
const MAX_SINGLE_UNIONS = 8;

export function describe(set: SchemaSet, schema: Json, depth = 0): FormNode {
  const flat = set.flatten(schema);
  if (depth > MAX_SINGLE_UNIONS) return { kind: "raw", reason: "the schema refers to itself", info: infoOf(new Map()) };
  if (flat.schema === null) return { kind: "raw", reason: flat.reason, info: infoOf(new Map()) };
  const info = infoOf(flat.schema);
  const node = describeFlat(set, flat.schema, info, depth);
  return { ...node, info } as FormNode;
}

type Shape = FormNode extends infer N ? (N extends unknown ? Omit<N, "info"> : never) : never;

function describeFlat(set: SchemaSet, schema: JsonObject, info: NodeInfo, depth: number): Shape {
  if (schema.has("const")) return { kind: "choice", choices: [{ label: labelOf(schema.get("const")!), value: schema.get("const")! }] };
  const values = schema.get("enum");
  if (Array.isArray(values)) return enumShape(schema, values);
  const any = schema.get("anyOf") ?? schema.get("oneOf");
  if (any !== undefined) {
    if (schema.has("anyOf") && schema.has("oneOf")) return { kind: "raw", reason: "the schema has both anyOf and oneOf" };
    const union = unionShape(set, schema, any, depth);
    if (union !== null) return union;
  }
  if (schema.has("$dynamicRef") || schema.has("$recursiveRef")) {
    return { kind: "raw", reason: "the schema has a dynamic reference" };
  }
  return typeShape(set, schema, info);
}

function enumShape(schema: JsonObject, values: Json[]): Shape {
  if (values.length === 0) return { kind: "raw", reason: "the schema allows no value" };
  if (values.length > MAX_CHOICES) return { kind: "raw", reason: `the schema has ${values.length} choices` };
  const names = schema.get("enumNames");
  const label = (value: Json, at: number) => {
    const name = Array.isArray(names) ? names[at] : undefined;
    return typeof name === "string" ? name : labelOf(value);
  };
  return { kind: "choice", choices: values.map((value, at) => ({ label: label(value, at), value })) };
}

/** Returns null if the alternatives only constrain a form that the rest of the schema describes. */
function unionShape(set: SchemaSet, schema: JsonObject, any: Json, depth: number): Shape | null {
  if (!Array.isArray(any) || any.length === 0) return { kind: "raw", reason: "anyOf or oneOf is not a list" };
  const own: JsonObject = new Map([...schema].filter(([name]) => name !== "anyOf" && name !== "oneOf" && !ANNOTATIONS.has(name)));
  const shapes = any.some((branch) => hasShape(set, branch));
  if (!shapes && own.has("properties")) return null;
  const branches = any.map((branch): Json => (own.size === 0 ? branch : new Map<string, Json>([["allOf", [own, branch]]])));
  const choices = branches.length <= MAX_CHOICES ? choicesOf(set, branches) : null;
  if (choices !== null) return { kind: "choice", choices };
  if (branches.length === 1) return describe(set, branches[0]!, depth + 1);
  return { kind: "union", options: branches.map((branch, at) => ({ label: branchLabel(set, any[at]!, at), schema: branch })) };
}

function hasShape(set: SchemaSet, branch: Json): boolean {
  const { schema } = set.flatten(branch);
  if (schema === null) return true;
  return ["type", "properties", "const", "enum", "anyOf", "oneOf", "items"].some((keyword) => schema.has(keyword));
}

/** Returns the choices if every branch is a constant, an enumeration or null. */
function choicesOf(set: SchemaSet, branches: Json[]): Choice[] | null {
  const choices: Choice[] = [];
  for (const branch of branches) {
    const { schema } = set.flatten(branch);
    if (schema === null) return null;
    const title = schema.get("title");
    const values = schema.get("enum");
    if (schema.has("const")) {
      const value = schema.get("const")!;
      choices.push({ label: typeof title === "string" ? title : labelOf(value), value });
    } else if (Array.isArray(values)) {
      values.forEach((value) => choices.push({ label: labelOf(value), value }));
    } else if (schema.get("type") === "null") {
      choices.push({ label: "null", value: null });
    } else {
      return null;
    }
  }
  const values = choices.map((choice) => choice.value);
  if (values.length === 0) return null;
  return values.every((value, at) => !includes(values.slice(0, at), value)) ? choices : null;
}

function branchLabel(set: SchemaSet, branch: Json, at: number): string {
  const reference = isObject(branch) ? branch.get("$ref") : undefined;
  const { schema } = set.flatten(branch);
  if (schema === null) return `option ${at + 1}`;
  const title = schema.get("title");
  if (typeof title === "string" && title !== "") return title;
  const properties = schema.get("properties");
  if (isObject(properties)) {
    for (const [name, member] of properties) {
      const constant = set.flatten(member).schema?.get("const");
      if (constant !== undefined) return `${name}: ${labelOf(constant)}`;
    }
  }
  if (typeof reference === "string") return reference.split("/").pop() || `option ${at + 1}`;
  const type = schema.get("type");
  const items = schema.get("items");
  if (type === "array" && isObject(items) && typeof items.get("type") === "string") return `array of ${String(items.get("type"))}`;
  const format = schema.get("format");
  if (typeof type === "string") return typeof format === "string" ? `${type} (${format})` : type;
  return `option ${at + 1}`;
}

function typeShape(set: SchemaSet, schema: JsonObject, info: NodeInfo): Shape {
  const declared = schema.get("type");
  const types = declared === undefined ? inferTypes(schema) : Array.isArray(declared) ? [...declared] : [declared];
  if (schema.get("nullable") === true && types.length > 0 && !types.includes("null")) types.push("null");
  const unknown = types.find((type) => typeof type !== "string" || !TYPES.has(type));
  if (unknown !== undefined) return { kind: "raw", reason: `the schema has the unknown type ${labelOf(unknown)}` };
  if (types.length === 0) return { kind: "raw", reason: null };
  if (types.length === 1) return oneType(set, schema, String(types[0]), info);
  const branch = (type: Json): Json => {
    const members = [...schema].filter(([name]) => name !== "nullable" && !["title", "description", "default", "examples"].includes(name));
    return new Map([...members, ["type", type]]);
  };
  return { kind: "union", options: types.map((type) => ({ label: String(type), schema: branch(type) })) };
}

function inferTypes(schema: JsonObject): Json[] {
  if (["properties", "required", "additionalProperties", "patternProperties"].some((name) => schema.has(name))) return ["object"];
  if (schema.has("items") || schema.has("prefixItems")) return ["array"];
  return [];
}

function oneType(set: SchemaSet, schema: JsonObject, type: string, info: NodeInfo): Shape {
  info.limits = limitsOf(schema, type);
  switch (type) {
    case "string": {
      const format = schema.get("format");
      const isFile = schema.get("contentEncoding") === "base64" || FILE_FORMATS.has(String(format));
      return { kind: "string", format: typeof format === "string" ? format : null, isFile };
    }
    case "number":
    case "integer":
      return { kind: "number", integer: type === "integer" };
    case "boolean":
      return { kind: "boolean" };
    case "null":
      return { kind: "null" };
    case "array":
      return arrayShape(schema);
    default:
      return objectShape(set, schema);
  }
}

function objectShape(set: SchemaSet, schema: JsonObject): Shape {
  const properties = schema.get("properties");
  const required = schema.get("required");
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const members: MemberSpec[] = [];
  if (isObject(properties)) {
    properties.forEach((member, name) => {
      // A member that the schema forbids is not offered.
      if (member !== false && set.flatten(member).reason !== "the schema allows no value") {
        members.push({ name, schema: member, required: isRequired(name) });
      }
    });
  }
  if (Array.isArray(required)) {
    for (const name of required) {
      if (typeof name === "string" && !members.some((member) => member.name === name)) {
        members.push({ name, schema: true, required: true });
      }
    }
  }
  const extra = schema.get("additionalProperties") ?? true;
  return { kind: "object", members, extra: extra === false && !schema.has("patternProperties") ? null : extra === false ? true : extra };
}

function arrayShape(schema: JsonObject): Shape {
  const items = schema.get("items");
  const prefixItems = schema.get("prefixItems");
  const prefix = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const after = Array.isArray(items) ? schema.get("additionalItems") : items;
  const size = (keyword: string, otherwise: number) => {
    const value = schema.get(keyword);
    return value instanceof JsonNumber ? Number(value.text) : otherwise;
  };
  return {
    kind: "array",
    prefix,
    rest: after === false ? null : (after ?? true),
    minItems: size("minItems", 0),
    maxItems: size("maxItems", Infinity),
  };
}

/** Names a value so that the text "null" and null differ. */
export function labelOf(value: Json): string {
  if (typeof value === "string") return value === "" ? '""' : ["null", "true", "false"].includes(value) || /^-?\d/.test(value) ? `"${value}"` : value;
  return printJson(value);
}

function infoOf(schema: JsonObject): NodeInfo {
  const text = (keyword: string) => {
    const value = schema.get(keyword);
    return typeof value === "string" && value !== "" ? value : null;
  };
  const examples = schema.get("examples");
  return {
    title: text("title"),
    description: text("description"),
    default: schema.get("default"),
    examples: Array.isArray(examples) ? examples.slice(0, 5) : [],
    deprecated: schema.get("deprecated") === true,
    limits: null,
  };
}

function limitsOf(schema: JsonObject, type: string): string | null {
  const text = (keyword: string) => {
    const value = schema.get(keyword);
    return value instanceof JsonNumber ? value.text : typeof value === "string" ? value : null;
  };
  const units = (limit: string, unit: string) => (limit === "1" ? `${limit}${unit.replace(/s$/, "")}` : `${limit}${unit}`);
  const range = (low: string | null, high: string | null, unit: string) =>
    low !== null && high !== null ? `${low} to ${high}${unit}` : low !== null ? `at least ${units(low, unit)}` : high !== null ? `at most ${units(high, unit)}` : null;
  const parts: (string | null)[] = [];
  if (type === "string") {
    parts.push(range(text("minLength"), text("maxLength"), " characters"));
    const pattern = text("pattern");
    if (pattern !== null) parts.push(`matches ${pattern.length > 60 ? `${pattern.slice(0, 60)}…` : pattern}`);
  } else if (type === "number" || type === "integer") {
    parts.push(range(text("minimum"), text("maximum"), ""));
    if (text("exclusiveMinimum") !== null) parts.push(`above ${text("exclusiveMinimum")}`);
    if (text("exclusiveMaximum") !== null) parts.push(`below ${text("exclusiveMaximum")}`);
    if (text("multipleOf") !== null) parts.push(`a multiple of ${text("multipleOf")}`);
  } else if (type === "array") {
    parts.push(range(text("minItems"), text("maxItems"), " items"), schema.get("uniqueItems") === true ? "no repeats" : null);
  } else if (type === "object") {
    parts.push(range(text("minProperties"), text("maxProperties"), " members"));
  }
  const present = parts.filter((part) => part !== null);
  return present.length === 0 ? null : present.join(" · ");
}
