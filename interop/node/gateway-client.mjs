// A client of a gateway in front of the servers everything, filesystem, memory, time and playwright, written with the
// TypeScript SDK: `gateway-client.mjs [--era auto|legacy|modern] [--key KEY] --name NAME --folder FOLDER --page URL
// (--url URL | -- COMMAND…)`.
//
// Uses a tool of each server and all that everything offers, closes, and prints what it saw as one line of JSON.

import { parseArgs } from 'node:util';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const option = { type: 'string' };
const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        era: { type: 'string', default: 'auto' },
        key: option,
        name: option,
        folder: option,
        page: option,
        url: option,
    },
});
const [command, ...args] = positionals;
const headers = values.key ? { Authorization: `Bearer ${values.key}` } : {};
const transport = values.url
    ? new StreamableHTTPClientTransport(new URL(values.url), { requestInit: { headers } })
    : new StdioClientTransport({ command, args, env: process.env });
const mode = values.era === 'modern' ? { pin: '2026-07-28' } : values.era;
const client = new Client(
    { name: values.name, version: '2.4.0' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} }, sampling: {} } },
);
client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: { name: values.name },
}));
client.setRequestHandler('sampling/createMessage', async () => ({
    role: 'assistant',
    model: 'a-model',
    content: { type: 'text', text: `${values.name} says hello` },
}));

await client.connect(transport);
const modern = client.getProtocolEra() === 'modern';
const call = async (name, args, options) => {
    const result = await client.callTool({ name, arguments: args }, options);
    return result.content.map(content => content.text ?? content.type).join('\n');
};

const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();

const sum = await call('everything__get-sum', { a: 19, b: 23 });
const path = `${values.folder}/${values.name}.txt`;
const written = await call('filesystem__write_file', { path, content: `by ${values.name}` });
const entity = { name: values.name, entityType: 'client', observations: ['asks'] };
await call('memory__create_entities', { entities: [entity] });
const graph = await call('memory__read_graph', {});
const converted = await call('time__convert_time', {
    source_timezone: 'Asia/Tokyo',
    time: '12:00',
    target_timezone: 'Asia/Kolkata',
});
const page = await call('playwright__browser_navigate', { url: values.page });
const document = await client.readResource({ uri: 'demo://resource/static/document/features.md' });
const prompt = await client.getPrompt({ name: 'everything__args-prompt', arguments: { city: 'Oslo' } });
const unknown = await client.callTool({ name: 'everything__nothing', arguments: {} }).then(
    () => null,
    error => error.code,
);

const progress = [];
const slow = 'everything__trigger-long-running-operation';
await call(slow, { duration: 1, steps: 4 }, { onprogress: told => progress.push(told.progress) });
const elicited = await call('everything__trigger-elicitation-request', {});
const sampled = await call('everything__trigger-sampling-request', { prompt: 'Say hello.' });

// Gone away from at its first progress.
const gone = new AbortController();
const cancelled = await call(
    slow,
    { duration: 600, steps: 2000 },
    { onprogress: () => gone.abort(), signal: gone.signal },
).then(
    () => false,
    () => true,
);
const again = await call('everything__echo', { message: 'still here' });

// The server announces changes of what somebody subscribed to every few seconds.
const uri = resources[0].uri;
const update = new Promise(resolve => {
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
});
const subscription = modern ? await client.listen({ resourceSubscriptions: [uri] }) : undefined;
if (!modern) await client.subscribeResource({ uri });
await call('everything__toggle-subscriber-updates', {});
const updated = (await update) === uri;
await subscription?.close();
await call('everything__toggle-subscriber-updates', {});

console.log(
    JSON.stringify({
        protocolVersion: client.getNegotiatedProtocolVersion(),
        servers: [...new Set(tools.map(tool => tool.name.split('__')[0]))].sort(),
        prompts: prompts.map(each => each.name),
        sum,
        written,
        graph,
        converted,
        page,
        document: document.contents[0].text.split('\n')[0],
        prompt: prompt.messages[0].content.text,
        unknown,
        progress,
        elicited,
        sampled,
        cancelled,
        again,
        updated,
    }),
);
if (transport.sessionId !== undefined) await transport.terminateSession();
await client.close();
