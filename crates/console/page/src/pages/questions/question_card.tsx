// A question of a server, with the form to answer it.

import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { Answer, Question, QuestionBody, Root } from "../../api/types";
import { SchemaEditor, useEditor } from "../../form/editor";
import { type Json, isObject } from "../../json/json";
import { tryParse } from "../../json/parse";
import { printJson } from "../../json/print";
import { relative } from "../../text/format";
import { JsonText } from "../../ui/json_tree";
import { ErrorNote, ExternalLink, Note } from "../../ui/parts";
import { Text } from "../../ui/text";

interface BodyProps<B extends QuestionBody["type"]> {
  body: QuestionBody & { type: B };
  send: (answer: Answer) => void;
}

export function QuestionCard({ question, readOnly }: { question: Question; readOnly: boolean }) {
  const [error, setError] = useState<unknown>(null);
  const send = (answer: Answer) => {
    setError(null);
    post(`/api/questions/${question.question}`, answer).catch(setError);
  };
  const { body } = question;
  const title = { form: "asks", url: "asks you to open a page", sampling: "asks for a message of a model", roots: "asks for your roots" }[body.type];
  return (
    <section class="card question" aria-label={`Question of ${question.server}`}>
      <div class="card-head">
        <h2><Text value={question.server} max={80} /> {title}</h2>
        {question.expiresAtMs !== null && <span class="muted small">expires {relative(question.expiresAtMs, Date.now())}</span>}
      </div>
      <div class="card-body">
        {"message" in body && <p class="pre"><Text value={body.message} max={2000} expandable /></p>}
        <p class="muted small">The question is the server's. Do not enter a password or a key that it has no right to.</p>
        {error !== null && <ErrorNote error={error} />}
        {readOnly ? <Note>The console is read-only.</Note> : (
          <>
            {body.type === "form" && <FormBody body={body} send={send} />}
            {body.type === "url" && <UrlBody body={body} send={send} />}
            {body.type === "sampling" && <SamplingBody body={body} send={send} />}
            {body.type === "roots" && <RootsBody body={body} send={send} />}
          </>
        )}
      </div>
    </section>
  );
}

function FormBody({ body, send }: BodyProps<"form">) {
  const editor = useEditor(body.schemaJson);
  const isReady = editor.json !== null && editor.problems.length === 0;
  return (
    <>
      <SchemaEditor editor={editor} label="Answer" />
      <div class="buttons">
        <button type="button" class="button primary" disabled={!isReady} onClick={() => send({ type: "accept", contentJson: editor.json })}>Answer</button>
        <button type="button" class="button" onClick={() => send({ type: "decline" })}>Decline</button>
        <button type="button" class="button" onClick={() => send({ type: "cancel" })}>Cancel</button>
        {editor.missing.length > 0 && <span class="small warn-text">Missing: {editor.missing.join(", ")}</span>}
      </div>
    </>
  );
}

function UrlBody({ body, send }: BodyProps<"url">) {
  return (
    <>
      <ExternalLink url={body.url} />
      <div class="buttons">
        <button type="button" class="button primary" onClick={() => send({ type: "accept", contentJson: null })}>I have done it</button>
        <button type="button" class="button" onClick={() => send({ type: "decline" })}>Decline</button>
        <button type="button" class="button" onClick={() => send({ type: "cancel" })}>Cancel</button>
      </div>
    </>
  );
}

function SamplingBody({ body, send }: BodyProps<"sampling">) {
  const [text, setText] = useState("");
  const [model, setModel] = useState("written by hand");
  const params = tryParse(body.paramsJson);
  const system = isObject(params) ? params.get("systemPrompt") : undefined;
  const result = printJson(new Map<string, Json>([
    ["role", "assistant"],
    ["content", new Map([["type", "text"], ["text", text]])],
    ["model", model],
    ["stopReason", "endTurn"],
  ]));
  return (
    <>
      {typeof system === "string" && <Note><strong>System prompt:</strong> <Text value={system} max={600} expandable /></Note>}
      <JsonText text={body.paramsJson} depth={4} />
      <label class="form-field"><span class="form-name">Message</span><textarea class="field" rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>
      <label class="form-field"><span class="form-name">Model</span><input class="field" value={model} onInput={(event) => setModel(event.currentTarget.value)} /></label>
      <div class="buttons">
        <button type="button" class="button primary" onClick={() => send({ type: "sampling", resultJson: result })}>Send the message</button>
        <button type="button" class="button" onClick={() => send({ type: "decline" })}>Decline</button>
      </div>
    </>
  );
}

function RootsBody({ body, send }: BodyProps<"roots">) {
  const [text, setText] = useState(body.roots.map((root) => root.uri).join("\n"));
  const roots = text.split("\n").map((line) => line.trim()).filter((line) => line !== "").map((uri): Root => ({ uri, name: body.roots.find((root) => root.uri === uri)?.name ?? null }));
  return (
    <>
      <label class="form-field"><span class="form-name">Roots, one URI a line</span><textarea class="field code" value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} /></label>
      <div class="buttons">
        <button type="button" class="button primary" onClick={() => send({ type: "roots", roots })}>Send the roots</button>
        <button type="button" class="button" onClick={() => send({ type: "roots", roots: [] })}>Send none</button>
      </div>
    </>
  );
}
