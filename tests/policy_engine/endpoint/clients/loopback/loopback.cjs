// What sitecustomize.py is for Python, for Node: NODE_OPTIONS="--require=.../loopback.cjs".
const { appendFileSync } = require("fs");
const dns = require("dns");
const net = require("net");

function refuseOtherHosts(host) {
  appendFileSync(process.env.LOOPBACK_LOG, `${host}\n`);
  if (host !== "localhost" && host !== "::1" && !/^127\./.test(host)) {
    throw new Error(`connect: ${host} is another host`);
  }
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  if (typeof options === "object" && options !== null && options.port !== undefined) {
    refuseOtherHosts(options.host || "localhost");
  } else if (typeof options === "number") {
    refuseOtherHosts(typeof args[1] === "string" ? args[1] : "localhost");
  }
  return connect.apply(this, args);
};

for (const owner of [dns, dns.promises]) {
  const lookup = owner.lookup;
  owner.lookup = function (host, ...rest) {
    refuseOtherHosts(host);
    return lookup.call(this, host, ...rest);
  };
}
