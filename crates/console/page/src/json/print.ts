// Prints JSON values; numbers keep their text.

import { type Json, JsonNumber } from "./json";

/** Prints on one line. */
export function printJson(value: Json): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(printJson).join(",")}]`;
  return `{${[...value].map(([name, member]) => `${JSON.stringify(name)}:${printJson(member)}`).join(",")}}`;
}

/** Prints with two spaces of indentation; empty arrays and objects, and arrays of few short scalars, stay on a line. */
export function printPretty(value: Json, indent = ""): string {
  const inner = `${indent}  `;
  if (Array.isArray(value) && value.length > 0) {
    const short = value.every((item) => !Array.isArray(item) && !(item instanceof Map));
    const line = short ? `[${value.map(printJson).join(", ")}]` : "";
    if (short && line.length <= 80) return line;
    return `[\n${value.map((item) => inner + printPretty(item, inner)).join(",\n")}\n${indent}]`;
  }
  if (value instanceof Map && value.size > 0) {
    const members = [...value].map(([name, member]) => `${inner}${JSON.stringify(name)}: ${printPretty(member, inner)}`);
    return `{\n${members.join(",\n")}\n${indent}}`;
  }
  return printJson(value);
}

/** Prints pretty what is JSON, and leaves other text as it is. */
export function prettyText(text: string, parse: (text: string) => Json | undefined): string {
  const value = parse(text);
  return value === undefined ? text : printPretty(value);
}
