// URI templates (RFC 6570, all four levels): their variables, and their expansion.

export interface UriTemplate {
  text: string;
  parts: (string | Expression)[];
  /** Names in order, each once. */
  variables: string[];
}

interface Expression {
  operator: Operator;
  variables: Variable[];
}

interface Variable {
  name: string;
  explode: boolean;
  prefix: number | null;
}

interface Operator {
  first: string;
  separator: string;
  named: boolean;
  ifEmpty: string;
  reserved: boolean;
}

/** A value of a variable; an absent one is undefined. A list and a map are for `explode`. */
export type TemplateValue = string | string[] | Map<string, string>;

export class TemplateError extends Error {}

const OPERATORS: Record<string, Operator> = {
  "": { first: "", separator: ",", named: false, ifEmpty: "", reserved: false },
  "+": { first: "", separator: ",", named: false, ifEmpty: "", reserved: true },
  "#": { first: "#", separator: ",", named: false, ifEmpty: "", reserved: true },
  ".": { first: ".", separator: ".", named: false, ifEmpty: "", reserved: false },
  "/": { first: "/", separator: "/", named: false, ifEmpty: "", reserved: false },
  ";": { first: ";", separator: ";", named: true, ifEmpty: "", reserved: false },
  "?": { first: "?", separator: "&", named: true, ifEmpty: "=", reserved: false },
  "&": { first: "&", separator: "&", named: true, ifEmpty: "=", reserved: false },
};
const VARIABLE = /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?$/;

export function parseTemplate(text: string): UriTemplate {
  const parts: (string | Expression)[] = [];
  const variables: string[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{", at);
    const literal = text.slice(at, open < 0 ? undefined : open);
    if (literal.includes("}")) throw new TemplateError("a } has no {");
    if (literal !== "") parts.push(literal);
    if (open < 0) break;
    const close = text.indexOf("}", open);
    if (close < 0) throw new TemplateError("a { has no }");
    const expression = parseExpression(text.slice(open + 1, close));
    expression.variables.forEach(({ name }) => variables.includes(name) || variables.push(name));
    parts.push(expression);
    at = close + 1;
  }
  return { text, parts, variables };
}

function parseExpression(text: string): Expression {
  const sign = text[0] !== undefined && text[0] in OPERATORS ? text[0] : "";
  const variables = text.slice(sign.length).split(",").map((word): Variable => {
    const found = VARIABLE.exec(word);
    if (found === null) throw new TemplateError(`{${text}} is not an expression of RFC 6570`);
    return { name: found[1]!, explode: found[2] !== undefined, prefix: found[3] === undefined ? null : Number(found[3]) };
  });
  return { operator: OPERATORS[sign]!, variables };
}

/** Expands a template. Each expression is expanded on its own; variables without a value are left out. */
export function expandTemplate(template: UriTemplate, values: Record<string, TemplateValue | undefined>): string {
  const value = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  return template.parts.map((part) => (typeof part === "string" ? encode(part, true) : expand(part, value))).join("");
}

function expand({ operator, variables }: Expression, value: (name: string) => TemplateValue | undefined): string {
  const expanded = variables.flatMap((variable) => {
    const own = value(variable.name);
    return own === undefined ? [] : expandVariable(operator, variable, own);
  });
  return expanded.length === 0 ? "" : operator.first + expanded.join(operator.separator);
}

function expandVariable(operator: Operator, variable: Variable, value: TemplateValue): string[] {
  const { name, explode, prefix } = variable;
  const encoded = (text: string) => encode(text, operator.reserved);
  const named = (text: string) => (!operator.named ? text : text === "" ? name + operator.ifEmpty : `${name}=${text}`);
  if (typeof value === "string") {
    return [named(encoded(prefix === null ? value : [...value].slice(0, prefix).join("")))];
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    return explode ? value.map((item) => named(encoded(item))) : [named(value.map(encoded).join(","))];
  }
  if (value.size === 0) return [];
  const pairs = [...value];
  if (explode) {
    return pairs.map(([key, item]) => (item === "" && operator.named ? encoded(key) + operator.ifEmpty : `${encoded(key)}=${encoded(item)}`));
  }
  return [named(pairs.flatMap(([key, item]) => [encoded(key), encoded(item)]).join(","))];
}

const UNRESERVED = /[A-Za-z0-9\-._~]/;
const RESERVED = /[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/;

function encode(text: string, reserved: boolean): string {
  const allowed = reserved ? RESERVED : UNRESERVED;
  // With reserved characters, a triplet that is already encoded stays.
  const parts = reserved ? text.split(/(%[0-9A-Fa-f]{2})/) : [text];
  return parts
    .map((part, at) => (at % 2 === 1 ? part : [...part].map((char) => (allowed.test(char) ? char : percent(char))).join("")))
    .join("");
}

function percent(char: string): string {
  return [...new TextEncoder().encode(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
