// One call: its state, progress, log messages, questions and result.

import { useEffect, useState } from "preact/hooks";
import { get, post } from "../../api/client";
import type { CallResult, CallSnapshot, Progress } from "../../api/types";
import type { ConsoleState } from "../../state/console_state";
import { href } from "../../state/router";
import { asCommand, asJson, asRust } from "../../text/copy_as";
import { bytes, clock, milliseconds } from "../../text/format";
import { CopyButton, ErrorNote, Note } from "../../ui/parts";
import { Text } from "../../ui/text";
import { attempt } from "../../ui/toasts";
import { useFetch } from "../../ui/use_fetch";
import { QuestionCard } from "../questions/question_card";
import { outcomeBadge } from "./call_state";
import { ResultView } from "./result_view";

export function CallView({ call, state }: { call: CallSnapshot; state: ConsoleState }) {
  const { request } = call;
  const isOver = call.state.type === "finished";
  const questions = state.questions.filter((question) => question.call === call.call);
  const cancel = () => void attempt(() => post(`/api/calls/${call.call}/cancel`));
  return (
    <div class="stack">
      <div class="title-row">
        {outcomeBadge(call.state)}
        <Elapsed call={call} />
        <a class="small" href={href(["traffic"], { q: `call:${call.call}` })}>Traffic of the call</a>
        <span class="head-space" />
        {!isOver && !state.console.readOnly && <button type="button" class="button danger" onClick={cancel}>Cancel</button>}
      </div>
      {!isOver && call.progress !== null && <ProgressBar progress={call.progress} />}
      {call.state.type === "task" && <Task call={call} state={state} />}
      {questions.map((question) => <QuestionCard key={question.question} question={question} readOnly={state.console.readOnly} />)}
      {call.logs.length > 0 && (
        <div class="code-block log" role="log" aria-label="Log messages" tabIndex={0}>
          {call.logs.map((log, at) => <div key={at}><span class="muted">{clock(log.atMs)} {log.level}</span> <Text value={log.message} max={1000} expandable /></div>)}
        </div>
      )}
      {call.state.type === "finished" && <Outcome call={call} />}
      <details class="more">
        <summary>Request</summary>
        <div class="stack">
          <div class="buttons"><CopyButton text={() => asCommand(request)} label="Copy as command" /><CopyButton text={() => asRust(request)} label="Copy as Rust" /><CopyButton text={() => asJson(request)} label="Copy as JSON" /></div>
          <pre class="code-block"><Text value={asJson(request)} max={8000} expandable /></pre>
        </div>
      </details>
    </div>
  );
}

function Elapsed({ call }: { call: CallSnapshot }) {
  const [now, setNow] = useState(Date.now());
  const { state } = call;
  useEffect(() => {
    if (state.type === "finished") return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [state.type]);
  const end = state.type === "finished" ? state.atMs : now;
  return <span class="muted small">{milliseconds(Math.max(0, end - call.startedAtMs))}</span>;
}

function ProgressBar({ progress }: { progress: Progress }) {
  const { progress: value, total, message } = progress;
  return (
    <div class="form-field">
      <progress aria-label="Progress" {...(total === null ? {} : { value, max: total })} />
      <div class="muted small">{total === null ? value : `${value} of ${total}`}{message !== null && <> · <Text value={message} max={300} /></>}</div>
    </div>
  );
}

function Task({ call, state }: { call: CallSnapshot; state: ConsoleState }) {
  const id = call.state.type === "task" ? call.state.taskId : "";
  const task = state.tasks.find((one) => one.server === call.request.server && one.taskId === id);
  if (task === undefined) return null;
  const cancel = () => void attempt(() => post("/api/tasks/cancel", { server: task.server, taskId: task.taskId }));
  return (
    <Note tone="info">
      <dl class="facts">
        <dt>Task</dt><dd class="mono"><Text value={task.taskId} max={100} /></dd>
        <dt>Status</dt><dd>{task.status.replace("_", " ")}{task.statusMessage !== null && <> · <Text value={task.statusMessage} max={300} /></>}</dd>
        <dt>Updated</dt><dd>{clock(task.updatedAtMs)}</dd>
      </dl>
      {!state.console.readOnly && <button type="button" class="button tiny" onClick={cancel}>Cancel the task</button>}
    </Note>
  );
}

function Outcome({ call }: { call: CallSnapshot }) {
  if (call.state.type !== "finished") return null;
  const { outcome } = call.state;
  if (outcome.type === "cancelled") return <Note>The call was cancelled.</Note>;
  if (outcome.type === "error") {
    return <Note tone="bad">{outcome.code !== null && <code>{outcome.code} </code>}<Text value={outcome.message} max={2000} expandable />{outcome.nextStep !== null && <div><strong>Next:</strong> <Text value={outcome.nextStep} /></div>}</Note>;
  }
  return <LoadedResult call={call} />;
}

function LoadedResult({ call }: { call: CallSnapshot }) {
  const [isFull, setFull] = useState(false);
  const { data, error } = useFetch(() => get<CallResult>(`/api/calls/${call.call}/result`, { full: isFull ? 1 : null }), [call.call, isFull]);
  if (error !== null) return <ErrorNote error={error} />;
  if (data === null) return <div class="muted" role="status">Loading the result</div>;
  if (data.truncated) {
    return (
      <>
        <Note>The result has {bytes(data.bytes)}; this is its beginning. <button type="button" class="button tiny" onClick={() => setFull(true)}>Load all of it</button></Note>
        <pre class="code-block"><Text value={data.resultJson} max={70_000} /></pre>
      </>
    );
  }
  return <ResultView request={call.request} text={data.resultJson} />;
}
