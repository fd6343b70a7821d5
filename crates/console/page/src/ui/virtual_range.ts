// Arithmetic of a list with rows of one height.

/** Rows beyond the visible ones, so that scrolling shows no gap. */
const OVERSCAN = 8;

/** Returns the rows to render: from `first`, before `last`. */
export function rangeOf(top: number, height: number, rowHeight: number, rows: number): { first: number; last: number } {
  const first = Math.min(Math.max(0, Math.floor(top / rowHeight) - OVERSCAN), Math.max(0, rows - 1));
  const last = Math.min(rows, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  return { first, last: Math.max(first, last) };
}

/** Returns the row that a key moves to; null for other keys. */
export function rowAfterKey(key: string, active: number, rows: number, page: number): number | null {
  if (rows === 0) return null;
  const steps: Record<string, number> = {
    ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows - 1,
  };
  const next = Object.hasOwn(steps, key) ? steps[key]! : null;
  return next === null ? null : Math.min(rows - 1, Math.max(0, next));
}

/** Returns the scroll position at which a row is visible, nearest to the present one. */
export function scrollTo(row: number, rowHeight: number, top: number, height: number): number {
  const start = row * rowHeight;
  if (start < top) return start;
  return start + rowHeight > top + height ? start + rowHeight - height : top;
}
