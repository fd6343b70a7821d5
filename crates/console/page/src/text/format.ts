// Numbers and times for people.

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${trim(count / 1000)} KB`;
  return `${trim(count / 1_000_000)} MB`;
}

export function milliseconds(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trim(ms / 1000)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** 1,234 tokens as `1.2k`. */
export function tokens(value: number): string {
  return value < 1000 ? String(value) : `${trim(value / 1000)}k`;
}

export function clock(atMs: number, withMs = false): string {
  const time = new Date(atMs);
  const two = (part: number) => String(part).padStart(2, "0");
  const base = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return withMs ? `${base}.${String(time.getMilliseconds()).padStart(3, "0")}` : base;
}

export function dateAndTime(atMs: number): string {
  const time = new Date(atMs);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock(atMs)}`;
}

/** A time relative to now: `in 59 min`, `2 h ago`. */
export function relative(atMs: number, nowMs: number): string {
  const left = atMs - nowMs;
  const text = duration(Math.abs(left));
  return left >= 0 ? `in ${text}` : `${text} ago`;
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

function trim(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}
