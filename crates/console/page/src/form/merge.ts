// Merges two schemas that both apply. What cannot be merged exactly is refused, never approximated.

import { type Json, type JsonObject, JsonNumber, compareNumbers, isEqual, isObject } from "../json/json";

const ANNOTATIONS = new Set([
  "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "enumNames",
]);
const LARGER_WINS = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const SMALLER_WINS = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);

export function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject | null {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  if (closesOver(a, b) || closesOver(b, a)) return null;
  const merged: JsonObject = new Map(a);
  for (const [keyword, value] of b) {
    const mine = a.get(keyword);
    const both = mine === undefined || ANNOTATIONS.has(keyword) ? value : mergeKeyword(keyword, mine, value);
    if (both === undefined) return null;
    merged.set(keyword, both);
  }
  return merged;
}

/** Whether `a` forbids or constrains members that only `b` names. */
function closesOver(a: JsonObject, b: JsonObject): boolean {
  const extra = a.get("additionalProperties");
  if (extra === undefined || extra === true) return false;
  const mine = a.get("properties");
  const theirs = b.get("properties");
  if (!isObject(theirs)) return false;
  return [...theirs.keys()].some((name) => !isObject(mine) || !mine.has(name));
}

/** Returns undefined if the two cannot both be kept in one keyword. */
function mergeKeyword(keyword: string, a: Json, b: Json): Json | undefined {
  if (isEqual(a, b)) return a;
  if (keyword === "type") return intersectTypes(a, b);
  if (keyword === "enum") return Array.isArray(a) && Array.isArray(b) ? intersect(a, b) : undefined;
  if (keyword === "required") {
    if (!Array.isArray(a) || !Array.isArray(b)) return undefined;
    return [...a, ...b.filter((name) => !a.includes(name))];
  }
  if (keyword === "properties") return mergeProperties(a, b);
  if (keyword === "items" || keyword === "propertyNames") {
    return Array.isArray(a) || Array.isArray(b) ? undefined : new Map<string, Json>([["allOf", [a, b]]]);
  }
  if (a instanceof JsonNumber && b instanceof JsonNumber) {
    const order = compareNumbers(a, b);
    if (LARGER_WINS.has(keyword)) return order < 0 ? b : a;
    if (SMALLER_WINS.has(keyword)) return order < 0 ? a : b;
  }
  if (keyword === "uniqueItems") return true;
  return undefined;
}

function intersect(a: Json[], b: Json[]): Json[] {
  return a.filter((value) => b.some((other) => isEqual(value, other)));
}

function intersectTypes(a: Json, b: Json): Json | undefined {
  const list = (types: Json) => (Array.isArray(types) ? types : [types]);
  const [mine, theirs] = [list(a), list(b)];
  const both = mine.filter((type) => theirs.includes(type) || (type === "integer" && theirs.includes("number")));
  const narrowed = theirs.filter((type) => type === "integer" && mine.includes("number") && !mine.includes("integer"));
  const types = [...both, ...narrowed];
  return types.length === 0 ? undefined : types.length === 1 ? types[0] : types;
}

function mergeProperties(a: Json, b: Json): Json | undefined {
  if (!isObject(a) || !isObject(b)) return undefined;
  const merged: JsonObject = new Map(a);
  for (const [name, schema] of b) {
    const mine = a.get(name);
    merged.set(name, mine === undefined ? schema : new Map<string, Json>([["allOf", [mine, schema]]]));
  }
  return merged;
}
