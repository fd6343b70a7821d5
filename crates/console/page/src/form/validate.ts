// Validates JSON against the keywords of JSON Schema that a form needs. The server validates again: this is for messages
// beside the fields. Keywords that are not known are ignored.

import { type Json, type JsonObject, JsonNumber, compareNumbers, isEqual, isInteger, isMultipleOf, isObject } from "../json/json";
import { printJson } from "../json/print";
import { checkFormat } from "./format";
import { safePattern } from "./pattern";
import type { SchemaSet } from "./schema_set";

export type Path = (string | number)[];

export interface Problem {
  path: Path;
  message: string;
}

/** The message of a required member that is absent. */
export const REQUIRED = "is required";

const MAX_DEPTH = 64;
const MAX_PROBLEMS = 100;
/** Schemas that are applied; a schema that refers to itself twice would take exponential time. */
const MAX_STEPS = 200_000;

export function validate(set: SchemaSet, schema: Json, value: Json): Problem[] {
  const problems: Problem[] = [];
  check({ set, problems, budget: { left: MAX_STEPS } }, schema, value, [], 0);
  return problems;
}

export function isValid(set: SchemaSet, schema: Json, value: Json): boolean {
  return validate(set, schema, value).length === 0;
}

interface Context {
  set: SchemaSet;
  problems: Problem[];
  budget: { left: number };
}

function check(context: Context, schema: Json, value: Json, path: Path, depth: number): void {
  const { problems, budget } = context;
  if (schema === true || problems.length >= MAX_PROBLEMS || --budget.left < 0) return;
  if (schema === false) {
    problems.push({ path, message: "no value is allowed here" });
    return;
  }
  if (!isObject(schema) || depth > MAX_DEPTH) return;
  const fail = (message: string, at: Path = path) => problems.push({ path: at, message });
  const reference = schema.get("$ref");
  if (typeof reference === "string") {
    const target = context.set.lookup(reference);
    if (target !== undefined) check(context, target, value, path, depth + 1);
  }
  checkType(schema, value, fail);
  checkCombinations(context, schema, value, path, depth);
  if (typeof value === "string") checkString(schema, value, fail);
  else if (value instanceof JsonNumber) checkNumber(schema, value, fail);
  else if (Array.isArray(value)) checkArray(context, schema, value, path, depth);
  else if (isObject(value)) checkObject(context, schema, value, path, depth);
}

type Fail = (message: string, at?: Path) => void;

export function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof JsonNumber) return "number";
  return isObject(value) ? "object" : typeof value;
}

function checkType(schema: JsonObject, value: Json, fail: Fail): void {
  const declared = schema.get("type");
  if (declared !== undefined) {
    const types = Array.isArray(declared) ? declared : [declared];
    const actual = typeOf(value);
    const fits = types.some((type) => type === actual || (type === "integer" && value instanceof JsonNumber && isInteger(value)));
    if (!fits && !(value === null && schema.get("nullable") === true)) {
      fail(`must be ${types.map((type) => (type === "integer" ? "a whole number" : String(type))).join(" or ")}`);
    }
  }
  const constant = schema.get("const");
  if (constant !== undefined && !isEqual(constant, value)) fail(`must be ${short(constant)}`);
  const values = schema.get("enum");
  if (Array.isArray(values) && !values.some((other) => isEqual(other, value))) {
    fail(`must be one of ${values.slice(0, 8).map(short).join(", ")}${values.length > 8 ? ", …" : ""}`);
  }
}

