// Loaded before the conformance suite: keeps it on this machine. Its mock servers would listen on every interface, and
// one scenario would look up a name of the outside world.
'use strict';

const dns = require('node:dns');
const net = require('node:net');

// Not `listen` itself: given a host it becomes asynchronous, and the suite reads its port at once.
const listen = net.Server.prototype._listen2;
if (typeof listen !== 'function') throw new Error('this Node cannot be kept on the loopback interface');
net.Server.prototype._listen2 = function (address, port, type, ...rest) {
  const everywhere = !address && Number.isInteger(port) && port >= 0;
  return everywhere ? listen.call(this, '127.0.0.1', port, 4, ...rest) : listen.call(this, address, port, type, ...rest);
};

const isLocal = (name) => !name || name === 'localhost' || name.endsWith('.localhost') || net.isIP(name);

const refuse = (name) =>
  Object.assign(new Error(`only this machine can be looked up, not ${name}`), {
    code: 'ENOTFOUND',
    hostname: name,
    syscall: 'getaddrinfo',
  });

const lookup = dns.lookup;
dns.lookup = function (name, options, done) {
  if (isLocal(name)) return lookup.apply(this, arguments);
  process.nextTick(typeof options === 'function' ? options : done, refuse(name));
};

const promised = dns.promises.lookup;
dns.promises.lookup = async function (name, options) {
  if (!isLocal(name)) throw refuse(name);
  return promised.call(this, name, options);
};
