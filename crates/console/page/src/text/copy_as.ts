// A call as a command line, as Rust and as JSON.

import type { CallRequest } from "../api/types";
import { type Json, JsonNumber, isObject } from "../json/json";
import { tryParse } from "../json/parse";
import { printJson, printPretty } from "../json/print";

const SHELL_ESCAPES: Record<string, string> = { "'": "\\'", "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/**
 * Quotes a word for a shell. Control characters, which a terminal would obey when they are pasted, are escaped as every shell
 * with `$'…'` reads them: bash 3.2 has no `\u`.
 */
export function shellQuote(word: string): string {
  if (/[\u0000-\u001f\u007f-\u009f]/.test(word)) {
    return `$'${[...word].map((char) => SHELL_ESCAPES[char] ?? (isControl(char) ? octal(char) : char)).join("")}'`;
  }
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function isControl(char: string): boolean {
  const code = char.codePointAt(0)!;
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/** The bytes of a character: an octal escape is a byte. */
function octal(char: string): string {
  return [...new TextEncoder().encode(char)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

export function asCommand(request: CallRequest): string {
  const words = ["switchboard"];
  const first = request.type === "tool" ? request.server : request.type === "resource" ? request.uri : request.name;
  if (first.startsWith("-")) return "# There is no command line: the name begins with a dash, and would be an option.";
  switch (request.type) {
    case "tool":
      words.push("call", `${request.server}/${request.name}`);
      if (compact(request.argumentsJson) !== "{}") words.push("--args", compact(request.argumentsJson));
      break;
    case "resource":
      words.push("read", request.uri, "--server", request.server);
      break;
    case "prompt":
      words.push("prompt", request.name, ...Object.entries(request.arguments).map(([name, value]) => `${name}=${value}`));
      words.push("--server", request.server);
  }
  return words.map(shellQuote).join(" ");
}

export function asRust(request: CallRequest): string {
  switch (request.type) {
    case "tool": {
      const target = `${rustString(request.server)}, ${rustString(request.name)}`;
      return `let result = host\n    .call_tool(${target}, ${rustJson(request.argumentsJson)})\n    .await?;`;
    }
    case "resource":
      return `let result = host.read_resource(${rustString(request.server)}, ${rustString(request.uri)}).await?;`;
    case "prompt": {
      const pairs = Object.entries(request.arguments).map(([name, value]) => `(${rustString(name)}, ${rustString(value)})`);
      // The type of an empty list is not known.
      const list = pairs.length === 0 ? "[(\"\", \"\"); 0]" : `[${pairs.join(", ")}]`;
      return `let prompt = host\n    .get_prompt(${rustString(request.server)}, ${rustString(request.name)}, ${list})\n    .await?;`;
    }
  }
}

/** The JSON-RPC request. */
export function asJson(request: CallRequest): string {
  switch (request.type) {
    case "tool": {
      const meta = request.metaJson === null ? "" : `,"_meta":${compact(request.metaJson)}`;
      return message("tools/call", `{"name":${JSON.stringify(request.name)},"arguments":${compact(request.argumentsJson)}${meta}}`);
    }
    case "resource":
      return message("resources/read", `{"uri":${JSON.stringify(request.uri)}}`);
    case "prompt":
      return message("prompts/get", JSON.stringify({ name: request.name, arguments: request.arguments }));
  }
}

function message(method: string, params: string): string {
  const value = tryParse(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
  return value === undefined ? "" : printPretty(value);
}

function compact(json: string): string {
  const value = tryParse(json);
  return value === undefined ? json : printJson(value);
}

/** Longer JSON would reach the recursion limit of the macro. */
const MAX_MACRO_LENGTH = 2000;

/** JSON as an expression: the macro where Rust reads every number in it as it is, and otherwise its text. */
function rustJson(json: string): string {
  const value = tryParse(json);
  if (value !== undefined && json.length <= MAX_MACRO_LENGTH && hasRustNumbers(value)) return `serde_json::json!(${rustTree(value, "    ")})`;
  return `switchboard::protocol::Raw::parse(${rustString(compact(json))})?`;
}

/** Whole numbers in the macro are those of 32 bits. */
function hasRustNumbers(value: Json): boolean {
  if (value instanceof JsonNumber) return String(Number(value.text)) === value.text && (value.text.includes(".") || Math.abs(Number(value.text)) < 2 ** 31);
  if (Array.isArray(value)) return value.every(hasRustNumbers);
  return !isObject(value) || [...value.values()].every(hasRustNumbers);
}

function rustTree(value: Json, indent: string): string {
  if (typeof value === "string") return rustString(value);
  const inner = `${indent}    `;
  const block = (open: string, lines: string[], close: string) => (lines.length === 0 ? open + close : `${open}\n${lines.map((line) => inner + line).join(",\n")}\n${indent}${close}`);
  if (Array.isArray(value)) return block("[", value.map((item) => rustTree(item, inner)), "]");
  if (isObject(value)) return block("{", [...value].map(([name, member]) => `${rustString(name)}: ${rustTree(member, inner)}`), "}");
  return printJson(value);
}

function rustString(text: string): string {
  const escaped = [...text].map((char) => {
    if (char === '"' || char === "\\") return `\\${char}`;
    if (char === "\n") return "\\n";
    return isControl(char) || /[\u200b-\u206f\ufeff]/.test(char) ? `\\u{${char.codePointAt(0)!.toString(16)}}` : char;
  });
  return `"${escaped.join("")}"`;
}
