// Makes text of servers safe to read: characters that hide or reorder others are shown by their code.

/** A piece of text; `code` names a character that would not be seen. */
export interface TextPiece {
  text: string;
  code: string | null;
}

// Controls other than tab and newline, soft hyphen, combining grapheme joiner, Hangul fillers, Mongolian separators,
// zero-width and bidi characters, invisible operators, variation selectors, interlinear marks, tags, lone surrogates.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

const HAS_HIDDEN = new RegExp(HIDDEN.source, "u");

/** Whether a text has a character that would not be seen. */
export function hasHidden(text: string): boolean {
  return HAS_HIDDEN.test(text);
}

/** Splits a text into pieces that are shown as they are, and hidden characters. */
export function visiblePieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), code: null });
    pieces.push({ text: found[0], code: codeOf(found[0]) });
    at = found.index + found[0].length;
  }
  if (at < text.length || pieces.length === 0) pieces.push({ text: text.slice(at), code: null });
  return pieces;
}

/** Returns the text on one line, hidden characters as codes: for labels and titles. */
export function visibleLine(text: string, maxLength = 200): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return visiblePieces(cut.replace(/[\t\n]+/g, " ")).map((piece) => (piece.code === null ? piece.text : `‹${piece.code}›`)).join("");
}

function codeOf(text: string): string {
  return `U+${text.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}
