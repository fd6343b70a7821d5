// The fields of the filter language for each kind of row.

import type { Frame, ResourceRow, TemplateRow, PromptRow, ToolRow } from "../api/types";
import type { FilterFields } from "./filter";

/** The text of rows in lower case: made once, as a filter reads it with every letter that is typed. */
const texts = new WeakMap<object, string>();

function cached(row: object, make: () => string): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const text = make().toLowerCase();
  texts.set(row, text);
  return text;
}

export const FRAME_FIELDS: FilterFields<Frame> = {
  text: {
    method: (frame) => frame.method,
    server: (frame) => frame.server,
    status: (frame) => frame.status,
    kind: (frame) => frame.kind,
    dir: (frame) => frame.direction,
    target: (frame) => frame.target,
    id: (frame) => frame.id,
  },
  number: {
    ms: (frame) => frame.ms,
    size: (frame) => frame.bytes,
    call: (frame) => frame.call,
    frame: (frame) => frame.frame,
  },
  all: (frame) => cached(frame, () => `${frame.method ?? ""} ${frame.server} ${frame.target ?? ""} ${frame.status ?? ""}`),
};

/** A row of the catalog, whatever it lists. */
export type CatalogRow =
  | ({ type: "tool" } & ToolRow)
  | ({ type: "resource" } & ResourceRow)
  | ({ type: "template" } & TemplateRow)
  | ({ type: "prompt" } & PromptRow);

export function idOf(row: CatalogRow): string {
  switch (row.type) {
    case "resource":
      return row.uri;
    case "template":
      return row.uriTemplate;
    default:
      return row.name;
  }
}

export const CATALOG_FIELDS: FilterFields<CatalogRow> = {
  text: {
    server: (row) => row.server,
    name: (row) => `${row.name} ${idOf(row)}`,
    is: (row) => marksOf(row).join(" "),
    rule: (row) => (row.hidden === null ? null : JSON.stringify(row.hidden)),
    mime: (row) => (row.type === "resource" || row.type === "template" ? row.mimeType : null),
  },
  number: { tokens: (row) => row.tokens },
  all: (row) => cached(row, () => `${idOf(row)} ${row.title ?? ""} ${row.name} ${row.server} ${row.description}`),
};

/** Words for `is:`. */
export function marksOf(row: CatalogRow): string[] {
  const marks = [row.hidden === null ? "shown" : "hidden"];
  if (row.type !== "tool") return marks;
  if (row.drifted) marks.push("drifted");
  if (row.hints.readOnly === true) marks.push("readonly");
  if (row.hints.destructive === true) marks.push("destructive");
  if (row.taskSupport !== "forbidden") marks.push("task");
  return marks;
}
