// A client written with the TypeScript SDK: `ts-client.mjs [--era auto|legacy|modern] [--nonce TEXT] --url URL`.
//
// Lists the tools, calls `echo` with a nonce, `slow` with progress and a tool that is not there, closes, and prints
// what it saw as one line of JSON.

import { parseArgs } from 'node:util';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { values } = parseArgs({
    options: {
        era: { type: 'string', default: 'auto' },
        nonce: { type: 'string', default: `nonce-${process.pid}` },
        url: { type: 'string' },
    },
});
const mode = values.era === 'modern' ? { pin: '2026-07-28' } : values.era;
const client = new Client({ name: 'ts-client', version: '2.4.0' }, { versionNegotiation: { mode } });
const transport = new StreamableHTTPClientTransport(new URL(values.url));
await client.connect(transport);

const { tools } = await client.listTools();
const echo = await client.callTool({ name: 'echo', arguments: { text: values.nonce } });
let progress = 0;
const onprogress = () => {
    progress += 1;
};
const slow = await client.callTool({ name: 'slow', arguments: { seconds: 0.5 } }, { onprogress });
const unknown = await client.callTool({ name: 'no-such-tool', arguments: {} }).then(
    () => null,
    error => error.code ?? String(error),
);
// Gone away from in the middle, with a stream and without: the connection must go on.
const errors = [];
client.onerror = error => {
    // Progress that was under way when we went is no error of the server.
    if (!String(error).includes('progress notification for an unknown token')) errors.push(String(error));
};
let cancelled = true;
for (const asked of [{ onprogress: () => {} }, {}]) {
    const call = { name: 'slow', arguments: { seconds: 1 } };
    const gone = client.callTool(call, { ...asked, signal: AbortSignal.timeout(350) });
    cancelled &&= await gone.then(
        () => false,
        () => true,
    );
}
const again = await client.callTool({ name: 'echo', arguments: { text: 'still here' } });
const seen = {
    protocolVersion: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    tools: tools.map(tool => tool.name),
    nonce: values.nonce,
    echoed: echo.content[0].text,
    slow: slow.content[0].text,
    progress,
    unknown,
    cancelled,
    again: again.content[0].text,
    errors,
    session: transport.sessionId !== undefined,
};
if (transport.sessionId !== undefined) await transport.terminateSession();
await client.close();
console.log(JSON.stringify(seen));
