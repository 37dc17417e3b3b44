// Preloaded into `serve` to kill it at one moment of a message. KILL_AT is `MOMENT PORT NUMBER`: the mail server's port
// and the number of the message. Moments in order: `before-mark`, the message is written but not marked; `after-mark`,
// before the final dot; `after-dot`, the kernel has the dot; `before-settle`, the reply has arrived.
const { Socket } = require("node:net");

const [moment, port, number] = (process.env.KILL_AT ?? "").split(" ");
const seen = {};

function reach(name) {
  seen[name] = (seen[name] ?? 0) + 1;
  if (name === moment && seen[name] === Number(number)) process.kill(process.pid, "SIGKILL");
}

const pastDot = new WeakSet();

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
    // The kernel delivers the bytes even if the process dies, and no reply has been read yet.
    reach("after-dot");
  }
  return result;
});

replace("push", (socket, chunk, original) => {
  if (chunk !== null && pastDot.delete(socket)) reach("before-settle");
  return original();
});
