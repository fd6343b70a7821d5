// JSON values that keep the text of their numbers, so that 9007199254740993 and 1.0 survive a round trip.

/** A number as it was written. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** An object keeps the order of its members; a `Map` has no inherited names such as `__proto__`. */
export type JsonObject = Map<string, Json>;
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;

export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export function isObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map;
}

export function number(value: number): JsonNumber {
  return new JsonNumber(JSON.stringify(value));
}

/** Converts a value of `JSON.parse`. */
export function fromPlain(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) return value.map(fromPlain);
  return new Map(Object.entries(value as object).map(([name, member]) => [name, fromPlain(member)]));
}

/** Converts to plain values; large numbers lose digits. */
export function toPlain(value: Json): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Map) {
    const members = [...value].map(([name, member]) => [name, toPlain(member)] as const);
    return Object.fromEntries(members);
  }
  return value;
}

/** Whether two values are written the same: numbers by their text, members in any order. */
export function isSame(a: Json, b: Json): boolean {
  return equals(a, b, (x, y) => x.text === y.text);
}

/** Whether two values are equal as JSON Schema says: 1 and 1.0 are. */
export function isEqual(a: Json, b: Json): boolean {
  return equals(a, b, (x, y) => compareNumbers(x, y) === 0);
}

function equals(a: Json, b: Json, numbers: (x: JsonNumber, y: JsonNumber) => boolean): boolean {
  if (a === b) return true;
  if (a instanceof JsonNumber) return b instanceof JsonNumber && numbers(a, b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => equals(item, b[at]!, numbers));
  }
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    return [...a].every(([name, member]) => {
      const other = b.get(name);
      return other !== undefined && equals(member, other, numbers);
    });
  }
  return false;
}

interface Decimal {
  digits: bigint;
  /** The value is `digits × 10^exponent`. */
  exponent: number;
}

/** Beyond this exponent a number is compared as a double. */
const MAX_EXPONENT = 2000;

export function decimal(value: JsonNumber): Decimal | null {
  const [mantissa = "", power = "0"] = value.text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const exponent = Number(power) - fraction.length;
  if (!Number.isSafeInteger(exponent) || Math.abs(exponent) > MAX_EXPONENT) return null;
  return { digits: BigInt(whole + fraction), exponent };
}

function scaled(value: Decimal, exponent: number): bigint {
  return value.digits * 10n ** BigInt(value.exponent - exponent);
}

/** Returns a negative number, zero or a positive number, exactly. */
export function compareNumbers(a: JsonNumber, b: JsonNumber): number {
  const [x, y] = [decimal(a), decimal(b)];
  if (x === null || y === null) return Number(a.text) - Number(b.text) || 0;
  const exponent = Math.min(x.exponent, y.exponent);
  const [left, right] = [scaled(x, exponent), scaled(y, exponent)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether the value has no fraction: 1.0 and 1e3 are integers. */
export function isInteger(value: JsonNumber): boolean {
  return isMultipleOf(value, new JsonNumber("1"));
}

export function isMultipleOf(value: JsonNumber, divisor: JsonNumber): boolean {
  const [x, y] = [decimal(value), decimal(divisor)];
  if (x === null || y === null || y.digits === 0n) return Number.isInteger(Number(value.text) / Number(divisor.text));
  const exponent = Math.min(x.exponent, y.exponent);
  return scaled(x, exponent) % scaled(y, exponent) === 0n;
}
