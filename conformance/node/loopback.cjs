// Loaded before the conformance suite: keeps it on this machine. Its mock servers would listen on every interface, and
// one scenario would look up a name of the outside world.
'use strict';

const dns = require('node:dns');
const net = require('node:net');

const HOST = '127.0.0.1';

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (first, ...rest) {
  if (typeof first === 'object' && first !== null) {
    const elsewhere = first.host || first.path || first.fd !== undefined || first._handle;
    return listen.call(this, elsewhere ? first : { ...first, host: HOST }, ...rest);
  }
  const names = typeof rest[0] === 'string';
  const isPort = first === undefined || Number.isInteger(Number(first));
  if (!isPort || names) return listen.call(this, first, ...rest);
  return listen.call(this, first ?? 0, HOST, ...rest);
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
