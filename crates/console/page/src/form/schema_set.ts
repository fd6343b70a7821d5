// The schemas of one document: resolves `$ref`, merges `allOf`, and caches both.

import { type Json, type JsonObject, isEqual, isObject } from "../json/json";
import { mergeSchemas } from "./merge";

/** A schema without `$ref` and `allOf`, or the reason why it could not be made. */
export type Flat = { schema: JsonObject; reason: null } | { schema: null; reason: string };

const MAX_DEPTH = 24;
/** Keywords that hold definitions or name the document; they do not constrain a value. */
const DOCUMENT_KEYWORDS = new Set(["$schema", "$id", "id", "$anchor", "$defs", "definitions", "$comment", "$vocabulary"]);

export class SchemaSet {
  private readonly flat = new Map<Json, Flat>();
  private readonly anchors = new Map<string, Json>();
  /** Schemas that are being flattened: one of them within itself has no end. */
  private readonly active = new Set<Json>();

  constructor(readonly root: Json) {
    collectAnchors(root, this.anchors, 0);
  }

  /** Returns the schema that a `$ref` of this document names. */
  lookup(reference: string): Json | undefined {
    if (reference === "#") return this.root;
    if (reference.startsWith("#/")) return pointer(this.root, reference.slice(2));
    const rootId = isObject(this.root) ? (this.root.get("$id") ?? this.root.get("id")) : undefined;
    if (typeof rootId === "string" && reference.startsWith(`${rootId}#`)) {
      return this.lookup(reference.slice(rootId.length));
    }
    return this.anchors.get(reference);
  }

  flatten(schema: Json, depth = 0): Flat {
    const known = this.flat.get(schema);
    if (known !== undefined) return known;
    if (this.active.has(schema)) return { schema: null, reason: "the schema refers to itself" };
    this.active.add(schema);
    const made = this.makeFlat(schema, depth);
    this.active.delete(schema);
    if (isObject(schema)) this.flat.set(schema, made);
    return made;
  }

  private makeFlat(schema: Json, depth: number): Flat {
    if (schema === true) return { schema: new Map(), reason: null };
    if (schema === false) return { schema: null, reason: "the schema allows no value" };
    if (!isObject(schema)) return { schema: null, reason: "the schema is not an object" };
    if (depth > MAX_DEPTH) return { schema: null, reason: "the schema refers to itself" };
    const reference = schema.get("$ref");
    const all = schema.get("allOf");
    if (reference === undefined && all === undefined) return { schema, reason: null };
    const parts: Json[] = [];
    if (reference !== undefined) {
      const target = typeof reference === "string" ? this.lookup(reference) : undefined;
      if (target === undefined) return { schema: null, reason: `$ref ${String(reference)} is not in the schema` };
      parts.push(target);
    }
    if (all !== undefined) {
      if (!Array.isArray(all)) return { schema: null, reason: "allOf is not a list" };
      parts.push(...all);
    }
    const own = [...schema].filter(([name]) => name !== "$ref" && name !== "allOf" && !DOCUMENT_KEYWORDS.has(name));
    let merged: JsonObject = new Map();
    for (const part of parts) {
      const flat = this.flatten(part, depth + 1);
      if (flat.schema === null) return flat;
      const next = mergeSchemas(merged, flat.schema);
      if (next === null) return { schema: null, reason: "the parts of allOf cannot be shown as one form" };
      merged = next;
    }
    const result = mergeSchemas(merged, new Map(own));
    if (result === null) return { schema: null, reason: "the parts of allOf cannot be shown as one form" };
    return { schema: result, reason: null };
  }
}

function pointer(root: Json, path: string): Json | undefined {
  let value: Json | undefined = root;
  for (const part of path.split("/")) {
    const name: string = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    value = Array.isArray(value) ? value[Number(name)] : isObject(value) ? value.get(name) : undefined;
  }
  return value;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function collectAnchors(value: Json, anchors: Map<string, Json>, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) value.forEach((item) => collectAnchors(item, anchors, depth + 1));
  if (!isObject(value)) return;
  const anchor = value.get("$anchor");
  const id = value.get("$id");
  if (typeof anchor === "string") anchors.set(`#${anchor}`, value);
  if (typeof id === "string") anchors.set(id, value);
  value.forEach((member) => collectAnchors(member, anchors, depth + 1));
}

/** Whether a list of values has this one. */
export function includes(values: Json[], value: Json): boolean {
  return values.some((other) => isEqual(other, value));
}
