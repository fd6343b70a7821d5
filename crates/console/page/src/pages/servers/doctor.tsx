// The doctor: connects step by step, and says at which step it fails.

import { post } from "../../api/client";
import type { DoctorRun, DoctorStep, ServerSnapshot } from "../../api/types";
import { milliseconds } from "../../text/format";
import { Note } from "../../ui/parts";
import { Text } from "../../ui/text";
import { attempt } from "../../ui/toasts";

interface DoctorProps {
  server: ServerSnapshot;
  run: DoctorRun | undefined;
  readOnly: boolean;
}

export function Doctor({ server, run, readOnly }: DoctorProps) {
  const isRunning = run !== undefined && run.outcome === null;
  const start = () => void attempt(() => post(`/api/servers/${encodeURIComponent(server.name)}/doctor`));
  return (
    <div class="stack">
      <div class="buttons">
        <button type="button" class="button primary" disabled={isRunning || readOnly} onClick={start}>{run === undefined ? "Examine" : isRunning ? "Examining" : "Examine again"}</button>
        <span class="muted small">Opens a connection of its own and reports each step.</span>
      </div>
      {run !== undefined && (
        <>
          <ol class="checks" aria-live="polite">
            {run.steps.map((step, at) => <Step key={at} step={step} />)}
            {isRunning && <li class="check-line"><span class="dot busy" aria-hidden="true" /><span class="muted">running</span></li>}
          </ol>
          {run.outcome !== null && (
            <Note tone={run.outcome.ok ? "ok" : "bad"}>
              {run.outcome.ok ? "It connects." : "It does not connect."}
              {run.outcome.nextStep !== null && <> <strong>Next:</strong> <Text value={run.outcome.nextStep} /></>}
            </Note>
          )}
        </>
      )}
    </div>
  );
}

function Step({ step }: { step: DoctorStep }) {
  return (
    <li class={`check-line ${step.ok ? "ok" : "bad"}`}>
      <span class="check-mark" aria-hidden="true">{step.ok ? "✓" : "✗"}</span>
      <div>
        <strong><Text value={step.step} /></strong> <span class="visually-hidden">{step.ok ? "passed" : "failed"}</span> <span class="muted small">{milliseconds(step.ms)}</span>
        <div class="breaks"><Text value={step.message} max={1000} expandable /></div>
        {step.tried.length > 0 && (
          <ul class="muted small">
            {step.tried.map((tried) => <li key={tried.url} class="breaks">{tried.document}: <Text value={tried.url} max={300} /> ({tried.outcome})</li>)}
          </ul>
        )}
        {step.stderr !== null && <pre class="code-block"><Text value={step.stderr} max={4000} expandable /></pre>}
      </div>
    </li>
  );
}
