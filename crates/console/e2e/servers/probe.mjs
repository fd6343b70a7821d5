// A server on stdin and stdout that the tests can check from outside: it logs every message that it receives, and what it
// does, to the file PROBE_LOG. It speaks the revision 2025-11-25 without a library, so that it can also misbehave.
//
//   probe.mjs                 tools, resources and prompts of every kind
//   probe.mjs --hostile       names and descriptions that attack the reader
//   probe.mjs --tools N       N tools
//   probe.mjs --refuses-version   an error instead of another version, against the specification (inspector#962)

import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { hostileTools } from './hostile_tools.mjs';
import { contentBlocks, prompts, resources, templates, tools } from './probe_catalog.mjs';

const flags = process.argv.slice(2);
const many = flags[0] === '--tools' ? Number(flags[1]) : 0;
const isHostile = flags[0] === '--hostile';
const refusesVersion = flags[0] === '--refuses-version';

let descriptionVersion = 1;
let lastRequest = 0;
let counter = 0;
/** Requests to the client that wait for their response. */
const waiting = new Map();
/** Calls under way: their id, and how they are stopped. */
const running = new Map();
const tasks = new Map();
const subscribed = new Set();

function log(event, more = {}) {
    const file = process.env.PROBE_LOG;
    if (file) appendFileSync(file, `${JSON.stringify({ event, pid: process.pid, ...more })}\n`);
}

function send(message) {
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

const notify = (method, params) => send({ method, ...(params && { params }) });

/** Sends a request to the client and returns its result. */
function ask(method, params) {
    const id = `probe-${++lastRequest}`;
    return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ id, method, params });
    });
}

const text = value => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });

function listedTools() {
    if (many > 0) {
        return Array.from({ length: many }, (_, at) => ({
            name: `tool_${String(at).padStart(5, '0')}`,
            description: `Tool number ${at} of many: ${['reads', 'writes', 'searches', 'deletes'][at % 4]} the ${['files', 'mails', 'tickets'][at % 3]}.`,
            inputSchema: { type: 'object', properties: { id: { type: 'integer' } } },
        }));
    }
    if (isHostile) return hostileTools;
    return tools.map(tool => (tool.name === 'mutable' ? { ...tool, description: `Version ${descriptionVersion} of this description.` } : tool));
}

/** Sends progress and log messages until it is done or cancelled. */
async function countSteps({ steps = 5, ms = 100 }, { meta, isCancelled }) {
    for (let step = 1; step <= steps; step += 1) {
        await sleep(ms);
        if (isCancelled()) return null;
        if (meta?.progressToken !== undefined) {
            notify('notifications/progress', { progressToken: meta.progressToken, progress: step, total: steps, message: `step ${step}` });
        }
        notify('notifications/message', { level: 'info', logger: 'probe', data: `did step ${step}` });
    }
    return text(`did ${steps} steps`);
}

async function flood({ count = 10_000 }) {
    for (let at = 0; at < count; at += 1) {
        send({ method: 'notifications/message', params: { level: 'debug', logger: 'flood', data: `message ${at}` } });
        // The pipe may be full: then its reader decides how fast this goes.
        if (at % 500 === 499) await new Promise(resolve => (process.stdout.writableNeedDrain ? process.stdout.once('drain', resolve) : setImmediate(resolve)));
    }
    log('flooded', { count });
    return text(`sent ${count} messages`);
}

async function callTool(name, args, context) {
    switch (name) {
        case 'slow': return countSteps(args, context);
        case 'content': return { content: contentBlocks };
        case 'structured': return { ...text({ total: 2 }), structuredContent: { total: 2, rows: [{ id: 1, big: 9007199254740993n.toString() }, { id: 2, big: null }] } };
        case 'big': return text('x'.repeat(args.bytes ?? 200_000));
        case 'fails': return { ...text('this went wrong'), isError: true };
        case 'ask_form': return text(await ask('elicitation/create', { mode: 'form', message: 'Fill in your order', requestedSchema: args.schema ?? tools.find(tool => tool.name === name)._meta.form }));
        case 'ask_url': return text(await ask('elicitation/create', { mode: 'url', message: 'Please confirm on this page', url: 'https://example.com/confirm?id=7', elicitationId: 'e-7' }));
        case 'ask_sampling': return text(await ask('sampling/createMessage', { systemPrompt: 'You are brief.', messages: [{ role: 'user', content: { type: 'text', text: 'Say hello' } }], maxTokens: 50 }));
        case 'ask_roots': return text(await ask('roots/list', {}));
        case 'chatter': {
            for (let line = 1; line <= (args.lines ?? 3); line += 1) process.stderr.write(`chatter line ${line}\n`);
            return text('wrote to stderr');
        }
        case 'mutate':
            descriptionVersion += 1;
            notify('notifications/tools/list_changed');
            return text(`version ${descriptionVersion}`);
        case 'bump':
            counter += 1;
            for (const uri of subscribed) notify('notifications/resources/updated', { uri });
            return text(`counter ${counter}`);
        case 'flood': return flood(args);
        case 'crash': return process.exit(3);
        // What its environment has, in every way in which a server can say it.
        case 'leak': {
            const secret = process.env.PROBE_SECRET;
            process.stderr.write(`the key is ${secret}\n`);
            notify('notifications/message', { level: 'warning', logger: 'probe', data: `the key is ${secret}` });
            if (context.meta?.progressToken !== undefined) notify('notifications/progress', { progressToken: context.meta.progressToken, progress: 1, message: secret });
            if (args?.fail) throw { code: -32000, message: `wrong key: ${secret}` };
            return text({ key: secret });
        }
        // What the arguments were is in the log, digit by digit.
        default: return text(args ?? {});
    }
}

