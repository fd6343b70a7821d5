// Counts lost progress with the TypeScript SDK over pipes: `progress-client.mjs --tool NAME --args JSON [--calls N] -- COMMAND…`.
//
// Calls the tool again and again. Its last progress, which reaches the total, comes right before its answer; a call whose
// last progress never reaches the caller has lost it. Prints one line of JSON: `calls`, `told` (progress that came) and
// `lost` (calls that lost their last).

import { setTimeout as rest } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        tool: { type: 'string' },
        args: { type: 'string', default: '{}' },
        calls: { type: 'string', default: '20' },
    },
});
const [command, ...args] = positionals;
const client = new Client({ name: 'progress-client', version: '2.4.0' });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));

const seen = { calls: Number(values.calls), told: 0, lost: 0 };
for (let call = 0; call < seen.calls; call += 1) {
    let whole = false;
    const onprogress = ({ progress, total }) => {
        seen.told += 1;
        whole ||= progress === total;
    };
    await client.callTool({ name: values.tool, arguments: JSON.parse(values.args) }, { onprogress });
    // Whatever is still under way is not lost.
    await rest(5);
    if (!whole) seen.lost += 1;
}
await client.close();
console.log(JSON.stringify(seen));
