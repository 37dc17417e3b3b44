// Required into `serve`: kills it at one moment of a message. KILL_AT is `MOMENT PORT NUMBER`, the number of the message
// that this happens with on its way to the mail server at that port. Moments, in order: `before-mark`, when the message's
// bytes are written and its mark is not; `after-mark`, when the final dot would be written; `after-dot`, when the server
// has it; `before-settle`, when its reply has come.
const { Socket } = require("node:net");

const [moment, port, number] = (process.env.KILL_AT ?? "").split(" ");
const seen = {};

function reach(name) {
  seen[name] = (seen[name] ?? 0) + 1;
  if (name === moment && seen[name] === Number(number)) process.kill(process.pid, "SIGKILL");
}

const pastDot = new WeakSet();

/** Lets `around` have each call on a connection to the mail server; it calls `original` itself. */
function replace(name, around) {
  const before = Socket.prototype[name];
  Socket.prototype[name] = function replaced(...args) {
    const original = () => Reflect.apply(before, this, args);
    return this.remotePort === Number(port) ? around(this, args[0], original) : original();
  };
}

replace("write", (socket, chunk, original) => {
  const text = String(chunk);
  const isDot = /^(?:\r\n)?\.\r\n$/.test(text);
  if (isDot) reach("after-mark");
  const result = original();
  if (text.includes("Message-ID:")) reach("before-mark");
  if (isDot) {
    pastDot.add(socket);
    // The system has the bytes and delivers them, whoever is gone; no reply can be read in between.
    reach("after-dot");
  }
  return result;
});

replace("push", (socket, chunk, original) => {
  if (chunk !== null && pastDot.delete(socket)) reach("before-settle");
  return original();
});
