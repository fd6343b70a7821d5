// What the probe lists: a tool for each action of the console, and content of every type.

const object = (properties, required = []) => ({ type: 'object', properties, required });

/** The cases in which argument editors of other consoles corrupted JSON; numbers of modelcontextprotocol/inspector. */
const inspector = object(
    {
        names: { type: 'array', items: { type: 'string' }, description: 'inspector#1853' },
        numbers: { type: 'array', items: { type: 'number' }, description: 'inspector#1856' },
        a: { type: 'integer' },
        b: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null, description: 'inspector#1885' },
        direction: { anyOf: [{ type: 'string', enum: ['envio', 'recebimento'] }, { type: 'null' }], description: 'inspector#1928' },
        big: { type: 'integer', description: 'an integer with more digits than a double holds' },
    },
    ['a'],
);

/** One member for each editor. */
const editors = object(
    {
        text: { type: 'string', minLength: 2, description: 'The text to return' },
        whole: { type: 'integer', minimum: 0 },
        ratio: { type: 'number' },
        flag: { type: 'boolean' },
        color: { type: 'string', enum: ['red', 'green', 'blue'] },
        nothing: { type: 'null' },
        tags: { type: 'array', items: { type: 'string', enum: ['small', 'medium', 'large'] }, uniqueItems: true },
        list: { type: 'array', items: { type: 'integer' } },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
        nested: object({ inner: { type: 'string' }, deeper: object({ value: { type: 'number' } }) }, ['inner']),
        map: { type: 'object', additionalProperties: { type: 'string' } },
        either: { oneOf: [object({ type: { const: 'dog' }, barks: { type: 'boolean' } }, ['type']), object({ type: { const: 'cat' }, lives: { type: 'integer' } }, ['type'])] },
        maybe: { type: ['string', 'null'] },
        file: { type: 'string', contentEncoding: 'base64' },
        any: {},
    },
    ['text'],
);

const form = object(
    {
        name: { type: 'string', title: 'Your name', minLength: 1 },
        email: { type: 'string', format: 'email' },
        age: { type: 'integer', minimum: 0, maximum: 150 },
        weight: { type: 'number' },
        vip: { type: 'boolean', default: false },
        size: { type: 'string', enum: ['s', 'm', 'l'] },
        color: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'g', title: 'Green' }] },
        toppings: { type: 'array', items: { type: 'string', enum: ['ham', 'olives', 'basil'] } },
    },
    ['name', 'age'],
);

const tool = (name, description, inputSchema = object({}), more = {}) => ({ name, description, inputSchema, ...more });

export const tools = [
    tool('editors', 'Takes a value of every type and returns it.', editors),
    tool('inspector', 'Takes what other editors corrupted, and returns it.', inspector),
    tool('slow', 'Works in steps, with progress and log messages.', object({ steps: { type: 'integer' }, ms: { type: 'integer' } })),
    tool('content', 'Returns content of every type.', object({}), { annotations: { readOnlyHint: true } }),
    tool('structured', 'Returns structured content.', object({}), { outputSchema: object({ total: { type: 'integer' } }) }),
    tool('big', 'Returns a long text.', object({ bytes: { type: 'integer' } })),
    tool('fails', 'Returns an error as its result.'),
    tool('ask_form', 'Asks with a form.', object({}), { _meta: { form } }),
    tool('ask_url', 'Asks to open a page.'),
    tool('ask_sampling', 'Asks for a message of a model.'),
    tool('ask_roots', 'Asks for the roots.'),
    tool('chatter', 'Writes to stderr.', object({ lines: { type: 'integer' } })),
    tool('mutable', 'Version 1 of this description.'),
    tool('mutate', 'Changes the definition of the tool mutable.'),
    tool('bump', 'Increases the counter and notifies subscribers.'),
    tool('flood', 'Sends many notifications.', object({ count: { type: 'integer' } })),
    tool('crash', 'Ends the process.'),
    tool('leak', 'Says what its environment has.', object({ fail: { type: 'boolean' } })),
    tool('forbidden', 'Denied by a rule.'),
    tool('careful', 'Asked about by a rule.', object({ what: { type: 'string' } }), { annotations: { destructiveHint: true } }),
    tool('work', 'Runs as a task.', object({ steps: { type: 'integer' }, ms: { type: 'integer' }, fail: { type: 'boolean' } }), { execution: { taskSupport: 'optional' } }),
];

const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mNk+M9AEmAiTfmohlENQ0gDAG0HAR8g8bUYAAAAAElFTkSuQmCC';
const AUDIO = 'UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==';

export const contentBlocks = [
    { type: 'text', text: 'plain text' },
    { type: 'text', text: '{"in": "json", "list": [1, 2, 3]}' },
    { type: 'image', mimeType: 'image/png', data: IMAGE },
    { type: 'audio', mimeType: 'audio/wav', data: AUDIO },
    { type: 'resource_link', uri: 'https://example.com/report', name: 'report', title: 'The report', mimeType: 'text/html' },
    { type: 'resource_link', uri: 'javascript:alert(1)', name: 'attack' },
    { type: 'resource', resource: { uri: 'probe://embedded', mimeType: 'text/plain', text: 'embedded text' } },
    { type: 'resource', resource: { uri: 'probe://blob', mimeType: 'application/octet-stream', blob: 'AAECAwQ=' } },
    { type: 'hologram', depth: 3 },
];

export const resources = [
    { uri: 'probe://counter', name: 'counter', title: 'The counter', mimeType: 'application/json', description: 'Changes when `bump` is called' },
    { uri: 'probe://readme', name: 'readme', mimeType: 'text/plain', size: 12 },
];

export const templates = [{ uriTemplate: 'probe://item/{kind}/{id}{?q,limit}', name: 'item', description: 'One item', mimeType: 'application/json' }];

export const prompts = [
    {
        name: 'essay', description: 'Writes an essay',
        arguments: [{ name: 'topic', description: 'What about', required: true }, { name: 'style', description: 'In which style', required: false }],
    },
    { name: 'plain', description: 'Has no arguments' },
];
