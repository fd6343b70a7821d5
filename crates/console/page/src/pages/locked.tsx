// There is no key: says how to open the console.

import { Logo } from "../ui/icons";
import { Command } from "../ui/parts";

const REASONS = {
  none: "This tab has no key.",
  expired: "The key of this tab is no longer valid: the console was restarted, or it was unused for 12 hours.",
  refused: "The link was used already, or it is older than a minute.",
};

export function LockedPage({ reason }: { reason: keyof typeof REASONS }) {
  return (
    <main class="center">
      <div>
        <Logo />
        <h1>Open the console again</h1>
        <p class="muted">{REASONS[reason]} Run this command; it opens a new tab.</p>
        <Command text="switchboard console" />
      </div>
    </main>
  );
}
