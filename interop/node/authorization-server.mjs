// Authorization servers that others wrote, on a free port of 127.0.0.1:
//
//   authorization-server.mjs oidc [--tokens jwt|opaque] [--dpop-nonces] [--any-scope]
//   authorization-server.mjs mock [--falsify NAME]
//
// `oidc` is oidc-provider with its own login form, which takes every name: dynamic registration, metadata documents of
// clients, the device grant, DPoP, resource indicators, introspection, revocation and `iss`. Every resource on this
// machine has the scopes `notes:read` and `notes:delete`; the client `resource-server` may introspect. A client that
// registers with scopes may ask for no others, unless told `--any-scope`.
//
// `mock` is oauth2-mock-server, which agrees to everything at once; NAME is one of FALSIFIED below.
//
// Says `listening on port N` on stderr; `GET /events` returns what has happened, a line per event and never a token.
// Ends on SIGTERM.

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const SCOPES = ['notes:read', 'notes:delete'];

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        tokens: { type: 'string', default: 'jwt' },
        'dpop-nonces': { type: 'boolean', default: false },
        'any-scope': { type: 'boolean', default: false },
        falsify: { type: 'string' },
    },
});

const events = [];

function record(event) {
    events.push(event);
}

async function oidc(issuer) {
    const { Provider, errors } = await import('oidc-provider');
    const provider = new Provider(issuer, {
        scopes: ['openid', 'offline_access', ...SCOPES],
        clients: [
            {
                client_id: 'resource-server',
                client_secret: 'secret-of-the-resource-server',
                grant_types: [],
                response_types: [],
                redirect_uris: [],
            },
        ],
        cookies: { keys: [randomBytes(16).toString('hex')] },
        features: {
            clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
            deviceFlow: { enabled: true },
            dPoP: {
                enabled: true,
                nonceSecret: values['dpop-nonces'] ? randomBytes(32) : undefined,
                requireNonce: () => values['dpop-nonces'],
            },
            introspection: { enabled: true },
            registration: { enabled: true },
            resourceIndicators: {
                enabled: true,
                getResourceServerInfo(_, resource) {
                    if (new URL(resource).hostname !== '127.0.0.1') throw new errors.InvalidTarget();
                    return {
                        scope: SCOPES.join(' '),
                        audience: resource,
                        accessTokenFormat: values.tokens,
                        accessTokenTTL: 3600,
                        jwt: { sign: { alg: 'RS256' } },
                    };
                },
            },
            revocation: { enabled: true },
        },
        // By itself it issues refresh tokens only to those who ask with `prompt=consent`.
        issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
        extraClientMetadata: {
            properties: values['any-scope'] ? ['any_scope'] : [],
            validator: (_, __, ___, metadata) => delete metadata.scope,
        },
        // Metadata documents of the tests are on this machine, where it does not look by itself.
        fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    });
    provider.on('registration_create.success', (_, client) => record(`registered ${client.clientName}`));
    provider.on('authorization.success', ctx => record(`authorized for ${ctx.oidc.params.scope}`));
    provider.on('grant.success', ctx => record(`granted ${ctx.oidc.params.grant_type}`));
    provider.on('grant.revoked', () => record('revoked'));
    for (const name of ['authorization', 'grant', 'registration_create', 'revocation', 'introspection']) {
        provider.on(`${name}.error`, (_, error) => record(`${name} failed: ${error.error} ${error.error_description}`));
    }
    provider.on('server_error', (_, error) => console.error(error.stack));
    return provider.callback();
}

// What the mock server gets wrong.
const FALSIFIED = {
    // In the metadata.
    'issuer-slash': server => {
        server.issuer.url += '/';
    },
    'issuer-path': server => {
        server.issuer.url += '/other';
    },
    // In the callback.
    'callback-issuer': server => redirect(server, parameters => parameters.set('iss', 'https://attacker.example')),
    'callback-issuer-slash': server => redirect(server, parameters => parameters.set('iss', `${server.issuer.url}/`)),
    'callback-state': server => redirect(server, parameters => parameters.set('state', 'of another login')),
    'callback-error': server =>
        redirect(server, parameters => {
            parameters.delete('code');
            parameters.set('error', 'access_denied');
            parameters.set('error_description', 'not today\u001b[2J');
        }),
    'callback-without-code': server => redirect(server, parameters => parameters.delete('code')),
    'scope-once': server => {
        let asked = 0;
        redirect(server, parameters => {
            asked += 1;
            if (asked > 1) return;
            parameters.delete('code');
            parameters.set('error', 'invalid_scope');
        });
    },
    // In the answer with the token.
    'no-expiry': server => answer(server, ({ body }) => delete body.expires_in),
    'lower-case-type': server => answer(server, ({ body }) => (body.token_type = 'bearer')),
    'other-type': server => answer(server, ({ body }) => (body.token_type = 'mac')),
    'no-token': server => answer(server, ({ body }) => delete body.access_token),
    'error': server => answer(server, response => fail(response, 400)),
    'error-with-status-200': server => answer(server, response => fail(response, 200)),
    'no-json-object': server => answer(server, response => Object.assign(response, { statusCode: 502, body: '<html>' })),
    'refresh-without-refresh-token': server =>
        answer(server, ({ body }, { body: asked }) => {
            if (asked.grant_type === 'refresh_token') delete body.refresh_token;
        }),
    // In the token.
    'audience': server => sign(server, payload => (payload.aud = 'http://127.0.0.1:1/mcp')),
    'expired': server => sign(server, payload => (payload.exp = payload.iat - 3600)),
    'token-issuer': server => sign(server, payload => (payload.iss = 'https://attacker.example')),
    // At the end.
    'revocation': server =>
        server.service.on('beforeRevoke', response => {
            response.statusCode = 503;
        }),
};

const redirect = (server, change) =>
    server.service.on('beforeAuthorizeRedirect', ({ url }) => change(url.searchParams));
const answer = (server, change) => server.service.on('beforeResponse', change);
const sign = (server, change) => server.service.on('beforeTokenSigning', ({ payload }) => change(payload));
const fail = (response, statusCode) =>
    Object.assign(response, {
        statusCode,
        body: { error: 'invalid_grant', error_description: 'the code was\u001b[2J used' },
    });

async function mock(issuer) {
    const { OAuth2Issuer, OAuth2Service } = await import('oauth2-mock-server');
    const server = { issuer: new OAuth2Issuer() };
    server.issuer.url = issuer;
    await server.issuer.keys.generate('ES256');
    server.service = new OAuth2Service(server.issuer);
    server.service.on('beforeTokenSigning', ({ payload }, { body }) => {
        payload.aud ??= body.resource;
    });
    server.service.on('beforeResponse', (_, { body }) => record(`granted ${body.grant_type}`));
    server.service.on('beforeRevoke', () => record('revoked'));
    if (values.falsify) FALSIFIED[values.falsify](server);
    return server.service.requestHandler;
}

process.on('SIGTERM', () => process.exit(0));
const http = createServer();
await new Promise(listening => http.listen(0, '127.0.0.1', listening));
const { port } = http.address();
const serve = await { oidc, mock }[positionals[0]](`http://127.0.0.1:${port}`);
http.on('request', (req, res) => (req.url === '/events' ? res.end(events.join('\n')) : serve(req, res)));
console.error(`listening on port ${port}`);
