// A client of a protected service, written with the TypeScript SDK:
// `login-client.mjs [--era auto|legacy|modern] [--dpop] --url URL -- BROWSER…`.
//
// Logs in when the server asks for it: BROWSER… is run with the address of the login page and prints the address of the
// callback. Calls `whoami`, then `clear`, which needs more scopes, then `whoami` again; closes, and prints what it saw as
// one line of JSON. With `--dpop` its tokens are bound to a key.

import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';

import { Client, DpopSession, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        era: { type: 'string', default: 'auto' },
        dpop: { type: 'boolean', default: false },
        url: { type: 'string' },
    },
});
const [browser, ...args] = positionals;

// Nobody listens there: the browser prints where it was sent.
const REDIRECT = 'http://127.0.0.1:7/callback';

/** One user, whose browser is a program. */
class Provider {
    logins = 0;
    #registered;
    #tokens;
    #verifier;
    #session = values.dpop ? DpopSession.create() : undefined;
    #state;
    #discovery;

    get redirectUrl() {
        return REDIRECT;
    }

    get clientMetadata() {
        return {
            client_name: 'TypeScript SDK',
            redirect_uris: [REDIRECT],
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
            token_endpoint_auth_method: 'none',
            application_type: 'native',
        };
    }

    saveDiscoveryState(state) {
        this.#discovery = state;
    }

    discoveryState() {
        return this.#discovery;
    }

    state() {
        this.#state = crypto.randomUUID();
        return this.#state;
    }

    clientInformation() {
        return this.#registered;
    }

    saveClientInformation(registered) {
        this.#registered = registered;
    }

    tokens() {
        return this.#tokens;
    }

    saveTokens(tokens) {
        this.#tokens = tokens;
    }

    codeVerifier() {
        return this.#verifier;
    }

    saveCodeVerifier(verifier) {
        this.#verifier = verifier;
    }

    dpop() {
        return this.#session;
    }

    async redirectToAuthorization(url) {
        this.logins += 1;
        const { stdout } = await promisify(execFile)(browser, [...args, url.href]);
        this.callback = new URL(stdout.trim()).searchParams;
        if (this.callback.get('state') !== this.#state) throw new Error('the callback is of another login');
    }
}

const authProvider = new Provider();
const mode = values.era === 'modern' ? { pin: '2026-07-28' } : values.era;

async function connect() {
    const transport = new StreamableHTTPClientTransport(new URL(values.url), { authProvider });
    const client = new Client({ name: 'login-client', version: '2.4.0' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    return { client, transport };
}

/** Runs a step, which may need a login first. */
async function afterLogin(step, transport) {
    try {
        return await step();
    } catch (error) {
        const unauthorized = [error, error?.cause].some(error => error instanceof UnauthorizedError);
        if (!unauthorized) throw error;
        const finishing = transport ?? new StreamableHTTPClientTransport(new URL(values.url), { authProvider });
        await finishing.finishAuth(authProvider.callback);
        return step();
    }
}

const { client, transport } = await afterLogin(connect);
const call = name =>
    afterLogin(async () => (await client.callTool({ name, arguments: {} })).content[0].text, transport);
const first = await call('whoami');
const cleared = await call('clear');
const last = await call('whoami');
const protocolVersion = client.getNegotiatedProtocolVersion();
await client.close();
console.log(JSON.stringify({ protocolVersion, first, cleared, last, logins: authProvider.logins }));
