// A client of the assistant, written with the TypeScript SDK:
// `assistant-client.mjs [--era auto|legacy|modern] (--url URL | -- COMMAND…)`.
//
// Uses all that the assistant offers, closes, and prints what it saw as one line of JSON.

import { setTimeout as rest } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { era: { type: 'string', default: 'auto' }, url: { type: 'string' } },
});
const [command, ...args] = positionals;
const transport = values.url
    ? new StreamableHTTPClientTransport(new URL(values.url))
    : // All of our environment, so that whoever started us finds the server too.
      new StdioClientTransport({ command, args, env: process.env });
const mode = values.era === 'modern' ? { pin: '2026-07-28' } : values.era;
const client = new Client(
    { name: 'assistant-client', version: '2.4.0' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
);
const errors = [];
client.onerror = error => errors.push(String(error));

// The user, who agrees to everything but JavaScript.
const asked = [];
client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push({ message: params.message, fields: params.requestedSchema.properties });
    if (params.message.includes('JavaScript')) return { action: 'decline' };
    return { action: 'accept', content: { ok: true, reason: 'it is a test' } };
});

await client.connect(transport);
const modern = client.getProtocolEra() === 'modern';

/** What a failed request failed with. */
const failure = request =>
    request.then(
        () => null,
        error => error.code ?? String(error),
    );
const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const read = async uri => (await client.readResource({ uri })).contents;
const prompt = async (name, args) => {
    const { messages } = await client.getPrompt({ name, arguments: args });
    return messages.map(({ role, content }) => [role, content.text]);
};

const { tools } = await client.listTools();
const validators = new AjvJsonSchemaValidator();
const accepted = tools.filter(({ inputSchema, outputSchema }) => {
    for (const schema of [inputSchema, outputSchema]) if (schema) validators.getValidator(schema);
    return true;
});

const sentiment = await call('analyze_sentiment', { text: 'I love this new feature!' });
const summary = await call('summarize_text', { text: 'One. Two. Three.', sentences: 2 });
const search = await call('search_knowledge', { query: 'rust' });
const wrong = await call('search_knowledge', { query: 'rust', limit: 1000 });
const unknown = await failure(call('no_such_tool', {}));
const executed = await call('execute_code', { language: 'python', code: 'print(1)' });
const refused = await call('execute_code', { language: 'javascript', code: '1' });
// Over pipes the SDK hands on progress after the answer that came with it, and then says that nobody waits for it:
// https://github.com/modelcontextprotocol/typescript-sdk/issues/2580
const stale = error => String(error).includes('progress notification for an unknown token');
const progress = [];
const batch = await call(
    'process_batch',
    { items: ['a', 'b', 'c'] },
    { onprogress: ({ progress: done, message }) => progress.push([done, message ?? null]) },
);
await rest(50);
const dropped = errors.filter(stale).length;
const broken = await call('process_batch', { items: ['a', 'fail'], format: 'text' });

// Gone away from in the middle. What was under way is let pass; after that the server must be quiet about it.
let begun = 0;
const gone = new AbortController();
const onprogress = () => {
    begun += 1;
    if (begun === 3) gone.abort();
};
const cancelled = await call('rebuild_index', { steps: 100 }, { onprogress, signal: gone.signal }).then(
    () => false,
    () => true,
);
await rest(200);
const before = errors.filter(stale).length;
await rest(200);
const late = errors.filter(stale).length - before;
const rebuilt = await call('rebuild_index', { steps: 2 });

const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
const documents = await read('doc://list');
const rust = await read('doc://rust');
const history = await read('conversation://history?limit=2&nums=1');
const missing = await failure(read('doc://cobol'));
const nowhere = await failure(read('nowhere://at/all'));

const { prompts } = await client.listPrompts();
const review = await prompt('code_review', { code: 'fn main() {}' });
const contextual = await prompt('contextual_prompts', { context: 'Rust', task: 'explain' });
const incomplete = await failure(prompt('code_review', {}));
const ref = { type: 'ref/prompt', name: 'contextual_prompts' };
const { completion } = await client.complete({ ref, argument: { name: 'context', value: 'r' } });

const uri = 'status://system';
const status = await read(uri);
let subscribed;
if (modern) {
    const subscription = await client.listen({ resourceSubscriptions: [uri] });
    subscribed = subscription.honoredFilter.resourceSubscriptions;
    await subscription.close();
} else {
    await client.subscribeResource({ uri });
    await client.unsubscribeResource({ uri });
    subscribed = [uri];
}

const text = result => result.content.map(content => content.text);
const seen = {
    protocolVersion: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion()?.name ?? null,
    instructions: client.getInstructions() ?? null,
    tools: tools.map(tool => tool.name),
    outputs: tools.filter(tool => tool.outputSchema).map(tool => tool.name),
    accepted: accepted.length,
    sentiment: sentiment.structuredContent,
    summary: text(summary),
    search: search.structuredContent,
    wrong: { isError: wrong.isError, text: text(wrong) },
    unknown,
    asked,
    executed: executed.structuredContent,
    refused: { isError: refused.isError, text: text(refused) },
    batch: { data: batch.structuredContent ?? null, text: text(batch) },
    progress,
    dropped,
    broken: { isError: broken.isError, text: text(broken) },
    cancelled,
    late,
    rebuilt: rebuilt.structuredContent,
    resources: resources.map(resource => resource.uri),
    templates: resourceTemplates.map(template => template.uriTemplate),
    documents,
    rust,
    history,
    missing,
    nowhere,
    prompts: prompts.map(({ name, arguments: taken }) => [name, ...taken.map(argument => argument.name)]),
    review,
    contextual,
    incomplete,
    completed: completion.values,
    status,
    subscribed,
    errors: errors.filter(error => !stale(error)),
};
if (transport.sessionId !== undefined) await transport.terminateSession();
await client.close();
console.log(JSON.stringify(seen));
