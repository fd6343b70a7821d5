// The latency of the last calls as a small chart.

import type { LatencySample } from "../api/types";
import { milliseconds } from "../text/format";

const WIDTH = 96;
const HEIGHT = 22;

export function Sparkline({ samples, label }: { samples: LatencySample[]; label: string }) {
  if (samples.length === 0) return null;
  const max = Math.max(...samples.map((sample) => sample.ms), 1);
  const step = WIDTH / Math.max(samples.length, 24);
  const last = samples.at(-1)!;
  const failed = samples.filter((sample) => !sample.ok).length;
  return (
    <svg class="sparkline" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${label}: last ${milliseconds(last.ms)}, highest ${milliseconds(max)}, ${failed} failed`}>
      {samples.map((sample, at) => {
        const height = Math.max(1.5, (sample.ms / max) * (HEIGHT - 2));
        return <rect key={at} class={sample.ok ? "bar-ok" : "bar-bad"} x={at * step} y={HEIGHT - height} width={Math.max(1, step - 1)} height={height} />;
      })}
    </svg>
  );
}
