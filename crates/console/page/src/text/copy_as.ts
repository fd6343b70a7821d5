// A call as a command line, as Rust and as JSON.

import type { CallRequest } from "../api/types";
import { tryParse } from "../json/parse";
import { printJson, printPretty } from "../json/print";

/** Quotes a word for a POSIX shell. */
export function shellQuote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function asCommand(request: CallRequest): string {
  const words = ["switchboard"];
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
      const name = rustString(`mcp__${request.server}__${request.name}`);
      return `let result = host\n    .call(${name}, serde_json::json!(${pretty(request.argumentsJson, "    ")}))\n    .await?;`;
    }
    case "resource":
      return `let result = host.read_resource(${rustString(request.server)}, ${rustString(request.uri)}).await?;`;
    case "prompt": {
      const pairs = Object.entries(request.arguments).map(([name, value]) => `(${rustString(name)}, ${rustString(value)})`);
      return `let prompt = host\n    .get_prompt(${rustString(request.server)}, ${rustString(request.name)}, [${pairs.join(", ")}])\n    .await?;`;
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

function pretty(json: string, indent: string): string {
  const value = tryParse(json);
  return value === undefined ? json : printPretty(value, indent);
}

function rustString(text: string): string {
  const escaped = [...text].map((char) => {
    if (char === '"' || char === "\\") return `\\${char}`;
    if (char === "\n") return "\\n";
    const code = char.codePointAt(0)!;
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || /[\u200b-\u206f\ufeff]/.test(char) ? `\\u{${code.toString(16)}}` : char;
  });
  return `"${escaped.join("")}"`;
}
