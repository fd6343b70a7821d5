// Text of servers: always text, in its own direction, with hidden characters shown by their code.

import { useState } from "preact/hooks";
import { hasHidden, visiblePieces } from "../text/visible";

interface TextProps {
  value: string;
  /** Longer text is cut; with `expandable` the rest can be shown. */
  max?: number;
  expandable?: boolean;
}

export function Text({ value, max = 600, expandable = false }: TextProps) {
  const [isOpen, open] = useState(false);
  const isCut = value.length > max && !isOpen;
  const shown = isCut ? value.slice(0, max) : value;
  return (
    <bdi dir="auto">
      {hasHidden(shown) ? visiblePieces(shown).map(piece) : shown}
      {isCut && (expandable ? (
        <>
          … <button type="button" class="button tiny" onClick={() => open(true)}>Show all {value.length.toLocaleString("en-US")} characters</button>
        </>
      ) : "…")}
    </bdi>
  );
}

function piece({ text, code }: { text: string; code: string | null }) {
  return code === null ? text : <span class="hidden-char" title={`hidden character ${code}`}>{code}</span>;
}

/** A sentence of the console: a name in backticks is set as code. What it quotes of a server stays text. */
export function Sentence({ value, max = 600 }: { value: string; max?: number }) {
  const shown = value.length > max ? `${value.slice(0, max)}…` : value;
  const parts = shown.split(/`([^`\n]+)`/);
  return <>{parts.map((part, at) => (at % 2 === 0 ? part !== "" && <Text key={at} value={part} max={max + 1} /> : <code key={at}><Text value={part} max={max} /></code>))}</>;
}

/** A description: keeps its lines. */
export function Prose({ value }: { value: string }) {
  return (
    <div class="prose">
      <Text value={value} max={1500} expandable />
    </div>
  );
}
