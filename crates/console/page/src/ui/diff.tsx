// Two JSON texts as a diff of their lines; equal lines far from a change are left out.

import { useMemo } from "preact/hooks";
import { tryParse } from "../json/parse";
import { prettyText } from "../json/print";
import { type DiffLine, diffLines } from "../text/diff";
import { Text } from "./text";

const CONTEXT = 3;

export function Diff({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => diffLines(prettyText(before, tryParse), prettyText(after, tryParse)), [before, after]);
  const isNear = (at: number) => lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((line) => line.type !== "same");
  return (
    <div class="code-block diff" tabIndex={0} role="group" aria-label="Difference">
      {lines.map((line, at) => {
        if (line.type !== "same" || isNear(at)) return <Line key={at} line={line} />;
        return at > 0 && isNear(at - 1) ? <div key={at} class="muted">⋯</div> : null;
      })}
    </div>
  );
}

function Line({ line }: { line: DiffLine }) {
  const [sign, words] = { same: [" ", ""], removed: ["−", "removed: "], added: ["+", "added: "] }[line.type] as [string, string];
  return (
    <div class={`diff-line ${line.type}`}>
      <span aria-hidden="true">{sign} </span><span class="visually-hidden">{words}</span><Text value={line.text} max={400} />
    </div>
  );
}
