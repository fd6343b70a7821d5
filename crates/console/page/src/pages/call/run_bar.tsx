// The button that starts a call, its confirmation and its error, and the call in other forms.

import { useState } from "preact/hooks";
import type { CallRequest } from "../../api/types";
import { asCommand, asJson, asRust } from "../../text/copy_as";
import { CopyButton, ErrorNote, Note } from "../../ui/parts";
import { Sentence } from "../../ui/text";
import { startCall } from "./start_call";

interface RunBarProps {
  label: string;
  /** Null while the form cannot be sent. */
  request: CallRequest | null;
  /** Why the form cannot be sent, or may be refused. */
  hint: string | null;
  onStarted: (call: number) => void;
  readOnly: boolean;
}

export function RunBar({ label, request, hint, onStarted, readOnly }: RunBarProps) {
  const [confirming, setConfirming] = useState<{ request: CallRequest; sentence: string } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isStarting, setStarting] = useState(false);
  const start = async (wanted: CallRequest) => {
    setStarting(true);
    setError(null);
    setConfirming(null);
    const outcome = await startCall(wanted);
    setStarting(false);
    if (outcome.type === "started") onStarted(outcome.call);
    if (outcome.type === "confirm") setConfirming({ request: wanted, sentence: outcome.sentence });
    if (outcome.type === "failed") setError(outcome.error);
  };
  const confirm = () => confirming !== null && void start(confirming.request.type === "tool" ? { ...confirming.request, confirmed: true } : confirming.request);
  return (
    <div class="run-bar">
      {confirming !== null && (
        <Note tone="warn">
          <p><Sentence value={confirming.sentence} /></p>
          <div class="buttons"><button type="button" class="button primary" onClick={confirm}>Call it</button><button type="button" class="button" onClick={() => setConfirming(null)}>Do not</button></div>
        </Note>
      )}
      {error !== null && <ErrorNote error={error} />}
      <div class="buttons">
        <button type="button" class="button primary" disabled={request === null || isStarting || readOnly} onClick={() => request !== null && void start(request)}>{label}</button>
        {readOnly && <span class="muted small">The console is read-only.</span>}
        {hint !== null && <span class="small warn-text">{hint}</span>}
        <span class="head-space" />
        {request !== null && (
          <span class="buttons" role="group" aria-label="Copy the call as">
            <span class="muted small">Copy as</span>
            <CopyButton text={() => asCommand(request)} label="Command" />
            <CopyButton text={() => asRust(request)} label="Rust" />
            <CopyButton text={() => asJson(request)} label="JSON" />
          </span>
        )}
      </div>
    </div>
  );
}
