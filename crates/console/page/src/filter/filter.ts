// The filter language: `method:tools/call status:error ms:>500 -server:files text`. Terms are joined by "and"; a comma in a
// value is "or"; `-` negates; `*` matches any text. Words without a field search the whole row.

export interface FilterFields<T> {
  /** Text fields by name. */
  text: Record<string, (row: T) => string | null>;
  /** Numeric fields by name; a value may begin with <, <=, > or >=. */
  number: Record<string, (row: T) => number | null>;
  /** What words without a field search, in lower case. */
  all: (row: T) => string;
}

export interface Filter<T> {
  matches: (row: T) => boolean;
  /** What is wrong with the text; the other terms still apply. */
  problems: string[];
  isEmpty: boolean;
}

type Test<T> = (row: T) => boolean;

/** Splits at spaces; a part in double quotes keeps its spaces. */
export function words(text: string): string[] {
  return text.match(/(?:[^\s"]+|"[^"]*"?)+/g) ?? [];
}

export function parseFilter<T>(text: string, fields: FilterFields<T>): Filter<T> {
  const problems: string[] = [];
  const tests = words(text).flatMap((word): Test<T>[] => {
    const isNegated = word.startsWith("-") && word.length > 1;
    const test = parseTerm(isNegated ? word.slice(1) : word, fields, problems);
    return test === null ? [] : [isNegated ? (row) => !test(row) : test];
  });
  return { matches: (row) => tests.every((test) => test(row)), problems, isEmpty: tests.length === 0 };
}

function parseTerm<T>(word: string, fields: FilterFields<T>, problems: string[]): Test<T> | null {
  const colon = word.indexOf(":");
  const name = colon > 0 && !word.startsWith('"') ? word.slice(0, colon).toLowerCase() : "";
  const value = unquote(word.slice(colon + 1));
  if (Object.hasOwn(fields.text, name)) return value === "" ? null : textTest(fields.text[name]!, value);
  if (Object.hasOwn(fields.number, name)) return value === "" ? null : numberTest(name, fields.number[name]!, value, problems);
  if (/^[a-z]+$/.test(name) && !word.startsWith(`${name}://`)) {
    problems.push(`${name}: is not a field; use ${[...Object.keys(fields.text), ...Object.keys(fields.number)].join(", ")}`);
    return null;
  }
  const wanted = unquote(word).toLowerCase();
  return wanted === "" ? null : (row) => fields.all(row).includes(wanted);
}

function unquote(text: string): string {
  return text.replaceAll('"', "");
}

function textTest<T>(read: (row: T) => string | null, value: string): Test<T> {
  const wanted = value.toLowerCase().split(",").filter((part) => part !== "");
  const tests = wanted.map((part): ((text: string) => boolean) => {
    if (!part.includes("*")) return (text) => text.includes(part);
    const pieces = part.split("*");
    return (text) => matchesPieces(text, pieces);
  });
  return (row) => {
    const text = read(row)?.toLowerCase();
    return text !== undefined && tests.some((test) => test(text));
  };
}

/** Matches a pattern with `*`, in time linear in the text. */
function matchesPieces(text: string, pieces: string[]): boolean {
  const last = pieces.length - 1;
  if (!text.startsWith(pieces[0]!)) return false;
  let at = pieces[0]!.length;
  for (const piece of pieces.slice(1, last)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - pieces[last]!.length >= at && text.endsWith(pieces[last]!);
}

function numberTest<T>(name: string, read: (row: T) => number | null, value: string, problems: string[]): Test<T> | null {
  const found = /^(<=|>=|<|>|=)?(\d+(?:\.\d+)?)(k|m|s)?$/i.exec(value);
  if (found === null) {
    problems.push(`${name}: needs a number, like ${name}:>500`);
    return null;
  }
  const [, sign = "=", digits, unit] = found;
  const factor = unit === undefined ? 1 : { k: 1000, m: 1_000_000, s: 1000 }[unit.toLowerCase() as "k" | "m" | "s"];
  const wanted = Number(digits) * factor;
  const holds: Record<string, (own: number) => boolean> = {
    "<": (own) => own < wanted,
    "<=": (own) => own <= wanted,
    ">": (own) => own > wanted,
    ">=": (own) => own >= wanted,
    "=": (own) => own === wanted,
  };
  return (row) => {
    const own = read(row);
    return own !== null && holds[sign]!(own);
  };
}
