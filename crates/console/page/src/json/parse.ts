// A JSON parser that keeps the text of numbers and reports where the text is wrong. Its depth is bounded.

import { type Json, JsonNumber } from "./json";

export class JsonError extends Error {
  constructor(
    message: string,
    readonly offset: number,
    readonly line: number,
    readonly column: number,
  ) {
    super(`${message} at line ${line}, column ${column}`);
  }
}

const MAX_DEPTH = 512;
const NUMBER_AT = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Record<string, string> = {
  '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t",
};

/** `keepLast`: of two members with one name the last wins, which is only good enough to show a value. */
export interface ParseOptions {
  duplicates: "reject" | "keepLast";
}

export function parseJson(text: string, options: ParseOptions = { duplicates: "reject" }): Json {
  const parser = new Parser(text, options);
  return parser.document();
}

/** Parses text for display: `null` if it is not JSON. */
export function tryParse(text: string): Json | undefined {
  try {
    return parseJson(text, { duplicates: "keepLast" });
  } catch {
    return undefined;
  }
}

class Parser {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly options: ParseOptions,
  ) {}

  document(): Json {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail("unexpected text after the value");
    return value;
  }

  private fail(message: string, at = this.at): never {
    const before = this.text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    throw new JsonError(message, at, line, column);
  }

  private space(): void {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at++;
  }

  private value(depth: number): Json {
    if (depth > MAX_DEPTH) this.fail(`more than ${MAX_DEPTH} levels`);
    this.space();
    switch (this.text[this.at]) {
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      case undefined:
        return this.fail("a value is missing");
      default:
        return this.number();
    }
  }

  private word<T extends Json>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail("not a JSON value");
    this.at += word.length;
    return value;
  }

  private number(): JsonNumber {
    NUMBER_AT.lastIndex = this.at;
    const found = NUMBER_AT.exec(this.text);
    if (found === null) return this.fail("not a JSON value");
    this.at += found[0].length;
    return new JsonNumber(found[0]);
  }

  private string(): string {
    const start = this.at++;
    let value = "";
    for (;;) {
      PLAIN_TEXT.lastIndex = this.at;
      const plain = PLAIN_TEXT.exec(this.text)![0];
      value += plain;
      this.at += plain.length;
      const next = this.text[this.at++];
      if (next === '"') return value;
      if (next === undefined) this.fail("a string does not end", start);
      if (next !== "\\") this.fail("a control character in a string", this.at - 1);
      value += this.escape();
    }
  }

  private escape(): string {
    const letter = this.text[this.at++] ?? "";
    if (letter === "u") {
      const digits = this.text.slice(this.at, this.at + 4);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail("four hexadecimal digits must follow \\u");
      this.at += 4;
      return String.fromCharCode(parseInt(digits, 16));
    }
    return Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter]! : this.fail("an unknown escape", this.at - 1);
  }

  private array(depth: number): Json[] {
    const items: Json[] = [];
    this.at++;
    this.space();
    if (this.text[this.at] === "]") return this.at++, items;
    for (;;) {
      items.push(this.value(depth + 1));
      if (this.separator("]")) return items;
    }
  }

  private object(depth: number): Json {
    const members = new Map<string, Json>();
    this.at++;
    this.space();
    if (this.text[this.at] === "}") return this.at++, members;
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') this.fail("a member name in double quotes is missing");
      const start = this.at;
      const name = this.string();
      if (this.options.duplicates === "reject" && members.has(name)) {
        this.fail(`the member ${JSON.stringify(name)} is there twice`, start);
      }
      this.space();
      if (this.text[this.at++] !== ":") this.fail("a colon is missing", this.at - 1);
      members.set(name, this.value(depth + 1));
      if (this.separator("}")) return members;
    }
  }

  /** Reads a comma (false) or the end (true). */
  private separator(end: string): boolean {
    this.space();
    const next = this.text[this.at];
    if (next !== "," && next !== end) this.fail(`a comma or ${end} is missing`);
    this.at++;
    return next === end;
  }
}
