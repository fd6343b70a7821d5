// A server written with the TypeScript SDK: `ts-server.mjs session|json|stateless|both PORT`.
//
// `session` is the wiring of 2025: a transport for each session, and nothing of 2026-07-28. `stateless` answers each
// request alone, in both eras. `both` has sessions for the one era and answers the other alone.
// `json` is `session` with documents instead of streams. In sessions, `rests` hangs up in the middle of its answer, and
// `forget` loses the session. The resource `interop://slow` counts what became of the calls to `slow`.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import {
    NodeStreamableHTTPServerTransport,
    localhostHostValidation,
    localhostOriginValidation,
    toNodeHandler,
    toWebRequest,
} from '@modelcontextprotocol/node';
import {
    McpServer,
    acceptedContent,
    createMcpHandler,
    fromJsonSchema,
    inputRequired,
    isInitializeRequest,
    isLegacyRequest,
} from '@modelcontextprotocol/server';

const SLOW = 'interop://slow';
const counts = { started: 0, finished: 0, cancelled: 0 };
const object = properties => ({ type: 'object', properties, required: Object.keys(properties) });
const takes = properties => fromJsonSchema(object(properties));
const text = text => ({ content: [{ type: 'text', text }] });

// What calls `touch` tells those who subscribed: the streams of 2026-07-28, and the session of the caller.
let touched = () => {};

function build() {
    const capabilities = { resources: { subscribe: true }, logging: {} };
    const server = new McpServer({ name: 'ts-server', version: '2.4.0' }, { capabilities });
    const tool = (name, properties, run) =>
        server.registerTool(name, { description: name, inputSchema: takes(properties) }, run);

    tool('echo', { text: { type: 'string' } }, async given => text(given.text));
    tool('slow', { seconds: { type: 'number' } }, (given, ctx) => slow(given.seconds, ctx));
    tool('ask', {}, async (_, ctx) => {
        const given = acceptedContent(ctx.mcpReq.inputResponses, 'name');
        if (given) return text(`hello ${given.name}`);
        const requestedSchema = object({ name: { type: 'string' } });
        return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who?', requestedSchema }) } });
    });
    tool('touch', {}, async () => {
        touched();
        if (server.server.transport?.sessionId) await server.server.sendResourceUpdated({ uri: SLOW });
        return text('touched');
    });
    tool('rests', {}, async (_, ctx) => {
        ctx.http?.closeSSE?.();
        await sleep(200);
        return text('rested');
    });
    tool('forget', {}, async (_, ctx) => {
        sessions.delete(ctx.sessionId);
        return text('forgotten');
    });
    server.registerResource('slow', SLOW, { mimeType: 'application/json' }, async () => ({
        contents: [{ uri: SLOW, mimeType: 'application/json', text: JSON.stringify(counts) }],
    }));
    for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        server.server.setRequestHandler(method, async () => ({}));
    }
    return server;
}

async function slow(seconds, ctx) {
    counts.started += 1;
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let step = 1; step <= 10; step += 1) {
        await sleep(seconds * 100);
        if (ctx.mcpReq.signal.aborted) {
            counts.cancelled += 1;
            throw new Error('cancelled');
        }
        if (progressToken !== undefined) {
            const params = { progressToken, progress: step, total: 10 };
            await ctx.mcpReq.notify({ method: 'notifications/progress', params });
        }
    }
    counts.finished += 1;
    return text('done');
}

// What was sent, for those who come back.
class Events {
    sent = [];

    async storeEvent(stream, message) {
        return String(this.sent.push({ stream, message }));
    }

    async getStreamIdForEventId(id) {
        return this.sent[Number(id) - 1]?.stream;
    }

    async replayEventsAfter(last, { send }) {
        console.error('came back');
        const { stream } = this.sent[Number(last) - 1];
        for (let id = Number(last) + 1; id <= this.sent.length; id += 1) {
            const event = this.sent[id - 1];
            if (event.stream === stream && event.message?.jsonrpc) await send(String(id), event.message);
        }
        return stream;
    }
}

const sessions = new Map();

async function session(req, res, message) {
    const id = req.headers['mcp-session-id'];
    if (id !== undefined) {
        const known = sessions.get(id);
        return known ? known.handleRequest(req, res, message) : refuse(res, 404, 'Session not found');
    }
    if (!isInitializeRequest(message)) return refuse(res, 400, 'Bad Request: no session');
    const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: id => sessions.set(id, transport),
        onsessionclosed: id => {
            sessions.delete(id);
            console.error('session left');
        },
        enableJsonResponse: form === 'json',
        eventStore: new Events(),
        retryInterval: 50,
    });
    await build().connect(transport);
    return transport.handleRequest(req, res, message);
}

function refuse(res, status, message) {
    const body = { jsonrpc: '2.0', error: { code: -32000, message }, id: null };
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function serving() {
    if (form === 'session' || form === 'json') return session;
    const handler = createMcpHandler(build, { legacy: form === 'both' ? 'reject' : 'stateless' });
    touched = () => handler.notify.resourceUpdated(SLOW);
    const alone = toNodeHandler(handler);
    if (form === 'stateless') return alone;
    return async (req, res, message) => {
        const legacy = await isLegacyRequest(await toWebRequest(req, message), message);
        return legacy ? session(req, res, message) : alone(req, res, message);
    };
}

async function read(req) {
    let body = '';
    for await (const chunk of req) body += chunk;
    return body === '' ? undefined : JSON.parse(body);
}

const [form, port] = process.argv.slice(2);
const serve = serving();
const host = localhostHostValidation();
const origin = localhostOriginValidation();
const http = createServer((req, res) => {
    if (!host(req, res) || !origin(req, res)) return;
    if (new URL(req.url, 'http://localhost').pathname !== '/mcp') return refuse(res, 404, 'Not found');
    const served = read(req).then(message => serve(req, res, message));
    served.catch(error => {
        console.error(error);
        if (!res.headersSent) refuse(res, 500, 'Internal error');
    });
});
http.listen(Number(port), '127.0.0.1', () => console.error(`listening on port ${http.address().port}`));
process.on('SIGTERM', () => process.exit(0));