function short(value: Json): string {
  const text = printJson(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function checkCombinations(context: Context, schema: JsonObject, value: Json, path: Path, depth: number): void {
  const { set, problems, budget } = context;
  const matches = (branch: Json) => {
    const own: Context = { set, problems: [], budget };
    check(own, branch, value, path, depth + 1);
    return own.problems.length === 0;
  };
  const all = schema.get("allOf");
  if (Array.isArray(all)) all.forEach((branch) => check(context, branch, value, path, depth + 1));
  const any = schema.get("anyOf");
  if (Array.isArray(any) && !any.some(matches)) problems.push({ path, message: "fits none of the alternatives" });
  const one = schema.get("oneOf");
  if (Array.isArray(one)) {
    const count = one.filter(matches).length;
    if (count === 0) problems.push({ path, message: "fits none of the alternatives" });
    if (count > 1) problems.push({ path, message: `fits ${count} alternatives, but must fit exactly one` });
  }
  const not = schema.get("not");
  if (not !== undefined && matches(not)) problems.push({ path, message: "is excluded by the schema" });
  const condition = schema.get("if");
  if (condition !== undefined) {
    const branch = matches(condition) ? schema.get("then") : schema.get("else");
    if (branch !== undefined) check(context, branch, value, path, depth + 1);
  }
}

function numberOf(schema: JsonObject, keyword: string): number | null {
  const value = schema.get(keyword);
  return value instanceof JsonNumber ? Number(value.text) : null;
}

function checkString(schema: JsonObject, value: string, fail: Fail): void {
  const [min, max] = [numberOf(schema, "minLength"), numberOf(schema, "maxLength")];
  if (min !== null || max !== null) {
    const length = [...value].length;
    if (min !== null && length < min) fail(`must have at least ${min} characters`);
    if (max !== null && length > max) fail(`must have at most ${max} characters`);
  }
  const pattern = schema.get("pattern");
  const expression = typeof pattern === "string" ? safePattern(pattern) : null;
  if (expression !== null && !expression.test(value)) fail(`must match ${String(pattern)}`);
  const format = schema.get("format");
  const problem = typeof format === "string" ? checkFormat(format, value) : null;
  if (problem !== null) fail(problem);
}

function checkNumber(schema: JsonObject, value: JsonNumber, fail: Fail): void {
  const compare = (keyword: string, holds: (order: number) => boolean, words: string) => {
    const limit = schema.get(keyword);
    if (limit instanceof JsonNumber && !holds(compareNumbers(value, limit))) fail(`must be ${words} ${limit.text}`);
  };
  // Draft 4 wrote exclusive limits as true.
  compare("minimum", (order) => order > 0 || (order === 0 && schema.get("exclusiveMinimum") !== true), "at least");
  compare("maximum", (order) => order < 0 || (order === 0 && schema.get("exclusiveMaximum") !== true), "at most");
  compare("exclusiveMinimum", (order) => order > 0, "above");
  compare("exclusiveMaximum", (order) => order < 0, "below");
  const divisor = schema.get("multipleOf");
  if (divisor instanceof JsonNumber && !isMultipleOf(value, divisor)) fail(`must be a multiple of ${divisor.text}`);
}

function checkArray(context: Context, schema: JsonObject, value: Json[], path: Path, depth: number): void {
  const fail = (message: string) => context.problems.push({ path, message });
  const [min, max] = [numberOf(schema, "minItems"), numberOf(schema, "maxItems")];
  if (min !== null && value.length < min) fail(`must have at least ${min} items`);
  if (max !== null && value.length > max) fail(`must have at most ${max} items`);
  if (schema.get("uniqueItems") === true && value.some((item, at) => value.slice(0, at).some((other) => isEqual(item, other)))) {
    fail("must not have equal items");
  }
  const items = schema.get("items");
  const prefixItems = schema.get("prefixItems");
  const prefix = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? schema.get("additionalItems") : items;
  value.forEach((item, at) => {
    const own = at < prefix.length ? prefix[at] : rest;
    if (own !== undefined) check(context, own, item, [...path, at], depth + 1);
  });
  const contains = schema.get("contains");
  if (contains !== undefined) {
    const count = value.filter((item) => isValid(context.set, contains, item)).length;
    if (count < (numberOf(schema, "minContains") ?? 1)) fail("lacks an item that the schema requires");
    if (count > (numberOf(schema, "maxContains") ?? Infinity)) fail("has too many items of one kind");
  }
}

function checkObject(context: Context, schema: JsonObject, value: JsonObject, path: Path, depth: number): void {
  const { set, problems } = context;
  const fail = (message: string, at: Path = path) => problems.push({ path: at, message });
  const required = schema.get("required");
  if (Array.isArray(required)) {
    for (const name of required) if (typeof name === "string" && !value.has(name)) fail(REQUIRED, [...path, name]);
  }
  const [min, max] = [numberOf(schema, "minProperties"), numberOf(schema, "maxProperties")];
  if (min !== null && value.size < min) fail(`must have at least ${min} members`);
  if (max !== null && value.size > max) fail(`must have at most ${max} members`);
  checkMembers(context, schema, value, path, depth);
  const names = schema.get("propertyNames");
  if (names !== undefined) {
    for (const name of value.keys()) if (!isValid(set, names, name)) fail("this name is not allowed", [...path, name]);
  }
  const dependent = schema.get("dependentRequired") ?? schema.get("dependencies");
  if (isObject(dependent)) {
    dependent.forEach((needs, name) => {
      if (!value.has(name)) return;
      if (Array.isArray(needs)) {
        needs.forEach((need) => typeof need === "string" && !value.has(need) && fail(`is required with ${name}`, [...path, need]));
      } else {
        check(context, needs, value, path, depth + 1);
      }
    });
  }
  const dependentSchemas = schema.get("dependentSchemas");
  if (isObject(dependentSchemas)) {
    dependentSchemas.forEach((needs, name) => value.has(name) && check(context, needs, value, path, depth + 1));
  }
}

function checkMembers(context: Context, schema: JsonObject, value: JsonObject, path: Path, depth: number): void {
  const properties = schema.get("properties");
  const patterns = schema.get("patternProperties");
  const extra = schema.get("additionalProperties");
  value.forEach((member, name) => {
    const at = [...path, name];
    let isNamed = false;
    const own = isObject(properties) ? properties.get(name) : undefined;
    if (own !== undefined) {
      isNamed = true;
      check(context, own, member, at, depth + 1);
    }
    if (isObject(patterns)) {
      patterns.forEach((schemaOfPattern, pattern) => {
        const expression = safePattern(pattern);
        if (expression === null || expression.test(name)) isNamed = true;
        if (expression?.test(name) === true) check(context, schemaOfPattern, member, at, depth + 1);
      });
    }
    if (!isNamed && extra === false) context.problems.push({ path: at, message: "is not a member of this object" });
    else if (!isNamed && extra !== undefined) check(context, extra, member, at, depth + 1);
  });
}
