// A login in progress: what the user has to do next.

import { post } from "../../api/client";
import type { LoginAttempt } from "../../api/types";
import { CopyButton, ExternalLink, Note } from "../../ui/parts";
import { Text } from "../../ui/text";
import { attempt as run } from "../../ui/toasts";

export function LoginProgress({ attempt }: { attempt: LoginAttempt }) {
  const { step } = attempt;
  const cancel = () => void run(() => post(`/api/logins/${attempt.attempt}/cancel`));
  switch (step.type) {
    case "cancelled":
      return null;
    case "done":
      return <Note tone="ok">Logged in as <strong><Text value={step.account} /></strong>.</Note>;
    case "failed":
      return <Note tone="bad"><Text value={step.error} /> <div><strong>Next:</strong> <Text value={step.nextStep} /></div></Note>;
    case "starting":
      return <Note tone="info"><span role="status">Asking the server how to log in…</span></Note>;
    case "exchanging":
      return <Note tone="info"><span role="status">Exchanging the code…</span></Note>;
    case "openUrl":
      return (
        <Note tone="info">
          <p>Open this page, log in, and come back. It was also opened in your browser.</p>
          <p><ExternalLink url={step.url} /></p>
          <button type="button" class="button tiny" onClick={cancel}>Cancel the login</button>
        </Note>
      );
    case "deviceCode":
      return (
        <Note tone="info">
          <p>Open <ExternalLink url={step.verificationUriComplete ?? step.verificationUri} /></p>
          <p>and enter <code class="user-code">{step.userCode}</code> <CopyButton text={step.userCode} /></p>
          <button type="button" class="button tiny" onClick={cancel}>Cancel the login</button>
        </Note>
      );
  }
}
