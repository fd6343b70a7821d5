// Regular expressions of servers. One that could take exponential time is not run: it would freeze the page.

const MAX_LENGTH = 500;
const compiled = new Map<string, RegExp | null>();

/** Returns null if the pattern is invalid or may be slow; it is then not checked. */
export function safePattern(pattern: string): RegExp | null {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = compile(pattern);
  if (compiled.size > 1000) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

function compile(pattern: string): RegExp | null {
  if (pattern.length > MAX_LENGTH || isRisky(pattern)) return null;
  try {
    return new RegExp(pattern, "u");
  } catch {
    return null;
  }
}

/** Whether a repeated group contains a repetition or an alternative, or the pattern refers back. */
function isRisky(pattern: string): boolean {
  const text = pattern.replace(/\\./gs, (escape) => (/[1-9k]/.test(escape[1]!) ? "\u0000" : "a")).replace(/\[[^\]]*\]/g, "a");
  if (text.includes("\u0000")) return true;
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") open.push(at);
    if (text[at] === ")") {
      const start = open.pop() ?? 0;
      const repeats = /^(?:[*+]|\{\d+,?\d*\})/.test(text.slice(at + 1));
      if (repeats && /[*+|]|\{\d/.test(text.slice(start, at))) return true;
    }
  }
  // Adjacent unbounded repetitions take polynomial time; three of them are too many.
  return (text.match(/[*+]|\{\d+,\}/g) ?? []).length > 6;
}
