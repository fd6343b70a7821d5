// Loaded before a server that listens on every interface: it listens on 127.0.0.1 instead, and says on which port.

import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function (port, ...rest) {
    const listening = rest.filter(argument => typeof argument === 'function');
    this.once('listening', () => console.error(`listening on port ${this.address().port}`));
    return listen.call(this, Number(port), '127.0.0.1', ...listening);
};
