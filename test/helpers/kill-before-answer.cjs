// Preloaded into `serve` to kill it before it writes the response to operation number KILL_ANSWER.
const { ServerResponse } = require("node:http");

const end = Reflect.get(ServerResponse.prototype, "end");
let answers = 0;

ServerResponse.prototype.end = function replaced(...args) {
  if (this.req.url.startsWith("/v1/operations/")) {
    answers += 1;
    if (answers === Number(process.env.KILL_ANSWER)) process.kill(process.pid, "SIGKILL");
  }
  return Reflect.apply(end, this, args);
};