/** A task of 2025-11-25: its result is fetched once it is over. */
function startTask(name, args, ttl) {
    const now = new Date().toISOString();
    const task = { taskId: `task-${tasks.size + 1}-${process.pid}`, status: 'working', createdAt: now, lastUpdatedAt: now, ttl: ttl ?? 60_000, pollInterval: 100 };
    const entry = { task, result: null, over: null };
    const set = (status, statusMessage) => {
        if (['completed', 'failed', 'cancelled'].includes(task.status)) return;
        Object.assign(task, { status, statusMessage, lastUpdatedAt: new Date().toISOString() });
        log('task', { taskId: task.taskId, status });
        notify('notifications/tasks/status', task);
    };
    entry.set = set;
    entry.over = (async () => {
        const steps = args?.steps ?? 10;
        for (let step = 1; step <= steps && task.status === 'working'; step += 1) {
            await sleep(args?.ms ?? 100);
            if (task.status === 'working') set('working', `step ${step} of ${steps}`);
        }
        if (args?.fail) {
            entry.result = { ...text(`task ${name} failed`), isError: true };
            return set('failed', 'the disk is full');
        }
        entry.result = text(`task ${name} done`);
        set('completed');
    })();
    tasks.set(task.taskId, entry);
    return { task };
}

function refuseVersion(version) {
    throw { code: -32602, message: `Unsupported protocol version: ${version} - supported versions: 2024-10-07` };
}

const handlers = {
    initialize: ({ protocolVersion }) => refusesVersion ? refuseVersion(protocolVersion) : ({
        protocolVersion: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].includes(protocolVersion) ? protocolVersion : '2025-11-25',
        serverInfo: { name: 'probe', version: '1.0.0' },
        instructions: 'Probe everything.\nTwice.',
        capabilities: {
            tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: {}, completions: {}, logging: {},
            tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
        },
    }),
    ping: () => ({}),
    'logging/setLevel': () => ({}),
    'tools/list': ({ cursor }) => {
        const all = listedTools();
        const start = Number(cursor ?? 0);
        const page = all.slice(start, start + 1000);
        return { tools: page, ...(start + 1000 < all.length && { nextCursor: String(start + 1000) }) };
    },
    'resources/list': () => ({ resources }),
    'resources/templates/list': () => ({ resourceTemplates: templates }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ uri, counter }) }] }),
    'resources/subscribe': ({ uri }) => (subscribed.add(uri), {}),
    'resources/unsubscribe': ({ uri }) => (subscribed.delete(uri), {}),
    'prompts/list': () => ({ prompts }),
    'prompts/get': ({ name, arguments: args }) => ({
        description: `The prompt ${name}`,
        messages: [
            { role: 'user', content: { type: 'text', text: `Write about ${args?.topic ?? 'nothing'} in ${args?.style ?? 'any style'}` } },
            { role: 'assistant', content: { type: 'text', text: 'Certainly.' } },
        ],
    }),
    'completion/complete': ({ argument, context }) => {
        const all = { topic: ['trains', 'trees', 'towns'], style: [`${context?.arguments?.topic ?? 'plain'} verse`, 'prose'], kind: ['book', 'film'] }[argument.name] ?? [];
        const values = all.filter(value => value.startsWith(argument.value));
        return { completion: { values, total: values.length, hasMore: false } };
    },
    'tools/call': ({ name, arguments: args, task, _meta }, id) => {
        if (!listedTools().some(tool => tool.name === name)) throw { code: -32602, message: `there is no tool ${name}` };
        if (task) return startTask(name, args, task.ttl);
        const call = { cancelled: false };
        running.set(id, call);
        return callTool(name, args, { meta: _meta, isCancelled: () => call.cancelled }).finally(() => running.delete(id));
    },
    'tasks/list': () => ({ tasks: [...tasks.values()].map(entry => entry.task) }),
    'tasks/get': ({ taskId }) => known(taskId).task,
    'tasks/result': async ({ taskId }) => {
        const entry = known(taskId);
        await entry.over;
        if (entry.task.status === 'cancelled') throw { code: -32603, message: 'the task was cancelled' };
        return entry.result;
    },
    'tasks/cancel': ({ taskId }) => {
        const entry = known(taskId);
        entry.set('cancelled');
        return entry.task;
    },
    'notifications/cancelled': ({ requestId }) => {
        const call = running.get(requestId);
        if (call) call.cancelled = true;
        log('cancelled', { requestId });
    },
    'notifications/initialized': () => undefined,
    'notifications/roots/list_changed': () => undefined,
};

function known(taskId) {
    const entry = tasks.get(taskId);
    if (!entry) throw { code: -32602, message: `there is no task ${taskId}` };
    return entry;
}

async function receive(line) {
    const message = JSON.parse(line);
    log('received', { message, line });
    const { id, method, params } = message;
    if (method === undefined) {
        const asked = waiting.get(id);
        waiting.delete(id);
        if (message.error) asked?.resolve({ error: message.error });
        else asked?.resolve(message.result);
        return;
    }
    const handler = handlers[method];
    if (id === undefined) {
        handler?.(params ?? {});
        return;
    }
    try {
        if (!handler) throw { code: -32601, message: `unknown method ${method}` };
        const result = await handler(params ?? {}, id);
        // A cancelled request has no response.
        if (result !== null) send({ id, result });
    } catch (error) {
        send({ id, error: { code: error.code ?? -32603, message: error.message ?? String(error) } });
    }
}

process.stderr.write('probe started\n');
createInterface({ input: process.stdin }).on('line', line => void receive(line)).on('close', () => process.exit(0));
