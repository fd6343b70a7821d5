// The answer to "why": a drawer that any page opens.

import { get } from "../api/client";
import type { CatalogItemKind, WhyAnswer, WhyCheck } from "../api/types";
import { Store, useStore } from "../state/store";
import { Dialog } from "./dialog";
import { Badge, type Tone, ErrorNote, Note } from "./parts";
import { Sentence, Text } from "./text";
import { useFetch } from "./use_fetch";

interface WhyQuestion {
  kind: CatalogItemKind;
  server: string | null;
  name: string;
}

const question = new Store<WhyQuestion | null>(null);

export function askWhy(kind: CatalogItemKind, server: string | null, name: string): void {
  question.set({ kind, server, name });
}

const VERDICTS: Record<WhyAnswer["verdict"], [Tone, string]> = {
  available: ["ok", "available"],
  refused: ["bad", "refused"],
  hidden: ["warn", "hidden"],
  notReady: ["warn", "not ready"],
  unknown: ["bad", "unknown"],
};

export function WhyDrawer() {
  const asked = useStore(question, (value) => value);
  if (asked === null) return null;
  return (
    <Dialog title="Why" drawer onClose={() => question.set(null)}>
      <Answer key={JSON.stringify(asked)} asked={asked} />
    </Dialog>
  );
}

function Answer({ asked }: { asked: WhyQuestion }) {
  const { data, error } = useFetch(() => get<WhyAnswer>("/api/why", { kind: asked.kind, server: asked.server, name: asked.name }), []);
  return (
    <>
      <div class="title-row">
        <Badge>{asked.kind}</Badge>
        <strong class="breaks"><Text value={asked.server === null || asked.kind === "server" ? asked.name : `${asked.server} / ${asked.name}`} max={200} /></strong>
        {data !== null && <Badge tone={VERDICTS[data.verdict][0]}>{VERDICTS[data.verdict][1]}</Badge>}
      </div>
      {error !== null && <ErrorNote error={error} />}
      {data === null && error === null && <div class="muted" role="status">Checking</div>}
      {data !== null && <AnswerBody answer={data} />}
    </>
  );
}

function AnswerBody({ answer }: { answer: WhyAnswer }) {
  return (
    <>
      <Note tone={VERDICTS[answer.verdict][0]}><Sentence value={answer.sentence} max={1000} /></Note>
      {answer.nextStep !== null && <p><strong>Next:</strong> <Sentence value={answer.nextStep} /></p>}
      <ol class="checks">
        {answer.checks.map((check) => <Check key={check.check} check={check} />)}
      </ol>
      {answer.similar.length > 0 && <p class="muted">Similar names: {answer.similar.map((name) => <code key={name}><Text value={name} max={100} /> </code>)}</p>}
    </>
  );
}

function Check({ check }: { check: WhyCheck }) {
  const [mark, tone] = { pass: ["✓", "ok"], fail: ["✗", "bad"], skipped: ["–", "plain"] }[check.outcome] as [string, Tone];
  return (
    <li class={`check-line ${tone}`}>
      <span class="check-mark" aria-hidden="true">{mark}</span>
      <div>
        <strong><Text value={check.check} /></strong> <span class="visually-hidden">{check.outcome}</span>
        <div class={check.outcome === "skipped" ? "muted" : ""}><Sentence value={check.message} /></div>
        {check.rule !== null && <code class="rule"><Text value={check.rule} max={300} /></code>}
      </div>
    </li>
  );
}
